"""ONNX models whose weights are in files of their own: read, converted and served as one, wherever
their files may be found, and by no other path."""
import importlib
import json
import os
import signal
import sys

import harness
import numpy as np
import pytest
from onnx_writer import model, node, tensor, value

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
client_of_python = importlib.import_module("modser")

W = np.arange(32, dtype=np.float32).reshape(4, 8) - 11
B = np.arange(8, dtype=np.float32) * 3


def write(folder, location="w.bin", **place):
    """x @ W + B, the weights in a file, B behind W; what the file says of W is @place."""
    w = {"location": location, "offset": "0", "length": str(W.nbytes)} | place
    b = {"location": location, "offset": str(W.nbytes), "length": str(B.nbytes)}
    raw = model([node("MatMul", ["x", "w"], ["t"]), node("Add", ["t", "b"], ["y"])],
                [value("x", "float32", [2, 4])], [value("y", "float32", [2, 8])],
                constants=[tensor("w", W, external=w), tensor("b", B, external=b)])
    path = folder / "model.onnx"
    path.write_bytes(raw)
    return path


def write_data(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(W.tobytes() + B.tobytes())
    return path


def modser(*words):
    return harness.run(harness.BIN / "modser", *words)


def expect_right(daemon, name, folder):
    x = np.float32([[1, 2, 3, 4], [-1, 0, 2, 5]])
    np.save(folder / "x.npy", x)
    daemon.ok("call", f"{name}:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    assert np.array_equal(np.load(folder / "y.npy"), x @ W + B)


def test_load_finds_the_files_beneath_the_models_folder(daemon, tmp_path):
    path = write(tmp_path, "weights/w.bin")
    write_data(tmp_path / "weights" / "w.bin")
    daemon.load("external", path, "--workers", "2", "--replace")
    expect_right(daemon, "external", tmp_path)


def test_with_names_a_file_that_is_elsewhere(daemon, tmp_path):
    path = write(tmp_path)
    elsewhere = write_data(tmp_path / "elsewhere" / "w.bin")
    daemon.load("external", path, "--external-data", elsewhere, "--replace")
    expect_right(daemon, "external", tmp_path)


def test_a_file_that_the_model_does_not_name_is_refused(daemon, tmp_path):
    path, data = write(tmp_path), write_data(tmp_path / "w.bin")
    stray = write_data(tmp_path / "stray.bin")
    said = daemon.modser("load", "--external-data", data, "--external-data", stray, "stray", path)
    assert said.status == 2 and f"names no file {stray.name}" in said.err, said
    library = harness.ZOO / "results.so"
    said = daemon.modser("load", "--external-data", stray, "stray", library)
    assert said.status == 2 and f"{library} names no file" in said.err, said


def test_a_length_that_is_not_said_is_the_rest_of_the_file(daemon, tmp_path):
    raw = model([node("Add", ["x", "b"], ["y"])], [value("x", "float32", [8])],
                [value("y", "float32", [8])],
                constants=[tensor("b", B, external={"location": "b", "offset": "4"})])
    (tmp_path / "b").write_bytes(bytes(4) + B.tobytes())
    (tmp_path / "model.onnx").write_bytes(raw)
    daemon.load("rest", tmp_path / "model.onnx", "--replace")
    said = daemon.ok("call", "rest:run", "zeros:float32[8]", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), B), said


def test_convert_and_inspect_read_them_too(daemon, tmp_path):
    path = write(tmp_path)
    data = write_data(tmp_path / "w.bin")
    assert "MatMul" in modser("inspect", path).out
    said = modser("convert", path, "-o", tmp_path / "whole.onnx")
    assert said.status == 0, said
    data.unlink()
    daemon.load("external", tmp_path / "whole.onnx", "--replace")
    expect_right(daemon, "external", tmp_path)


def test_convert_writes_the_weights_into_a_second_file(daemon, tmp_path):
    wide = np.arange(1024, dtype=np.float32).reshape(4, 256)
    raw = model([node("MatMul", ["x", "w"], ["t"]), node("Add", ["t", "b"], ["y"])],
                [value("x", "float32", [2, 4])], [value("y", "float32", [2, 256])],
                constants=[tensor("w", wide), tensor("b", wide[0])])
    (tmp_path / "whole.onnx").write_bytes(raw)
    said = modser("convert", tmp_path / "whole.onnx", "-o", tmp_path / "m.onnx", "-o",
                  tmp_path / "m.data")
    assert said.status == 0, said
    assert (tmp_path / "m.data").read_bytes() == wide.tobytes() + wide[0].tobytes()
    assert (tmp_path / "m.onnx").stat().st_size < 1024
    daemon.load("split", tmp_path / "m.onnx", "--replace")
    np.save(tmp_path / "x.npy", wide[:2, :4])
    daemon.ok("call", "split:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), wide[:2, :4] @ wide + wide[0])


def test_weights_that_the_model_would_not_find_are_not_written(tmp_path):
    (tmp_path / "sub").mkdir()
    path = write(tmp_path)
    write_data(tmp_path / "w.bin")
    said = modser("convert", path, "-o", tmp_path / "m.onnx", "-o", tmp_path / "sub" / "m.data")
    assert said.status == 2 and "only there" in said.err, said
    said = modser("convert", path, "-o", tmp_path / "m.tmfile", "-o", tmp_path / "m.data")
    assert said.status != 0 and not (tmp_path / "m.tmfile").exists(), said


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "link.bin", "a/../../w.bin"])
def test_a_model_reaches_no_file_outside_of_its_folder(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a").mkdir()
    write_data(tmp_path / "w.bin")
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    said = modser("inspect", write(folder, location))
    assert said.status != 0 and location in said.err and 'tensor "w"' in said.err, said


@pytest.mark.parametrize("place", [{"offset": "1000"}, {"length": "1000"}, {"offset": "-4"},
                                   {"length": "4 "}, {"offset": str(2**64)},
                                   {"length": str(2**64 - 1), "offset": "8"}])
def test_a_place_that_is_not_in_the_file_is_refused_with_its_tensor(tmp_path, place):
    write_data(tmp_path / "w.bin")
    said = modser("inspect", write(tmp_path, **place))
    assert said.status != 0 and 'tensor "w": external data: its offset' in said.err, said


def test_bytes_that_are_not_the_shapes_are_refused(tmp_path):
    write_data(tmp_path / "w.bin")
    said = modser("inspect", write(tmp_path, length="64"))
    assert said.status != 0 and 'tensor "w": external data: its length' in said.err, said


def test_a_file_that_is_missing_is_named_by_client_and_daemon(own_daemon, tmp_path):
    path = write(tmp_path)
    here = modser("inspect", path)
    assert here.status != 0 and "w.bin" in here.err and "No such file" in here.err, here
    daemon = own_daemon("--load", f"m={path}")
    said = daemon.modser("wait", "m")
    assert said.status != 0 and '"w.bin"' in said.err, said


C_LOAD = r"""
#include <modser.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static char model[1 << 16], data[1 << 16];
	FILE *m = fopen(argv[2], "rb"), *w = fopen(argv[3], "rb");
	const size_t n = fread(model, 1, sizeof(model), m);
	const modser_file file = {"w.bin", data, fread(data, 1, sizeof(data), w)};
	const modser_load_options options = {.replace = true, .files = &file, .n_files = 1};
	modser_client *client;
	modser_result *r;
	if (modser_open(argv[1], 0, &client, NULL) != MODSER_OK)
		return 2;
	const modser_err err = modser_load(client, "external", model, n, &options, &r);
	if (err != MODSER_OK)
		fprintf(stderr, "%s\n", modser_result_error(r)->message);
	modser_result_free(r);
	modser_close(client);
	fclose(m);
	fclose(w);
	return argc != 4 || err != MODSER_OK;
}
"""


def saved_by_onnx(folder, size):
    """x @ W + b, written by onnx itself, each tensor in a file of its own; and what it computes."""
    onnx = pytest.importorskip("onnx", reason="no onnx in this Python: its own writer is not read")
    w = np.arange(size * 300, dtype=np.float32).reshape(size, 300) % 17 - 8
    b = np.arange(300, dtype=np.float32)
    of, info = onnx.numpy_helper.from_array, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["t"]),
         onnx.helper.make_node("Add", ["t", "b"], ["y"])], "g",
        [info("x", 1, ["n", size])], [info("y", 1, ["n", 300])], [of(w, "w"), of(b, "b")])
    opset = [onnx.helper.make_opsetid("", 17)]
    m = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save_model(m, str(folder / "big.onnx"), save_as_external_data=True,
                    all_tensors_to_one_file=False, size_threshold=64)
    names = sorted(p.name for p in folder.iterdir() if p.name != "big.onnx")
    assert len(names) == 2, names
    x = np.arange(2 * size, dtype=np.float32).reshape(2, size) % 5
    return folder / "big.onnx", [folder / n for n in names], x, x @ w + b


