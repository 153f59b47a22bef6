"""Default values of ONNX inputs: an input that has an initializer may be given or left out. The
numbers are ONNX Runtime's, or, without it, those of ONNX's reference."""
import importlib.util
import inspect
import json
import sys

import harness
import numpy as np
import pytest
from test_http import Visit, ask_json, start

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
import modser  # noqa: E402 (behind the path)

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
from onnx import TensorProto, helper, numpy_helper, reference  # noqa: E402 (behind what may skip)

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
X = np.arange(6, dtype=np.float32).reshape(2, 3)
GIVEN = {"w": np.float32([[1, 2], [3, 4], [5, 6]]), "b": np.float32([7, -7])}


def made(ir=8, extents=(2,), nodes=None):
    """y = x w + b; w comes before x in the file, and both have values."""
    value = helper.make_tensor_value_info
    nodes = nodes or [helper.make_node("MatMul", ["x", "w"], ["t"]),
                      helper.make_node("Add", ["t", "b"], ["y"])]
    graph = helper.make_graph(
        nodes, "g", [value("w", FLOAT, [3, 2]), value("x", FLOAT, [2, 3]),
                     value("b", FLOAT, extents)], [value("y", FLOAT, None)],
        [numpy_helper.from_array(np.float32([[.5, 0], [0, .5], [1, 1]]), "w"),
         numpy_helper.from_array(np.float32([10, 20]), "b")])
    return helper.make_model(graph, ir_version=ir, opset_imports=[helper.make_opsetid("", 17)])


def evaluator(whole):
    if importlib.util.find_spec("onnxruntime") is None:
        return reference.ReferenceEvaluator(whole)
    runtime = importlib.import_module("onnxruntime").InferenceSession(whole.SerializeToString())
    names = [i.name for i in whole.graph.initializer]
    assert [i.name for i in runtime.get_overridable_initializers()] == \
        [i.name for i in whole.graph.input if i.name in names and whole.ir_version > 3]
    return runtime


def loaded(daemon, folder, whole):
    onnx.save(whole, folder / "m.onnx")
    daemon.load("m", folder / "m.onnx", "--replace")
    return evaluator(whole)


def words(folder, named, **arrays):
    for name, x in arrays.items():
        np.save(folder / f"{name}.npy", x)
        yield f"{name}=@{folder}/{name}.npy" if named else f"@{folder}/{name}.npy"


