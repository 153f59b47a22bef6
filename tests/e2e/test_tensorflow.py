"""Graphs of TensorFlow and folders of SavedModels: loaded, called, kept and stored as ONNX; compared
with what TensorFlow computed (shared fixtures), and with numbers by hand."""
import json
import pathlib
import struct
import sys

import harness
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import make_tensorflow_corpus as corpus  # noqa: E402

MODSER = harness.BIN / "modser"


@pytest.fixture(scope="module")
def folder(fixtures):
    if not (fixtures / "frameworks" / "tf" / "manifest.json").exists():
        pytest.skip("no frameworks/tf in the fixtures: models of TensorFlow not tested")
    return fixtures / "frameworks" / "tf"


def rows(folder):
    return json.loads((folder / "manifest.json").read_text())


def expect_right(daemon, name, folder, row, out):
    words = [f"{i['name']}=@{folder / i['npy']}" for i in row["inputs"]]
    daemon.ok("call", f"{name}:run", *words, "-o", out)
    got, want = np.load(out), np.load(folder / row["outputs"][0]["npy"])
    assert got.shape == want.shape, row["name"]
    room = row["atol"] + row["rtol"] * np.abs(want).max()
    assert np.abs(got.astype(float) - want).max() <= room, row["name"]


@pytest.fixture()
def saved(tmp_path):
    """A SavedModel: y = x w + b, with w = 0..5 as [2, 3] and b = 6, 7, 8."""
    home = tmp_path / "saved"
    (home / "variables").mkdir(parents=True)
    (home / "saved_model.pb").write_bytes(corpus.with_variables())
    (home / "variables" / "variables.index").write_bytes(corpus.bundle(corpus.TABLE))
    (home / "variables" / "variables.data-00000-of-00001").write_bytes(
        struct.pack("<9f", *range(9)))
    np.save(tmp_path / "x.npy", np.array([[1, 10], [0, 1]], "float32"))
    return home


def expect_product(daemon, name, saved):
    out = saved.parent / "y.npy"
    daemon.ok("call", f"{name}:run", f"x=@{saved.parent / 'x.npy'}", "-o", out)
    assert np.load(out).tolist() == [[36, 48, 60], [9, 11, 13]]


def test_each_model_gives_the_numbers_of_tensorflow(daemon, folder, tmp_path):
    for row in rows(folder):
        daemon.ok("load", "--replace", "net", folder / row["files"][0])
        expect_right(daemon, "net", folder, row, tmp_path / "y.npy")


def test_each_model_as_onnx_gives_the_same(daemon, folder, tmp_path):
    for row in rows(folder):
        said = harness.run(MODSER, "convert", folder / row["files"][0], "-o",
                           tmp_path / "net.onnx")
        assert said.status == 0, said
        daemon.ok("load", "--replace", "net", tmp_path / "net.onnx")
        expect_right(daemon, "net", folder, row, tmp_path / "y.npy")


def test_a_folder_is_loaded_with_its_variables(daemon, saved):
    for path in (saved, f"{saved}/", saved / "saved_model.pb"):
        daemon.ok("load", "--replace", "net", path)
        expect_product(daemon, "net", saved)


def test_a_kept_folder_survives_a_restart(saved, tmp_path):
    with harness.Daemon("--store", tmp_path / "store") as daemon:
        daemon.ok("load", "--keep", "net", saved)
    with harness.Daemon("--store", tmp_path / "store") as daemon:
        daemon.ok("wait", "net")
        expect_product(daemon, "net", saved)


def test_the_daemon_reads_a_folder_at_its_start(saved, tmp_path):
    (tmp_path / "d.conf").write_text(f'module section {{\n  file = "{saved}/"\n}}\n')
    with harness.Daemon("--config", tmp_path / "d.conf", "--load", f"net={saved}") as daemon:
        for name in ("net", "section"):
            daemon.ok("wait", name)
            expect_product(daemon, name, saved)


def test_the_daemon_names_what_a_folder_lacks(saved, tmp_path):
    (saved / "saved_model.pb").rename(tmp_path / "elsewhere.pb")
    with harness.Daemon("--load", f"net={saved}") as daemon:
        said = daemon.modser("wait", "net")
        assert said.status != 0 and f"{saved}/saved_model.pb" in said.err, said
        assert "a folder is read as a SavedModel" in said.err, said


def test_a_folder_becomes_onnx(daemon, saved, tmp_path):
    said = harness.run(MODSER, "convert", saved, "-o", tmp_path / "net.onnx")
    assert said.status == 0, said
    daemon.ok("load", "--replace", "net", tmp_path / "net.onnx")
    expect_product(daemon, "net", saved)


def test_inspect_names_the_operators_of_the_file(saved):
    said = harness.run(MODSER, "--json", "inspect", saved)
    found = json.loads(said.out)
    assert found["source_operators"] == {"StatefulPartitionedCall": 1, "VarHandleOp": 2,
                                         "ReadVariableOp": 2, "MatMul": 1, "BiasAdd": 1}


def test_what_is_missing_is_named(daemon, saved, tmp_path):
    (saved / "variables" / "variables.index").unlink()
    said = daemon.modser("load", "--replace", "net", saved)
    assert said.status != 0 and 'variable "weights" is in variables/' in said.err, said
    (tmp_path / "op.pb").write_bytes(corpus.relu("MyOperator"))
    said = daemon.modser("load", "--replace", "net", tmp_path / "op.pb")
    assert said.status != 0 and 'node "y" (MyOperator)' in said.err, said
    (tmp_path / "empty").mkdir()
    said = daemon.modser("load", "--replace", "net", tmp_path / "empty")
    assert said.status != 0 and "not a SavedModel" in said.err, said
