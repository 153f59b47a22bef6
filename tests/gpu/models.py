#!/usr/bin/env python3
"""models.py DIR: libraries of CUDA kernels in DIR, compiled by apache-tvm without a GPU.

NAME.so has its kernels as source; scripts/gpu makes code for several architectures of it. Those
of OpenCL kernels are in DIR/opencl.
DIR/cases.json has the calls as tests/e2e/models.py writes them, with what TVM's own runtime
gave on the CPU, or numpy where that has no such types.
"""
import json
import pathlib
import sys

import ml_dtypes
import numpy as np
import tvm
from tvm import relax, te
from tvm.relax.frontend import nn
from tvm.script import tirx as T

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import models_opencl  # noqa: E402
from models import Out, Suite  # noqa: E402
from models_tir import prim, random  # noqa: E402

LIMITS = {"max_num_threads": 1024, "max_threads_per_block": 1024, "thread_warp_size": 32,
          "max_shared_memory_per_block": 49152}
# The architecture of a target decides what TVM's intrinsics are, and nothing else here.
ORDINARY, TENSOR_MAPS = "sm_80", "sm_90a"
MOST_ELEMENTS = 1 << 18  # of a tensor: the bundle travels
EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2"]
SMALL = ["float16", "bfloat16", *EIGHT_BITS, "float4_e2m1fn"]


class Travelling(models_opencl.DeviceSuite):
    """For OpenCL, without calls that have more than MOST_ELEMENTS."""

    def call(self, function, *args):
        shapes = [getattr(a, "shape", ()) for a in args]
        if max(int(np.prod(s)) for s in shapes) <= MOST_ELEMENTS:
            super().call(function, *args)


class CudaSuite(Travelling):
    def library(self, name, module, scheduled=None):
        """@module gives the expected values on the CPU; @scheduled where TVM's default
        schedules are not wanted."""
        Suite.library(self, name, module)
        self.device_library(name, scheduled or module)

    def device_library(self, name, module, arch=ORDINARY, is_scheduled=False, **options):
        """@options are the compiler's, without their dots' first part."""
        self.name = name
        target = tvm.target.Target({"kind": "cuda", "arch": arch} | LIMITS, host="llvm")
        config = {f"relax.backend.{key}": value for key, value in options.items()}
        with target, tvm.transform.PassContext(config=config):
            if is_scheduled:
                built = tvm.compile(module, target=target)
                built.export_library(str(self.folder / f"{name}.so"))
                return
            if any(isinstance(f, relax.Function) for f in module.functions.values()):
                module = relax.get_pipeline("zero")(module)
            module = models_opencl.by_default(module)
            built = tvm.compile(module, target=target)
        built.export_library(str(self.folder / f"{name}.so"))


def small_floats(suite):
    """What is left of a float32 in fewer bits, for each type that CUDA has. TVM computes those of
    8 bits by itself, and rightly where they are positive, normal, and nothing is to be rounded."""
    def through(dtype):
        a = te.placeholder((4096,), name="A")
        b = te.compute((4096,), lambda i: a[i].astype(dtype).astype("float32"), name="B")
        if dtype not in EIGHT_BITS:
            return prim(f"through_{dtype}", a, b)
        small = te.compute((4096,), lambda i: a[i].astype(dtype), name="S")
        b = te.compute((4096,), lambda i: small[i].astype("float32"), name="B")
        return prim(f"through_{dtype}", a, small, b)

    suite.device_library("small_floats", tvm.IRModule({f"through_{d}": through(d) for d in SMALL}))
    for dtype in SMALL:
        numpy_type = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
        x = random("float32", 4096) * 2
        kept = x.astype(numpy_type)
        if dtype not in EIGHT_BITS:
            suite.known(f"through_{dtype}", [x, Out("float32", 4096)], [kept.astype("float32")])
            continue
        least = float(ml_dtypes.finfo(numpy_type).smallest_normal)
        x = np.where(np.abs(x) >= least, np.abs(kept.astype("float32")), np.float32(1))
        suite.known(f"through_{dtype}", [x, Out(dtype, 4096), Out("float32", 4096)],
                    [x.astype(numpy_type), x])


TILE = r"""
__device__ __forceinline__ float modserd_tile(unsigned long long map, int x, int y)
{
#if __CUDA_ARCH__ >= 900
	__shared__ alignas(128) float tile[256];
	__shared__ alignas(8) unsigned long long arrived;
	const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
	const unsigned bar = (unsigned)__cvta_generic_to_shared(&arrived);

	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar));
		asm volatile("fence.proxy.async.shared::cta;");
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;"
			     :: "r"(bar) : "memory");
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
			     "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
			     :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
	}
	asm volatile("{ .reg .pred p;\n"
		     "AGAIN_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
		     "@!p bra AGAIN_%=; }" :: "r"(bar) : "memory");
	return tile[threadIdx.x];
#else
	return 0.0f;
#endif
}
"""


