"""Whoever is passed a descriptor may be who closes it last, and that can sleep for an hour
(lingering.py). Nobody else waits for it: the victim's patience is far shorter.
"""
import site
import sys

import harness
import pytest
from lingering import pass_lingering
from wire import Closed, Failure, Wire, frame

PING = frame([0, 1, "ping", []])
HERE = harness.ROOT / "tests/e2e/hostile"


@pytest.mark.parametrize("times", [1, 200])
def test_a_client_passes_sockets_that_linger(arena, times):
    attacker = arena.connect()
    kept = [pass_lingering(attacker.socket, PING, times) for _ in range(8)]
    assert arena.victim().ask("ping") is None
    assert attacker.receive()[:3] == [1, 1, None], "its frames are frames all the same"
    assert all(peer.fileno() >= 0 for peer in kept)


def test_a_client_leaves_sockets_that_linger_unread(arena):
    attacker, victim = arena.connect(), arena.victim()
    with arena.standstill():
        attacker.send(b"junk that is no frame")
        kept = [pass_lingering(attacker.socket) for _ in range(64)]
        victim.ask_later()
    victim.expect_within(victim.cost(), frames=2)
    with pytest.raises(Closed):
        while True:
            attacker.receive()
    assert all(peer.fileno() >= 0 for peer in kept)


def test_clients_that_are_refused_leave_sockets_that_linger(own_arena):
    arena = own_arena("--max-connections", 4)
    victim = arena.victim()
    with arena.standstill():
        attackers = [arena.connect() for _ in range(16)]
        kept = [pass_lingering(a.socket, PING) for a in attackers]
        for a in attackers:
            a.socket.close()
    assert victim.ask("ping") is None
    assert all(peer.fileno() >= 0 for peer in kept)


def test_the_end_does_not_wait_for_who_was_not_accepted(own_arena):
    arena = own_arena()
    with arena.standstill():
        attacker = arena.connect()
        kept = pass_lingering(attacker.socket, PING)
        attacker.socket.close()
        arena.daemon.process.terminate()
    arena.daemon.stop()
    assert kept.fileno() >= 0


@pytest.mark.parametrize("how", ["segment", "unread"])
def test_a_worker_passes_sockets_that_linger(own_arena, folder, how):
    program = folder / "worker"
    path = ":".join([str(HERE), str(HERE.parent), *site.getsitepackages()])
    script = HERE / "passing_worker.py"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{path}' exec '{sys.executable}' -S '{script}' '{folder}/record'\n"
    )
    program.chmod(0o755)
    arena = own_arena(env={"MODSERD_WORKER": str(program)})
    with Wire(arena.host) as loader:
        loader.load("passing", b"1 good")
        with pytest.raises(Failure, match="WORKER_LOST"):
            loader.call(f"passing:{how}")
    assert arena.victim().ask("ping") is None
