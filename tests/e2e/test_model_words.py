"""What is said of a framework's model beside its file: its format, and the shapes of its inputs.
The numbers are ONNX Runtime's, or, where this Python lacks that, of onnx's own evaluator."""
import json
import os
import signal

import harness
import numpy as np
import pytest
from onnx_writer import floats, model, node, tensor, value
from wire import Failure, Wire

RELU = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_open_extents.bin"


def save(folder, raw, name="model.onnx"):
    path = folder / name
    path.write_bytes(raw)
    return path


def pooled(folder):
    """mean over the image of conv(x), x [n, 3, h, w]; and mask [n] that goes along."""
    kernel = floats(4, 3, 3, 3) / 64
    nodes = [node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]),
             node("GlobalAveragePool", ["c"], ["p"]), node("Flatten", ["p"], ["y"]),
             node("Neg", ["mask"], ["m"])]
    return save(folder, model(nodes, [value("x", "float32", ["n", 3, "h", "w"]),
                                      value("mask", "float32", ["n"])],
                              [value("y", "float32", ["n", 4]), value("m", "float32", ["n"])],
                              [tensor("k", kernel)]))


def outputs_of(path, inputs):
    onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no numbers to compare with")
    whole = onnx.load(path)
    for at in whole.graph.node:
        at.name = ""  # ONNX Runtime wants names that differ
    try:
        import onnxruntime
    except ImportError:
        import onnx.reference
        return onnx.reference.ReferenceEvaluator(whole).run(None, inputs)
    return onnxruntime.InferenceSession(whole.SerializeToString()).run(None, inputs)


def test_open_extents_become_those_of_the_load(daemon, tmp_path):
    path = pooled(tmp_path)
    daemon.load("fixed", path, "--replace", "--input", "x=float32[2,3,8,9]")
    assert ("run(x: Tensor([2, 3, 8, 9], float32), mask: Tensor([2], float32)) -> "
            "(y: Tensor([2, 4], float32), m: Tensor([2], float32))") in daemon.ok("funcs", "fixed").out
    x, mask = floats(2, 3, 8, 9), floats(2)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "m.npy", mask)
    daemon.ok("call", "fixed:run", f"@{tmp_path}/x.npy", f"@{tmp_path}/m.npy", "-o",
              tmp_path / "y.npy", "-o", tmp_path / "z.npy")
    y, m = outputs_of(path, {"x": x, "mask": mask})
    assert np.abs(np.load(tmp_path / "y.npy") - y).max() <= 1e-5 * np.abs(y).max()
    assert np.array_equal(np.load(tmp_path / "z.npy"), m)


def test_a_call_of_another_shape_is_refused(daemon, tmp_path):
    daemon.load("fixed", pooled(tmp_path), "--replace", "--input", "x=float32[2,3,8,9]")
    np.save(tmp_path / "x.npy", floats(1, 3, 8, 9))
    np.save(tmp_path / "m.npy", floats(1))
    said = daemon.modser("call", "fixed:run", f"@{tmp_path}/x.npy", f"@{tmp_path}/m.npy")
    assert said.status != 0 and "expected shape [2, 3, 8, 9]" in said.err, said


def test_options_repeat_and_a_question_mark_leaves_open(daemon, tmp_path):
    daemon.load("half", pooled(tmp_path), "--replace", "--input", "x=float32[?,3,8,?]",
                "--input", "mask=float32[5]")
    assert "x: Tensor([5, 3, 8, w], float32), mask: Tensor([5]" in daemon.ok("funcs", "half").out


@pytest.mark.parametrize("words, why", [
    ("y=float32[1]", 'has no input "y"; its inputs are "x", "mask"'),
    ("x=float32[2,3,8]", '"x" has 4 dimensions, but the option input gives 3'),
    ("x=float64[2,3,8,9]", '"x" is float32, but the option input gives float64'),
    ("x=float32[2,4,8,9]", "extent 1 is 3, but the option input gives 4"),
    ("x=float32[2,3,8,9]:mask=float32[3]", "extent 0 is 2 (n), but the option input gives 3"),
    ("x=float32[9223372036854775807,3,9223372036854775807,9]", '"x" is too large'),
])
def test_what_contradicts_the_model_is_named(daemon, tmp_path, words, why):
    said = daemon.modser("load", "wrong", pooled(tmp_path), "--input", words)
    assert said.status != 0 and "model.onnx: " in said.err and why in said.err, said


def test_words_that_are_none_are_the_clients_to_refuse(daemon, tmp_path):
    said = daemon.modser("load", "wrong", pooled(tmp_path), "--input", "x=float32")
    assert said.status == 2 and "expected NAME=DTYPE[EXTENTS]" in said.err, said
    said = daemon.modser("load", "wrong", pooled(tmp_path), "--format", "a b")
    assert said.status == 2 and "expected a name such as onnx" in said.err, said


