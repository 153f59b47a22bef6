"""Self-tests: what a module must answer before it serves."""
import contextlib
import hashlib
import os
import signal

import harness
import numpy as np
import pytest
from wire import Failure, Wire, out

RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"


def tensor(array):
    array = np.ascontiguousarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": array.tobytes()}


def case(function, inputs, outputs, **tolerance):
    return {"function": function, "inputs": [tensor(a) for a in inputs],
            "outputs": [tensor(a) for a in outputs], **tolerance}


X = np.arange(6, dtype="float32")


@pytest.fixture
def adds(models):
    return models / "shapes.so"


def load(wire, path, *tests, **options):
    upload = wire.upload(path.read_bytes())
    return wire.ask("module.load", "m", upload, {"tests": list(tests), **options},
                    deadline_ms=harness.LONG_MS)


def states(wire):
    return [m["state"] for m in wire.ask("module.list")]


def test_a_module_that_passes_serves(daemon, adds):
    right = case("addone", [X], [X + 1])
    close = case("addone", [X], [X + 1.0001], rtol=1e-3, atol=1e-3)
    whole = case("turn", [np.ones((3, 1, 5, 2), "int32")], [np.ones((2, 5, 1, 3), "int32")])
    empty = case("addone", [X[:0]], [X[:0]])
    with Wire(daemon.host) as wire:
        load(wire, adds, right, close, whole, empty, warmup=2, replace=True)
        assert wire.call("m:addone", X, out("float32", 6))[0][0].tolist() == (X + 1).tolist()
        assert wire.ask("module.describe", "m")["calls"] == 1


@pytest.mark.parametrize(
    "test, why",
    [
        (case("addone", [X], [X]), "self-test 1 (addone): output 0: element 0 is 1, expected 0"),
        (case("addone", [X], [X + 1, X]), "self-test 1"),
        (case("rank0", [np.array(1.0)], []), "self-test 1"),
        (case("addone", [X], [(X + 1)[:5]]), "self-test 1 (addone)"),
        (case("turn", [np.ones((3, 1, 5, 2), "int32")], [np.zeros((2, 5, 1, 3), "int32")]),
         "self-test 1 (turn): output 0: its bytes differ"),
        (case("nothing", [], []), "self-test 1 (nothing)"),
    ],
)
def test_one_that_does_not_is_refused_and_the_old_one_serves_on(daemon, adds, test, why):
    with Wire(daemon.host) as wire:
        load(wire, adds, replace=True)
        before = wire.ask("module.describe", "m")["pids"]
        with pytest.raises(Failure) as failure:
            load(wire, adds, case("addone", [X], [X + 1]), test, replace=True)
        assert failure.value.name == "MODULE_FAILED" and why in failure.value.message
        assert wire.ask("module.describe", "m")["pids"] == before
        wire.call("m:addone", X, out("float32", 6))


@contextlib.contextmanager
def on_trial(daemon, wire, was=()):
    """FAULTS is loaded as `m`, with a self-test in whose midst its worker, which is yielded, stops."""

    def stopped():
        return [pid for pid in daemon.workers() if pid not in was and harness.is_stopped(pid)]

    upload = wire.upload(FAULTS.read_bytes())
    asked = wire.start("module.load", "m", upload,
                       {"tests": [case("stop_self", [], [])], "replace": True},
                       deadline_ms=harness.LONG_MS)
    harness.until(stopped, "its worker has stopped itself")
    (pid,) = stopped()
    yield pid
    os.kill(pid, signal.SIGCONT)
    wire.finish(asked)


def row_of(daemon):
    """What `modser ls` shows of `m`, by its columns."""
    head, line = daemon.ok("--header", "ls").out.splitlines()
    return dict(zip(head.split("\t"), line.split("\t"), strict=True))


