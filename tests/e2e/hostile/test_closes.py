"""What a peer passes is closed by threads, and some closes do not end. They are that peer's: it
brings no more, others' descriptors are closed meanwhile, and none is lost.
"""
import contextlib
import os
import socket

import harness
import numpy as np
import pytest
from lingering import pass_lingering
from stuck_files import WRITE, Denied, stuck_folder
from test_rights_kernel import connected_as
from wire import Closed, Wire, frame

PING = frame([0, 1, "ping", []])
AT_ONCE = 253  # descriptors with one byte: SCM_MAX_FD of the kernel
OF_ONE = 128  # MSD_CLOSER_OF_ONE
THREADS = 16  # that close what peers pass, and more
ENDS_READ = 20  # more than what is read of who is disconnected (END_READS)
TENSOR_BYTES = 16 << 20
ATTACKER, BYSTANDER = 65534, 65533
MANY = 8  # users, each of whom brings all that one may


@pytest.fixture
def open_arena(own_arena, folder):
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    folder.chmod(0o755)
    if not harness.is_open_to_all(folder):
        pytest.skip("others cannot enter the folder of the socket")
    return own_arena("--socket-mode", "0666", "--first-frame", "10m", listen=[f"unix:{folder}/m.sock"])


@contextlib.contextmanager
def stuck_or_skip(path, **more):
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(stuck_folder(path, **more))
        except Denied as denied:
            pytest.skip(f"FUSE cannot be mounted: {denied}")
        yield found


def connect_as(arena, user):
    return arena.connections.enter_context(Wire(connected_as(arena.host[5:], user, user, [])))


def pass_files(wire, file, times=AT_ONCE):
    """They come with a frame that is whole; the connection may be refused by then."""
    with contextlib.suppress(OSError):
        socket.send_fds(wire.socket, [PING], [file] * times)


def end_of(wire):
    """What it was told before its end."""
    told = []
    with contextlib.suppress(Closed, OSError):
        while True:
            told.append(wire.receive())
    return str(told)


def files_of(arena, folder):
    """How many descriptors the supervisor has for what lies there."""
    return sum(name.startswith(str(folder)) for name in harness.descriptors(arena.pid))


def test_closes_that_never_end_are_their_peers_alone(open_arena, folder):
    arena, stuck = open_arena, folder / "stuck"
    before, victim = arena.state(), arena.victim()
    nulls = before.descriptors.count(os.devnull)
    attackers = [connect_as(arena, ATTACKER) for _ in range(41)]
    modest, bystander = attackers.pop(), connect_as(arena, BYSTANDER)
    with stuck_or_skip(stuck) as (file, flushes):
        for wire in attackers:
            pass_files(wire, file)
        harness.until(lambda: flushes, "a close sleeps")
        assert "still being closed" in end_of(attackers[-1])
        assert 0 < files_of(arena, stuck) <= OF_ONE + AT_ONCE
        with open(os.devnull) as plain:
            pass_files(bystander, plain.fileno())
            assert bystander.receive()[:3] == [1, 1, None]
        harness.until(lambda: harness.descriptors(arena.pid).count(os.devnull) == nulls,
                      "another's are closed")
        assert modest.ask("ping") is None, "without descriptors it is served"
        assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_many_whose_closes_never_end_leave_room_for_the_next(open_arena, folder):
    arena, stuck = open_arena, folder / "stuck"
    before = arena.state()
    nulls = before.descriptors.count(os.devnull)
    attackers = [[connect_as(arena, ATTACKER - i) for _ in range(3)] for i in range(MANY)]
    next_one = connect_as(arena, ATTACKER - MANY)
    with stuck_or_skip(stuck) as (file, flushes):
        for wires in attackers:
            for wire in wires:
                pass_files(wire, file)
        harness.until(lambda: len(flushes) >= MANY, "a close of each sleeps")
        harness.until(lambda: files_of(arena, stuck) > MANY * OF_ONE, "all have brought some")
        with open(os.devnull) as plain:
            pass_files(next_one, plain.fileno())
            assert next_one.receive()[:3] == [1, 1, None]
        harness.until(lambda: harness.descriptors(arena.pid).count(os.devnull) == nulls,
                      "the next one's are closed")
    arena.connections.close()
    arena.expect_as_before(before)


def test_what_nobody_has_read_is_its_peers_alone(open_arena, folder):
    """It is closed with the socket that it lies in: a file whose last close does not end. What is the
    daemon's own is given back meanwhile."""
    arena, path = open_arena, folder / "stuck"
    before, victim = arena.state(), arena.connect()
    victim.load("m", (harness.ZOO / "results.so").read_bytes())
    victim.call("m:count", np.zeros(TENSOR_BYTES, "u1"))
    assert arena.memory().shmem >= TENSOR_BYTES
    with stuck_or_skip(path, stuck=WRITE) as (file, writes):
        with arena.standstill():
            for wire in [connect_as(arena, ATTACKER) for _ in range(THREADS)]:
                wire.send(b"no frame")  # a reason to close it
                for _ in range(ENDS_READ):
                    pass_files(wire, 0, times=1)
                passed = os.open(path / "file", os.O_RDONLY)
                pass_files(wire, passed, times=1)
                os.close(passed)
            os.write(file, b"x")
        harness.until(lambda: writes, "a close sleeps")
        victim.ask("module.unload", "m")
        harness.until(lambda: arena.memory().shmem < TENSOR_BYTES, "a module's memory is given back")
        assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_a_worker_starts_while_closes_do_not_end(own_arena, folder):
    """Descriptors wait behind two closes of their passer, open in the daemon. No copy of them comes
    into the worker, whose exec would close it."""
    arena = own_arena("--first-frame", "10m")
    attackers, loader, victim = [arena.connect() for _ in range(3)], arena.connect(), arena.victim()
    module = (harness.ZOO / "results.so").read_bytes()
    with stuck_or_skip(folder / "stuck") as (file, flushes):
        socket.send_fds(attackers[0].socket, [PING[:20]], [file])
        for wire in attackers[1:]:
            pass_files(wire, file)
        harness.until(lambda: len(flushes) == 2, "two closes sleep")
        harness.until(lambda: files_of(arena, folder) > OF_ONE, "the others wait")
        for name in ("one", "two"):
            loader.load(name, module)
            assert loader.call(f"{name}:int")[1] == -42
        assert victim.ask("ping") is None
        assert len(flushes) == 2, "nobody else has closed one"


def test_a_close_that_a_signal_ends_keeps_no_thread(own_arena):
    """The linger of a socket is turned off before its close; not so of one that lies in another."""
    arena = own_arena()
    before, victim = arena.state(), arena.victim()
    attacker, kept = arena.connect(), []
    with arena.standstill():  # else this may be the last to close them
        for _ in range(2 * THREADS):
            ours, theirs = socket.socketpair()
            kept.append(pass_lingering(ours))
            socket.send_fds(attacker.socket, [PING], [theirs.fileno()])
            theirs.close()
            ours.close()
    for _ in kept:
        attacker.receive()
    assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)
    assert all(peer.fileno() >= 0 for peer in kept)
