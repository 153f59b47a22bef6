"""Calls that may wait for all others of their module: they do, and not for ever."""
import importlib
import os
import signal
import sys

import harness
import pytest
from harness import Gate, until
from wire import Failure, Wire

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
client_of_python = importlib.import_module("modser")

FAULTS = harness.ZOO / "faults.so"
FOREGROUND = 16  # calls for one of the background
BACKGROUND = {"priority": "background"}


@pytest.fixture
def busy(daemon):
    """(daemon, wire, gate): the module `busy` runs a call until the gate is opened."""
    daemon.load("busy", FAULTS, "--replace")
    with Wire(daemon.host) as wire, Gate() as gate:
        wire.start("call", "busy:gate", gate.path)
        gate.entered()
        yield daemon, wire, gate


def answered(wire, n):
    """The ids of the next @n answers, which come in the order in which the calls ran."""
    ids = []
    while len(ids) < n:
        body = wire.receive()
        assert body[0] == 1 and body[2] is None, body
        ids.append(body[1])
    return ids


def waiting(daemon):
    with Wire(daemon.host) as other:
        (module,) = [m for m in other.ask("module.list") if m["name"] == "busy"]
        return module["in_flight"] - 1  # that it runs


def test_all_others_come_first(busy):
    _, wire, gate = busy
    late = [wire.start("call", "busy:ok", **BACKGROUND) for _ in range(3)]
    first = [wire.start("call", "busy:ok") for _ in range(FOREGROUND)]
    wire.ask("ping")
    gate.open()
    assert answered(wire, 1 + FOREGROUND + 3)[1:] == first + late


def test_those_of_another_client_come_first(busy):
    daemon, wire, gate = busy
    with Gate() as later:
        wire.start("call", "busy:gate", later.path, **BACKGROUND)
        wire.ask("ping")
        with Wire(daemon.host) as other:
            asked = other.start("call", "busy:ok")
            other.ask("ping")
            gate.open()
            assert other.finish(asked) is not None  # while the other one cannot end
        later.entered()
        later.open()


def test_one_has_its_turn_after_sixteen_others(busy):
    _, wire, gate = busy
    late = wire.start("call", "busy:ok", **BACKGROUND)
    first = [wire.start("call", "busy:ok") for _ in range(3 * FOREGROUND)]
    wire.ask("ping")
    gate.open()
    ids = answered(wire, 2 + len(first))[1:]
    assert ids == first[:FOREGROUND] + [late] + first[FOREGROUND:]


def test_an_idle_module_runs_them_at_once_and_in_order(daemon):
    daemon.load("busy", FAULTS, "--replace")
    with Wire(daemon.host) as wire:
        ids = [wire.start("call", "busy:ok", **BACKGROUND) for _ in range(200)]
        assert answered(wire, 200) == ids


def test_they_wait_for_a_worker_that_is_back(busy):
    daemon, wire, gate = busy
    late = wire.start("call", "busy:ok", **BACKGROUND)
    wire.ask("ping")
    with Wire(daemon.host) as other:
        (pid,) = other.ask("module.describe", "busy")["pids"]
    os.kill(pid, signal.SIGKILL)
    lost = wire.receive()
    assert lost[2][1] == "WORKER_LOST"
    assert wire.finish(late) is not None


def test_their_deadline_and_their_end_are_those_of_any_call(busy):
    daemon, wire, gate = busy
    late = wire.start("call", "busy:ok", deadline_ms=100, **BACKGROUND)
    with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
        wire.finish(late)
    cancelled = wire.start("call", "busy:ok", **BACKGROUND)
    wire.ask("cancel", cancelled)
    with pytest.raises(Failure, match="CANCELLED"):
        wire.finish(cancelled)
    with Wire(daemon.host) as leaves:
        leaves.start("call", "busy:ok", **BACKGROUND)
        leaves.ask("ping")
        assert waiting(daemon) == 1
    until(lambda: waiting(daemon) == 0, "what nobody waits for is gone")


def test_an_unload_refuses_what_waits(busy):
    daemon, wire, gate = busy
    late = wire.start("call", "busy:ok", **BACKGROUND)
    wire.ask("ping")
    with Wire(daemon.host) as other:
        gone = other.start("module.unload", "busy")
        other.ask("ping")
        gate.open()
        assert wire.finish(late) is not None
        other.finish(gone)


@pytest.mark.parametrize("wrong", ["high", 1, None, ""])
def test_there_are_two(busy, wrong):
    _, wire, gate = busy
    with pytest.raises(Failure, match='BAD_REQUEST.*priority: expected "normal" or "background"'):
        wire.ask("call", "busy:ok", priority=wrong)


def test_python_and_modser_ask_for_it(busy):
    daemon, wire, gate = busy
    with Gate() as later, Gate() as last, client_of_python.connect(daemon.host) as client:
        in_python = client["busy"].gate.submit(later.path, background=True)
        until(lambda: waiting(daemon) == 1, "it waits")
        words = [harness.BIN / "modser", "-H", daemon.host, "call", "--priority", "low", "busy:gate",
                 f"str:{last.path}"]
        with harness.started(*words) as process:
            until(lambda: waiting(daemon) == 2, "they wait")
            asked = wire.start("call", "busy:ok")
            gate.open()
            assert answered(wire, 2)[1] == asked
            later.entered()
            later.open()
            in_python.result()
            last.entered()
            last.open()
            assert process.wait(harness.PATIENCE) == 0


def test_of_one_connection_s_unordered_calls_those_due_earlier_are_begun_first(busy):
    _, wire, gate = busy
    by_deadline = {s: wire.start("call", "busy:ok", deadline_ms=1000 * s, unordered=True)
                   for s in (900, 300, 600)}
    ordered = wire.start("call", "busy:ok", deadline_ms=200_000)
    whenever = wire.start("call", "busy:ok", unordered=True)
    wire.ask("ping")
    gate.open()
    earliest = [by_deadline[ms] for ms in (300, 600, 900)]
    assert answered(wire, 1 + 5)[1:] == [*earliest, ordered, whenever]
