"""ONNX models served by the daemon: every type of element, extents that a call brings, shapes
that follow from values, and what is refused. The numbers of single operators are those of
ONNX's own test models (tests/graph/onnx_suite.py)."""
import pathlib
import re

import harness
import numpy as np
import pytest
from onnx_writer import Graph, floats, model, node, tensor, value

CORPUS = harness.ROOT / "tests" / "corpus" / "onnx"


def ramp(*shape):
    n = np.prod(shape)
    return (np.arange(n) * 37 % 101 / np.float32(101)).astype(np.float32).reshape(shape)


def save(folder, raw):
    path = folder / "model.onnx"
    path.write_bytes(raw)
    return path


def call(daemon, folder, name, *arrays):
    words = []
    for i, x in enumerate(arrays):
        np.save(folder / f"{i}.npy", x)
        words.append(f"@{folder}/{i}.npy")
    daemon.ok("call", f"{name}:run", *words, "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def test_a_preloaded_model_says_its_signature_and_computes(own_daemon, tmp_path):
    daemon = own_daemon("--load", f"m={CORPUS / 'accept_gemm.bin'}")
    daemon.ok("wait", "m")
    said = daemon.ok("funcs", "m").out
    assert "run(x: Tensor([1, 3], float32)) -> (y: Tensor([1, 2], float32))" in said
    x = np.float32([[1, 2, 3]])
    assert np.array_equal(call(daemon, tmp_path, "m", x), x @ floats(2, 3).T)


def test_a_call_brings_the_extents_that_the_file_leaves_open(daemon, tmp_path):
    daemon.load("open", CORPUS / "accept_open_extents.bin", "--replace")
    for n in (1, 4, 2):
        x = floats(n, 3) - 4
        assert np.array_equal(call(daemon, tmp_path, "open", x), np.maximum(x, 0))


def test_open_extents_are_shown_by_their_names_where_these_can_be_read(daemon, tmp_path):
    ends = [[value(name, "float32", ["batch", "a, b", 3])] for name in "xy"]
    daemon.load("named", save(tmp_path, model([node("Relu", ["x"], ["y"])], *ends)), "--replace")
    want = "run(x: Tensor([batch, ?, 3], float32)) -> (y: Tensor([batch, ?, 3], float32))"
    for _ in range(2):  # a call, which brings extents, changes nothing
        assert want in daemon.ok("funcs", "named").out
        call(daemon, tmp_path, "named", floats(2, 5, 3))


def test_a_shape_that_follows_from_a_value_is_found_in_the_run(daemon, tmp_path):
    raw = model([node("Reshape", ["x", "s"], ["r"]), node("Neg", ["r"], ["y"])],
                [value("x", "float32", [2, 6]), value("s", "int64", [2])],
                [value("y", "float32", ["a", "b"])])
    daemon.load("reshape", save(tmp_path, raw), "--replace")
    for shape in ([3, 4], [6, -1]):
        y = call(daemon, tmp_path, "reshape", floats(2, 6), np.int64(shape))
        assert np.array_equal(y, -floats(2, 6).reshape(shape))


@pytest.mark.parametrize("dtype", ["int64", "int8", "float16", "float64", "uint8"])
def test_elements_of_other_types_go_in_and_come_out(daemon, tmp_path, dtype):
    raw = model([node("Add", ["x", "c"], ["y"])], [value("x", dtype, [2, 3])],
                [value("y", dtype, [2, 3])], [tensor("c", np.arange(3).astype(dtype))])
    daemon.load("typed", save(tmp_path, raw), "--replace")
    x = np.arange(6).reshape(2, 3).astype(dtype)
    y = call(daemon, tmp_path, "typed", x)
    assert y.dtype == dtype and np.array_equal(y, x + np.arange(3).astype(dtype))


@pytest.mark.parametrize("dtype, tolerance", [("float16", 1e-3), ("float64", 1e-15)])
def test_layers_of_other_floats_are_summed_in_double_and_rounded_once(daemon, tmp_path, dtype,
                                                                      tolerance):
    weights, kernel = floats(8, 5).astype(dtype) / 16, floats(2, 1, 3, 3).astype(dtype) / 8
    raw = model([node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]),
                 node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
                 node("Reshape", ["p", "s"], ["r"]), node("MatMul", ["r", "w"], ["y"])],
                [value("x", dtype, [1, 1, 4, 4])], [value("y", dtype, [1, 5])],
                [tensor("k", kernel), tensor("w", weights), tensor("s", np.int64([1, 8]))])
    daemon.load("floats", save(tmp_path, raw), "--replace")
    x = floats(1, 1, 4, 4).astype(dtype) / 32
    padded = np.pad(x[0, 0].astype("float64"), 1)
    conv = np.stack([[[(padded[i:i + 3, j:j + 3] * k[0].astype("float64")).sum()
                       for j in range(4)] for i in range(4)] for k in kernel]).astype(dtype)
    pooled = conv.reshape(2, 2, 2, 2, 2).max((2, 4)).reshape(1, 8)
    want = pooled.astype("float64") @ weights.astype("float64")
    y = call(daemon, tmp_path, "floats", x)
    assert y.dtype == dtype
    assert np.abs(y.astype("float64") - want).max() <= tolerance * np.abs(want).max()


