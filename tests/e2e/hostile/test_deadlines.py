"""Deadlines that a slow function overruns cost the one who set them, not the module and not the
others who call it. The attacker comes over TCP, the others by the unix socket: two peers.
"""

import os
import re
import select
import signal
import socket
import struct
import time

import harness
import msgpack
import pytest
from wire import RESULT_OF, Failure, Wire, frame

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


def is_readable(wire):
    return bool(select.select([wire.socket], [], [], 0)[0])


def is_killed(victim, times):
    """What was asked is over. False: the worker had not begun it, and so it was dropped."""
    harness.until(lambda: facts(victim)["in_flight"] == 0, "it is over")
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
        assert re.search(r"ran \d+ ms and did not finish", said), said


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
            harness.until(lambda: gate.is_entered() or is_readable(wire), "it runs, or is late")
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


class Due:
    """A moment at which the calls of many are due, as each of them sees it."""

    def __init__(self, in_ms):
        self.end = time.monotonic() + in_ms / 1000

    def left_ms(self, later_ms=0):
        return max(0, int(1000 * (self.end - time.monotonic())) + later_ms)


def all_wait(arena, watcher):
    """60 000 calls that wait and are due at one moment, which is later on a slow machine."""
    for in_ms in (4000, 8000, 16_000, 32_000, 64_000):
        due = Due(in_ms)
        attackers = [arena.connect() for _ in range(60)]
        for wire in attackers:
            options = {"deadline_ms": due.left_ms()}
            wire.send(b"".join(
                frame([0, id, "call", ["faults:ok"], options]) for id in range(1, 1001)))
        harness.until(lambda: facts(watcher)["in_flight"] >= 60_000 or due.left_ms() == 0, "all wait")
        if due.left_ms():
            return due, attackers
        for wire in attackers:
            wire.socket.close()
        harness.until(lambda: facts(watcher)["in_flight"] == 0, "none waits")
    raise AssertionError("60 000 calls were not queued within a minute")


def test_many_that_are_due_put_off_none(own_arena):
    """60 000 of another client's calls are due before: each turn of the loop took 64 of them, and then
    slept a millisecond."""
    modules = {"faults": harness.ZOO / "faults.so"}
    arena = own_arena(modules=modules)
    victim, watcher, other = arena.victim(), arena.victim(), arena.connect()
    with harness.Gate() as gate:
        held = other.start("call", "faults:gate", gate.path)
        gate.entered()
        due, _attackers = all_wait(arena, watcher)
        asked = victim.start("call", "faults:ok", deadline_ms=due.left_ms(500))
        harness.until(lambda: due.left_ms() == 0, "it is time")
        before = watcher.ask("server.info")["turns"]
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
            victim.finish(asked)
        turns = watcher.ask("server.info")["turns"] - before
        gate.open()
        other.finish(held)
    assert harness.SANITIZED or turns <= 600, turns


LANES, EACH = 60, 1000  # calls that wait: EACH of one connection
TURN = 5000  # of them that are surely more than a turn of the loop refuses, which is a millisecond


def queue_many(connections, victim, **options):
    """Behind a call that runs; the last of each connection has no options."""
    for wire in connections:
        wire.send(b"".join(frame([0, id, "call", ["faults:ok"], options]) for id in range(1, EACH + 1)))
        wire.send(frame([0, EACH + 1, "call", ["faults:ok"]]))
    harness.until(lambda: facts(victim)["in_flight"] >= LANES * (EACH + 1) - 64, "all wait")


def seen(victim):
    """(the loop's turns, calls that wait), of one moment."""
    asked = [(next(victim.ids), method) for method in ("server.info", "module.list")]
    victim.send(b"".join(frame([0, id, method, []]) for id, method in asked))
    info, modules = [victim.finish(id) for id, _ in asked]
    return info["turns"], modules[0]["in_flight"]


def expect_in_turns(victim, begin):
    """However many are refused at once, others have turns between."""
    last, first_queued = seen(victim)
    assert first_queued > LANES * EACH - 64
    begin()
    queued = first_queued
    while queued > 0:
        turns, left = seen(victim)
        assert queued - left <= (turns - last + 1) * TURN, (queued, left, turns - last)
        last, queued = turns, left


def answers(wire, refusal):
    """{id: the error's name or None} of all; those that are refused come in their order. What the
    worker had is answered when its end is seen."""
    got = {}
    for _ in range(EACH + 1):
        body = wire.receive()
        got[body[1]] = body[2] and body[2][1]
    refused = [id for id, name in got.items() if name == refusal]
    assert refused == sorted(refused) and len(refused) >= EACH - 64
    assert set(got) == set(range(1, EACH + 2))
    return got


def test_what_a_barred_peer_has_queued_is_refused_in_turns(arena):
    """60 000 were in one turn, a seventh of a second."""
    victim, wire = arena.victim(), attacker(arena)
    connections = [attacker(arena) for _ in range(LANES)]
    for times in range(1, KILLS):
        kill_once(wire, victim, times)
    harness.until(lambda: facts(victim)["state"] == "READY", "it is there again")
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path, abandon="kill")
        gate.entered()
        queue_many(connections, victim, abandon="kill")
        expect_in_turns(victim, lambda: wire.start("cancel", held))
    for other in connections:
        got = answers(other, "BUSY")
        assert got.pop(EACH + 1) is None, "what can end no worker is run"
        assert set(got.values()) <= {"BUSY", "WORKER_LOST"}
    assert victim.call("faults:ok")[1] is None
    assert facts(victim)["restarts"] == KILLS


def test_what_waits_for_a_quarantined_module_is_refused_in_turns(own_arena):
    arena = own_arena("--max-deaths", "1", modules={"faults": harness.ZOO / "faults.so"})
    victim, wire = arena.victim(), arena.connect()
    connections = [arena.connect() for _ in range(LANES)]
    with harness.Gate() as gate:
        wire.start("call", "faults:gate", gate.path)
        gate.entered()
        queue_many(connections, victim)
        expect_in_turns(victim, lambda: os.kill(arena.workers_of("faults")[0], signal.SIGKILL))
    for other in connections:
        assert set(answers(other, "QUARANTINED").values()) <= {"QUARANTINED", "WORKER_LOST"}
    with pytest.raises(Failure, match="QUARANTINED"):
        victim.call("faults:ok")


def test_calls_that_waited_for_one_result_are_begun_in_turns(own_arena):
    """100 large ones: 64 were read anew in one turn, a quarter of a second."""
    arena = own_arena(modules={"faults": harness.ZOO / "faults.so"})
    victim, wire = arena.victim(), arena.connect()
    parts = [{format(i, "03x"): None for i in range(64)}] * 500
    result = msgpack.ExtType(RESULT_OF, struct.pack("<QI", 1, 1))
    with harness.Gate() as gate:
        wire.send(frame([0, 1, "call", ["faults:gate", gate.path], {"promised": True}]))
        gate.entered()
        for id in range(2, 102):
            wire.send(frame([0, id, "ping", [result, *parts]]))
        harness.until(lambda: any(c["in_flight"] == 101 for c in victim.ask("client.list")), "all wait")
        before = victim.ask("server.info")["turns"]
        gate.open()
        for _ in range(101):
            wire.receive()
    assert victim.ask("server.info")["turns"] - before >= 20
