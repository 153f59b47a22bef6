#!/usr/bin/env python3
"""models.py DIR: compile the tests' models with apache-tvm into DIR and call each with TVM.

DIR/cases.json then holds every call with its arguments and the results that TVM's own runtime
gave in this run; arrays lie beside it as .npy files. test_models.py makes the same calls
through modserd and expects the same bits.
"""
import json
import pathlib
import sys

import ml_dtypes
import numpy as np
import tvm
import tvm_ffi
from tvm import relax

import models_relax
import models_tir


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


class Out:
    """A tensor for the callee to fill."""

    def __init__(self, dtype, *shape):
        self.dtype, self.shape = dtype, shape


class Suite:
    def __init__(self, folder):
        self.folder = folder
        self.cases = []
        self.n_arrays = 0

    def library(self, name, module):
        """Compile an IRModule to NAME.so; calls go to it until the next one."""
        path = str(self.folder / f"{name}.so")
        tvm.compile(module, target="llvm").export_library(path)
        loaded = tvm.runtime.load_module(path)
        if any(isinstance(f, relax.Function) for f in module.functions.values()):
            loaded = relax.VirtualMachine(loaded, tvm.cpu())
        self.name, self.callee = name, loaded

    def call(self, function, *args):
        """Call it in TVM and write the case down."""
        given = [self.to_tvm(a) for a in args]
        returned = self.callee[function](*given)
        outs = [g for g, a in zip(given, args) if isinstance(a, Out)]
        want = [self.describe(o.numpy()) for o in outs]
        if returned is not None:
            want += self.flat(returned)
        self.cases.append(
            {
                "library": self.name,
                "function": function,
                "args": [self.describe(a) for a in args],
                "want": want,
            }
        )

    def to_tvm(self, value):
        if isinstance(value, Out):
            return tvm.runtime.tensor(np.zeros(value.shape, numpy_dtype(value.dtype)))
        if isinstance(value, np.ndarray):
            return tvm.runtime.tensor(value)
        if isinstance(value, tuple) and not isinstance(value, tvm_ffi.Shape):
            return tuple(self.to_tvm(v) for v in value)
        return value

    def flat(self, value):
        if isinstance(value, tvm.runtime.Tensor):
            return [self.describe(value.numpy())]
        if isinstance(value, tvm_ffi.Array):
            return [d for v in value for d in self.flat(v)]
        return [self.describe(value)]

    def describe(self, value):
        """One value as JSON; arrays go to files, raw where .npy cannot name the dtype."""
        if isinstance(value, Out):
            return {"out": value.dtype, "dims": list(value.shape)}
        if isinstance(value, np.ndarray):
            self.n_arrays += 1
            file = f"{self.n_arrays:04}.npy"
            foreign = value.dtype.kind == "V" or hasattr(ml_dtypes, value.dtype.name)
            raw = value.view(f"u{value.itemsize}") if foreign else value
            np.save(self.folder / file, raw)
            return {"array": file, "dtype": value.dtype.name, "foreign": foreign}
        if isinstance(value, tvm_ffi.Shape):
            return {"shape": [int(n) for n in value]}
        if isinstance(value, tuple):
            return {"tuple": [self.describe(v) for v in value]}
        assert isinstance(value, (bool, int, float)), value
        return {type(value).__name__: value}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    suite = Suite(folder)
    for part in (models_tir, models_relax):
        for make in part.ALL:
            make(suite, Out)
    (folder / "version").write_text(tvm.__version__)
    (folder / "cases.json").write_text(json.dumps(suite.cases, indent=1))
    libraries = len({c["library"] for c in suite.cases})
    print(f"{len(suite.cases)} calls in {libraries} libraries, TVM {tvm.__version__}")


if __name__ == "__main__":
    main()
