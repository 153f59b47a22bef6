"""How the nodes of a model run (module.plan) and how long (module.profile): by modser, by Python,
and without a daemon."""
import contextlib
import json
import os
import signal
import subprocess
import sys

import harness
import numpy as np
import pytest
from onnx_writer import Graph, floats, model, node, tensor, value

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
    slow = sum(n["ns"] for n in told["nodes"] if n["engine"] == "reference")
    assert told["reference_ns"] == slow > 0 and "in reference" in daemon.ok(
        "profile", "net", f"@{folder}/x.npy").out
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


def shown(daemon, name="net"):
    return json.loads(daemon.ok("show", "--json", name).out)


@contextlib.contextmanager
def stopped(pid):
    """Its worker answers nothing meanwhile, and all that it was asked afterwards."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # a watch may have ended it
            os.kill(pid, signal.SIGCONT)


def test_show_of_a_stopped_worker_tells_all_but_the_plan(served):
    daemon, _ = served
    (pid,) = shown(daemon)["pids"]
    with stopped(pid):
        told = shown(daemon)
    expect_rows(shown(daemon)["plan"]["rows"])  # behind it, the first request is answered
    with stopped(pid):
        lines = daemon.ok("show", "net").out.splitlines()
    note = "not told: its workers are busy: "
    assert told["state"] == "READY" and told["functions"]
    assert list(told["plan"]) == ["error"] and told["plan"]["error"].startswith(note)
    assert [line for line in lines if line.startswith(f"plan\t{note}")]
    expect_rows(shown(daemon)["plan"]["rows"])


def test_many_that_look_at_a_stopped_worker_do_not_end_it(tmp_path):
    with harness.Daemon("--kill-grace", "1ms") as daemon:
        daemon.load("net", network(tmp_path))
        (pid,) = shown(daemon)["pids"]
        with stopped(pid):
            for _ in range(4):
                assert list(shown(daemon)["plan"]) == ["error"]
        expect_rows(shown(daemon)["plan"]["rows"])
        assert shown(daemon)["pids"] == [pid]
        with stopped(pid):
            assert list(shown(daemon)["plan"]) == ["error"]
            with modser.connect(daemon.host) as client:  # a call needs another worker
                client["net"]["run"](np.ones((1, 16, 8, 8), "f4"))
        assert pid not in shown(daemon)["pids"]


def test_show_of_a_worker_that_dies_tells_all_but_the_plan(tmp_path):
    with harness.Daemon() as daemon:
        daemon.load("net", network(tmp_path))
        (pid,) = shown(daemon)["pids"]
        os.kill(pid, signal.SIGSTOP)
        words = (harness.BIN / "modser", "-H", daemon.host, "--json", "show", "net")
        with harness.started(*words, stdout=subprocess.PIPE) as show:
            harness.until(lambda: '"in_flight": 1' in daemon.ok("--json", "ls").out,
                          "the plan is asked for")
            os.kill(pid, signal.SIGKILL)
            told = json.loads(show.communicate(timeout=harness.PATIENCE)[0])
            assert show.returncode == 0
        assert told["name"] == "net" and told["plan"]["error"].startswith("not told: module net: ")
        daemon.ok("wait", "net")
        expect_rows(shown(daemon)["plan"]["rows"])


def test_show_wakes_no_module(tmp_path):
    with harness.Daemon() as daemon:
        daemon.load("net", network(tmp_path))
        daemon.ok("sleep", "net")
        harness.until(lambda: not daemon.workers(), "its worker has ended")
        told = shown(daemon)
        assert told["state"] == "ASLEEP" and "plan" not in told
        assert not daemon.workers()


def loop(path):
    """x is halved three times by a Loop, whose body has a product; then a Relu."""
    body = Graph([node("MatMul", ["a", "half"], ["b"], name="product"),
                  node("Identity", ["go"], ["on"], name="on")],
                 [value("i", "int64", []), value("go", "bool", []), value("a", "float32", [2, 8])],
                 [value("on", "bool", []), value("b", "float32", [2, 8])])
    nodes = [node("Loop", ["n", "", "x"], ["z"], name="loop", body=body),
             node("Relu", ["z"], ["y"], name="relu")]
    ends = [[value(name, "float32", [2, 8])] for name in "xy"]
    constants = [tensor("n", np.array(3, "i8")), tensor("half", (np.eye(8) / 2).astype("f4"))]
    path.write_bytes(model(nodes, *ends, constants=constants))
    return path


def test_rows_of_a_body_follow_those_of_its_graph(served, tmp_path):
    daemon, _ = served
    x = np.arange(16, dtype="f4").reshape(2, 8) - 5
    daemon.load("loop", loop(tmp_path / "loop.onnx"))
    before = shown(daemon, "loop")["plan"]["rows"]
    assert [(row["name"], row["body_of"]) for row in before][:2] == [("loop", None), ("relu", None)]
    assert {row["body_of"] for row in before[2:]} == {0}
    assert [row["node"] for row in before] == list(range(len(before)))
    with modser.connect(daemon.host) as client:
        assert np.array_equal(client["loop"]["run"](x), np.maximum(x / 8, 0))
        rows = {row["name"]: row for row in client.profile("loop:run", x)}
    assert rows["loop"]["runs"] == rows["relu"]["runs"] == 1
    assert rows["product"]["runs"] == 3
    assert rows["product"]["ns"] <= rows["loop"]["ns"]
    after = {row["name"]: row for row in shown(daemon, "loop")["plan"]["rows"]}
    assert after["product"]["op"] == "MatMul" and after["product"]["engine"] == "native"
    assert after["product"]["inputs"][0] == "float32[2,8]" == after["product"]["outputs"][0]
    assert after["product"]["operations"] == 2 * 2 * 8 * 8
    assert after["loop"]["engine"] == "reference" and after["loop"]["fallback"] == []


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


def test_a_view_is_told_and_does_not_run(served, tmp_path):
    daemon, _ = served
    path = tmp_path / "view.onnx"
    path.write_bytes(model([node("Relu", ["x"], ["a"]), node("Flatten", ["a"], ["b"]),
                            node("Concat", ["b", "b"], ["y"], axis=1)],
                           [value("x", "float32", [1, 4, 5])], [value("y", "float32", [1, 40])]))
    x = np.arange(-10, 10, dtype="f4").reshape(1, 4, 5)
    daemon.load("view", path)
    with modser.connect(daemon.host) as client:
        rows = client.profile("view:run", x)
        y = client["view"](x)
    assert [row["op"] for row in rows] == ["ReLu", "Flatten", "Concat"]
    assert [row["implementation"] == "view" for row in rows] == [False, True, False]
    assert [row["runs"] for row in rows] == [1, 0, 1]
    np.testing.assert_array_equal(y, np.tile(np.maximum(x, 0).reshape(1, 20), 2))
