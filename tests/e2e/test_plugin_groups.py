"""Engines that run groups of nodes: plugins/joiner.c, built with the installed headers alone, runs
convolutions, activations and sums as one; show, profile and errors name the group."""
import json
import os
import subprocess
import sys

import harness
import numpy as np
import pytest
from onnx_writer import Graph, model, node, tensor, value

sys.path.insert(0, str(harness.ROOT / "client/python"))
import modser  # noqa: E402

SOURCE = harness.ROOT / "tests/e2e/plugins/joiner.c"
ONEDNN = os.environ.get("MODSERD_ONEDNN")  # a prefix with include/ and lib/
BLOCK = ["conv1", "relu1", "conv2", "add", "relu2"]


def copy_headers(folder):
    for name in ("modser_graph.h", "modserd_plugin.h"):
        (folder / name).write_text((harness.ROOT / "graph" / name).read_text())


def build(folder, flag=""):
    path = folder / f"joiner{flag}.so"
    copy_headers(folder)
    flags = ["-shared", "-fPIC", "-O1", "-I", folder, *([f"-D{flag}"] if flag else [])]
    subprocess.run(["cc", *flags, SOURCE, "-o", path], check=True)
    return path


def network(path, height=6):
    """A block of ResNet, then a Floor, which the engine lacks, and one more Relu."""
    weights = ((np.arange(4 * 4 * 9) * 37 % 23 - 11) / 23).astype("f4").reshape(4, 4, 3, 3)
    nodes = [node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], name="conv1"),
             node("Relu", ["a"], ["b"], name="relu1"),
             node("Conv", ["b", "w"], ["c"], pads=[1, 1, 1, 1], name="conv2"),
             node("Add", ["c", "x"], ["d"], name="add"),
             node("Relu", ["d"], ["e"], name="relu2"),
             node("Floor", ["e"], ["f"], name="floor"),
             node("Relu", ["f"], ["y"], name="relu3")]
    ends = [[value(name, "float32", [1, 4, height, 5])] for name in ("x", "e", "y")]
    path.write_bytes(model(nodes, ends[0], ends[1] + ends[2], constants=[tensor("w", weights)]))
    return path


def numbers(height=6):
    return ((np.arange(4 * height * 5) * 53 % 29 - 14) / 7).astype("f4").reshape(1, 4, height, 5)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    with harness.Daemon("--plugin", build(folder)) as daemon:
        daemon.load("net", network(folder / "net.onnx"))
        daemon.load("open", network(folder / "open.onnx", "h"))
        yield daemon, folder


def reference(folder, *xs):
    """What the reference engine computes without the plugin."""
    with harness.Daemon() as daemon:
        daemon.load("net", network(folder / "reference.onnx", "h"), "--engine", "reference")
        with modser.connect(daemon.host) as client:
            return [client["net"]["run"](x) for x in xs]


def rows_of(daemon, name):
    return json.loads(daemon.ok("show", "--json", name).out)["plan"]["rows"]


def expect_groups(rows):
    assert [row["name"] for row in rows] == [*BLOCK, "floor", "relu3"]
    assert [row["engine"] for row in rows] == ["joiner"] * 5 + ["reference", "joiner"]
    assert [row["group"] for row in rows] == [0] * 5 + [None, None]


def test_a_group_computes_what_its_nodes_do(served):
    daemon, folder = served
    xs = [numbers(6), numbers(3), numbers(11)]
    want = reference(folder, *xs)
    with modser.connect(daemon.host) as client:
        for name, k in (("net", 0), ("open", 0), ("open", 1), ("open", 2), ("open", 0)):
            for is_, wanted in zip(client[name]["run"](xs[k]), want[k]):
                assert np.allclose(is_, wanted, rtol=1e-6, atol=1e-6), name


def test_show_tells_the_group_of_a_node(served):
    daemon, folder = served
    expect_groups(rows_of(daemon, "net"))
    cells = [line.split("\t") for line in daemon.ok("show", "net").out.splitlines()]
    groups = [row[-3] for row in cells if row[0] == "plan"]  # before FUSED INTO IT and FALLBACK
    assert groups == ["0"] * 5 + ["-"] * 2
    plan = harness.run(harness.BIN / "modser", "--plugin", folder / "joiner.so", "--json",
                       "inspect", "--plan", folder / "net.onnx")
    assert plan.status == 0, plan
    assert json.loads(plan.out)["rows"] == rows_of(daemon, "net")


