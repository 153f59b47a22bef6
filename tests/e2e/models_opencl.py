#!/usr/bin/env python3
"""models_opencl.py DIR: libraries of OpenCL kernels in DIR, scheduled by TVM or by hand.

The same functions compiled for the CPU and run by TVM say what every call must give; DIR/cases.json
has the calls as models.py writes them, and test_opencl.py makes them.
"""
import json
import pathlib
import sys

import numpy as np
import tvm
from tvm import relax, te
from tvm.s_tir import Schedule, dlight
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from models import Out, Suite
from models_tir import prim, random

TARGET = {"kind": "opencl", "max_num_threads": 256}
DTYPES = ["int8", "uint8", "int16", "int32", "int64", "uint32", "float32", "float64", "bool"]


class DeviceSuite(Suite):
    def library(self, name, module, scheduled=None):
        """@module gives the expected values on the CPU; NAME.so has it for OpenCL, @scheduled
        where TVM's default schedules are not wanted."""
        super().library(name, module)
        target = tvm.target.Target(TARGET, host="llvm")
        module = scheduled or module
        with target:
            if any(isinstance(f, relax.Function) for f in module.functions.values()):
                module = relax.get_pipeline("zero")(module)
            module = by_default(module)
        tvm.compile(module, target=target).export_library(str(self.folder / f"{name}.so"))

    def known(self, function, args, want, **more):
        """A call whose result TVM's runtime cannot compute here."""
        case = {"library": self.name, "function": function}
        case |= {"args": [self.describe(a) for a in args]}
        self.cases.append(case | {"want": [self.describe(w) for w in want]} | more)


def by_default(module):
    return dlight.ApplyDefaultSchedule(
        dlight.gpu.Matmul(),
        dlight.gpu.GEMV(),
        dlight.gpu.Reduction(),
        dlight.gpu.GeneralReduction(),
        dlight.gpu.Fallback(),
    )(module)


def elementwise(suite):
    def mix(dtype):
        a = te.placeholder((1000,), dtype=dtype, name="A")
        b = te.placeholder((1000,), dtype=dtype, name="B")

        def body(i):
            if dtype == "bool":
                return tvm.tirx.all(a[i], tvm.tirx.Not(b[i]))
            return a[i] * b[i] + a[i]

        return prim(f"mix_{dtype}", a, b, te.compute((1000,), body, name="C"))

    suite.library("elementwise", tvm.IRModule({f"mix_{d}": mix(d) for d in DTYPES}))
    for d in DTYPES:
        suite.call(f"mix_{d}", random(d, 1000), random(d, 1000, seed=1), Out(d, 1000))


def dynamic(suite):
    n, m, k = (te.var(name, "int64") for name in "nmk")
    a = te.placeholder((n,), name="A")
    x = te.placeholder((m, k), name="X")
    y = te.placeholder((k, n), name="Y")
    xi = te.placeholder((m, k), name="X", dtype="int32")
    r, r2, r3 = (te.reduce_axis((0, k), name=name) for name in ("r", "r2", "r3"))
    product = te.compute((m, n), lambda i, j: te.sum(x[i, r] * y[r, j], axis=r), name="Z")
    sums = te.compute((m,), lambda i: te.sum(x[i, r2], axis=r2), name="S")
    most = te.compute((m,), lambda i: te.max(xi[i, r3], axis=r3), name="S")
    suite.library(
        "dynamic",
        tvm.IRModule(
            {
                "addone": prim("addone", a, te.compute((n,), lambda i: a[i] + 1.0, name="B")),
                "matmul": prim("matmul", x, y, product),
                "sums": prim("sums", x, sums),
                "most": prim("most", xi, most),
                "turn": prim("turn", x, te.compute((k, m), lambda i, j: x[j, i], name="T")),
            }
        ),
    )
    for n in (0, 1, 17, 1000, 2**20 + 3):
        suite.call("addone", random("float32", n), Out("float32", n))
    for m, k, n in ((33, 65, 17), (1, 64, 1)):
        given = random("float32", m, k), random("float32", k, n)
        suite.call("matmul", *given, Out("float32", m, n))
    for m, k in ((1, 1), (5, 1000), (100, 7)):
        suite.call("sums", random("float32", m, k), Out("float32", m))
        suite.call("most", random("int32", m, k), Out("int32", m))
    suite.call("turn", random("float32", 31, 67), Out("float32", 67, 31))


