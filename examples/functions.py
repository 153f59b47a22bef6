#!/usr/bin/env python3
"""Two libraries of plain functions, as TVM's users write them by hand.

functions.py DIR    write DIR/addone.so, DIR/multi.so and a vector for them, DIR/v.npy
"""
import pathlib
import sys

import numpy as np
import tvm
from tvm import te
from tvm.script import ir as I
from tvm.script import tirx as T


def addone(path):
    """B = A + 1, of any length."""
    a = te.placeholder((te.var("n", "int64"),), name="A")
    b = te.compute(a.shape, lambda i: a[i] + 1.0, name="B")
    function = te.create_prim_func([a, b]).with_attr("global_symbol", "addone")
    tvm.compile(function, target="llvm").export_library(str(path))


def multi(path):
    """C = A * s + k: scalars among the arguments."""

    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(s_tir=True)
        def scale(
            a: T.Buffer((16,), "float32"), s: T.float32, k: T.int32, c: T.Buffer((16,), "float32")
        ):
            T.func_attr({"global_symbol": "scale"})
            for i in range(16):
                c[i] = a[i] * s + T.Cast("float32", k)

    tvm.compile(Module, target="llvm").export_library(str(path))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    addone(folder / "addone.so")
    multi(folder / "multi.so")
    np.save(folder / "v.npy", np.arange(1000, dtype="float32"))
