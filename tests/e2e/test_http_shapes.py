"""Shapes of a call's tensors by HTTP: what follows from what, and what contradicts what."""
import json

import numpy
import pytest

import harness
from test_http import Visit, ask_json, start
from test_http_infer import PATH, binary, infer, tensor


@pytest.fixture(scope="module")
def daemon():
    names = ("mlp", "shapes", "shape_functions", "tuples")
    with start(*[w for n in names for w in ("--load", f"{n}={harness.MODELS / n}.so")]) as d:
        for name in names:
            d.ok("wait", name)
        yield d


def test_a_shape_follows_from_several_inputs(daemon):
    x, y = numpy.ones((2, 3), "float32"), numpy.ones((3, 4), "float32")
    with Visit(daemon) as visit:
        inputs = [tensor("Y", "FP32", y), tensor("X", "FP32", x)]
        answered, said = infer(visit, "shapes:matmul", inputs)
        assert answered == 200, said
        assert said["outputs"][0] == {"name": "Z", "datatype": "FP32", "shape": [2, 4],
                                      "data": [3] * 8}
        answered, said = infer(visit, "shape_functions:concatenate",
                               [tensor("x", "FP32", x[:, :2]), tensor("y", "FP32", y[:, :2])])
        assert (answered, said["outputs"][0]["shape"]) == (200, [5, 2])


def test_inputs_that_contradict_each_other_are_both_named(daemon):
    x, y = numpy.ones((2, 5), "float32"), numpy.ones((3, 4), "float32")
    with Visit(daemon) as visit:
        inputs = [tensor("X", "FP32", x), tensor("Y", "FP32", y)]
        answered, said = infer(visit, "shapes:matmul", inputs)
        assert (answered, said["error"]) == (400, "input Y: its extent k is 3, but 5 in input X")
        answered, said = infer(visit, "shape_functions:compare", [
            tensor("x", "FP32", x[0]), tensor("y", "FP32", y[0])])
        assert (answered, said["error"]) == (400, "input y: its extent n is 4, but 5 in input x")


@pytest.mark.parametrize("model, inputs, name, shape, right", [
    ("shapes:addone", {"A": (3,)}, "B", [5], "[3]"),
    ("shapes:matmul", {"X": (2, 3), "Y": (3, 4)}, "Z", [2, 5], "[2,4]"),
    ("shapes:matmul", {"X": (2, 3), "Y": (3, 4)}, "Z", [8], "[2,4]"),
    ("shape_functions:concatenate", {"x": (1, 2), "y": (4, 2)}, "T_concat", [4, 2], "[5,2]"),
])
def test_an_output_that_does_not_fit_is_told_what_would(daemon, model, inputs, name, shape, right):
    with Visit(daemon) as visit:
        answered, said = infer(
            visit, model, [tensor(n, "FP32", numpy.ones(s)) for n, s in inputs.items()],
            outputs=[{"name": name, "parameters": {"shape": shape}}])
        assert answered == 400
        assert said["error"].startswith(f"output {name}: ") and right in said["error"]


def test_an_output_that_is_too_large_is_named_with_what_it_takes(daemon):
    inputs = [{"name": n, "datatype": "FP32", "shape": s, "data": []}
              for n, s in (("X", [1 << 20, 0]), ("Y", [0, 1 << 22]))]
    with Visit(daemon) as visit:
        text = json.dumps({"inputs": inputs}).encode()
        answered, fields, body = visit.ask(PATH.format("shapes:matmul"),
                                           f"Content-Length: {len(text)}\r\n", "POST", text)
        said = json.loads(body)["error"]
        assert answered == 413 and "retry-after" not in fields
        assert said.startswith(f"output Z: its {1 << 44} bytes") and "--max-memory" in said
        inputs[1]["shape"] = [0, 1 << 62]
        answered, said = infer(visit, "shapes:matmul", inputs)
        assert answered == 413 and said["error"].startswith("output Z: ")


def test_inputs_that_are_too_large_are_named():
    few = ("--max-payload", "64K", "--max-memory", "16M")
    with start(*few, "--load", f"shapes={harness.MODELS}/shapes.so") as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        answered, said, _ = binary(visit, "shapes:addone", numpy.ones(1 << 15, "float32"))
        assert answered == 413
        assert said["error"].startswith("input A: its 131072 bytes") and "65536" in said["error"]


def test_what_a_model_gives_back_is_in_its_metadata(daemon):
    """As `modser funcs` shows it, and as an answer has it."""
    varies = {"name": "output0", "datatype": "FP32", "shape": [-1, 3]}
    with Visit(daemon) as visit:
        for model, outputs in {
            "mlp": [{"name": "output0", "datatype": "FP32", "shape": [-1, 10]}],
            "tuples:pair": [varies, {**varies, "name": "output1"}],
            "tuples:same": [],  # its artifact does not tell
            "shape_functions:flatten": [],  # not all are tensors
        }.items():
            answered, said = ask_json(visit, f"/v2/models/{model}")
            assert (answered, said["outputs"]) == (200, outputs)
        answered, said = infer(visit, "mlp", [tensor("x", "FP32", numpy.ones((2, 16)))])
        assert [o["name"] for o in said["outputs"]] == ["output0"]
        assert said["outputs"][0]["shape"] == [2, 10]
