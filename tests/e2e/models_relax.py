"""Relax models: whole networks, control flow, tuples, shapes and closures."""
import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.relax.frontend import nn
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def random(*shape, seed=0, dtype="float32"):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


class Net(nn.Module):
    """Two linear layers and a softmax."""

    def __init__(self, dtype):
        self.first = nn.Linear(16, 32, dtype=dtype)
        self.second = nn.Linear(32, 10, dtype=dtype)

    def main(self, x):
        return nn.op.softmax(self.second(nn.op.relu(self.first(x))), axis=-1)


class Convolutions(nn.Module):
    def __init__(self):
        self.first = nn.Conv2D(3, 8, 3, padding=1, bias=True)
        self.second = nn.Conv2D(8, 8, 3, stride=2, padding=1, bias=True)
        self.short = nn.Conv2D(3, 8, 1, stride=2, bias=True)
        self.out = nn.Linear(8 * 8 * 8, 5)

    def main(self, x):
        y = self.second(nn.op.relu(self.first(x)))
        y = nn.op.relu(nn.op.add(y, self.short(x)))
        return self.out(nn.op.reshape(y, (1, 8 * 8 * 8)))


def bound(model, *spec):
    """An IRModule with the parameters as constants, and the same with them as arguments."""
    module, params = model.export_tvm({"main": {"x": nn.spec.Tensor(*spec)}})
    values = [
        0.2 * random(*[int(s) for s in p.shape], seed=i, dtype=p.dtype)
        for i, (_, p) in enumerate(params)
    ]
    values = [v.astype(p.dtype) for v, (_, p) in zip(values, params)]
    named = {n: tvm.runtime.tensor(v) for (n, _), v in zip(params, values)}
    return relax.transform.BindParams("main", named)(module), module, values


def networks(suite, Out):
    constant, open_, values = bound(Net("float32"), ["n", 16], "float32")
    suite.library("mlp", constant)
    for n in (1, 3, 50):
        suite.call("main", random(n, 16))
    suite.library("mlp_open", open_)
    suite.call("main", random(3, 16), *values)
    constant, _, _ = bound(Net("float16"), [4, 16], "float16")
    suite.library("mlp_half", constant)
    suite.call("main", random(4, 16, dtype="float16"))
    constant, _, _ = bound(Convolutions(), [1, 3, 16, 16], "float32")
    suite.library("convolutions", constant)
    suite.call("main", random(1, 3, 16, 16))


def control(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def choose(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
            n = T.int64()
            y: R.Tensor((n, 4), "float32") = R.add(x, x)
            if c:
                z: R.Tensor((n, 4), "float32") = R.multiply(y, R.const(3.0, "float32"))
            else:
                z: R.Tensor((n, 4), "float32") = R.subtract(y, R.const(1.0, "float32"))
            return z

        @R.function
        def double(
            n: R.Tensor((), "int32"), x: R.Tensor(("m",), "float32")
        ) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            done = R.less_equal(n, R.const(0, "int32"))
            if done:
                y: R.Tensor((m,), "float32") = x
            else:
                k = R.subtract(n, R.const(1, "int32"))
                z = R.add(x, x)
                y: R.Tensor((m,), "float32") = Module.double(k, z)
            return y

    suite.library("control", Module)
    for c in (True, False):
        suite.call("choose", random(5, 4), np.array(c))
    for n in (0, 1, 20):
        suite.call("double", np.array(n, "int32"), random(6))


def tuples(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def pair(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((3,), "float32")):
            return (R.add(x, y), R.multiply(x, y))

        @R.function
        def nested(
            p: R.Tuple(
                R.Tensor(("n", 3), "float32"),
                R.Tuple(R.Tensor((3,), "float32"), R.Tensor((), "int64")),
            )
        ):
            n = T.int64()
            a = p[0]
            b = p[1][0]
            c = R.add(a, b)
            return ((c, a), R.shape([n, n * 2]), p[1][1])

        @R.function
        def split(x: R.Tensor((6, 4), "float32")):
            return R.split(x, 3, axis=0)

        @R.function
        def same(x: R.Tensor(("n",), "int64")):
            return (x, x)

    suite.library("tuples", Module)
    suite.call("pair", random(4, 3), random(3, seed=1))
    suite.call("nested", (random(2, 3), (random(3, seed=1), np.array(9, "int64"))))
    suite.call("split", random(6, 4))
    suite.call("same", np.arange(5))


def shapes(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def flatten(x: R.Tensor(("n", "m"), "float32"), k: R.Prim("int64")):
            n = T.int64()
            m = T.int64()
            return (R.reshape(x, R.shape([n * m])), R.shape_of(x))

        @R.function
        def fill(s: R.Shape(["a", "b"])) -> R.Tensor(("a", "b"), "float32"):
            a = T.int64()
            b = T.int64()
            z = R.full(R.shape([a, b]), R.const(1.5, "float32"), "float32")
            return z

        @R.function
        def join(x: R.Tensor(("n", 2), "float32"), y: R.Tensor(("m", 2), "float32")):
            return R.concat((x, y), axis=0)

        @R.function
        def best(x: R.Tensor(("n", 10), "float32")):
            return R.argmax(x, axis=1)

        @R.function
        def compare(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
            return R.greater(x, y)

    suite.library("shape_functions", Module)
    suite.call("flatten", random(2, 3), 5)
    suite.call("fill", tvm_ffi.Shape((2, 3)))
    suite.call("join", random(2, 2), random(5, 2))
    suite.call("best", random(7, 10))
    suite.call("compare", random(9), random(9, seed=1))


def closures(suite, Out):
    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def main(
            x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")
        ) -> R.Tensor((4,), "float32"):
            @R.function
            def inner(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                s: R.Tensor((4,), "float32") = R.add(a, y)
                return s

            r = inner(x)
            q: R.Tensor((4,), "float32") = inner(r)
            return q

    suite.library("closures", relax.transform.LambdaLift()(Module))
    suite.call("main", random(4), random(4, seed=1))


def empties(suite, Out):
    """Tensors without elements in every place of what goes in and what comes back."""

    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def alone(x: R.Tensor(("n", 2), "float32")):
            return R.add(x, x)

        @R.function
        def turns(x: R.Tensor((3,), "float32"), e: R.Tensor(("n", 2), "float32")):
            y = R.add(x, x)
            f = R.add(e, e)
            return ((f, y), y, (y, f), f)

        @R.function
        def none(a: R.Tensor(("n", 2), "int64"), b: R.Tensor((3, "m"), "float32")):
            return (R.add(a, a), R.add(b, b))

    suite.library("empties", Module)
    suite.call("alone", random(0, 2))
    suite.call("turns", random(3), random(0, 2))
    suite.call("none", np.zeros((0, 2), "int64"), random(3, 0))


ALL = [networks, control, tuples, shapes, closures, empties]
