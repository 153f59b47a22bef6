"""A module that is replaced while it loads: who has the name, whatever becomes of the two."""
import contextlib
import os
import signal

import harness
import pytest
from wire import Failure, Wire

RESULTS = harness.ZOO / "results.so"
FIRST = harness.ZOO / "held_first.so"
SECOND = harness.ZOO / "held_second.so"
NO_GRAPH = b'{"nodes":'  # refused behind the opening of the library


def state(wire, name):
    return {m["name"]: m["state"] for m in wire.ask("module.list")}.get(name)


class Pair:
    """The module `m` of a daemon of its own, and the module that replaces it, each opened for as
    long as its gate is held.
    """

    def __init__(self, daemon, wire, first_gate, second_gate):
        self.daemon, self.wire = daemon, wire
        self.first_gate, self.second_gate = first_gate, second_gate

    def load_first(self, data=FIRST.read_bytes(), **options):
        load = self.wire.start("module.load", "m", self.wire.upload(data), options)
        self.first_gate.entered()
        return load

    def load_second(self, data=SECOND.read_bytes(), **options):
        """The load's request, and the process of the worker."""
        before = set(self.daemon.workers())
        options["replace"] = True
        load = self.wire.start("module.load", "m", self.wire.upload(data), options)
        self.second_gate.entered()
        (worker,) = set(self.daemon.workers()) - before
        return load, worker

    def expect_drain(self):
        """At once: its limit is longer than what is waited for here."""
        self.daemon.process.send_signal(signal.SIGTERM)
        assert self.daemon.process.wait(harness.PATIENCE) == 0


@pytest.fixture
def pair(own_daemon):
    with contextlib.ExitStack() as stack:
        first, second = stack.enter_context(harness.Gate()), stack.enter_context(harness.Gate())
        gates = {"MSD_TEST_FIRST": first.path, "MSD_TEST_SECOND": second.path}
        daemon = own_daemon("--drain", harness.FOREVER, env=gates)
        yield Pair(daemon, stack.enter_context(Wire(daemon.host)), first, second)


def refuse_first(pair):
    first = pair.load_first(FIRST.read_bytes() + NO_GRAPH, graph=len(NO_GRAPH))
    second = pair.load_second()
    pair.first_gate.open()
    with pytest.raises(Failure, match="graph"):
        pair.wire.finish(first)
    return second


def test_what_replaces_a_refused_one_has_its_name(pair):
    second, _ = refuse_first(pair)
    assert state(pair.wire, "m") == "LOADING"
    pair.second_gate.open()
    assert pair.wire.finish(second)["state"] == "READY"
    assert pair.wire.call("m:ok") == ([], None)
    pair.wire.ask("module.unload", "m")
    assert not pair.daemon.workers()
    pair.expect_drain()


def test_what_replaces_a_refused_one_can_be_unloaded_while_it_loads(pair):
    second, _ = refuse_first(pair)
    pair.wire.ask("module.unload", "m")
    with pytest.raises(Failure, match="DRAINING"):
        pair.wire.finish(second)
    assert not pair.daemon.workers() and state(pair.wire, "m") is None


def test_what_replaces_a_refused_one_and_dies_leaves_its_logs(pair):
    second, worker = refuse_first(pair)
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(Failure, match="MODULE_FAILED.*died"):
        pair.wire.finish(second)
    assert state(pair.wire, "m") == "FAILED"
    pair.wire.load("m", RESULTS.read_bytes())
    assert pair.wire.call("m:int")[1] == -42


def test_what_replaces_a_dead_one_takes_over_from_its_failure(pair):
    first = pair.load_first()
    (worker,) = pair.daemon.workers()
    second, _ = pair.load_second()
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(Failure, match="MODULE_FAILED.*died"):
        pair.wire.finish(first)
    assert state(pair.wire, "m") == "FAILED"
    with pytest.raises(Failure, match="EXISTS.*another replacement"):
        pair.wire.load("m", RESULTS.read_bytes())
    pair.second_gate.open()
    assert pair.wire.finish(second)["state"] == state(pair.wire, "m") == "READY"
    pair.expect_drain()


