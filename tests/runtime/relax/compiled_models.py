"""Models compiled by TVM now, run by TVM's own VM and by ours (run_model): the results must be
the same, bit for bit. Usage: compiled_models.py RUN_MODEL"""

import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tvm
from tvm import relax, te, tirx
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Recursion:
    @R.function
    def loop(
        i: R.Tensor((), "int32"), x: R.Tensor(("n",), "float32")
    ) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        c: R.Tensor((), "bool") = R.greater(i, R.const(0, "int32"))
        if c:
            j: R.Tensor((), "int32") = R.subtract(i, R.const(1, "int32"))
            y: R.Tensor((n,), "float32") = R.add(x, R.const(1.0, "float32"))
            r: R.Tensor((n,), "float32") = Recursion.loop(j, y)
        else:
            r = x
        return r

    @R.function
    def main(i: R.Tensor((), "int32"), x: R.Tensor(("n",), "float32")):
        z = Recursion.loop(i, x)
        return z


@I.ir_module(s_tir=True)
class Closure:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def outer(c1: R.Tensor((2, 3), "float32")):
            @R.function
            def inner(x1: R.Tensor((2, 3), "float32")):
                s: R.Tensor((2, 3), "float32") = R.subtract(x1, c1)
                return s

            return inner

        f = outer(x)
        r = f(y)
        return r


@I.ir_module(s_tir=True)
class Values:
    @R.function
    def main(
        t: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")),
        s: R.Shape(["m"]),
        k: R.Prim("int64"),
    ):
        n = T.int64()
        m = T.int64()
        a = t[0]
        b = t[1]
        y = R.add(a, b)
        return (y, (a, s), R.shape([n, m]), R.str("hello"), k)


@I.ir_module(s_tir=True)
class Shapes:
    @R.function
    def main(
        x: R.Tensor(("n", 3), "float32"),
        s: R.Tensor((2,), "int64"),
        y: R.Tensor(dtype="float32"),
        z: R.Tensor(ndim=2),
        o: R.Object,
    ):
        a = T.int64()
        b = T.int64()
        sh: R.Shape(ndim=2) = R.tensor_to_shape(s)
        sh2: R.Shape([a, b]) = R.match_cast(sh, R.Shape([a, b]))
        r = R.reshape(x, R.shape([a, b]))
        q = R.shape_of(r)
        return (r, q, y, z, o)


@I.ir_module(s_tir=True)
class Branches:
    @R.function
    def main(
        x: R.Tensor(("n",), "float16"), c: R.Tensor((), "bool"), m: R.Tensor(("n",), "bool")
    ):
        n = T.int64()
        if c:
            d: R.Tensor((), "bool") = R.logical_not(c)
            if d:
                y: R.Tensor((n,), "float16") = R.add(x, x)
            else:
                y = R.multiply(x, x)
            w: R.Tensor((n,), "float16") = y
        else:
            w = R.where(m, x, R.negative(x))
        return (w, R.logical_not(m))


@I.ir_module(s_tir=True)
class Classifier:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 5), "float32")):
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w))
            s = R.sum(h, axis=[1], keepdims=True)
            o = R.concat([h, s], axis=1)
            p = R.permute_dims(o)
            R.output(o, p)
        return (o, p)


def symbolic_scalar():
    """A symbolic extent as an argument of the kernel itself."""
    n, k = tirx.Var("n", "int64"), tirx.Var("k", "int64")
    x = relax.Var("x", relax.TensorType((n,), "float32"))
    s = relax.Var("s", relax.ShapeType((k,)))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, s]):
        add_k = lambda a, k: te.compute(a.shape, lambda i: a[i] + k.astype("float32"))
        bb.emit_func_output(bb.emit_te(add_k, x, k))
    return bb.get()


def of_ops(*arrays, emit):
    """A module whose main applies emit() to tensors like these."""
    types = [relax.TensorType(a.shape, str(a.dtype)) for a in arrays]
    args = [relax.Var(f"x{i}", t) for i, t in enumerate(types)]
    bb = relax.BlockBuilder()
    with bb.function("main", args):
        bb.emit_func_output(bb.emit(emit(*args)))
    return bb.get()


