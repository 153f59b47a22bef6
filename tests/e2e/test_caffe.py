"""Networks of Caffe: two files in any order, also with --external-data, kept as one, and as ONNX
again; compared with what OpenCV computes (shared fixtures)."""
import json

import harness
import numpy as np
import pytest


@pytest.fixture(scope="module")
def folder(fixtures):
    if not (fixtures / "frameworks" / "caffe" / "manifest.json").exists():
        pytest.skip("no frameworks/caffe in the fixtures: networks of Caffe not tested")
    return fixtures / "frameworks" / "caffe"


def rows(folder):
    return json.loads((folder / "manifest.json").read_text())


def files_of(folder, row):
    return [folder / name for name in row["files"]]


def expect_right(daemon, name, folder, row, out):
    words = [f"{i['name']}=@{folder / i['npy']}" for i in row["inputs"]]
    daemon.ok("call", f"{name}:run", *words, "-o", out)
    got, want = np.load(out), np.load(folder / row["outputs"][0]["npy"])
    assert got.shape == want.shape, row["name"]
    room = row["atol"] + row["rtol"] * np.abs(want).max()
    assert np.abs(got.astype(float) - want).max() <= room, row["name"]


def test_each_network_gives_the_numbers_of_opencv(daemon, folder, tmp_path):
    for row in rows(folder):
        daemon.ok("load", "--replace", *row["load"], "net", *files_of(folder, row))
        expect_right(daemon, "net", folder, row, tmp_path / "y.npy")


def test_the_order_of_the_files_does_not_matter(daemon, folder, tmp_path):
    row = rows(folder)[0]
    text, weights = files_of(folder, row)
    daemon.ok("load", "--replace", "net", weights, text)
    expect_right(daemon, "net", folder, row, tmp_path / "y.npy")
    daemon.ok("load", "--replace", "--external-data", weights, "net", text)
    expect_right(daemon, "net", folder, row, tmp_path / "y.npy")


def test_the_network_as_onnx_gives_the_same(daemon, folder, tmp_path):
    for row in rows(folder):
        said = harness.run(harness.BIN / "modser", "convert", *row["load"],
                           *files_of(folder, row), "-o", tmp_path / "net.onnx")
        assert said.status == 0, said
        daemon.ok("load", "--replace", "net", tmp_path / "net.onnx")
        expect_right(daemon, "net", folder, row, tmp_path / "y.npy")


def test_a_daemon_reads_both_files_and_keeps_them(folder, tmp_path):
    row = rows(folder)[0]
    text, weights = files_of(folder, row)
    with harness.Daemon("--store", tmp_path / "store", "--load",
                        f"net={text},external-data={weights}") as daemon:
        expect_right(daemon, "net", folder, row, tmp_path / "y.npy")
        daemon.ok("load", "--keep", "kept", text, weights)
    with harness.Daemon("--store", tmp_path / "store") as daemon:
        daemon.ok("wait", "kept")
        expect_right(daemon, "kept", folder, row, tmp_path / "y.npy")


def test_files_of_two_networks_are_refused_with_both_shapes(daemon, folder):
    lenet, inception = rows(folder)[:2]
    said = daemon.modser("load", "mixed", folder / lenet["files"][0],
                         folder / inception["files"][1])
    assert said.status != 0 and "layer \"conv1\" (Convolution)" in said.err, said
    said = daemon.modser("load", "half", folder / lenet["files"][0])
    assert said.status != 0 and "caffe needs 2 files" in said.err, said
