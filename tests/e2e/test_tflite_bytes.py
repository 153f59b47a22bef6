"""Quantized TensorFlow Lite files run as integers, and give TensorFlow Lite's bytes (tflite_bytes.py)."""
import collections
import json

import harness
import numpy as np
import pytest
import tflite_bytes

NETWORKS = dict(tflite_bytes.networks())
EXPECTED = json.loads(tflite_bytes.EXPECTED.read_text())


def served(daemon, folder, name, *words):
    """{output: its bytes as integers}"""
    net = NETWORKS[name]
    dtype = "uint8" if net.kind == tflite_bytes.UINT8 else "int8"
    (folder / "net.tflite").write_bytes(net.file())
    x = np.frombuffer(tflite_bytes.given(net), dtype).reshape(net.tensors[0][1])
    np.save(folder / "x.npy", x)
    daemon.ok("load", "--replace", *words, "net", folder / "net.tflite")
    files = [folder / f"y{k}.npy" for k in range(len(net.outputs))]
    daemon.ok("call", "net:run", f"t0=@{folder / 'x.npy'}", *[w for f in files for w in ("-o", f)])
    out = {f"t{k}": np.load(f) for k, f in zip(net.outputs, files, strict=True)}
    assert {y.dtype.name for y in out.values()} == {dtype}
    return {key: y.astype(int).ravel() for key, y in out.items()}, dtype


def differences(got, want, dtype):
    """The share of bytes that differ, and the largest difference."""
    steps = [np.abs(y - np.frombuffer(bytes.fromhex(want[key]), dtype).astype(int))
             for key, y in got.items()]
    steps = np.concatenate(steps)
    return (steps > 0).mean(), steps.max()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_file_gives_the_bytes_of_tensorflow_lite(daemon, tmp_path, name):
    got, dtype = served(daemon, tmp_path, name)
    for way, want in EXPECTED[name].items():
        share, largest = differences(got, want, dtype)
        # a step of one node may be two of the last
        assert (largest <= 2, share <= 0.03) == (True, True), (way, share, largest)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_reference_engine_gives_the_same_bytes_but_at_ties(daemon, tmp_path, name):
    got, _ = served(daemon, tmp_path, name)
    want, _ = served(daemon, tmp_path, name, "--engine", "reference")
    steps = np.concatenate([np.abs(got[key] - want[key]) for key in got])
    assert (steps.max() <= 2, (steps > 0).mean() <= 0.01) == (True, True), steps.max()


def operators_of(folder, name):
    (folder / "net.tflite").write_bytes(NETWORKS[name].file())
    said = harness.run(harness.BIN / "modser", "--json", "inspect", "--plan", folder / "net.tflite")
    return collections.Counter(row["op"] for row in json.loads(said.out)["rows"])


def test_each_node_computes_with_bytes(tmp_path):
    moves = {"Pad": 1, "Transpose": 9, "Reshape": 1}
    assert operators_of(tmp_path, "mobile_int8") == moves | {
        "QuantizedConvolution": 4, "QuantizedBinary": 1, "QuantizedPooling": 2, "QuantizedMatMul": 1}
    moves = {"Transpose": 10, "Slice": 1, "Reshape": 1, "Squeeze": 1, "Concat": 1}
    assert operators_of(tmp_path, "operators_int8") == moves | {
        "QuantizedConvolution": 1, "QuantizedBinary": 2, "QuantizedPooling": 1, "QuantizedMatMul": 1,
        "QuantizedTable": 5}
