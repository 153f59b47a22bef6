#!/usr/bin/env python3
"""models.py DIR: the models of tests/e2e/models.py, compiled for arm64.

What they compute is taken from TVM's run of the same models here, before each library is
replaced by the one for arm64. DIR/machine says whose code it is: test_models.py then allows for
floating point that is fused there and not here.
"""
import pathlib
import sys

import tvm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import models  # noqa: E402

ARM64 = {"kind": "llvm", "mtriple": "aarch64-linux-gnu"}


class Crossing(models.Suite):
    def library(self, name, module):
        super().library(name, module)
        path = self.folder / f"{name}.so"
        path.unlink()  # it is open, and TVM would write into it
        built = tvm.compile(module, target=tvm.target.Target(ARM64))
        built.export_library(str(path), cc="aarch64-linux-gnu-gcc")


if __name__ == "__main__":
    models.Suite = Crossing
    models.main()
    pathlib.Path(sys.argv[1], "machine").write_text("aarch64\n")
