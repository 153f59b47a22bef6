"""How the nodes of a model run (module.plan) and how long (module.profile): by modser, by Python,
and without a daemon."""
import json
import sys

import harness
import numpy as np
import pytest
from onnx_writer import floats, model, node, tensor, value

sys.path.insert(0, str(harness.ROOT / "client/python"))
import modser  # noqa: E402

NODES = 50000


def network(folder):
    """Conv + Add + Relu, which fuse, then a Floor, which the native engine lacks."""
    weights = (floats(16, 16, 3, 3) % 7 - 3) / np.float32(9)
    nodes = [node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), node("Add", ["a", "x"], ["b"]),
             node("Relu", ["b"], ["c"]), node("Floor", ["c"], ["y"])]
    ends = [[value(name, "float32", [1, 16, 8, 8])] for name in "xy"]
    path = folder / "net.onnx"
    path.write_bytes(model(nodes, *ends, constants=[tensor("w", weights.astype("f4"))]))
    return path


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    np.save(folder / "x.npy", np.ones((1, 16, 8, 8), "f4"))
    with harness.Daemon() as daemon:
        daemon.load("net", network(folder))
        yield daemon, folder


def expect_rows(rows):
    assert [row["op"] for row in rows] == ["FusedConvolution", "Floor"]
    assert [row["engine"] for row in rows] == ["native", "reference"]
    assert [merged["op"] for merged in rows[0]["fused"]] == ["Add", "ReLu"]
    assert rows[0]["packed_bytes"] >= 4 * 16 * 16 * 9
    assert rows[0]["operations"] == 2 * 16 * 64 * 16 * 9
    assert rows[1]["fallback"][0]["engine"] == "native" and rows[1]["fallback"][0]["why"]


def test_show_tells_the_plan_and_counts_no_call(served):
    daemon, _ = served
    expect_rows(json.loads(daemon.ok("show", "--json", "net").out)["plan"]["rows"])
    assert "plan\t1\t" in daemon.ok("show", "net").out
    assert json.loads(daemon.ok("show", "--json", "net").out)["calls"] == 0


def test_the_plan_of_a_file_without_a_daemon_is_the_same(served):
    daemon, folder = served
    said = harness.run(harness.BIN / "modser", "inspect", "--plan", "--json", folder / "net.onnx")
    assert said.status == 0, said
    shown = json.loads(daemon.ok("show", "--json", "net").out)["plan"]
    assert json.loads(said.out)["rows"] == shown["rows"]


def test_profile_measures_each_node_once(served):
    daemon, folder = served
    said = daemon.ok("profile", "net", f"@{folder}/x.npy", "--json", "-o", folder / "trace.json")
    told = json.loads(said.out)
    assert [n["runs"] for n in told["nodes"]] == [1, 1]
    assert 0 < sum(n["ns"] for n in told["nodes"]) <= told["call_ns"]
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    assert [e["cat"] for e in events] == ["call", "FusedConvolution", "Floor"]


def test_python_gets_the_plan_and_the_times(served):
    daemon, _ = served
    with modser.connect(daemon.host) as client:
        expect_rows(client.plan("net"))
        rows = client.profile("net:run", np.ones((1, 16, 8, 8), "f4"))
        assert [row["runs"] for row in rows] == [1, 1]


def test_what_has_no_plan_says_so(served, tmp_path):
    daemon, folder = served
    assert "no such module" in daemon.modser("profile", "absent:run", "1").err
    wrong = daemon.modser("profile", "net", "ones:float32[2]")
    assert "expected shape [1, 16, 8, 8]" in wrong.err
    (tmp_path / "text.onnx").write_bytes(b"no model")
    assert harness.run(harness.BIN / "modser", "inspect", "--plan", tmp_path / "text.onnx").status
    with modser.connect(daemon.host) as client:
        client.load("faults", harness.ZOO / "faults.so")
        with pytest.raises(modser.Error, match="it has no plan"):
            client.plan("faults")


def test_a_plan_of_many_nodes_comes_in_pages(served, tmp_path):
    daemon, _ = served
    names = ["x", *[f"t{i}" for i in range(1, NODES)], "y"]
    nodes = [node("Floor", [a], [b]) for a, b in zip(names, names[1:])]
    ends = [[value(name, "float32", [4])] for name in "xy"]
    path = tmp_path / "long.onnx"
    path.write_bytes(model(nodes, *ends))
    daemon.load("long", path)
    with modser.connect(daemon.host) as client:
        rows = client.profile("long:run", np.ones(4, "f4"))
    assert [row["node"] for row in rows] == list(range(NODES))
    assert all(row["runs"] == 1 for row in rows)