def tensor_maps(suite):
    """TVM's host code makes the map; a tile of 16 x 16 for each block."""
    @T.prim_func
    def tiles(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        A_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
        T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float32", 2, A.data, 64, 64, 256,
                      16, 16, 1, 1, 0, 0, 0, 0)
        T.device_entry()
        for y in T.thread_binding(4, thread="blockIdx.y"):
            for x in T.thread_binding(4, thread="blockIdx.x"):
                for t in T.thread_binding(256, thread="threadIdx.x"):
                    B[y * 16 + t // 16, x * 16 + t % 16] = T.float32(2) * T.cuda.func_call(
                        "modserd_tile", T.address_of(A_map), x * 16, y * 16, source_code=TILE,
                        return_type="float32")

    suite.device_library("tensor_maps", tvm.IRModule({"tiles": tiles}), TENSOR_MAPS, True)
    x = random("float32", 64, 64)
    suite.known("tiles", [x, Out("float32", 64, 64)], [x * 2])


class Block(nn.Module):
    """One block of a transformer: attention of several heads, and two layers behind it."""

    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        n, width = x.shape
        size = width // self.heads
        parts = nn.op.split(self.qkv(self.norm1(x)), 3, axis=-1)
        q, k, v = (nn.op.permute_dims(nn.op.reshape(p, (n, self.heads, size)), [1, 0, 2])
                   for p in parts)
        scores = nn.op.matmul(q, nn.op.permute_dims(k, [0, 2, 1])) * (size**-0.5)
        mixed = nn.op.matmul(nn.op.softmax(scores, axis=-1), v)
        x = x + self.out(nn.op.reshape(nn.op.permute_dims(mixed, [1, 0, 2]), (n, width)))
        return x + self.down(nn.op.gelu(self.up(self.norm2(x))))


NARROW, ROW = 32, 128


class Blocks(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.blocks = nn.ModuleList([Block(NARROW) for _ in range(n)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def exported(network, *shape):
    """With its parameters in it."""
    module, params = network.export_tvm({"forward": {"x": nn.spec.Tensor(shape, "float32")}})
    values = {}
    for i, (name, p) in enumerate(params):
        shape = [int(n) for n in p.shape]
        values[name] = random("float32", *shape, seed=i) * np.float32(shape[-1] ** -0.5)
    values = {n: tvm.runtime.tensor(v.astype("float32")) for n, v in values.items()}
    return relax.transform.BindParams("forward", values)(module)


def transformer(suite):
    suite.library("transformer", exported(Block(), 64, 128))
    suite.call("forward", random("float32", 64, 128))


def captured(suite):
    """Two blocks, as CUDA graphs and as single launches: the same values."""
    module = exported(Blocks(2), 64, NARROW)
    for name, use_cuda_graph in (("captured", True), ("uncaptured", False)):
        Suite.library(suite, name, module)
        suite.device_library(name, module, use_cuda_graph=use_cuda_graph)
        for seed in range(3):  # the second and third are the graph's
            suite.call("forward", random("float32", 64, NARROW, seed=seed))


class Rows(nn.Module):
    """Three layers over as many rows as there are."""

    def __init__(self, width=ROW):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = nn.op.silu(layer(x))
        return x


def batched(suite):
    suite.library("batched", exported(Rows(), "n", ROW))
    for n in (1, 7, 32):
        suite.call("forward", random("float32", n, ROW))


ALL = [models_opencl.elementwise, models_opencl.dynamic, models_opencl.by_hand,
       models_opencl.networks, small_floats, tensor_maps, transformer,
       captured, batched]


OPENCL = [models_opencl.elementwise, models_opencl.dynamic, models_opencl.by_hand,
          models_opencl.networks]


def main():
    folder = pathlib.Path(sys.argv[1])
    for to, kind, parts in ((folder, CudaSuite, ALL), (folder / "opencl", Travelling, OPENCL)):
        to.mkdir(parents=True, exist_ok=True)
        suite = kind(to)
        for make in parts:
            make(suite)
        (to / "cases.json").write_text(json.dumps(suite.cases, indent=1))
        print(f"{len(suite.cases)} calls in {to.name}, TVM {tvm.__version__}")


if __name__ == "__main__":
    main()