def test_the_list_says_that_it_is_on_trial(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire:
        with on_trial(daemon, wire):
            assert row_of(daemon)["state"] == "TESTING"
            with Wire(daemon.host) as other:
                assert states(other) == ["TESTING"]
        assert row_of(daemon)["state"] == "READY" and states(wire) == ["READY"]


def test_the_list_says_that_its_successor_is_on_trial(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        load(wire, RESULTS)
        with on_trial(daemon, wire, daemon.workers()):
            row = row_of(daemon)
            assert (row["state"], row["next"]) == ("READY", "TESTING")
            (m,) = other.ask("module.list")
            assert m["state"] == "READY" and m["next"] == "TESTING"
            assert other.call("m:int")[1] == -42, "what serves goes on serving"
        assert row_of(daemon)["next"] == "-"
        assert other.call("m:ok")[1] is None


def test_one_that_dies_of_it_is_refused(daemon):
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="MODULE_FAILED.*died before it was ready"):
            load(wire, FAULTS, case("crash", [], []), replace=True)


def test_one_that_does_not_answer_is_given_up(own_daemon):
    daemon = own_daemon("--load-timeout", "1s")
    with Wire(daemon.host) as wire:

        def is_given_up():
            """A busy machine may need the time for the worker's start alone."""
            with pytest.raises(Failure, match="--load-timeout") as said:
                load(wire, FAULTS, case("loop", [], []))
            return "self-test 0 (loop): it did not finish within 1000 ms" in said.value.message

        harness.until(is_given_up, "the self-test is")
        assert states(wire) == []


def test_what_fails_is_bad_in_the_store(own_daemon, folder, adds):
    daemon = own_daemon("--store", folder / "store")
    with Wire(daemon.host) as wire:
        load(wire, RESULTS, keep=True)
        with pytest.raises(Failure, match="self-test 0"):
            load(wire, adds, case("addone", [X], [X]), keep=True, replace=True)
        harness.until(lambda: "bad" in (folder / "store" / "modules" / "m").read_text(),
                      "it is written down")
        assert wire.call("m:int")[1] == -42


def test_one_that_was_cut_short_by_a_restart_is_tested_again(own_daemon, folder):
    record = folder / "store" / "modules" / "m"
    daemon = own_daemon("--store", folder / "store")
    digest = hashlib.sha256(FAULTS.read_bytes()).hexdigest()
    with Wire(daemon.host) as wire:
        load(wire, RESULTS, keep=True)
        upload = wire.upload(FAULTS.read_bytes())
        wire.start("module.load", "m", upload,
                   {"tests": [case("loop", [], [])], "keep": True, "replace": True})
        harness.until(lambda: f"candidate 2 {digest}" in record.read_text(),
                      "it is written down")
        os.kill(daemon.pid, signal.SIGKILL)
        daemon.process.wait(harness.PATIENCE)
    assert f"bad {digest}" not in record.read_text()
    daemon.kill()
    again = own_daemon("--store", folder / "store", "--load-timeout", "1s")
    harness.until(lambda: f"bad {digest}" in record.read_text(), "its self-test never ends")
    assert f"current 2 {digest}" not in record.read_text()
    again.kill()


@pytest.mark.parametrize(
    "tests",
    [
        {}, [1], [{}], [{"function": 1}], [{"function": "f"}],
        [{"function": "f", "inputs": [{}], "outputs": []}],
        [{"function": "f", "inputs": [], "outputs": [], "rtol": -1}],
        [{"function": "f", "inputs": [], "outputs": [
            {"dtype": "float32", "shape": [2], "data": b"1234567"}]}],
        [{"function": "f", "inputs": [], "outputs": [
            {"dtype": "float32", "shape": [1 << 62, 1 << 62], "data": b""}]}],
        [{"function": "f", "inputs": [], "outputs": [
            {"dtype": "nonsense", "shape": [], "data": b""}]}],
        [{"function": "f", "inputs": [], "outputs": []}] * 65,
    ],
)
def test_what_is_no_test_is_refused(daemon, tests):
    with Wire(daemon.host) as wire:
        upload = wire.upload(RESULTS.read_bytes())
        with pytest.raises(Failure) as failure:
            wire.ask("module.load", "wrong", upload, {"tests": tests})
        assert failure.value.name in ("BAD_REQUEST", "TOO_LARGE")
        assert "wrong" not in [m["name"] for m in wire.ask("module.list")]
