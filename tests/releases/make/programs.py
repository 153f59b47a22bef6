"""programs.py FOLDER: virtual machines' programs as their compiler saves them by themselves, each
with its library, an input and what TVM computes of it.

Relay's are of a release up to 0.19, Relax' of whatever TVM this is: relay.ro, relay.so,
relay.in.npy, relay.out.npy, and the same of relax.
"""
import os
import pathlib
import sys
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R

folder = pathlib.Path(sys.argv[1])
target = os.environ.get("GEN_LLVM", "llvm")
array = getattr(tvm, "nd", tvm.runtime)
tensor = getattr(array, "array", None) or array.tensor


@I.ir_module
class Sum:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        z = R.nn.relu(R.add(x, R.const(np.arange(-2, 2, dtype="float32"))))
        return z


def keep(name, library, run):
    x = np.random.default_rng(7).standard_normal((3, 4)).astype("float32")
    library.export_library(str(folder / f"{name}.so"))
    np.save(folder / f"{name}.in.npy", x)
    np.save(folder / f"{name}.out.npy", run(tensor(x)).numpy())


program = relax.build(Sum, target)
save = getattr(program.mod, "write_to_file", None) or program.mod.save
save(str(folder / "relax.ro"), getattr(program.mod, "type_key", "relax.VMExecutable"))
keep("relax", getattr(program.mod, "imports", None) and program.mod.imports[0] or
     program.mod.imported_modules[0], relax.VirtualMachine(program, tvm.cpu())["main"])
try:
    from tvm import relay
    from tvm.runtime import vm
except ImportError:
    sys.exit(0)
x = relay.var("x", shape=(relay.Any(), 4), dtype="float32")
body = relay.nn.relu(relay.add(x, relay.const(np.arange(4, dtype="float32"))))
program = relay.vm.compile(tvm.IRModule.from_expr(relay.Function([x], body)), target)
code, library = program.save()
(folder / "relay.ro").write_bytes(code)
keep("relay", library, lambda x: vm.VirtualMachine(program, tvm.cpu()).invoke("main", x))