def test_profile_has_the_time_of_a_group_once(served):
    daemon, folder = served
    np.save(folder / "x.npy", numbers())
    told = json.loads(daemon.ok("profile", "net", f"@{folder}/x.npy", "--json").out)
    assert [(n["runs"], n["ns"] > 0) for n in told["nodes"]] == (
        [(1, True)] + [(0, False)] * 4 + [(1, True)] * 2)
    assert [n["group"] for n in told["nodes"]] == [0] * 5 + [None] * 2
    assert told["nodes"][0]["operations"] == 2 * 2 * (4 * 6 * 5) * 4 * 9, "of both convolutions"


def test_open_extents_are_grouped_by_the_first_call(served, tmp_path):
    daemon, _ = served
    daemon.load("later", network(tmp_path / "later.onnx", "h"))
    assert {(row["engine"], row["group"]) for row in rows_of(daemon, "later")} == {("", None)}
    with modser.connect(daemon.host) as client:
        client["later"]["run"](numbers(2))
    expect_groups(rows_of(daemon, "later"))


def test_the_body_of_a_loop_has_groups(served, tmp_path):
    daemon, _ = served
    body = Graph([node("Add", ["a", "a"], ["t"], name="twice"),
                  node("Relu", ["t"], ["b"], name="relu"),
                  node("Identity", ["go"], ["on"], name="on")],
                 [value("i", "int64", []), value("go", "bool", []), value("a", "float32", [4])],
                 [value("on", "bool", []), value("b", "float32", [4])])
    nodes = [node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)]
    ends = [[value(name, "float32", [4])] for name in "xy"]
    path = tmp_path / "loop.onnx"
    path.write_bytes(model(nodes, *ends, constants=[tensor("n", np.array(3, "i8"))]))
    daemon.load("loop", path)
    x = np.float32([1, -2, 3, 0.5])
    with modser.connect(daemon.host) as client:
        assert np.array_equal(client["loop"]["run"](x), np.maximum(8 * x, 0))
        rows = {row["name"]: row for row in client.profile("loop:run", x)}
    assert rows["twice"]["group"] == rows["relu"]["group"] == rows["twice"]["node"]
    assert (rows["twice"]["runs"], rows["relu"]["runs"]) == (3, 0)
    assert rows["loop"]["group"] is None


def test_an_engine_that_fails_names_the_nodes(tmp_path):
    with harness.Daemon("--plugin", build(tmp_path, "JOINER_FAILS")) as daemon:
        daemon.load("net", network(tmp_path / "net.onnx"))
        for _ in range(2):
            said = daemon.modser("call", "net:run", "ones:float32[1,4,6,5]")
            assert said.status == 1, said
            assert ('"conv1" to ' in said.err and '"relu2", run as one: engine joiner: the device '
                    "is gone" in said.err), said
        assert daemon.restarts("net") == []


@pytest.mark.skipif(not ONEDNN, reason="MODSERD_ONEDNN names no installation of oneDNN 3")
def test_onednn_runs_a_group(tmp_path):
    copy_headers(tmp_path)
    plugin, lib = tmp_path / "onednn.so", f"{ONEDNN}/lib"
    subprocess.run(["c++", "-std=c++17", "-shared", "-fPIC", "-I", tmp_path, f"-I{ONEDNN}/include",
                    SOURCE.parent / "onednn.cc", "-o", plugin, f"-L{lib}", "-ldnnl",
                    f"-Wl,-rpath,{lib}"], check=True)
    xs = [numbers(6), numbers(9)]
    want = reference(tmp_path, *xs)
    with harness.Daemon("--plugin", plugin, "--may-read", lib) as daemon:
        daemon.load("open", network(tmp_path / "open.onnx", "h"))
        with modser.connect(daemon.host) as client:
            for k in (0, 1, 0):
                for is_, wanted in zip(client["open"]["run"](xs[k]), want[k]):
                    assert np.allclose(is_, wanted, rtol=1e-5, atol=1e-5)
        rows = rows_of(daemon, "open")
    assert [row["engine"] for row in rows] == ["onednn"] * 5 + ["reference", "onednn"]
    assert [row["group"] for row in rows] == [0] * 5 + [None, None]