def answer(daemon, folder, *said):
    daemon.ok("call", "m:run", *said, "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("given", [(), ("w",), ("b",), ("w", "b")])
def test_an_input_with_a_value_may_be_given_by_its_name(daemon, tmp_path, given):
    runtime = loaded(daemon, tmp_path, made())
    feeds = {"x": X, **{name: GIVEN[name] for name in given}}
    for _ in range(2):
        assert np.array_equal(answer(daemon, tmp_path, *words(tmp_path, True, **feeds)),
                              runtime.run(None, feeds)[0])
        assert np.array_equal(answer(daemon, tmp_path, *words(tmp_path, False, x=X)),
                              runtime.run(None, {"x": X})[0])


def test_defaults_are_the_last_parameters_and_none_stands_for_their_values(daemon, tmp_path):
    runtime = loaded(daemon, tmp_path, made())
    want = ("run(x: Tensor([2, 3], float32), w: Tensor([3, 2], float32) = default, "
            "b: Tensor([2], float32) = default) -> (")
    assert want in daemon.ok("funcs", "m").out
    x, w, b = words(tmp_path, False, x=X, **GIVEN)
    for said, names in (([x], "x"), ([x, w], "xw"), ([x, w, b], "xwb"), ([x, "none", b], "xb"),
                        ([x, "none", "none"], "x")):
        feeds = {k: v for k, v in {"x": X, **GIVEN}.items() if k in names}
        assert np.array_equal(answer(daemon, tmp_path, *said), runtime.run(None, feeds)[0]), said


def test_wrong_values_are_refused_and_the_model_serves_on(daemon, tmp_path):
    loaded(daemon, tmp_path, made())
    before = answer(daemon, tmp_path, *words(tmp_path, False, x=X))
    x, w, b = words(tmp_path, False, x=X, w=GIVEN["w"], b=np.float32([1, 2, 3]))
    for said, text in (([x, w, b], "argument 2 (b): expected shape [2], got shape [3]"),
                       ([x, "none", "3"], "argument 2 (b): expected a float32 tensor of rank 1"),
                       (["none", w], "argument 0 (x): expected a float32 tensor of rank 2"),
                       ([x, w, w, w], "expected 3 arguments, got 4"), ([], "got 0")):
        refused = daemon.modser("call", "m:run", *said)
        assert refused.status != 0 and text in refused.err, refused
    assert np.array_equal(answer(daemon, tmp_path, x), before)


def test_before_version_4_initializers_are_constants(daemon, tmp_path):
    loaded(daemon, tmp_path, made(ir=3))
    assert "run(x: Tensor([2, 3], float32)) -> " in daemon.ok("funcs", "m").out
    refused = daemon.modser("call", "m:run", *words(tmp_path, True, x=X, b=GIVEN["b"]))
    assert "no parameter has the name b" in refused.err, refused


def test_a_value_of_another_extent_is_given_where_the_file_leaves_it_open(daemon, tmp_path):
    whole = made(extents=["n"], nodes=[helper.make_node("MatMul", ["x", "w"], ["t"]),
                                       helper.make_node("Concat", ["t", "b"], ["y"], axis=0)])
    whole.graph.node[1].input[0] = "f"
    whole.graph.node.insert(1, helper.make_node("Flatten", ["t"], ["u"], axis=0))
    whole.graph.node.insert(2, helper.make_node("Squeeze", ["u"], ["f"]))
    runtime = loaded(daemon, tmp_path, whole)
    for n in (3, 1, 2):
        feeds = {"x": X, "b": np.arange(n, dtype=np.float32)}
        assert np.array_equal(answer(daemon, tmp_path, *words(tmp_path, True, **feeds)),
                              runtime.run(None, feeds)[0])


def test_a_shape_that_is_a_default_is_followed_and_its_value_elsewhere_a_constant(
        daemon, tmp_path):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "s"], ["y"])], "g",
        [value("x", FLOAT, [2, 3]), value("s", INT64, [2])], [value("y", FLOAT, ["a", "b"])],
        [numpy_helper.from_array(np.int64([3, 2]), "s")])
    whole = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    runtime = loaded(daemon, tmp_path, whole)
    for s in ([], [1, 6], [], [6, -1]):
        feeds = {"x": X, **({"s": np.int64(s)} if s else {})}
        y = answer(daemon, tmp_path, *words(tmp_path, True, **feeds))
        want = runtime.run(None, feeds)[0]
        assert y.shape == want.shape and np.array_equal(y, want)


def test_an_instance_has_the_value_of_the_file_until_it_gets_another(daemon, tmp_path):
    runtime = loaded(daemon, tmp_path, made())
    x, b = words(tmp_path, False, x=X, b=GIVEN["b"])
    y = tmp_path / "y.npy"
    daemon.ok("session", "m", "get_input", "str:b", "-o", y)
    assert np.array_equal(np.load(y), [10, 20])
    steps = ["set_input", "str:x", x, "then", "run", "then"]
    for more, feeds in (([], {}), (["set_input", "str:b", b, "then", "run", "then"],
                                   {"b": GIVEN["b"]})):
        daemon.ok("session", "m", *steps, *more, "get_output", "0", "-o", y)
        assert np.array_equal(np.load(y), runtime.run(None, {"x": X, **feeds})[0])


def test_python_has_none_for_a_default(daemon, tmp_path):
    runtime = loaded(daemon, tmp_path, made())
    with modser.connect(daemon.host) as client:
        run = client["m"]["run"]
        want = runtime.run(None, {"x": X, "b": GIVEN["b"]})[0]
        for y in (run(X, None, GIVEN["b"]), run(X, b=GIVEN["b"]), run(x=X, b=GIVEN["b"], w=None)):
            assert np.array_equal(y, want)
        assert np.array_equal(run(X), runtime.run(None, {"x": X})[0])
        assert inspect.signature(run).parameters["b"].default is None


