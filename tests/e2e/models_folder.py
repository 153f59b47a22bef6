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


def with_cache():
    """Functions that take their parameters from TVM's cache of tensors."""
    tensor = relax.TensorType
    builder = relax.BlockBuilder()
    packed = relax.ExternFunc
    with builder.function("by_name", params=[]):
        names = [tvm.ir.StringImm(n) for n in ("scale", "up.bias")]
        both = builder.emit(relax.Call(
            packed("vm.builtin.param_array_from_cache_by_name_unpacked"), names, ty_args=[
                relax.TupleType([tensor((5,), "float32"), tensor((32,), "float32")])]))
        builder.emit_func_output(relax.TupleGetItem(both, 1))
    for name, *words in (("get", "tensor_cache.get", "scale"), ("absent", "tensor_cache.get", "none"),
                         ("load", "tensor_cache.load", "folder"),
                         ("unpacked", "param_array_from_cache_by_name_unpacked", "none")):
        with builder.function(name, params=[]):
            builder.emit_func_output(builder.emit(relax.Call(
                packed("vm.builtin." + words[0]), [tvm.ir.StringImm(w) for w in words[1:]],
                ty_args=[relax.ObjectType()])))
    return builder.get()


def main(out):
    libraries = {}
    for mode in ("packed", "plain"):
        module, named = exported(mode)
        module = with_metadata(module, named)
        for how in ("bytecode", "compiled"):
            libraries[f"{mode}_{how}"] = relax.build(module, target="llvm", exec_mode=how)
    plain, named = exported("plain")
    zeros = {n: np.zeros([int(d) for d in p.shape], p.dtype) for n, p in named}
    for function in ("main", "lift"):
        plain = relax.transform.BindParams(function, zeros)(plain)
    libraries["closed"] = relax.build(plain, target="llvm")
    libraries["bare"] = relax.build(exported("packed")[0], target="llvm")
    for name, executable in libraries.items():
        executable.export_library(str(out / f"{name}.so"))
    cached = relax.build(with_cache(), target="llvm")
    cached.export_library(str(out / "cached.so"))
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
    tvm.get_global_func("vm.builtin.tensor_cache.load")(str(out / "half"), 1, 0)
    vm = relax.VirtualMachine(cached, tvm.cpu())
    for function in ("by_name", "get"):
        np.save(out / f"half.{function}.npy", vm[function]().numpy())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
