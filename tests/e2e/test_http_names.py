"""Outputs by the names that a model's file gives them: in its metadata, as they are asked for and
as they are answered, by JSON and as bytes."""
import json

import numpy as np
import pytest

from onnx_writer import floats, model, node, tensor, value
from test_http import Visit, ask_json, start
from test_http_infer import PATH, called, infer
from wire import Wire

# Tensors of TensorFlow, of nested modules, and what a signature's text could not hold.
NAMES = ["logits:0", "encoder/layer.1/out", "a, b (c) -> [d]", "Größe"]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    ends = [value(n, "float32", ["batch", 3]) for n in NAMES]
    nodes = [node("Add", ["x:0", f"c{i}"], [n]) for i, n in enumerate(NAMES)]
    constants = [tensor(f"c{i}", np.full(3, i, "float32")) for i in range(len(NAMES))]
    (folder / "named.onnx").write_bytes(
        model(nodes, [value("x:0", "float32", ["batch", 3])], ends, constants))
    (folder / "open.onnx").write_bytes(
        model([node("Reshape", ["x", "s"], ["y"])], [value("x", "float32", [6]),
                                                      value("s", "int64", ["n"])],
              [value("y", "float32", None)]))
    with start("--load", f"named={folder / 'named.onnx'}",
               "--load", f"open={folder / 'open.onnx'}") as d:
        d.ok("wait", "named")
        d.ok("wait", "open")
        yield d


X = {"name": "x:0", "datatype": "FP32", "shape": [2, 3], "data": floats(2, 3).ravel().tolist()}


def test_the_metadata_has_the_files_names_and_extents_that_vary(daemon):
    with Visit(daemon) as visit, Wire(daemon.host) as wire:
        for name in ("named", "named:run"):
            answered, said = ask_json(visit, f"/v2/models/{name}")
            assert answered == 200
            assert said["inputs"] == [{"name": "x:0", "datatype": "FP32", "shape": [-1, 3]}]
            assert said["outputs"] == [{"name": n, "datatype": "FP32", "shape": [-1, 3]}
                                       for n in NAMES]
        said = ask_json(visit, "/v2/models/named/config")[1]
        assert [o["name"] for o in said["output"]] == NAMES
        (run,) = wire.ask("module.describe", "named")["functions"]
        assert [(r["name"], r["extents"]) for r in run["results"]] == \
            [(n, ["batch", ""]) for n in NAMES]
        assert run["params"][0]["extents"] == ["batch", ""]
        said = ask_json(visit, "/v2/models/open")[1]
        assert said["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [-1]}], \
            "nobody knows how many extents it has"


def test_an_answer_has_the_names_and_the_bits_of_a_call(daemon):
    with Visit(daemon) as visit, Wire(daemon.host) as wire:
        answered, said = infer(visit, "named", [X])
        assert answered == 200, said
        assert [o["name"] for o in said["outputs"]] == NAMES
        _, expected = wire.call("named:run", floats(2, 3))
        for output, array in zip(said["outputs"], expected, strict=True):
            assert np.float32(output["data"]).tobytes() == array.tobytes()


@pytest.mark.parametrize("binary", [False, True])
def test_outputs_are_asked_for_by_name(daemon, binary):
    wanted = [{"name": n, "parameters": {"binary_data": binary}} for n in (NAMES[2], NAMES[0])]
    head = json.dumps({"inputs": [X], "outputs": wanted}).encode()
    with Visit(daemon) as visit:
        for _ in range(3):  # a call that is known again is answered the same
            answered, fields, body = visit.ask(PATH.format("named"),
                                               f"Content-Length: {len(head)}\r\n", "POST", head)
            assert answered == 200, body
            text = int(fields["inference-header-content-length"]) if binary else len(body)
            outputs = {o["name"]: o for o in json.loads(body[:text])["outputs"]}
            assert set(outputs) == {NAMES[0], NAMES[2]}
            if binary:
                assert body[text:] == (floats(2, 3)).tobytes() + (floats(2, 3) + 2).tobytes()
            else:
                assert outputs[NAMES[2]]["data"] == (floats(2, 3) + 2).ravel().tolist()


def test_an_output_that_is_not_there_is_named(daemon):
    with Visit(daemon) as visit:
        for name in ("output0", "logits", "x:0"):
            answered, said = infer(visit, "named", [X], outputs=[{"name": name}])
            assert answered == 400 and f"output {name}" in said["error"], said
        assert infer(visit, "named", [X])[0] == 200, "the connection goes on"


def test_dimensions_that_a_call_brings_are_told(daemon, tmp_path):
    shape = {"name": "s", "datatype": "INT64", "shape": [2], "data": [3, 2]}
    x = {"name": "x", "datatype": "FP32", "shape": [6], "data": floats(6).tolist()}
    with Visit(daemon) as visit:
        answered, said = infer(visit, "open", [shape, x])
        assert answered == 200, said
        (y,) = said["outputs"]
        assert y["shape"] == [3, 2]
        assert np.float32(y["data"]).tobytes() == called(daemon, tmp_path, "open:run", floats(6),
                                                         np.int64([3, 2]))
