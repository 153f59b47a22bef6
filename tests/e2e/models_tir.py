"""Libraries of PrimFuncs: what a plain deploy.so holds."""
import ml_dtypes
import numpy as np
import tvm
from tvm import te
from tvm.script import ir as I
from tvm.script import tirx as T

FLOATS = ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def prim(name, *tensors):
    return te.create_prim_func(list(tensors)).with_attr("global_symbol", name)


def random(dtype, *shape, seed=0):
    rng = np.random.RandomState(seed)
    if dtype == "bool":
        return rng.rand(*shape) > 0.5
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.randint(max(info.min, -100), 100, shape).astype(dtype)
    return (rng.randn(*shape) * 4).astype(dtype)


def mix(dtype):
    """C = A * B + A; bool: A and not B; narrow floats by way of float32."""
    a = te.placeholder((37,), dtype=dtype, name="A")
    b = te.placeholder((37,), dtype=dtype, name="B")

    def body(i):
        if dtype == "bool":
            return tvm.tirx.all(a[i], tvm.tirx.Not(b[i]))
        if dtype in FLOATS[3:]:
            return (a[i].astype("float32") * b[i].astype("float32")).astype(dtype)
        return a[i] * b[i] + a[i]

    return prim(f"f_{dtype}", a, b, te.compute((37,), body, name="C"))


def dtypes(suite, Out):
    names = FLOATS + INTS + ["bool"]
    suite.library("dtypes", tvm.IRModule({f"f_{name}": mix(name) for name in names}))
    for name in names:
        suite.call(f"f_{name}", random(name, 37), random(name, 37, seed=1), Out(name, 37))


def shapes(suite, Out):
    n, m, k = (te.var(name, "int64") for name in "nmk")
    a = te.placeholder((n,), name="A")
    one = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    x = te.placeholder((m, k), name="X")
    y = te.placeholder((k, n), name="Y")
    r = te.reduce_axis((0, k), name="r")
    z = te.compute((m, n), lambda i, j: te.sum(x[i, r] * y[r, j], axis=r), name="Z")
    s = te.placeholder((), dtype="float64", name="S")
    p = te.placeholder((3, 1, 5, 2), dtype="int32", name="P")
    q = te.compute((2, 5, 1, 3), lambda i, j, u, v: p[v, u, j, i], name="Q")
    suite.library(
        "shapes",
        tvm.IRModule(
            {
                "addone": prim("addone", a, one),
                "matmul": prim("matmul", x, y, z),
                "rank0": prim("rank0", s, te.compute((), lambda: s() * 2.0, name="R")),
                "turn": prim("turn", p, q),
            }
        ),
    )
    for n in (0, 1, 17, 1000):
        suite.call("addone", random("float32", n), Out("float32", n))
    suite.call("matmul", random("float32", 7, 5), random("float32", 5, 9), Out("float32", 7, 9))
    suite.call("matmul", random("float32", 1, 64), random("float32", 64, 1), Out("float32", 1, 1))
    suite.call("rank0", np.array(1.25), Out("float64"))
    suite.call("turn", random("int32", 3, 1, 5, 2), Out("int32", 2, 5, 1, 3))


