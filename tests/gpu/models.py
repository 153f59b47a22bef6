#!/usr/bin/env python3
"""models.py DIR: libraries of CUDA kernels in DIR, compiled by apache-tvm without a GPU.

NAME.so has its kernels as source; scripts/gpu makes code for several architectures of it.
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
SMALL = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"]


class CudaSuite(models_opencl.DeviceSuite):
    def library(self, name, module, scheduled=None):
        """@module gives the expected values on the CPU; @scheduled where TVM's default
        schedules are not wanted."""
        Suite.library(self, name, module)
        self.device_library(name, scheduled or module)

    def call(self, function, *args):
        shapes = [getattr(a, "shape", ()) for a in args]
        if max(int(np.prod(s)) for s in shapes) <= MOST_ELEMENTS:
            super().call(function, *args)

    def device_library(self, name, module, arch=ORDINARY, is_scheduled=False):
        self.name = name
        target = tvm.target.Target({"kind": "cuda", "arch": arch} | LIMITS, host="llvm")
        with target:
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
    """What is left of a float32 in fewer bits, for each type that CUDA has."""
    def through(dtype):
        a = te.placeholder((4096,), name="A")
        b = te.compute((4096,), lambda i: a[i].astype(dtype).astype("float32"), name="B")
        return prim(f"through_{dtype}", a, b)

    suite.device_library("small_floats", tvm.IRModule({f"through_{d}": through(d) for d in SMALL}))
    x = random("float32", 4096) * 2
    for dtype in SMALL:
        kept = x.astype(getattr(ml_dtypes, dtype, None) or dtype).astype("float32")
        suite.known(f"through_{dtype}", [x, Out("float32", 4096)], [kept])


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


def transformer(suite):
    module, params = Block().export_tvm({"forward": {"x": nn.spec.Tensor([64, 128], "float32")}})
    values = {}
    for i, (name, p) in enumerate(params):
        shape = [int(n) for n in p.shape]
        values[name] = random("float32", *shape, seed=i) * np.float32(shape[-1] ** -0.5)
    values = {n: tvm.runtime.tensor(v.astype("float32")) for n, v in values.items()}
    module = relax.transform.BindParams("forward", values)(module)
    suite.library("transformer", module)
    suite.call("forward", random("float32", 64, 128))


ALL = [models_opencl.elementwise, models_opencl.dynamic, models_opencl.by_hand,
       models_opencl.networks, small_floats, tensor_maps, transformer]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    suite = CudaSuite(folder)
    for make in ALL:
        make(suite)
    (folder / "cases.json").write_text(json.dumps(suite.cases, indent=1))
    print(f"{len(suite.cases)} calls, TVM {tvm.__version__}")


if __name__ == "__main__":
    main()
