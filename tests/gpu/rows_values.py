"""Rows whose values are known: every form of code, through the daemon."""
import json
import os
import pathlib
import shutil
import time

import numpy as np

from runner import Skip, Wrong, close, off, out_of

ADDONE = ("addone", "addone_x", "addone_y")
MATMUL = ("matmul", "matmul_a", "matmul_b", "matmul_c")
VALUES = "the fixture's values (numpy's)"
MODELS = ["elementwise", "dynamic", "by_hand", "networks", "small_floats", "tensor_maps",
          "transformer"]
COMPILED = ["captured", "uncaptured", "batched"]  # their source does not travel
NOT_COMPUTED = "launched; the stand-in does not compute it"


def devices(r):
    said = json.dumps(r.asked("devices"))
    if "cuda:0" not in said:
        raise Wrong("no cuda:0: " + said[:300])
    return said[:400]


def sandbox(r):
    """Whether the driver lives with what workers may do; else the other rows go on without."""
    r.load("m", r.fixture("tvm-0.27/addone_cuda_ptx.so"))
    r.addone()
    return json.dumps(r.asked("show", "m")["sandbox"])


def abi(r):
    home = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    if not (home / "include/cuda.h").exists() or shutil.which("cc") is None:
        raise Skip(f"no compiler, or no headers in {home}/include")
    said = r.tool("cc", "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-DMSD_HAS_CUDA_HEADER",
                  f"-I{r.here}/source", "-isystem", home / "include", r.here / "source/test_cuda_abi.c")
    if said.returncode != 0:
        raise Wrong(said.stderr[:400])
    return (home / "include/cuda.h").read_text(errors="replace").split(
        "#define CUDA_VERSION ")[1].split()[0]


def operators(file, name):
    def run(r):
        arrays = [np.load(r.fixture(f"tvm-0.8/cuda_ops/{n}.npy")) for n in name[1:]]
        r.load("op", r.fixture(file))
        (got,) = r.call(f"op:{name[0]}", *arrays[:-1], out_of(arrays[-1]))
        return off(close(got, arrays[-1]))
    return run


def graph(folder, results):
    def run(r):
        at = r.fixture(f"tvm-0.8/{folder}/{folder}.so")
        r.load("net", at)
        got = r.call("net:run", np.load(at.parent / "in_data.npy"), results=results)
        return off(*(close(g, np.load(at.parent / f"out_{i}.npy")) for i, g in enumerate(got)))
    return run


def relax(r):
    r.load("net", r.fixture("tvm-0.27/relax_mlp_cuda.so"))
    a = np.load(r.fixture("tvm-0.27/relax_mlp_static.npz"))
    (got,) = r.call("net:forward", *[a[f"in{i}"] for i in range(5)])
    return off(close(got, a["out0"]))


def resnet(r):
    r.load("net", r.fixture("tvm-0.27/convnet_small_cuda.so"))
    a = np.load(r.fixture("tvm-0.27/convnet_small.npz"))
    (got,) = r.call("net:forward", a["in0"])
    return NOT_COMPUTED if r.stand_in else off(close(got, a["out0"], 1e-3))


def scalars(r):
    a = np.load(r.fixture("tvm-0.27/axpb_cuda.npz"))
    r.load("m", r.fixture("tvm-0.27/axpb_cuda.so"))
    (got,) = r.call("m:axpb", a["in0"], "1.5", "3", out_of(a["out"]))
    return off(close(got, a["out"]))


def dynamic_shared(r):
    folder = "tvm-0.8/cuda_dynshared"
    x, y = (np.load(r.fixture(f"{folder}/{n}.npy")) for n in "xy")
    r.load("m", r.fixture(f"{folder}/cuda_dynshared_ptx.so"))
    (got,) = r.call("m:reverse_dyn", x, out_of(y))
    a = np.load(r.fixture("tvm-0.27/rev256_cuda.npz"))
    r.load("m", r.fixture("tvm-0.27/rev256_cuda.so"))
    (other,) = r.call("m:rev256", a["in0"], out_of(a["out"]))
    return off(close(got, y), close(other, a["out"]))