def scalars(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def scale(
            a: T.Buffer((16,), "float32"), s: T.float32, k: T.int32, c: T.Buffer((16,), "float32")
        ):
            T.func_attr({"global_symbol": "scale", "tirx.noalias": True})
            for i in range(16):
                c[i] = a[i] * s + T.Cast("float32", k)

        @T.prim_func(s_tir=True)
        def choose(
            up: T.bool, big: T.int64, byte: T.uint8, x: T.float64, c: T.Buffer((2,), "float64")
        ):
            T.func_attr({"global_symbol": "choose", "tirx.noalias": True})
            c[0] = T.if_then_else(up, x, T.Cast("float64", big))
            c[1] = T.Cast("float64", byte)

        @T.prim_func(s_tir=True)
        def weigh(a: T.int32, b: T.int32) -> T.int32:
            T.func_attr({"global_symbol": "weigh"})
            return a + b * 2

        @T.prim_func(s_tir=True)
        def half(a: T.float32) -> T.float32:
            T.func_attr({"global_symbol": "half"})
            return a * T.float32(0.5)

        @T.prim_func(s_tir=True)
        def over(a: T.int64) -> T.bool:
            T.func_attr({"global_symbol": "over"})
            return a > T.int64(100)

    suite.library("scalars", Module)
    a = random("float32", 16)
    suite.call("scale", a, 2.5, 3, Out("float32", 16))
    suite.call("scale", a, -1e-3, -17, Out("float32", 16))
    suite.call("choose", True, 2**53, 255, 0.1, Out("float64", 2))
    suite.call("choose", False, -(2**53), 0, 0.1, Out("float64", 2))
    suite.call("weigh", 3, -40)
    suite.call("half", 3.0)
    suite.call("over", 101)
    suite.call("over", 100)


def parallel(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def add(a: T.handle, b: T.handle):
            T.func_attr({"global_symbol": "add", "tirx.noalias": True})
            n = T.int64()
            A = T.match_buffer(a, (n, 1000), "float32")
            B = T.match_buffer(b, (n, 1000), "float32")
            for i in T.parallel(n):
                for j in range(1000):
                    B[i, j] = A[i, j] * A[i, j] + T.float32(1)

        @T.prim_func(s_tir=True)
        def exponents(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
            T.func_attr({"global_symbol": "exponents", "tirx.noalias": True})
            for i in T.parallel(64):
                for j in range(64):
                    B[i, j] = T.exp(A[i, j])

        @T.prim_func(s_tir=True)
        def workspace(A: T.Buffer((4096,), "float32"), C: T.Buffer((4096,), "float32")):
            T.func_attr({"global_symbol": "workspace", "tirx.noalias": True})
            B = T.alloc_buffer((4096,), "float32")
            for i in T.parallel(4096):
                B[i] = A[i] * T.float32(2)
            for i in range(4096):
                C[i] = B[4095 - i] + A[i]

        @T.prim_func(s_tir=True)
        def inner_workspace(A: T.Buffer((8, 2048), "int32"), C: T.Buffer((8, 2048), "int32")):
            T.func_attr({"global_symbol": "inner_workspace", "tirx.noalias": True})
            for i in T.parallel(8):
                B = T.alloc_buffer((2048,), "int32")
                for j in range(2048):
                    B[j] = A[i, j] + i
                for j in range(2048):
                    C[i, j] = B[2047 - j]

    suite.library("parallel", Module)
    for n in (0, 1, 2, 33):
        suite.call("add", random("float32", n, 1000), Out("float32", n, 1000))
    suite.call("exponents", random("float32", 64, 64), Out("float32", 64, 64))
    suite.call("workspace", random("float32", 4096), Out("float32", 4096))
    suite.call("inner_workspace", random("int32", 8, 2048), Out("int32", 8, 2048))


def missing(suite, Out):
    """A function that calls a packed function which nobody provides, beside one that does not."""

    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def calls(a: T.Buffer((8,), "float32"), k: T.int32):
            T.func_attr({"global_symbol": "calls", "tirx.noalias": True})
            T.evaluate(T.call_packed("modserd.test.nobody_has_this", a.data, k))

        @T.prim_func(s_tir=True)
        def fine(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
            T.func_attr({"global_symbol": "fine", "tirx.noalias": True})
            for i in range(8):
                b[i] = a[i] + T.float32(1)

    suite.library("missing", Module)
    suite.call("fine", random("float32", 8), Out("float32", 8))


def many(suite, Out):
    def plus(i):
        a = te.placeholder((8,), dtype="int32", name="A")
        return prim(f"plus_{i:03}", a, te.compute((8,), lambda j: a[j] + i, name="B"))

    suite.library("many", tvm.IRModule({f"plus_{i:03}": plus(i) for i in range(200)}))
    for i in (0, 7, 199):
        suite.call(f"plus_{i:03}", random("int32", 8), Out("int32", 8))


ALL = [dtypes, shapes, scalars, parallel, missing, many]
