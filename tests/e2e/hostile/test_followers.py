"""Who waits for something to happen is told in turns, and what it takes to wait is its own."""
import contextlib
import os

import harness
import pytest
from wire import Failure, Wire, frame

LANES, EACH = 60, 1000  # requests that wait: EACH of one connection
TURN = 5000  # of them that are surely more than a turn of the loop answers, which is a millisecond
REQUEST_BYTES = 256  # that one of them takes at least


@pytest.fixture
def arena(own_arena):
    return own_arena(modules={"faults": harness.ZOO / "faults.so"})


def seen(victim):
    """(the loop's turns, what others wait for), of one moment."""
    asked = [(next(victim.ids), method) for method in ("server.info", "client.list")]
    victim.send(b"".join(frame([0, id, method, []]) for id, method in asked))
    info, clients = [victim.finish(id) for id, _ in asked]
    return info["turns"], sum(c["in_flight"] for c in clients if c["in_flight"] >= EACH // 2)


def wait_all(connections, victim, *request):
    for wire in connections:
        wire.send(b"".join(frame([0, id, *request]) for id in range(1, EACH + 1)))
    harness.until(lambda: seen(victim)[1] == LANES * EACH, "all wait")


def expect_in_turns(victim, begin):
    """However many are told at once, others have turns between."""
    last, first = seen(victim)
    assert first == LANES * EACH
    begin()
    waiting = first
    while waiting > 0:
        turns, left = seen(victim)
        assert waiting - left <= (turns - last + 1) * TURN, (waiting, left, turns - last)
        last, waiting = turns, left


def answers(wire):
    """[the error's name or None] of all, in the order in which they were asked."""
    bodies = [wire.receive() for _ in range(EACH)]
    assert [body[1] for body in bodies] == list(range(1, EACH + 1))
    return [body[2] and body[2][1] for body in bodies]


def test_who_follows_calls_is_told_in_turns(arena):
    """60 000 of one client were in one turn, half a second."""
    victim, other = arena.victim(), arena.connect()
    connections = [arena.connect() for _ in range(LANES)]
    wait_all(connections, victim, "server.monitor", [{"wait_ms": harness.FOREVER_MS}])
    expect_in_turns(victim, lambda: other.start("call", "faults:ok"))
    for wire in connections:
        assert answers(wire) == [None] * EACH


def test_who_waits_for_an_end_is_told_in_turns(arena):
    victim, other = arena.victim(), arena.connect()
    connections = [arena.connect() for _ in range(LANES)]
    with harness.Gate() as gate:
        held = other.start("call", "faults:gate", gate.path)
        gate.entered()
        wait_all(connections, victim, "module.unload", ["faults"])
        expect_in_turns(victim, gate.open)
        other.finish(held)
    for wire in connections:
        assert answers(wire) == [None] * EACH
    with pytest.raises(Failure, match="NOT_FOUND"):
        victim.ask("module.wait", "faults")


def in_flight(wire):
    return sum(c["in_flight"] for c in wire.ask("client.list"))


def test_who_asks_while_devices_are_looked_for_is_told_in_turns(own_daemon, folder):
    """That is done when somebody asks first; here it ends when the test says so."""
    worker, gate = folder / "worker", folder / "gate"
    os.mkfifo(gate)
    worker.write_text(f"#!/bin/sh\nread line < '{gate}'\nexit 1\n")
    worker.chmod(0o755)
    daemon = own_daemon(env={"MODSERD_WORKER": str(worker)})
    with contextlib.ExitStack() as stack:
        first, *others, last = (stack.enter_context(Wire(daemon.host)) for _ in range(22))
        asked = first.start("server.info")
        for wire in others:
            wire.send(b"".join(frame([0, id, "server.info", []]) for id in range(1, 501)))
        harness.until(lambda: in_flight(last) == 1 + 20 * 500, "all wait")
        behind = last.start("server.info")
        last.ask("ping")
        gate.write_text("go on\n")
        told = last.finish(behind)["turns"] - first.finish(asked)["turns"]
    assert told >= 10, "they take a tenth of a second"


@pytest.mark.parametrize("request_", [
    ("server.monitor", [{"wait_ms": harness.FOREVER_MS}]), ("module.unload", ["faults"])])
def test_who_waits_is_charged_for_it(arena, request_):
    victim, other, wire = arena.victim(), arena.connect(), arena.connect()
    with harness.Gate() as gate:
        held = other.start("call", "faults:gate", gate.path)
        gate.entered()
        wire.send(b"".join(frame([0, id, *request_]) for id in range(1, EACH + 1)))
        harness.until(lambda: seen(victim)[1] == EACH, "all wait")
        client = next(c for c in victim.ask("client.list") if c["in_flight"] == EACH)
        assert client["held_bytes"] >= EACH * REQUEST_BYTES
        gate.open()
        other.finish(held)