def test_words_that_are_none_are_refused_on_the_wire(daemon):
    with Wire(daemon.host) as wire:
        for key, value_ in (("input", "x"), ("format", "/")):
            with pytest.raises(Failure, match=f'{key} "{value_}": expected'):
                wire.load("m", RELU.read_bytes(), **{key: value_})


def test_a_shape_that_the_layers_cannot_have_names_the_node(daemon, tmp_path):
    raw = model([node("MatMul", ["x", "w"], ["y"])], [value("x", "float32", ["n", "k"])],
                [value("y", "float32", ["n", 2])], [tensor("w", floats(4, 2))])
    said = daemon.modser("load", "wrong", save(tmp_path, raw), "--input", "x=float32[1,3]")
    assert said.status == 8 and "MatMul" in said.err, said
    daemon.load("right", save(tmp_path, raw), "--input", "x=float32[1,4]")
    daemon.ok("unload", "right")


def test_a_library_is_refused_with_what_is_of_models(daemon):
    said = daemon.modser("load", "zoo", harness.ZOO / "faults.so", "--input", "x=float32[1]")
    assert said.status == 8 and "the option input" in said.err, said
    said = daemon.modser("load", "zoo", harness.ZOO / "faults.so", "--format", "onnx")
    assert said.status == 8 and "is a compiled library (ELF)" in said.err, said


def test_a_format_is_read_whatever_the_bytes_look_like(daemon, tmp_path):
    daemon.load("said", pooled(tmp_path), "--replace", "--format", "onnx")
    daemon.ok("unload", "said")
    said = daemon.modser("load", "said", pooled(tmp_path), "--format", "tmfile")
    assert said.status == 8 and "model.onnx: the option format is tmfile" in said.err, said
    assert "looks like onnx: " in said.err, said


def test_a_format_that_nobody_knows_lists_those_that_are(daemon, tmp_path):
    said = daemon.modser("load", "said", pooled(tmp_path), "--format", "nonesuch")
    assert "unknown format nonesuch; expected tengine, onnx, caffe" in said.err, said


def test_a_preloaded_model_and_one_whose_worker_died_have_them(own_daemon, tmp_path):
    path = pooled(tmp_path)
    words = "x=float32[?,3,8,9]:mask=float32[4]"
    daemon = own_daemon("--load", f"m={path},format=onnx,input={words},workers=2")
    daemon.ok("wait", "m")
    for pid in json.loads(daemon.ok("show", "--json", "m").out)["pids"]:
        with harness.Watched(pid) as worker:
            os.kill(pid, signal.SIGKILL)
            harness.until(worker.has_ended, "the worker is gone")
    daemon.ok("wait", "m")
    assert "x: Tensor([4, 3, 8, 9], float32)" in daemon.ok("funcs", "m").out


@pytest.mark.parametrize("option", ["format=a b", "format=", "input=x", "input=x=float32[1]:"])
def test_wrong_words_end_the_daemons_start(option):
    said = harness.run(harness.BIN / "modserd", "--load", f"m=m.onnx,{option}")
    assert said.status != 0 and option.split("=")[0] in said.err, said


def test_a_section_of_the_configuration_has_them(own_daemon, tmp_path):
    (tmp_path / "d.conf").write_text(
        f'module m {{ file = "{pooled(tmp_path)}" format = onnx input = "x=float32[1,3,8,9]" }}\n')
    daemon = own_daemon("--config", tmp_path / "d.conf")
    daemon.ok("wait", "m")
    assert "x: Tensor([1, 3, 8, 9], float32)" in daemon.ok("funcs", "m").out
    printed = harness.run(harness.BIN / "modserd", "--config", tmp_path / "d.conf",
                          "--print-config")
    assert "x=float32[1,3,8,9]" in printed.out, printed


def test_a_kept_model_has_them_after_a_restart(own_daemon, tmp_path):
    words = ["--format", "onnx", "--input", "x=float32[1,3,8,9]"]
    daemon = own_daemon("--store", tmp_path / "store")
    daemon.load("m", pooled(tmp_path), "--keep", *words)
    daemon.stop()
    daemon = own_daemon("--store", tmp_path / "store")
    daemon.ok("wait", "m")
    assert "x: Tensor([1, 3, 8, 9], float32)" in daemon.ok("funcs", "m").out


def test_inspect_shows_the_shapes_that_follow(daemon, tmp_path):
    said = harness.run(harness.BIN / "modser", "inspect", "--json", "--format", "onnx", "--input",
                       "x=float32[2,3,8,9]", pooled(tmp_path))
    ends = json.loads(said.out)
    assert [e["shape"] for e in ends["inputs"]] == [[2, 3, 8, 9], [2]], said
    assert [e["shape"] for e in ends["outputs"]] == [[2, 4], [2]], said
    said = harness.run(harness.BIN / "modser", "inspect", "--input", "q=float32[2]", pooled(tmp_path))
    assert said.status != 0 and 'no input "q"' in said.err, said
    said = harness.run(harness.BIN / "modser", "inspect", "--input", "q=float32[2]",
                       harness.ZOO / "faults.so")
    assert said.status != 0 and "--input is for model files" in said.err, said