def test_a_bool_comes_out_of_a_comparison(daemon, tmp_path):
    raw = model([node("Less", ["x", "x2"], ["y"])],
                [value("x", "float32", [4]), value("x2", "float32", [1])],
                [value("y", "bool", [4])])
    daemon.load("less", save(tmp_path, raw), "--replace")
    y = call(daemon, tmp_path, "less", np.float32([1, 2, 3, np.nan]), np.float32([2.5]))
    assert y.dtype == bool and y.tolist() == [True, True, False, False]


def test_an_instance_keeps_its_inputs(daemon, tmp_path):
    daemon.load("m", CORPUS / "accept_gemm.bin", "--replace")
    x = np.float32([[3, 2, 1]])
    np.save(tmp_path / "x.npy", x)
    daemon.ok("session", "m", "set_input", "str:x", f"@{tmp_path}/x.npy", "then", "run", "then",
              "get_output", "0", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), x @ floats(2, 3).T)


def test_how_many_elements_come_out_is_what_the_values_say(daemon, tmp_path):
    daemon.load("found", CORPUS / "accept_non_zero_and_gather_nd.bin", "--replace")
    for x in ([[0, 5, -1]], [[0, 0, 0]], [[1, 2, 3]]):
        y = call(daemon, tmp_path, "found", np.float32(x))
        assert y.tolist() == [v for v in x[0] if v != 0]


def test_an_index_behind_the_end_fails_the_call_and_not_the_worker(daemon, tmp_path):
    raw = model([node("Gather", ["x", "i"], ["y"])],
                [value("x", "float32", [3, 2]), value("i", "int64", [1])],
                [value("y", "float32", [1, 2])])
    daemon.load("gather", save(tmp_path, raw), "--replace")
    np.save(tmp_path / "x.npy", floats(3, 2))
    np.save(tmp_path / "i.npy", np.int64([3]))
    said = daemon.modser("call", "gather:run", f"@{tmp_path}/x.npy", f"@{tmp_path}/i.npy")
    assert said.status != 0 and "index 3 of 3" in said.err, said
    y = call(daemon, tmp_path, "gather", floats(3, 2), np.int64([-1]))
    assert np.array_equal(y, floats(3, 2)[-1:])


@pytest.mark.parametrize("name, cause", [
    ("reject_unknown_operator.bin", "no operator Frobnicate is known"),
    ("reject_external_data.bin", "not a file below"),
    ("reject_deep.bin", "messages are nested too deep"),
    ("reject_opset_99.bin", "opset 99; 1 to 28 can be read"),
    ("reject_functions_too_often.bin", "functions call each other too often"),
])
def test_what_cannot_be_read_is_refused_with_its_reason(daemon, name, cause):
    said = daemon.modser("load", "bad", CORPUS / name)
    assert said.status == 8 and cause in said.err, said


