"""Frameworks' models served by the daemon: the numbers are ONNX Runtime's of the same networks
(tests/graph/golden/onnxruntime.json), bad files cost nothing but their load."""
import json
import os
import signal

import harness
import numpy as np
import pytest
from tmfile_writer import File, words

SMALL = harness.ROOT / "tests" / "graph" / "golden"
GOLDEN = json.loads((SMALL / "onnxruntime.json").read_text())
YOLO = "yolov3_tiny_benchmark.tmfile"


def ramp(*shape):
    n = np.prod(shape)
    return (np.arange(n) * 37 % 101 / np.float32(101)).astype(np.float32).reshape(shape)


def expect_golden(name, *outputs):
    want = GOLDEN[name]
    y = np.concatenate([out.ravel() for out in outputs]).astype(np.float64)
    assert len(y) == want["elements"]
    assert abs(np.sqrt((y * y).sum()) / want["norm"] - 1) < 1e-5
    for i, value in want["samples"]:
        assert abs(y[i] - value) < 1e-5 * want["largest"]


@pytest.fixture
def yolo(folder):
    """Its input and the files that its two outputs go to."""
    np.save(f"{folder}/x.npy", ramp(1, 3, 416, 416))
    return f"@{folder}/x.npy", [f"{folder}/a.npy", f"{folder}/b.npy"]


def expect_yolo(daemon, name, yolo):
    x, files = yolo
    daemon.ok("call", f"{name}:run", x, "-o", files[0], "-o", files[1])
    expect_golden(YOLO, *[np.load(f) for f in files])


def relu(folder):
    """A model of max(x, 0), of a float32 [2, 3]."""
    f = File()
    nodes = [f.node(0, "x", 12, [], [0]), f.node(1, "op", 20, [0], [1])]
    tensors = [f.tensor(0, "x", 3, (2, 3), 0, 0), f.tensor(1, "y", 1, ())]
    whole = f.end(nodes, tensors, [], [0], [1])
    path = folder / "relu.tmfile"
    path.write_bytes(whole)
    return path


def test_the_signature_has_the_models_names(daemon):
    daemon.load("vgg", SMALL / "vgg16_benchmark.tmfile", "--missing-weights", "zero")
    said = daemon.ok("funcs", "vgg").out
    assert "run(data: Tensor([1, 3, 224, 224], float32)) -> (prob: Tensor([1, 1000]," in said, said
    daemon.ok("unload", "vgg")


def test_an_uploaded_model_gives_onnx_runtimes_numbers(daemon, yolo):
    daemon.load("yolo", SMALL / YOLO, "--missing-weights", "seeded", "--replace")
    expect_yolo(daemon, "yolo", yolo)


def test_a_preloaded_model_whose_worker_died_answers_the_same(own_daemon, yolo):
    daemon = own_daemon("--load", f"yolo={SMALL / YOLO},missing-weights=seeded")
    daemon.ok("wait", "yolo")
    expect_yolo(daemon, "yolo", yolo)
    (pid,) = json.loads(daemon.ok("show", "--json", "yolo").out)["pids"]
    with harness.Watched(pid) as worker:
        os.kill(pid, signal.SIGKILL)
        harness.until(worker.has_ended, "the worker is gone")
    daemon.ok("wait", "yolo")
    expect_yolo(daemon, "yolo", yolo)


def test_a_call_by_name_and_an_instance_give_the_same(daemon, tmp_path):
    x = np.float32([[-1, 2, -3], [4, -5, 6]])
    np.save(tmp_path / "x.npy", x)
    daemon.load("relu", relu(tmp_path), "--replace")
    daemon.ok("call", "relu:run", f"x=@{tmp_path}/x.npy", "-o", tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy"), np.maximum(x, 0))
    daemon.ok("session", "relu", "set_input", "str:x", f"@{tmp_path}/x.npy", "then", "run",
              "then", "get_output", "0", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.maximum(x, 0))


def test_an_instance_begins_with_zeros_and_has_no_output_before_a_run(daemon, tmp_path):
    daemon.load("relu", relu(tmp_path), "--replace")
    daemon.ok("session", "relu", "get_input", "str:x", "-o", tmp_path / "x.npy")
    assert not np.load(tmp_path / "x.npy").any()
    said = daemon.modser("session", "relu", "get_output", "0")
    assert said.status != 0 and "run was not called yet" in said.err, said


@pytest.mark.parametrize("wrong", [np.zeros((3, 2), np.float32), np.zeros((2, 3))])
def test_an_input_that_is_not_the_models_is_refused(daemon, tmp_path, wrong):
    np.save(tmp_path / "x.npy", wrong)
    daemon.load("relu", relu(tmp_path), "--replace")
    for words_ in (["call", "relu:run"], ["session", "relu", "set_input", "str:x"]):
        said = daemon.modser(*words_, f"@{tmp_path}/x.npy")
        assert said.status != 0 and ": expected " in said.err, said


def test_weights_that_were_taken_out_are_refused_with_the_option(daemon):
    said = daemon.modser("load", "bare", SMALL / YOLO)
    assert said.status == 8 and f"{YOLO}: " in said.err, said
    assert "missing-weights=seeded to replace them" in said.err, said


@pytest.mark.parametrize("option", ["fill=ones", "fill="])
def test_a_wrong_fill_ends_the_daemons_start(option):
    said = harness.run(harness.BIN / "modserd", "--load", f"y=y.tmfile,{option}")
    assert said.status != 0 and "fill" in said.err, said


def test_a_wrong_fill_is_refused_by_the_client(daemon):
    said = daemon.modser("load", "y", SMALL / YOLO, "--missing-weights", "ones")
    assert said.status == 2 and "expected zero or seeded" in said.err, said


def test_a_library_is_refused_with_what_stands_for_a_models_weights(daemon):
    said = daemon.modser("load", "zoo", harness.ZOO / "faults.so", "--missing-weights", "zero")
    assert said.status == 8 and "the option missing-weights" in said.err, said


def test_a_truncated_file_is_refused(daemon, tmp_path):
    (tmp_path / "cut.tmfile").write_bytes((SMALL / YOLO).read_bytes()[:5000])
    said = daemon.modser("load", "cut", tmp_path / "cut.tmfile", "--missing-weights", "seeded")
    assert said.status == 8 and "cut.tmfile: " in said.err, said


def test_version_1_is_refused_by_name(daemon, tmp_path):
    (tmp_path / "old.tmfile").write_bytes(words(1 << 16, 0, 12) + bytes(64))
    said = daemon.modser("load", "old", tmp_path / "old.tmfile")
    assert said.status == 8 and "version 1" in said.err, said


def test_parameters_beside_a_model_are_refused(daemon, tmp_path):
    (tmp_path / "p.params").write_bytes(b"parameters")
    said = daemon.modser("load", "p", relu(tmp_path), "--params", tmp_path / "p.params")
    assert said.status == 8 and "a framework's model has its own" in said.err, said
