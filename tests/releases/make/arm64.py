"""arm64.py FILE: a small graph for another machine, which is looked at and never run. Wants aarch64-linux-gnu-gcc."""
import sys
import numpy as np
import tvm
from tvm import relay
from tvm.contrib import cc
rng = np.random.RandomState(0)
a = relay.var("a", shape=(4, 8), dtype="float32")
w, b = (relay.const((rng.randn(*s) * 0.5).astype("float32")) for s in ((4, 8), (8,)))
m = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([a], relay.nn.relu(a * w + b))))
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(m, target="llvm -mtriple=aarch64-linux-gnu")
lib.export_library(sys.argv[1], fcompile=cc.cross_compiler("aarch64-linux-gnu-gcc", options=["-s"]))