def test_the_daemon_takes_files_that_onnx_wrote(own_daemon, tmp_path):
    path, files, x, y = saved_by_onnx(tmp_path, 7)
    daemon = own_daemon("--load", f"m={path},external-data={files[0]}:{files[1]},workers=2")
    np.save(tmp_path / "x.npy", x)
    daemon.ok("wait", "m")
    daemon.ok("call", "m:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), y)


def test_a_worker_that_died_opens_the_files_again(own_daemon, tmp_path):
    path, files, x, y = saved_by_onnx(tmp_path, 7)
    daemon = own_daemon("--load", f"m={path},external-data={files[0]}:{files[1]}")
    np.save(tmp_path / "x.npy", x)
    daemon.ok("wait", "m")
    for f in files:
        f.unlink()
    (pid,) = json.loads(daemon.ok("show", "--json", "m").out)["pids"]
    with harness.Watched(pid) as worker:
        os.kill(pid, signal.SIGKILL)
        harness.until(worker.has_ended, "the worker is gone")
    daemon.ok("wait", "m")
    daemon.ok("call", "m:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), y)


def test_python_uploads_files_beside_a_model(daemon, tmp_path):
    path, files, x, y = saved_by_onnx(tmp_path, 7)
    with client_of_python.connect(daemon.host) as client:
        m = client.load("beside", path, files={f.name: f for f in files}, replace=True)
        assert np.array_equal(m.run(x), y)


@pytest.mark.skipif(harness.SANITIZED, reason="a program of others has no sanitizer")
def test_c_uploads_files_beside_a_model(daemon, tmp_path):
    path = write(tmp_path, "weights/w.bin")
    data = write_data(tmp_path / "w.bin")
    (tmp_path / "load.c").write_text(C_LOAD)
    built = harness.run("cc", "-I", harness.ROOT / "client", tmp_path / "load.c", "-o",
                        tmp_path / "load", "-L", harness.BUILD / "client", "-lmodser",
                        f"-Wl,-rpath,{harness.BUILD / 'client'}")
    assert built.status == 0, built
    said = harness.run(tmp_path / "load", daemon.host, path, data)
    assert said.status == 0, said
    expect_right(daemon, "external", tmp_path)


@pytest.mark.parametrize("name", ["../w.bin", "/w.bin", "a/./w.bin", "a//w.bin", "", "w" * 513])
def test_a_file_beside_a_model_has_a_plain_name(daemon, tmp_path, name):
    path = write(tmp_path)
    with client_of_python.connect(daemon.host) as client:
        with pytest.raises(client_of_python.BadRequest, match="relative name"):
            client.load("named", path, files={name: b"1234"})


def test_files_of_a_model_that_names_others_are_of_no_use(daemon, tmp_path):
    path = write(tmp_path)
    write_data(tmp_path / "w.bin")
    with client_of_python.connect(daemon.host) as client:
        with pytest.raises(client_of_python.Error, match='"w" .*"w.bin" did not come|"w.bin" did not come'):
            client.load("others", path, files={"v.bin": b"1234"})


def test_a_file_of_another_size_is_refused_with_its_tensor(daemon, tmp_path):
    path = write(tmp_path)
    with client_of_python.connect(daemon.host) as client:
        with pytest.raises(client_of_python.BadArtifact, match='tensor "w"'):
            client.load("short", path, files={"w.bin": W.tobytes()[:-1]})
