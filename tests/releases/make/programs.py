"""programs.py FOLDER: virtual machines' programs as their compiler saves them by themselves.

Relay's are of a release up to 0.19, Relax' of whatever TVM this is: relay.ro, relax.ro.
"""
import pathlib
import sys
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R

folder = pathlib.Path(sys.argv[1])


@I.ir_module
class Sum:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        z = R.add(x, y)
        return z


program = relax.build(Sum, "llvm").mod
save = getattr(program, "write_to_file", None) or program.save
save(str(folder / "relax.ro"), getattr(program, "type_key", "relax.VMExecutable"))
try:
    from tvm import relay
except ImportError:
    sys.exit(0)
x = relay.var("x", shape=(relay.Any(), 4), dtype="float32")
body = relay.nn.relu(relay.add(x, relay.const(np.arange(4, dtype="float32"))))
code, _ = relay.vm.compile(tvm.IRModule.from_expr(relay.Function([x], body)), "llvm").save()
(folder / "relay.ro").write_bytes(code)
