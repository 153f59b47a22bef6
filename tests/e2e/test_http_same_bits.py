"""What others' clients of the Open Inference Protocol get, unchanged, is what `modser call` gets, bit
for bit: of each kind of model, with each type of element, tensors without elements and without
dimensions, as bytes and as JSON both ways, all outputs and those that are asked for."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import harness
from test_http import http_of, start

CORPUS = harness.ROOT / "tests" / "corpus" / "onnx"
PLAIN = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()


def ramp(dtype, *shape):
    n = int(np.prod(shape))
    return (np.arange(n) * 7 % 11 - (0 if dtype[0] in "bu" else 3)).astype(dtype).reshape(shape)


def cases():
    """(model, its inputs by name, what `modser call` is given for outputs, how many results)"""
    for dtype in PLAIN:
        yield f"dtypes:f_{dtype}", {n: ramp(dtype, 37) for n in "AB"}, [f"out:{dtype}[37]"], 1
    brain = np.array([0x3FC0, 0xC020, 0x0001] * 12 + [0x7F80], "uint16")
    yield "dtypes:f_bfloat16", {n: (brain, "bfloat16") for n in "AB"}, ["out:bfloat16[37]"], 1
    for n in (0, 5):
        yield "shapes:addone", {"A": ramp("float32", n)}, [f"out:float32[{n}]"], 1
    yield "shapes:rank0", {"S": np.float64(2.5).reshape(())}, ["out:float64[]"], 1
    yield "shapes:turn", {"P": ramp("int32", 3, 1, 5, 2)}, ["out:int32[2,5,1,3]"], 1
    for n in (0, 3):
        yield "empties:none", {"a": ramp("int64", n, 2), "b": ramp("float32", 3, 2 - n // 2)}, [], 2
        yield "open", {"x": ramp("float32", n + 1, 3)}, [], 1
    pair = {"x": ramp("float32", 2, 3), "y": ramp("float32", 3)}
    yield "tuples:pair", pair, [], 2
    yield "half", {"x": ramp("float16", 4, 16)}, [], 1


def real_cases():
    old = harness.fixtures() / "tvm-0.8"
    yield "graph08", {"data": np.load(old / "mlp_llvm/in_data.npy")}, [], 1
    yield "vm08", {"data": np.load(old / "mlp_vm/in_data.npy")}, [], 1
    for name in ("tmfile", "onnx"):
        yield name, {"images": ramp("float32", 1, 1, 28, 28)}, [], 1


FILES = {"dtypes": harness.MODELS / "dtypes.so", "shapes": harness.MODELS / "shapes.so",
         "empties": harness.MODELS / "empties.so", "tuples": harness.MODELS / "tuples.so",
         "half": harness.MODELS / "mlp_half.so", "open": CORPUS / "accept_open_extents.bin"}
REAL = {"graph08": "tvm-0.8/mlp_llvm/mlp_llvm.so", "vm08": "tvm-0.8/mlp_vm/mlp_vm.so",
        "tmfile": "tengine/mnist.tmfile", "onnx": "tengine/mnist.onnx"}

COMMON = """
import json, sys, numpy, ml_dtypes
host, folder = sys.argv[1:]
TYPES = {"bool": "BOOL", "float16": "FP16", "float32": "FP32", "float64": "FP64", "bfloat16": "BF16"}
def cases():
    for i, (model, names, n_results) in enumerate(json.load(open(folder + "/cases.json"))):
        inputs = []
        for k, (name, dtype) in enumerate(names):
            array = numpy.load(f"{folder}/{i}.{k}.npy")
            array = array.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else array
            inputs.append((name, TYPES.get(dtype) or dtype.upper(), array))
        yield i, model, inputs, n_results, inputs[0][1] not in ("FP16", "BF16")
def save(i, how, outputs):
    for k, (name, array) in enumerate(outputs):
        numpy.save(f"{folder}/{i}.{how}.{k}.npy", numpy.frombuffer(array.tobytes(), "u1"))
        json.dump([str(array.dtype), list(array.shape)], open(f"{folder}/{i}.{how}.{k}.json", "w"))
"""

TRITON = COMMON + """
import tritonclient.http as triton
with triton.InferenceServerClient(host) as client:
    for i, model, inputs, n_results, has_json in cases():
        told = client.get_model_metadata(model)
        assert [(t["name"], t["datatype"]) for t in told["inputs"]] == [x[:2] for x in inputs], told
        names = [t["name"] for t in told["outputs"]] or [f"output{k}" for k in range(n_results)]
        for into in (True, False)[:1 + has_json]:
            given = []
            for name, datatype, array in inputs:
                given.append(triton.InferInput(name, list(array.shape), datatype))
                given[-1].set_data_from_numpy(array, binary_data=into)
            for out in (True, False)[:1 + has_json]:
                wanted = [triton.InferRequestedOutput(n, binary_data=out) for n in names]
                got = client.infer(model, given, outputs=wanted)
                save(i, f"{into}-{out}", [(n, got.as_numpy(n)) for n in names])
            one = client.infer(model, given, outputs=[triton.InferRequestedOutput(names[-1])])
            assert [o["name"] for o in one.get_response()["outputs"]] == names[-1:]
            all_of_them = client.infer(model, given)
            assert [o["name"] for o in all_of_them.get_response()["outputs"]] == names