def kernels_by_hand():
    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def reverse(a: T.handle, b: T.handle):
            T.func_attr({"tirx.noalias": True})
            n = T.int64()
            A = T.match_buffer(a, (n, 64), "float32")
            B = T.match_buffer(b, (n, 64), "float32")
            S = T.sblock_alloc_buffer((n, 64), "float32")
            for i, j in T.grid(n, 64):
                with T.sblock("S"):
                    u, v = T.axis.remap("SS", [i, j])
                    S[u, v] = A[u, v]
            for i, j in T.grid(n, 64):
                with T.sblock("B"):
                    u, v = T.axis.remap("SS", [i, j])
                    B[u, v] = S[u, 63 - v]

        @T.prim_func(s_tir=True)
        def vectors(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32")):
            T.func_attr({"tirx.noalias": True})
            for i in range(4096):
                with T.sblock("B"):
                    v = T.axis.spatial(4096, i)
                    B[v] = A[v] * T.float32(3)

        @T.prim_func(s_tir=True)
        def two_steps(A: T.Buffer((4096,), "int32"), B: T.Buffer((4096,), "int32")):
            T.func_attr({"tirx.noalias": True})
            S = T.sblock_alloc_buffer((4096,), "int32")
            for i in range(4096):
                with T.sblock("S"):
                    v = T.axis.spatial(4096, i)
                    S[v] = A[v] * 2
            for i in range(4096):
                with T.sblock("B"):
                    v = T.axis.spatial(4096, i)
                    B[v] = S[4095 - v] + A[v]

        @T.prim_func(s_tir=True)
        def scaled(
            A: T.Buffer((16,), "float32"),
            k: T.int8,
            u: T.uint16,
            s: T.float64,
            B: T.Buffer((16,), "float32"),
        ):
            T.func_attr({"tirx.noalias": True})
            for i in range(16):
                with T.sblock("B"):
                    v = T.axis.spatial(16, i)
                    B[v] = (
                        A[v] * T.Cast("float32", k) + T.Cast("float32", u) + T.Cast("float32", s)
                    )

        @T.prim_func(s_tir=True)
        def chosen(A: T.Buffer((16,), "int32"), up: T.bool, B: T.Buffer((16,), "int32")):
            T.func_attr({"tirx.noalias": True})
            for i in range(16):
                with T.sblock("B"):
                    v = T.axis.spatial(16, i)
                    B[v] = T.if_then_else(up, A[v], 0)

    return Module


def by_hand(suite):
    """Shared memory, vector loads, two kernels with a workspace between, large grids."""
    module = kernels_by_hand()
    sch = Schedule(module)
    sch.work_on("reverse")
    S, B = sch.get_sblock("S"), sch.get_sblock("B")
    i, j = sch.get_loops(B)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    sch.compute_at(S, i)
    sch.set_scope(S, 0, "shared")
    sch.bind(sch.get_loops(S)[-1], "threadIdx.x")
    sch.work_on("vectors")
    (i,) = sch.get_loops(sch.get_sblock("B"))
    b, t, v = sch.split(i, [None, 64, 4])
    sch.bind(b, "blockIdx.x")
    sch.bind(t, "threadIdx.x")
    sch.vectorize(v)
    suite.library("by_hand", module, sch.mod)
    for n in (1, 3, 70000):
        suite.call("reverse", random("float32", n, 64), Out("float32", n, 64))
    suite.call("vectors", random("float32", 4096), Out("float32", 4096))
    suite.call("two_steps", random("int32", 4096), Out("int32", 4096))
    suite.call("scaled", random("float32", 16), -3, 60000, 0.5, Out("float32", 16))
    for up in (True, False):
        suite.call("chosen", random("int32", 16), up, Out("int32", 16))


def networks(suite):
    @I.ir_module(s_tir=True)
    class Module:
        @R.function
        def views(x: R.Tensor((4, 256), "float32")):
            with R.dataflow():
                y = R.multiply(x, R.const(2.0, "float32"))
                v = R.memory.view(y, R.shape([2, 256]), "float32", R.prim_value(T.int64(2048)))
                v = R.memory.ensure_zero_offset(v)
                z = R.add(v, R.const(1.0, "float32"))
                R.output(z)
            return z

        @R.function
        def branches(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
            n = T.int64()
            if c:
                z: R.Tensor((n, 4), "float32") = R.multiply(x, R.const(3.0, "float32"))
            else:
                z: R.Tensor((n, 4), "float32") = R.subtract(x, R.const(1.0, "float32"))
            return z

        @R.function
        def mixed(x: R.Tensor((8, 16), "float32"), i: R.Tensor((3,), "int64")):
            with R.dataflow():
                a = R.take(x, i, axis=0)
                b = R.sum(a, axis=1)
                c = R.argmax(a, axis=1)
                d = R.astype(R.greater(b, R.const(0.0, "float32")), "int32")
                e = R.strided_slice(x, [0], [2], [6])
                f = R.concat([a, e], axis=0)
                g = R.permute_dims(f)
                ones = R.const(np.ones(7, "float32"))
                h = R.nn.layer_norm(g, ones, R.const(np.zeros(7, "float32")), axes=-1)
                R.output(b, c, d, h)
            return (b, c, d, h)

    suite.library("networks", Module)
    suite.call("views", random("float32", 4, 256))
    for c in (True, False):
        suite.call("branches", random("float32", 5, 4), np.array(c))
    suite.call("mixed", random("float32", 8, 16), np.array([7, 0, 3]))


def two_devices(suite):
    """A Relax model that works on the host first, then on its OpenCL device."""

    @I.ir_module(s_tir=True)
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice(TARGET), I.vdevice("llvm")]})

        @R.function
        def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 4), "float32")):
            with R.dataflow():
                a = R.matmul(x, w)
                b = R.hint_on_device(a, tvm.cpu())
                c = R.hint_on_device(R.maximum(b, R.const(0.5, "float32")), tvm.opencl(0))
                d = R.add(c, R.const(1.0, "float32"))
                R.output(d)
            return d

    target = tvm.target.Target(TARGET, host="llvm")
    with target:
        module = relax.transform.RealizeVDevice()(Module)
        module = by_default(relax.transform.LegalizeOps()(module))
        tvm.compile(module, target=target).export_library(str(suite.folder / "two_devices.so"))
    suite.name = "two_devices"
    x, w = random("float32", 4, 8), random("float32", 8, 4, seed=1)
    suite.known("main", [x, w], [np.maximum(x @ w, np.float32(0.5)) + 1], device="cpu")


