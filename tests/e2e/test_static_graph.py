"""modser inspect, convert and serializers on models of frameworks, against a reader of its own."""
import json
import pathlib

import harness
import pytest
import tmfile
from onnx_writer import model, node, value

MODSER = harness.BIN / "modser"
SMALL = harness.ROOT / "tests" / "graph" / "golden"
REAL = ("googlenet inception_v3 mobilefacenets mobilenet mobilenet_v2 mobilenet_v3 mssd resnet18 "
        "resnet50 retinaface shufflenet_v2 squeezenet_v1.1 vgg16 yolov3_tiny").split()
NAMES = [f"{name}_benchmark.tmfile" for name in REAL] + ["mnist.tmfile"]


@pytest.fixture(params=NAMES)
def real(request):
    """Two of the files lie in the tree; the others are among the fixtures."""
    folder = harness.fixtures()
    places = [SMALL] if folder is None else [SMALL, folder / "tengine"]
    for place in places:
        if (place / request.param).exists():
            return place / request.param
    pytest.skip(f"no {request.param} among the fixtures")


def dump(path):
    said = harness.run(MODSER, "inspect", "--dump", path)
    assert said.status == 0, said
    return said.out


def test_the_dump_of_a_real_file_is_what_another_reader_finds(real):
    assert dump(real) == tmfile.dump(real.read_bytes())


def test_a_stored_file_holds_the_same_model(real, folder):
    copy = pathlib.Path(folder) / "copy.tmfile"
    assert harness.run(MODSER, "convert", real, "-o", copy).status == 0
    assert dump(copy) == dump(real)
    assert tmfile.dump(copy.read_bytes()) == dump(real)


def test_inspect_says_what_the_file_says_of_itself():
    path = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_gemm.bin"
    said = harness.run(MODSER, "inspect", path)
    assert "onnx.opset 17\nonnx.producer \"test\"\n" in said.out, said
    said = json.loads(harness.run(MODSER, "--json", "inspect", path).out)
    assert said["attributes"] == {"onnx.opset": 17, "onnx.producer": "test"}


def test_inspect_counts_operators_and_constants():
    said = harness.run(MODSER, "--json", "inspect", SMALL / "vgg16_benchmark.tmfile")
    found = json.loads(said.out)
    assert found["operators"]["Convolution"] == 13
    assert found["constant_bytes"] == found["stripped_bytes"] == 553430176
    assert found["inputs"] == [{"name": "data", "dtype": "float32", "shape": [1, 3, 224, 224]}]


def relu_chain(folder, extents):
    path = pathlib.Path(folder) / "chain.onnx"
    path.write_bytes(model([node("Relu", ["x"], ["a"]), node("Sigmoid", ["a"], ["b"]),
                            node("Relu", ["b"], ["y"])],
                           [value("x", "float32", extents)], [value("y", "float32", extents)]))
    return path


def run_bytes(*args):
    said = harness.run(MODSER, "--json", "inspect", *args)
    assert said.status == 0, said
    return json.loads(said.out)["run_bytes"]


# Of three tensors two are there at a time; each place is of whole 64 bytes.
def test_the_memory_of_a_run_is_that_of_tensors_that_are_there_together(folder):
    path = relu_chain(folder, [1, 3, 5, 7])
    assert run_bytes(path) == 2 * 448
    assert "\nmemory of a run 896 bytes\n" in harness.run(MODSER, "inspect", path).out


def test_the_memory_of_a_run_is_known_when_inputs_get_shapes(folder):
    path = relu_chain(folder, ["N", 16])
    assert run_bytes(path) is None
    said = harness.run(MODSER, "inspect", path)
    assert ("memory of a run: shapes are known only in a run; --input says that of \"x\"\n"
            in said.out), said
    assert run_bytes("--input", "x=float32[3,16]", path) == 2 * 192


def test_what_cannot_be_run_has_no_memory_and_says_why():
    path = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_input_that_no_run_can_have.bin"
    assert run_bytes(path) is None
    said = harness.run(MODSER, "inspect", path)
    assert "memory of a run: not known: node 2 \"n\", Convolution: \"x\" is too large\n" in said.out


def test_the_picture_has_every_node_that_computes():
    said = harness.run(MODSER, "inspect", "--dot", SMALL / "yolov3_tiny_benchmark.tmfile")
    assert said.out.count("[label=\"Convolution") == 13
    assert "Const" not in said.out


def test_the_serializers_are_listed():
    said = harness.run(MODSER, "--json", "formats")
    rows = [(r["key"], r["files"], r["loads"], r["stores"]) for r in json.loads(said.out)]
    assert rows == [("tengine", 1, True, True), ("onnx", 1, True, True),
                    ("caffe", 2, True, False), ("caffe_single", 1, True, False),
                    ("mxnet", 2, True, False), ("tflite", 1, True, False),
                    ("tensorflow", 1, True, False)]


def test_serializers_name_the_operators_that_each_loads_and_stores():
    tengine, onnx, *_ = json.loads(harness.run(MODSER, "--json", "formats").out)
    assert tengine["load_operators"] == tengine["store_operators"]
    assert {"Convolution", "Pooling"} <= set(tengine["store_operators"])
    assert {"Conv", "If", "ai.onnx.ml.Scaler", "Constant"} <= set(onnx["load_operators"])
    assert {"Convolution", "PReLU"} <= set(onnx["store_operators"])
    assert "Convolution" not in onnx["load_operators"] and "Det" not in tengine["load_operators"]
    for names in (onnx["load_operators"], onnx["store_operators"], tengine["load_operators"]):
        assert names == sorted(set(names))


def test_serializers_count_operators_for_people():
    rows = json.loads(harness.run(MODSER, "--json", "formats").out)
    lines = harness.run(MODSER, "formats").out.splitlines()
    for row, line in zip(rows, lines, strict=True):
        stores = f", stores {len(row['store_operators'])} operators" if row["stores"] else ""
        assert line.endswith(f"\tloads {len(row['load_operators'])} operators{stores}"), line


@pytest.mark.parametrize("name, status, cause", [
    ("reject_version_1.bin", 8, "a tmfile of version 1"),
    ("reject_nhwc_operator.bin", 8, 'node 2 "op": its layout is NHWC, where LRN cannot be read'),
    ("reject_unknown_operator.bin", 8, 'node 2 "op": no operator has type 104'),
    ("reject_missing_tensor.bin", 8, 'node 2 "op": there is no tensor 3'),
    ("reject_circle.bin", 8, "its input depends on its own output"),
])
def test_what_is_wrong_with_a_file_is_said(name, status, cause):
    path = harness.ROOT / "tests" / "corpus" / "tmfile" / name
    said = harness.run(MODSER, "inspect", path)
    assert (said.status, cause in said.err) == (status, True), said


def test_a_library_has_no_dump(fixtures):
    said = harness.run(MODSER, "inspect", "--dump", fixtures / "tvm-0.27" / "addone.so")
    assert (said.status, "--dump is for model files" in said.err) == (8, True), said