"""

KSERVE = COMMON + """
import asyncio, kserve
async def main():
    client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2", retries=0))
    for i, model, inputs, n_results, has_json in cases():
        if inputs[0][1] == "BF16":
            continue # it knows no such arrays
        for into in (True, False)[:1 + has_json]:
            for out in (True, False)[:1 + has_json]:
                given = []
                for name, datatype, array in inputs:
                    given.append(kserve.InferInput(name, list(array.shape), datatype))
                    given[-1].set_data_from_numpy(array, binary_data=into)
                asked = kserve.InferRequest(model, given, parameters={"binary_data_output": out})
                got = await client.infer("http://" + host, asked, model_name=model)
                save(i, f"{into}-{out}", [(o.name, o.as_numpy()) for o in got.outputs])
asyncio.run(main())
"""
CLIENTS = {"tritonclient.http": ("MODSERD_TRITONCLIENT", TRITON), "kserve": ("MODSERD_KSERVE", KSERVE)}


def expect_same(daemon, folder, package, files, all_cases):
    """The bits of @package's answers are those of the command line's."""
    variable, script = CLIENTS[package]
    python = os.environ.get(variable, sys.executable)
    if subprocess.run([python, "-c", f"import ml_dtypes, {package}"], capture_output=True,
                      check=False).returncode != 0:
        pytest.skip(f"no {package} with ml_dtypes ({variable} names a Python that has them)")
    said = []
    for i, (model, inputs, _, n_results) in enumerate(all_cases):
        names = []
        for k, (name, array) in enumerate(inputs.items()):
            array, dtype = array if isinstance(array, tuple) else (array, array.dtype.name)
            np.save(folder / f"{i}.{k}.npy", array)
            names.append((name, dtype))
        said.append((model, names, n_results))
    (folder / "cases.json").write_text(json.dumps(said))
    host, port = http_of(daemon)
    subprocess.run([python, "-c", script, f"{host}:{port}", str(folder)], check=True)
    n_compared = 0
    for i, (model, inputs, outs, n_results) in enumerate(all_cases):
        words = [f"@{folder}/{i}.{k}.npy" + (":bfloat16" if dtype == "bfloat16" else "")
                 for k, (_, dtype) in enumerate(said[i][1])]
        results = [folder / f"{i}.called.{k}.npy" for k in range(n_results)]
        wanted = [w for r in results for w in ("-o", r)]
        daemon.ok("call", model if ":" in model else f"{model}:{files[model]}", *words, *outs, *wanted)
        for k, result in enumerate(results):
            expected = np.load(result)
            for path in folder.glob(f"{i}.*-*.{k}.npy"):
                dtype, shape = json.loads(path.with_suffix(".json").read_text())
                assert np.load(path).tobytes() == expected.tobytes(), (model, path.name)
                assert tuple(shape) == expected.shape, (model, path.name)
                assert dtype in (expected.dtype.name, said[i][1][0][1]), (model, path.name)
                n_compared += 1
    return n_compared


@pytest.mark.parametrize("package", CLIENTS)
def test_every_type_and_shape_of_small_models(tmp_path, package):
    loads = [w for name, path in FILES.items() for w in ("--load", f"{name}={path}")]
    with start(*loads) as d:
        for name in FILES:
            d.ok("wait", name)
        n = expect_same(d, tmp_path, package, {"open": "run", "half": "main"}, list(cases()))
    assert n >= 80


@pytest.mark.parametrize("package", CLIENTS)
def test_models_of_other_frameworks_and_of_old_tvm(tmp_path, package):
    if harness.fixtures() is None:
        pytest.skip("no ../shared/fixtures and no MODSERD_FIXTURES: real artifacts not tested")
    loads = [w for name, path in REAL.items()
             for w in ("--load", f"{name}={harness.fixtures() / path}")]
    with start(*loads) as d:
        for name in REAL:
            d.ok("wait", name)
        whole = {"graph08": "run", "vm08": "main", "tmfile": "run", "onnx": "run"}
        n = expect_same(d, tmp_path, package, whole, list(real_cases()))
    assert n == 4 * len(REAL)
