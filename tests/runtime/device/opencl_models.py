"""Models compiled by TVM now for OpenCL, run by ours on the first OpenCL device (run_model): what
TVM's own VM computes on the CPU is the expectation, within a few roundings; integers exactly.
Usage: opencl_models.py RUN_MODEL"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tvm
from tvm import relax, te, tirx
from tvm.s_tir import dlight
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Mlp:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 5), "float32")):
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w))
            s = R.sum(h, axis=[1], keepdims=True)
            o = R.concat([h, s], axis=1)
            p = R.permute_dims(o)
            R.output(o, p)
        return (o, p)


@I.ir_module(s_tir=True)
class Softmax:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        with R.dataflow():
            y = R.nn.softmax(x, axis=-1)
            R.output(y)
        return y


@I.ir_module(s_tir=True)
class Conv:
    @R.function
    def main(x: R.Tensor((1, 3, 12, 12), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, w, padding=(1, 1))
            r = R.nn.relu(c)
            p = R.nn.max_pool2d(r, pool_size=(2, 2), strides=(2, 2))
            m = R.mean(p, axis=[2, 3])
            R.output(m)
        return m


@I.ir_module(s_tir=True)
class Branch:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        if c:
            y: R.Tensor((n,), "float32") = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y


@I.ir_module(s_tir=True)
class Integers:
    @R.function
    def main(x: R.Tensor(("n",), "int8"), y: R.Tensor(("n",), "int64")):
        with R.dataflow():
            a = R.multiply(R.astype(x, "int32"), R.const(3, "int32"))
            b = R.add(y, R.astype(x, "int64"))
            d = R.greater(b, R.const(5, "int64"))
            R.output(a, b, d)
        return (a, b, d)


def constants():
    """Weights within the executable: they move to the device once."""
    rng = np.random.default_rng(3)
    w = relax.const(rng.standard_normal((8, 4)).astype("float32"))
    x = relax.Var("x", relax.TensorType((2, 8), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            out = bb.emit_output(bb.emit(relax.op.matmul(x, w)))
        bb.emit_func_output(out)
    return bb.get()


def symbolic_scalar():
    """A symbolic extent as an argument of the kernel itself."""
    n, k = tirx.Var("n", "int64"), tirx.Var("k", "int64")
    x = relax.Var("x", relax.TensorType((n,), "float32"))
    s = relax.Var("s", relax.ShapeType((k,)))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, s]):
        def add_k(a, k):
            return te.compute(a.shape, lambda i: a[i] + k.astype("float32"))

        bb.emit_func_output(bb.emit_te(add_k, x, k))
    return bb.get()


def f32(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype("float32")


CASES = [
    ("mlp of 1", Mlp, [f32(1, 8), f32(8, 5)]),
    ("mlp of 33", Mlp, [f32(33, 8), f32(8, 5)]),
    ("softmax", Softmax, [f32(5, 100)]),
    ("convolution, pooling, mean", Conv, [f32(1, 3, 12, 12), f32(4, 3, 3, 3)]),
    ("branch taken", Branch, [f32(9), np.array(True)]),
    ("branch not taken", Branch, [f32(9), np.array(False)]),
    ("integers and bools", Integers,
     [np.arange(-20, 21, dtype="int8"), np.arange(41, dtype="int64")]),
    ("constants", constants(), [f32(2, 8)]),
    ("symbolic scalar", symbolic_scalar(), [f32(6), (7,)]),
]


def compile_for(target, module, path):
    if target.kind.name == "opencl":
        with target:
            module = relax.get_pipeline("zero")(module)
            module = dlight.ApplyDefaultSchedule(
                dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(),
                dlight.gpu.GeneralReduction(), dlight.gpu.Fallback(),
            )(module)
            tvm.compile(module, target=target).export_library(str(path))
    else:
        tvm.compile(module, target=target).export_library(str(path))


def to_tvm(v):
    return tvm.runtime.ShapeTuple(v) if isinstance(v, tuple) else tvm.runtime.tensor(v)


def flatten(v):
    return [v.numpy()] if hasattr(v, "numpy") else [t for e in v for t in flatten(e)]


def check_case(run_model, host, device, args, folder):
    vm = relax.VirtualMachine(tvm.runtime.load_module(str(host)), tvm.cpu())
    wanted = flatten(vm["main"](*map(to_tvm, args)))
    command = [run_model, device, "main", "-d", "opencl:0"]
    for i in range(len(wanted)):
        command += ["-o", str(folder / f"out{i}.npy")]
    for i, a in enumerate(args):
        if isinstance(a, tuple):
            command.append("shape:" + ",".join(map(str, a)))
            continue
        np.save(folder / f"in{i}.npy", a)
        command.append(str(folder / f"in{i}.npy"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    for i, want in enumerate(wanted):
        got = np.load(folder / f"out{i}.npy")
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
        exact = want.dtype.kind != "f"
        if not np.allclose(got, want, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-6):
            return "values differ"
    return None


def main(run_model):
    failed, built, start = 0, {}, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, module, args in CASES:
            if id(module) not in built:
                paths = [folder / f"{kind}{len(built)}.so" for kind in ("host", "device")]
                compile_for(tvm.target.Target("llvm"), module, paths[0])
                gpu = tvm.target.Target({"kind": "opencl", "max_num_threads": 256}, host="llvm")
                compile_for(gpu, module, paths[1])
                built[id(module)] = paths
            problem = check_case(run_model, *built[id(module)], args, folder)
            if problem and "no device opencl:0" in problem:
                print(f"skip: {problem}")
                return 77
            print(f"{'FAIL' if problem else 'ok'}: {title}" + (f": {problem}" if problem else ""))
            failed += problem is not None
    print(f"{len(CASES) - failed} passed, {failed} failed in {time.monotonic() - start:.2f}s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