def f32(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype("float32")


CASES = [
    ("recursion", Recursion, [np.array(40, "int32"), f32(5)]),
    ("recursion that ends at once", Recursion, [np.array(0, "int32"), f32(1)]),
    ("closure", relax.transform.LambdaLift()(Closure), [f32(2, 3), 2 * f32(2, 3)]),
    ("tuples, shapes, strings, ints", Values, [(f32(4), f32(4)), (9,), 17]),
    ("shapes out of tensors", Shapes,
     [f32(4, 3), np.array([6, 2], "int64"), f32(1, 2, 3), f32(2, 2), (f32(1), f32(2))]),
    ("branch in a branch", Branches,
     [f32(3).astype("float16"), np.array(True), np.array([True, False, True])]),
    ("branch with a mask", Branches,
     [f32(3).astype("float16"), np.array(False), np.array([True, False, True])]),
    ("dynamic batch of 1", Classifier, [f32(1, 8), f32(8, 5)]),
    ("dynamic batch of 33", Classifier, [f32(33, 8), f32(8, 5)]),
    ("dynamic batch of 0", Classifier, [f32(0, 8), f32(8, 5)]),
    ("symbolic scalar", symbolic_scalar(), [f32(6), (7,)]),
]


def add_case(title, emit, *arrays):
    CASES.append((title, of_ops(*arrays, emit=emit), list(arrays)))


# What calls the runtime's packed functions.
WITH_NANS = np.where(f32(40, 5) > 0.8, np.nan, np.round(f32(40, 5))).astype("float32")
COUNTS = np.array([[3, 1, 2, 1], [0, 0, 3, 1], [3, 1, 2, 1]], "int64")
for axis in (0, 1):
    add_case(f"sort, axis {axis}", lambda x, a=axis: relax.op.sort(x, a), WITH_NANS)
    add_case(f"argsort, axis {axis}",
             lambda x, a=axis: relax.op.argsort(x, a, True, "int64"), WITH_NANS)
    add_case(f"topk, axis {axis}", lambda x, a=axis: relax.op.topk(x, 4, a), WITH_NANS)
    add_case(f"unique, axis {axis}",
             lambda x, a=axis: relax.op.unique(x, False, True, True, True, a), COUNTS)
add_case("unique", lambda x: relax.op.unique(x), WITH_NANS)
add_case("nonzero", relax.op.nonzero, COUNTS)
add_case("shape_to_tensor", lambda x: relax.op.shape_to_tensor(relax.op.shape_of(x)), COUNTS)
add_case("view", lambda x: relax.op.memory.view(x, relax.ShapeExpr((3, 2)), "int16"), f32(3))
add_case("view of a part, moved", lambda x: relax.op.memory.ensure_zero_offset(
    relax.op.memory.view(x, relax.ShapeExpr((3,)), "float32", relax.prim_value(12))), f32(2, 3))
add_case("dynamic strided slice", relax.op.dynamic_strided_slice, f32(8, 6),
         np.array([1, 0], "int64"), np.array([7, 6], "int64"), np.array([2, 3], "int64"))

REFUSED = [
    ("wrong extent", Classifier, [f32(1, 7), f32(8, 5)],
     "main: argument 0 (x): expected shape [*, 8], got shape [1, 7]"),
    ("extents that disagree", Values, [(f32(4), f32(5)), (9,), 17],
     "main: argument 0 (t: "),
    ("too few arguments", Classifier, [f32(1, 8)], "main: expected 2 arguments, got 1"),
]


MODES = ("bytecode", "compiled")


def is_shape(v):
    return isinstance(v, tuple) and all(isinstance(e, int) for e in v)


def to_tvm(v):
    if isinstance(v, np.ndarray):
        return tvm.runtime.tensor(v)
    if is_shape(v):
        return tvm.runtime.ShapeTuple(v)
    return tuple(to_tvm(e) for e in v) if isinstance(v, tuple) else v


def to_words(v, folder, words):
    if isinstance(v, np.ndarray):
        path = folder / f"in{len(words)}.npy"
        np.save(path, v)
        words.append(str(path))
    elif is_shape(v):
        words.append("shape:" + ",".join(map(str, v)))
    elif isinstance(v, tuple):
        words.append("(")
        for e in v:
            to_words(e, folder, words)
        words.append(")")
    else:
        words.append(f"int:{v}")


def flatten(v, tensors, texts):
    """Tensors in order, and what run_model prints for everything else."""
    if hasattr(v, "numpy"):
        tensors.append(v.numpy())
    elif type(v).__name__ == "Shape":
        texts.append(",".join(str(int(e)) for e in v))
    elif type(v).__name__ in ("Array", "tuple", "list"):
        for e in v:
            flatten(e, tensors, texts)
    else:
        texts.append(str(v))


def run_ours(run_model, library, args, outs, folder):
    words = []
    for a in args:
        to_words(a, folder, words)
    command = [run_model, library, "main"]
    for o in outs:
        command += ["-o", o]
    return subprocess.run(command + words, capture_output=True, text=True, check=False)


def check_case(run_model, library, args, folder):
    vm = relax.VirtualMachine(tvm.runtime.load_module(str(library)), tvm.cpu())
    tensors, texts = [], []
    flatten(vm["main"](*map(to_tvm, args)), tensors, texts)
    outs = [str(folder / f"out{i}.npy") for i in range(len(tensors))]
    done = run_ours(run_model, library, args, outs, folder)
    if done.returncode != 0:
        return done.stderr.strip()
    if done.stdout.split("\n")[:-1] != texts:
        return f"printed {done.stdout!r}, expected {texts}"
    for path, want in zip(outs, tensors):
        got = np.load(path)
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"{path}: {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
        if got.tobytes() != want.tobytes():
            return f"{path}: values differ"
    return None


def compile_model(module, mode, folder, built):
    key = (id(module), mode)
    if key not in built:
        built[key] = folder / f"model{len(built)}.so"
        relax.build(module, target="llvm", exec_mode=mode).export_library(str(built[key]))
    return built[key]


def main(run_model):
    failed, built, start = 0, {}, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for (title, module, args), mode in itertools.product(CASES, MODES):
            library = compile_model(module, mode, folder, built)
            problem = check_case(run_model, library, args, folder)
            said = f": {problem}" if problem else ""
            print(f"{'FAIL' if problem else 'ok'}: {title}, {mode}{said}")
            failed += problem is not None
        for title, module, args, text in REFUSED:
            library = compile_model(module, "bytecode", folder, built)
            done = run_ours(run_model, library, args, [], folder)
            is_ok = done.returncode == 1 and text in done.stderr
            print(f"{'ok' if is_ok else 'FAIL'}: {title}" + ("" if is_ok else f": {done.stderr}"))
            failed += not is_ok
    passed = len(CASES) * len(MODES) + len(REFUSED) - failed
    print(f"{passed} passed, {failed} failed in {time.monotonic() - start:.2f}s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