def test_what_is_ready_first_ends_the_load_that_it_replaces(pair):
    first = pair.load_first()
    second, worker = pair.load_second()
    pair.second_gate.open()
    assert pair.wire.finish(second)["state"] == "READY"
    with pytest.raises(Failure, match="DRAINING"):
        pair.wire.finish(first)
    assert pair.daemon.workers() == [worker]


def test_a_replacement_that_dies_spares_the_one_that_loads(pair):
    first = pair.load_first()
    second, worker = pair.load_second()
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(Failure, match="MODULE_FAILED.*died"):
        pair.wire.finish(second)
    pair.first_gate.open()
    assert pair.wire.finish(first)["state"] == state(pair.wire, "m") == "READY"
    pair.wire.load("m", RESULTS.read_bytes(), replace=True)
    assert pair.wire.call("m:int")[1] == -42


def test_an_unload_ends_both(pair):
    first = pair.load_first()
    second, _ = pair.load_second()
    pair.wire.ask("module.unload", "m")
    for load in (first, second):
        with pytest.raises(Failure, match="DRAINING"):
            pair.wire.finish(load)
    assert not pair.daemon.workers()
    pair.wire.load("m", RESULTS.read_bytes())
    assert pair.wire.call("m:int")[1] == -42
    pair.expect_drain()


def test_a_death_of_the_old_one_leaves_it_until_the_new_one_is_ready(pair):
    pair.wire.load("m", RESULTS.read_bytes())
    (old,) = pair.daemon.workers()
    second, worker = pair.load_second()
    os.kill(old, signal.SIGKILL)
    harness.until(lambda: len(pair.daemon.restarts("m")) == 1, "the death is noticed")
    assert pair.wire.call("m:int", deadline_ms=harness.LONG_MS)[1] == -42
    pair.second_gate.open()
    assert pair.wire.finish(second)["state"] == "READY"
    harness.until(lambda: pair.daemon.workers() == [worker], "the old one ends")
    assert pair.wire.call("m:ok") == ([], None)


def test_what_waited_for_a_replaced_one_that_dies_goes_to_the_next_edition(own_daemon):
    daemon = own_daemon()
    daemon.load("m", harness.ZOO / "faults.so")
    [worker] = daemon.workers()
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        held = wire.start("call", "m:gate", gate.path, deadline_ms=harness.LONG_MS)
        gate.entered()
        waiting = [wire.start("call", "m:int") for _ in range(200)]
        wire.ask("ping")  # they are queued
        daemon.load("m", RESULTS, "--replace")
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(Failure, match="WORKER_LOST"):
            wire.finish(held)
        told = []
        for number in waiting:
            try:
                told.append(wire.finish(number)[1])
            except Failure as failure:
                assert failure.name == "WORKER_LOST", failure  # the dead worker had these
        assert told and set(told) == {-42}


def test_calls_that_wait_for_a_dead_worker_go_to_the_next_edition(pair):
    first = pair.load_first()
    pair.first_gate.open()
    pair.wire.finish(first)
    (worker,) = pair.daemon.workers()
    os.kill(worker, signal.SIGKILL)
    pair.first_gate.entered()  # the next worker opens the library for as long as the test wants
    calls = [pair.wire.start("call", "m:ok") for _ in range(20)]
    harness.until(lambda: queued(pair.wire) == 20, "the calls wait")
    second, _ = pair.load_second()
    pair.second_gate.open()
    assert pair.wire.finish(second)["state"] == "READY"
    assert [pair.wire.finish(call)[1] for call in calls] == [None] * 20
    assert queued(pair.wire) == 0


def queued(wire):
    return next(m["queued"] for m in wire.ask("module.list") if m["name"] == "m")