def test_a_run_that_no_machine_has_room_for_is_refused_by_its_size(daemon, tmp_path):
    ends = [[value(name, "float32", [1 << 44])] for name in "xy"]
    path = save(tmp_path, model([node("Relu", ["x"], ["t"]), node("Neg", ["t"], ["y"])], *ends))
    refused = daemon.modser("load", "huge", path)
    assert refused.status == 1 and f"a run needs {1 << 47} bytes of memory" in refused.err, refused


@pytest.mark.parametrize("name, cause", [
    (b"input", "tensor 0: its name is not UTF-8"),
    (b"node-", "node 1: its name is not UTF-8"),
    (b"lower", "tensor 1 \"output\": a dimension's name is not UTF-8"),
])
def test_a_damaged_name_is_the_files_and_no_break_of_the_protocol(daemon, tmp_path, name, cause):
    raw = model([node("Relu", ["input"], ["output"], name="node-")],
                [value("input", "float32", [1])], [value("output", "float32", ["lower"])])
    assert name in raw
    said = daemon.modser("load", "bad", save(tmp_path, raw.replace(name, b"inp\xfft")))
    assert said.status == 8 and "[BAD_ARTIFACT]" in said.err and cause in said.err, said


def test_a_trained_network_agrees_with_the_same_one_as_a_tmfile(daemon, tmp_path):
    folder = harness.fixtures()
    if folder is None:
        pytest.skip("no folder of real artifacts")
    x = ramp(1, 1, 28, 28)
    daemon.load("onnx", folder / "tengine" / "mnist.onnx", "--replace")
    daemon.load("tm", folder / "tengine" / "mnist.tmfile", "--replace")
    y = call(daemon, tmp_path, "onnx", x)
    assert np.abs(y - call(daemon, tmp_path, "tm", x)).max() < 1e-5


@pytest.mark.parametrize("name, to", [("mnist.onnx", "onnx"), ("mnist.tmfile", "onnx"),
                                      ("mnist.onnx", "tmfile")])
def test_a_network_that_was_converted_gives_the_same_numbers(daemon, tmp_path, name, to):
    folder = harness.fixtures()
    if folder is None:
        pytest.skip("no folder of real artifacts")
    x = ramp(1, 1, 28, 28)
    daemon.ok("convert", folder / "tengine" / name, "-o", tmp_path / f"net.{to}")
    daemon.load("before", folder / "tengine" / name, "--replace")
    daemon.load("after", tmp_path / f"net.{to}", "--replace")
    before, after = (call(daemon, tmp_path, which, x) for which in ("before", "after"))
    # A FullyConnected becomes a Gemm, whose bias comes last: another rounding.
    assert np.abs(before - after).max() <= (1e-5 if name == "mnist.tmfile" else 0)


def test_a_loop_turns_as_often_as_the_call_says(daemon, tmp_path):
    daemon.load("loop", CORPUS / "accept_loop_with_an_if.bin", "--replace")
    a, b = np.float32([1, 2]), np.float32([3, 4])
    for n, want in ((0, a), (1, a + a), (4, a + a - 3 * b)):
        y = call(daemon, tmp_path, "loop", np.int64(n), a, b)
        assert np.array_equal(y, want)


def test_a_loop_that_never_ends_is_ended_by_its_deadline(own_daemon, tmp_path):
    go = node("Identity", ["go"], ["go2"])
    body = Graph([go, node("Identity", ["p"], ["p2"])],
                 [value("i", "int64", []), value("go", "bool", []), value("p", "float32", [1])],
                 [value("go2", "bool", []), value("p2", "float32", [1])])
    raw = model([node("Loop", ["", "", "x"], ["y"], body=body)], [value("x", "float32", [1])],
                [value("y", "float32", [1])])
    daemon = own_daemon("--kill-grace", "10ms")
    daemon.load("forever", save(tmp_path, raw))
    daemon.load("m", CORPUS / "accept_gemm.bin")
    np.save(tmp_path / "x.npy", np.float32([1]))
    before = daemon.workers()

    def ended():  # not by a call whose deadline passed before its worker began it
        words = ("call", "--deadline", "50ms", "forever:run", f"@{tmp_path}/x.npy")
        assert daemon.modser(*words).status == 9
        return not set(before) <= set(daemon.workers())

    harness.until(ended, "its worker is ended")
    x = np.float32([[1, 2, 3]])
    assert np.array_equal(call(daemon, tmp_path, "m", x), x @ floats(2, 3).T)