def careless(suite):
    """A kernel that reads where it is told to, and one with more threads than a device has."""

    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def far(A: T.Buffer((16,), "int32"), at: T.int64, B: T.Buffer((16,), "int32")):
            T.func_attr({"tirx.noalias": True})
            for i in T.thread_binding(16, thread="threadIdx.x"):
                with T.sblock("B"):
                    v = T.axis.spatial(16, i)
                    B[v] = A[T.Cast("int64", v) * at]

        @T.prim_func(s_tir=True)
        def wide(A: T.Buffer((100000,), "int32"), B: T.Buffer((100000,), "int32")):
            T.func_attr({"tirx.noalias": True})
            for i in T.thread_binding(100000, thread="threadIdx.x"):
                with T.sblock("B"):
                    v = T.axis.spatial(100000, i)
                    B[v] = A[v] + 1

    target = tvm.target.Target({"kind": "opencl", "max_num_threads": 1 << 20}, host="llvm")
    tvm.compile(Module, target=target).export_library(str(suite.folder / "careless.so"))
    suite.name = "careless"
    x = random("int32", 16)
    suite.known("far", [x, 1, Out("int32", 16)], [x])


ALL = [elementwise, dynamic, by_hand, networks, two_devices, careless]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    suite = DeviceSuite(folder)
    for make in ALL:
        make(suite)
    (folder / "cases.json").write_text(json.dumps(suite.cases, indent=1))
    print(f"{len(suite.cases)} calls, TVM {tvm.__version__}")


if __name__ == "__main__":
    main()
