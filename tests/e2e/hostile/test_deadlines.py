"""Deadlines that a slow function overruns cost the one who set them, not the module and not the
others who call it. The attacker comes over TCP, the others by the unix socket: two peers.
"""

import re
import socket

import harness
import pytest
from wire import Failure, Wire

KILLS = 3  # of a peer in a minute; then it is barred
PEERS = 32  # that are remembered


@pytest.fixture
def arena(own_arena):
    listen = [f"unix:{harness.short_folder()}/m.sock", "tcp://127.0.0.1:0"]
    modules = {"faults": harness.ZOO / "faults.so"}
    return own_arena("--kill-grace", "1ms", "--max-deaths", "3", listen=listen, modules=modules)


def attacker(arena):
    return arena.connect(arena.daemon.hosts[1])


def attacker_from(arena, address):
    host, port = arena.daemon.hosts[1].removeprefix("tcp://").split(":")
    return Wire(socket.create_connection((host, int(port)), harness.PATIENCE, (address, 0)))


def facts(wire, name="faults"):
    return next(m for m in wire.ask("module.list") if m["name"] == name)


def is_killed(victim, times):
    """What was asked is over. False: the worker had not begun it, and so it was dropped."""
    harness.until(lambda: facts(victim)["queued"] == 0, "it is over")
    return facts(victim)["restarts"] == times


def kill_once(wire, victim, times):
    def kills():
        harness.until(lambda: facts(victim)["state"] == "READY", "it is there again")
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
            wire.call("faults:slow", harness.FOREVER_MS, deadline_ms=50)
        return is_killed(victim, times)

    harness.until(kills, f"kill {times}")


def barred(arena, victim):
    wire = attacker(arena)
    for times in range(1, KILLS + 1):
        kill_once(wire, victim, times)
    return wire


@pytest.fixture
def patient(own_arena):
    modules = {"faults": harness.ZOO / "faults.so"}
    return own_arena("--kill-grace", harness.FOREVER, modules=modules)


def late(wire, *words):
    with pytest.raises(Failure, match="DEADLINE_EXCEEDED") as said:
        wire.call(*words, deadline_ms=50)
    return said.value.message


def test_who_waited_is_told_so_and_for_whom(patient):
    wire, other = patient.victim(), patient.victim()
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        assert re.search(r"waited \d+ ms behind a call of another client", late(other, "faults:ok"))
        assert re.search(r"waited \d+ ms behind a call of its own client", late(wire, "faults:ok"))
        gate.open()
        wire.finish(held)


def test_who_ran_is_told_how_long(patient):
    with harness.Gate() as gate:
        said = late(patient.victim(), "faults:gate", gate.path)
        assert re.search(r"ran \d+ ms and was not done", said), said


def test_the_module_is_neither_quarantined_nor_put_off(arena):
    victim = arena.victim()
    barred(arena, victim)
    assert victim.call("faults:ok")[1] is None
    assert facts(victim)["state"] == "READY"
    harness.until(lambda: len(arena.daemon.restarts("faults")) >= KILLS, "all are logged")
    assert arena.daemon.restarts("faults") == [0] * KILLS, "at once"


def test_who_did_it_gets_no_more_deadlines_and_is_told_why(arena):
    victim = arena.victim()
    wire = barred(arena, victim)
    for other in (wire, attacker(arena)):  # a new connection is the same peer
        with pytest.raises(Failure, match="BUSY") as said:
            other.call("faults:ok", deadline_ms=harness.LONG_MS)
        assert "127.0.0.1 overran their deadlines" in said.value.message
    assert wire.call("faults:ok")[1] is None, "without a deadline it may"
    assert victim.call("faults:ok", deadline_ms=harness.LONG_MS)[1] is None, "others may"


def test_what_it_had_queued_kills_nobody(arena):
    """A thousand at once: those that were sent die with the workers, the others are refused."""
    victim, wire = arena.victim(), attacker(arena)
    asked = [wire.start("call", "faults:slow", harness.FOREVER_MS, deadline_ms=50 + i)
             for i in range(1000)]
    names = set()
    for request in asked:
        with pytest.raises(Failure) as said:
            wire.finish(request)
        names.add(said.value.name)
    assert names <= {"DEADLINE_EXCEEDED", "WORKER_LOST", "NOT_READY", "BUSY"}
    assert victim.call("faults:ok")[1] is None
    assert facts(victim)["restarts"] <= KILLS


def test_vanishing_does_not_hide_who_it_was(arena):
    victim = arena.victim()

    def kills():
        harness.until(lambda: facts(victim)["state"] == "READY", "it is there again")
        with harness.Gate() as gate, attacker(arena) as wire:
            wire.start("call", "faults:gate", gate.path, deadline_ms=300)
            harness.until(lambda: gate.is_entered() or facts(victim)["queued"] == 0, "it runs")
            wire.socket.close()
            return is_killed(victim, times)

    for times in range(1, KILLS + 1):
        harness.until(kills, f"kill {times}")
    with pytest.raises(Failure, match="BUSY"):
        attacker(arena).call("faults:ok", deadline_ms=harness.LONG_MS)


def test_others_who_wait_are_served_by_the_next_worker(arena):
    victim, wire = arena.victim(), attacker(arena)

    def kills():
        harness.until(lambda: facts(victim)["state"] == "READY", "it is there again")
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
            wire.call("faults:slow", harness.FOREVER_MS, deadline_ms=50)
        waiting = [victim.start("call", "faults:ok") for _ in range(10)]  # while it hangs
        assert [victim.finish(w)[1] for w in waiting] == [None] * 10
        return is_killed(victim, times)

    for times in range(1, KILLS + 1):
        harness.until(kills, f"kill {times}")


def test_so_many_peers_are_remembered(arena):
    """The one that has been quiet longest is forgotten for one more, barred or not."""
    victim = arena.victim()
    barred(arena, victim)
    for i in range(1, PEERS + 1):
        with pytest.raises(Failure, match="BUSY"):
            attacker(arena).call("faults:ok", deadline_ms=harness.LONG_MS)
        with attacker_from(arena, f"127.0.1.{i}") as wire:
            kill_once(wire, victim, KILLS + i)
    assert attacker(arena).call("faults:ok", deadline_ms=harness.LONG_MS)[1] is None