def of_any_rank(opset=17, *after):
    """x reshaped to what a call says, of which the file does not tell how many extents it has."""
    last = [node(op, [a], [b], axis=1) for op, a, b in after]
    return model([node("Reshape", ["x", "s"], ["r"])] + last,
                 [value("x", "float32", ["n"]), value("s", "int64", ["k"])],
                 [value("y" if after else "r", "float32", None)], opset=opset)


def test_how_many_dimensions_an_output_has_is_what_a_call_says(daemon, tmp_path):
    daemon.load("rank", save(tmp_path, of_any_rank()), "--replace")
    assert "(r: Tensor([...], float32))" in daemon.ok("funcs", "rank").out
    for shape in ([2, 6], [12], [2, 3, 2], [3, 4]):
        y = call(daemon, tmp_path, "rank", floats(12), np.int64(shape))
        assert np.array_equal(y, floats(*shape))


def test_an_instance_gives_outputs_of_any_number_of_dimensions(daemon, tmp_path):
    daemon.load("rank", save(tmp_path, of_any_rank()), "--replace")
    np.save(tmp_path / "x.npy", floats(1))
    np.save(tmp_path / "s.npy", np.int64([1]))
    said = daemon.ok("session", "rank", "set_input", "str:x", f"@{tmp_path}/x.npy", "then",
                     "set_input", "str:s", f"@{tmp_path}/s.npy", "then", "run", "then",
                     "get_output", "0")
    assert said.out.strip() == "[0.0]", said


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_an_old_softmax_over_several_axes_is_written_in_new_operators(daemon, tmp_path, op):
    """Axes 1 and later of it are one: numpy's of the flattened rows is the oracle."""
    (tmp_path / "old.onnx").write_bytes(of_any_rank(11, (op, "r", "y")))
    daemon.ok("convert", tmp_path / "old.onnx", "-o", tmp_path / "new.onnx")
    for name in ("old", "new"):
        daemon.load(name, tmp_path / f"{name}.onnx", "--replace")
    for shape in ([3, 4], [2, 3, 2], [1, 2, 3, 2]):
        x = ramp(12)
        flat = x.reshape(shape[0], -1).astype(np.float64)
        e = np.exp(flat - flat.max(1, keepdims=True))
        e /= e.sum(1, keepdims=True)
        best = np.arange(flat.shape[1]) == flat.argmax(1)[:, None]
        want = {"Softmax": e, "LogSoftmax": np.log(e), "Hardmax": best}[op].reshape(shape)
        old, new = (call(daemon, tmp_path, which, x, np.int64(shape)) for which in ("old", "new"))
        assert old.shape == want.shape and np.abs(old - want).max() < 1e-6
        assert np.array_equal(old, new)


def test_a_worker_gives_back_the_pages_of_packed_weights(own_daemon, tmp_path):
    w = ramp(4096, 4096)
    raw = model([node("MatMul", ["x", "w"], ["y"])], [value("x", "float32", [1, 4096])],
                [value("y", "float32", [1, 4096])], constants=[tensor("w", w)])
    daemon = own_daemon()
    daemon.load("large", save(tmp_path, raw))
    (worker,) = daemon.workers()
    status = pathlib.Path(f"/proc/{worker}/status").read_text()
    mapped = re.findall(r"^Rss(?:File|Shmem):\s*(\d+) kB$", status, re.M)
    assert len(mapped) == 2 and sum(map(int, mapped)) * 1024 < w.nbytes / 2, status
    x = ramp(1, 4096)
    assert np.allclose(call(daemon, tmp_path, "large", x), x @ w, rtol=1e-4)


def test_a_file_that_is_cut_off_is_refused_with_both_sizes(daemon, tmp_path):
    raw = (CORPUS / "accept_gemm.bin").read_bytes()
    said = daemon.modser("load", "cut", save(tmp_path, raw[:-7]))
    assert said.status == 8 and re.search(
        r"cut off: the field at byte \d+ has \d+ bytes, \d+ are there", said.err), said
