"""Whoever is passed a descriptor may be who closes it last, and that can sleep for an hour
(lingering.py). Nobody else waits for it: the victim's patience is far shorter.
"""
import contextlib
import os
import select
import site
import socket
import sys

import harness
import numpy as np
import pytest
from lingering import pass_lingering
from test_rights_kernel import connected_as
from wire import Closed, Failure, Wire, frame

FEW = 800  # descriptors of a daemon, of which the last quarter is its own user's
UPLOADS, HELD = 8, 4  # that a connection may have; descriptors that wait for a frame's rest
AT_ONCE = 253  # descriptors with one byte: SCM_MAX_FD of the kernel
PING = frame([0, 1, "ping", []])
HERE = harness.ROOT / "tests/e2e/hostile"
NOBODY, FILES = 65534, 2000


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


def flood(n):
    """@n descriptors that are on their way, and stay so until what is returned is closed."""
    pairs, (end, other) = [], os.pipe()
    while n > 0:
        pairs.append(socket.socketpair())
        socket.send_fds(pairs[-1][0], [b"."], [end] * min(n, 250))
        n -= 250
    os.close(end)
    os.close(other)
    return [s for pair in pairs for s in pair]


def as_nobody(function):
    """@function in a process of that user, until the returned pipe is closed."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            kept = function()
            theirs.send(b"%d" % len(kept))
            theirs.recv(1)
        finally:
            os._exit(0)
    theirs.close()
    assert ours.recv(16), "it has failed"
    return ours, pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be the user whose limit is used up")
def test_a_segment_waits_while_its_users_descriptors_are_on_their_way_elsewhere(own_arena, folder):
    """Not the daemon's, nor its clients': it serves meanwhile, and goes on when they have come."""
    if not harness.is_open_to_all(harness.BIN / "modserd-worker"):
        pytest.skip(f"{harness.BIN} is not open to all: another user cannot run the daemon")
    module, conf = folder / "results.so", folder / "m.conf"
    module.write_bytes((harness.ZOO / "results.so").read_bytes())
    conf.touch()
    for path in (folder, module, conf):
        os.chown(path, NOBODY, NOBODY)
    folder.chmod(0o755)
    limit = ("prlimit", f"--nofile={FILES}:{FILES}")
    arena = own_arena(
        "--config", conf, "--load", f"results={module}", "--max-connections", 64, "--max-modules", 4,
        listen=[f"unix:{folder}/m.sock"], may_write=str(folder),
        before=(*limit, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"))
    victim, wire = arena.victim(), arena.connect()
    victim.ask("module.wait", "results")
    ours, pid = as_nobody(lambda: flood(2 * FILES))
    try:
        asked = wire.start("call", "results:echo", np.ones(2 << 20, "u1"))
        for _ in range(50):
            assert victim.ask("ping") is None
        assert asked not in wire.answers and not select.select([wire.socket], [], [], 0)[0]
    finally:
        ours.close()
        os.waitpid(pid, 0)
    assert wire.finish(asked)[1].sum() == 2 << 20


@pytest.mark.parametrize("is_at_once", [True, False])
def test_a_flood_of_descriptors_is_closed_to_the_last(own_arena, is_at_once):
    """All that one read can bring, as often as sockets hold it: faster than threads close them."""
    arena = own_arena()
    before, victim = arena.state(), arena.victim()
    wires, sent = [arena.connect() for _ in range(8)], 0
    for wire in wires:
        wire.socket.setblocking(False)
    with open(os.devnull) as file:
        with arena.standstill() if is_at_once else contextlib.nullcontext():
            for wire in wires * 100:
                with contextlib.suppress(OSError):  # it is full, or the user has too many on their way
                    socket.send_fds(wire.socket, [PING], [file.fileno()] * AT_ONCE)
                    sent += AT_ONCE
            victim.ask_later()
    assert sent > 10_000
    victim.cost()
    assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


@pytest.fixture
def few(own_arena, folder):
    """few(word...): a daemon with few descriptors, whose unix socket is open to all."""
    def start(*words):
        folder.chmod(0o755)
        return own_arena(
            *words, "--max-connections", 400, "--max-modules", 2, "--socket-mode", "0666",
            listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"],
            before=("prlimit", f"--nofile={FEW}:{FEW}"))

    return start


def expect_the_operator_served(arena):
    """Who may come, load and call though nobody else gets a descriptor."""
    with Wire(arena.host) as operator:
        operator.load("late", (harness.ZOO / "results.so").read_bytes())
        assert operator.call("late:int")[1] == -42
        operator.ask("module.unload", "late")


def connected_from(arena, which):
    """From another address each: what one peer has of them has a smaller bound."""
    host, port = arena.daemon.hosts[1].removeprefix("tcp://").split(":")
    return socket.create_connection((host, int(port)), source_address=(f"127.0.0.{2 + which}", 0))


def test_uploads_do_not_take_the_last_descriptors(few):
    """Of a byte each, so that no bound of bytes is met."""
    arena = few("--allow-load-tcp")
    before, wires, said = arena.state(), [], []
    while not said:
        wires.append(arena.connections.enter_context(Wire(connected_from(arena, len(wires) % 2))))
        try:
            for id in [wires[-1].start("module.upload", "begin", 1) for _ in range(UPLOADS)]:
                try:
                    wires[-1].finish(id)
                except Failure as failure:
                    said.append(failure)
        except (Closed, OSError):  # it is a connection that there is none for: let it be an upload
            wires.pop()
            wires.pop().socket.close()
            arena.connections.enter_context(Wire(connected_from(arena, len(wires) % 2)))
    assert {f.name for f in said} == {"BUSY"} and "RLIMIT_NOFILE" in said[0].message
    assert len(harness.descriptors(arena.pid)) <= FEW - FEW // 4 + 16
    expect_the_operator_served(arena)
    with pytest.raises(Closed):  # what closed uploads had may be free again: it is taken first
        for _ in range(2 * UPLOADS):
            arena.connect(arena.daemon.hosts[1]).ask("ping")
    harness.until(lambda: "the last descriptors are reserved for the daemon's own user" in arena.daemon.log(), "it is said")
    arena.connections.close()
    arena.expect_as_before(before)
    assert arena.connect(arena.daemon.hosts[1]).ask("ping") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_what_waits_for_the_rest_of_its_frame_takes_not_the_last_descriptors(few, folder):
    arena = few()
    if not harness.is_open_to_all(folder):
        pytest.skip("others cannot enter the folder of the socket")
    before, wires = arena.state(), []
    with open(os.memfd_create("lent"), "rb") as file:
        for _ in range(FEW // HELD):
            wire = Wire(connected_as(arena.host[5:], NOBODY, NOBODY, []))
            wires.append(wire)
            with contextlib.suppress(OSError):  # it is refused
                socket.send_fds(wire.socket, [PING[:20]], [file.fileno()] * HELD)
    harness.until(lambda: "the last descriptors are reserved for the daemon's own user" in arena.daemon.log(), "it is said")
    assert len(harness.descriptors(arena.pid)) <= FEW - FEW // 4 + 16
    expect_the_operator_served(arena)
    for wire in wires:
        wire.socket.close()
    arena.expect_as_before(before)
