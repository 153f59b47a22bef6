"""models_folder.py DIR: a model of tvm.relax.frontend.nn without its parameters, and folders of
parameters by tvmjs.dump_tensor_cache. The results are those of TVM's VM with the parameters that
TVM reads back from the folder."""
import json
import pathlib
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.contrib import tvmjs
from tvm.relax.frontend import nn

FOLDERS = {  # name: encoding, MiB of a shard
    "raw": ("raw", 32),
    "half": ("f32-to-bf16", 32),
    "shards": ("raw", 1 / 1024),
}


class Net(nn.Module):
    def __init__(self):
        self.up = nn.Linear(16, 32, bias=True)
        self.down = nn.Linear(32, 5, bias=False, dtype="float16")
        self.scale = nn.Parameter((5,), "float32")

    def main(self, x):
        y = nn.op.silu(self.up(x)).astype("float16")
        return self.down(y).astype("float32") * self.scale

    def lift(self, x):
        return self.up(x)


def exported(mode):
    x = {"x": nn.spec.Tensor(["n", 16], "float32"), "$": {"param_mode": mode, "effect_mode": "none"}}
    module, named = Net().export_tvm({"main": dict(x), "lift": dict(x)})
    return module, named


def with_metadata(module, named):
    """As MLC-LLM's compiler adds it."""
    facts = {"params": [{"name": n, "shape": list(p.shape), "dtype": p.dtype} for n, p in named]}
    builder = relax.BlockBuilder()
    with builder.function("_metadata", params=[]):
        builder.emit_func_output(tvm.ir.StringImm(json.dumps(facts)))
    module["_metadata"] = builder.get()["_metadata"]
    return module


def main(out):
    libraries = {}
    for mode in ("packed", "plain"):
        module, named = exported(mode)
        module = with_metadata(module, named)
        for how in ("bytecode", "compiled"):
            libraries[f"{mode}_{how}"] = relax.build(module, target="llvm", exec_mode=how)
    libraries["bare"] = relax.build(exported("packed")[0], target="llvm")
    for name, executable in libraries.items():
        executable.export_library(str(out / f"{name}.so"))
    rng = np.random.default_rng(40)
    values = {n: rng.standard_normal([int(d) for d in p.shape]).astype(p.dtype) for n, p in named}
    x = rng.standard_normal((3, 16)).astype("float32")
    np.save(out / "x.npy", x)
    vm = relax.VirtualMachine(libraries["plain_bytecode"], tvm.cpu())
    for name, (encoding, mib) in FOLDERS.items():
        folder = out / name
        tvmjs.dump_tensor_cache(values, str(folder), encode_format=encoding, shard_cap_mb=mib,
                                show_progress=False)
        read, _ = tvmjs.load_tensor_cache(str(folder), tvm.cpu())
        arguments = [tvm.runtime.tensor(x), *[read[n] for n, _ in named]]
        for function in ("main", "lift"):
            np.save(out / f"{name}.{function}.npy", vm[function](*arguments).numpy())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
