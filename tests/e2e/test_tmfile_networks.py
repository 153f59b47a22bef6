"""Whole networks of ONNX as tmfiles and back: the reader of the tests accepts the tmfile, and ONNX
Runtime gives both ONNX files the same numbers."""
import pathlib
import sys

import harness
import numpy as np
import pytest
from tmfile_fields import Tmfile

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no networks are made")
onnxruntime = pytest.importorskip("onnxruntime", reason="no ONNX Runtime in this Python: "
                                  "networks have nothing to be compared with")
sys.path.insert(0, str(harness.ROOT / "bench" / "engines"))
import make_models  # noqa: E402 (behind the path)
from test_light_networks import LIGHT, with_random_weights  # noqa: E402 (behind what may skip)

MADE = {
    "resnet18": lambda: make_models.resnet("resnet18", [2, 2, 2, 2], False, 96),
    "resnet50": lambda: make_models.resnet("resnet50", [3, 4, 6, 3], True, 64),
    "mobilenet_v2": make_models.mobilenet_v2,
    "yolo": make_models.yolo,
}
LIGHT_ONES = ["squeezenet", "shufflenet", "densenet121", "inception_v1"]


def made(name, path):
    if name in MADE:
        net, out = MADE[name]()
        net.save(path, out)
        return
    light = LIGHT / f"light_{name}.onnx"
    if not light.exists():
        pytest.skip(f"no {light.name} in Python's onnx")
    model = with_random_weights(onnx.load(light))
    read = {name for node in model.graph.node for name in node.input}
    for ends in (model.graph.initializer, model.graph.input):
        kept = [t for t in ends if t.name in read]
        del ends[:]
        ends.extend(kept)
    onnx.save(model, path)


def convert(a, b):
    said = harness.run(harness.BIN / "modser", "convert", a, "-o", b)
    assert said.status == 0, said


def answers(path, x=None):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    if x is None:
        x = np.random.default_rng(4).standard_normal(given.shape).astype(np.float32)
    return x, session.run(None, {given.name: x})


@pytest.mark.parametrize("name", [*MADE, *LIGHT_ONES])
def test_it_is_the_same_network_behind_a_tmfile(tmp_path, name):
    made(name, tmp_path / "a.onnx")
    convert(tmp_path / "a.onnx", tmp_path / "b.tmfile")
    file = Tmfile((tmp_path / "b.tmfile").read_bytes())
    assert len(file.inputs) == len(file.outputs) == 1
    convert(tmp_path / "b.tmfile", tmp_path / "c.onnx")
    onnx.checker.check_model(str(tmp_path / "c.onnx"))
    x, (want,) = answers(tmp_path / "a.onnx")
    _, (y,) = answers(tmp_path / "c.onnx", x)
    pathlib.Path(tmp_path / "b.tmfile").unlink()  # hundreds of MB together
    assert y.shape == want.shape and np.abs(y - want).max() <= 1e-5 * np.abs(want).max()