def word(folder, arg):
    """One argument of cases.json as the command line writes it."""
    kind = next(iter(arg))
    if kind == "array":
        return f"@{folder / arg['array']}"
    if kind == "out":
        return f"out:{arg['out']}[{','.join(map(str, arg['dims']))}]"
    return json.dumps(arg[kind])


def calls(r, folder, library, name):
    """All calls that @folder's list has of library @name, made of @library there."""
    r.load("model", folder / library)
    cases = [c for c in json.loads((folder / "cases.json").read_text()) if c["library"] == name]
    worst = [0.0]
    for case in cases:
        words = [f"model:{case['function']}", *[word(folder, a) for a in case["args"]]]
        options = ["--device", case["device"]] if "device" in case else []
        got = r.call(*words, results=len(case["want"]), options=options)
        wanted = [np.load(folder / w["array"]) for w in case["want"]]
        got = [g.view(w.dtype) if said["foreign"] else g  # what numpy has no name for
               for g, w, said in zip(got, wanted, case["want"])]
        if not r.stand_in:
            try:
                worst += [close(g, w, 1e-3) for g, w in zip(got, wanted)]
            except Wrong as why:
                raise Wrong(f"{case['function']}: {why}") from None
    if not cases:
        raise Wrong(f"no calls of {name} in {folder.name}/cases.json")
    return f"{len(cases)} calls, " + (NOT_COMPUTED if r.stand_in else off(*worst))


def model(name, is_source):
    """All calls of one of TVM's libraries."""
    def run(r):
        if name == "tensor_maps" and 0 < r.capability() < 90:
            raise Skip(f"a device of {r.capability() / 10}")
        folder = r.file("models", "cases.json").parent
        return calls(r, folder, f"{name}.so" if is_source else f"compiled/{name}.so", name)
    return run


def cache(file):
    """Cold, from the cache, and with an entry that is damaged."""
    def run(r):
        shutil.rmtree(r.at / "cache", ignore_errors=True)
        took = []
        for step in ("cold", "kept", "damaged"):
            if step == "damaged":
                entries = list((r.at / "cache").glob("cuda-*.bin"))
                if not entries:
                    raise Wrong("nothing was kept")
                entries[0].write_bytes(entries[0].read_bytes()[:-9])
            begin = time.monotonic()
            r.load("m", r.fixture(file))
            took.append(f"{step} {1000 * (time.monotonic() - begin):.0f} ms")
            if not (r.stand_in and "_src" in file):
                r.addone()
        return ", ".join(took)
    return run


ROWS = (
    [("driver and devices", "cuda:0 with its facts", devices),
     ("the sandbox that a driver is given", "a call is answered", sandbox),
     ("our ABI against the headers here", "it compiles", abi)]
    + [(f"TVM 0.8 {name[0]}, {form}", VALUES,
        operators(f"tvm-0.8/cuda_ops/cuda_ops_{form}.so", name))
       for form in ("ptx", "cubin", "fatbin") for name in (ADDONE, MATMUL)]
    + [(f"TVM 0.27 addone, {form}", VALUES, operators(f"tvm-0.27/addone_cuda{suffix}.so", ADDONE))
       for form, suffix in (("fatbin", ""), ("ptx", "_ptx"), ("cubin", "_cubin"), ("source", "_src"))]
    + [("graph of three kernels", VALUES, graph("mlp_cuda", 1)),
       ("graph of eight kernels", VALUES, graph("convnet_cuda", 2)),
       ("Relax model of five kernels", VALUES, relax),
       ("a small ResNet-18", "TVM's values on the CPU", resnet),
       ("scalars and a workspace", VALUES, scalars),
       ("dynamic shared memory, both eras", VALUES, dynamic_shared),
       ("PTX: cold, kept, damaged", "the same values", cache("tvm-0.27/addone_cuda_ptx.so")),
       ("source: cold, kept, damaged", "the same values", cache("tvm-0.27/addone_cuda_src.so"))]
    + [(f"TVM 0.27 {name}, {form}",
        "numpy's values" if name in ("small_floats", "tensor_maps") else "TVM's values on the CPU",
        model(name, form == "source"))
       for name, form in [(name, form) for name in MODELS for form in ("four cubins and PTX", "source")]
       + [(name, "four cubins and PTX") for name in COMPILED]]
)