def test_bench_makes_what_a_call_needs(daemon, tmp_path):
    loaded(daemon, tmp_path, made())
    assert "calls" in daemon.ok("bench", "--time", "50ms", "m:run").out


def test_http_has_the_same_with_and_without_the_input(tmp_path):
    whole = made()
    onnx.save(whole, tmp_path / "m.onnx")
    runtime = evaluator(whole)
    with start("--load", f"m={tmp_path / 'm.onnx'}") as daemon, Visit(daemon) as visit:
        daemon.ok("wait", "m")
        for names in ("x", "xb", "bx", "xwb"):
            feeds = {k: {"x": X, **GIVEN}[k] for k in names}
            body = {"inputs": [{"name": k, "datatype": "FP32", "shape": list(v.shape),
                                "data": v.ravel().tolist()} for k, v in feeds.items()]}
            answered, said = ask_json(visit, "/v2/models/m/infer", "POST", json.dumps(body).encode())
            assert answered == 200, said
            want = runtime.run(None, feeds)[0]
            assert said["outputs"][0]["data"] == want.ravel().tolist()
        body["inputs"][2]["name"] = "bb"
        answered, said = ask_json(visit, "/v2/models/m/infer", "POST", json.dumps(body).encode())
        assert answered == 400 and "the model has no such input" in said["error"], said
        _, config = ask_json(visit, "/v2/models/m/config")
        assert [i.get("optional", False) for i in config["input"]] == [False, True, True]


def test_convert_keeps_them_as_inputs_with_a_value(tmp_path):
    onnx.save(made(extents=("n",)), tmp_path / "m.onnx")
    said = harness.run(harness.BIN / "modser", "convert", tmp_path / "m.onnx", "-o",
                       tmp_path / "again.onnx")
    assert said.status == 0, said
    again = onnx.load(tmp_path / "again.onnx")
    onnx.checker.check_model(again)
    assert [i.name for i in again.graph.input] == ["x", "w", "b"]
    assert {i.name for i in again.graph.initializer} == {"w", "b"}
    (extent,) = again.graph.input[2].type.tensor_type.shape.dim
    assert extent.dim_param == "n"
    before, after = evaluator(made(extents=("n",))), evaluator(again)
    for feeds in ({"x": X}, {"x": X, **GIVEN}):
        assert np.array_equal(before.run(None, feeds)[0], after.run(None, feeds)[0])


def test_inspect_lists_them(tmp_path):
    onnx.save(made(), tmp_path / "m.onnx")
    said = harness.run(harness.BIN / "modser", "inspect", tmp_path / "m.onnx")
    assert ('inputs\n  "x": float32[2, 3]\n  "w": float32[3, 2], or its default\n'
            '  "b": float32[2], or its default\noutputs') in said.out
    said = harness.run(harness.BIN / "modser", "--json", "inspect", tmp_path / "m.onnx")
    inputs = json.loads(said.out)["inputs"]
    assert [(i["name"], i.get("has_default", False)) for i in inputs] == [
        ("x", False), ("w", True), ("b", True)]


def test_the_option_input_may_name_one(daemon, tmp_path):
    onnx.save(made(extents=("n",)), tmp_path / "m.onnx")
    daemon.load("m", tmp_path / "m.onnx", "--replace", "--input", "b=float32[2]")
    assert "b: Tensor([2], float32)" in daemon.ok("funcs", "m").out
    feeds = words(tmp_path, True, x=X, b=GIVEN["b"])
    assert np.array_equal(answer(daemon, tmp_path, *feeds),
                          evaluator(made()).run(None, {"x": X, "b": GIVEN["b"]})[0])
    for shape, why in (("float32[3]", "extent 0 of its default is 2, but the option input gives 3"),
                       ("int32[2]", "is float32, but the option input gives int32")):
        said = harness.run(harness.BIN / "modser", "inspect", "--input", f"b={shape}",
                           tmp_path / "m.onnx")
        assert said.status != 0 and f'input "b"' in said.err and why in said.err, said
    said = harness.run(harness.BIN / "modser", "inspect", "--input", "c=float32[3]",
                       tmp_path / "m.onnx")
    assert 'no input "c"; its inputs are "x", "w", "b"' in said.err
