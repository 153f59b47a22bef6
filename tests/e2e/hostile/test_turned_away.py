"""Who is turned away, or is not there any more, may have passed descriptors before the daemon looked
at it: none of them is closed on the loop, where close() may sleep."""
import contextlib
import os
import resource
import signal
import socket

import pytest
from lingering import lingering_socket, pass_lingering

LOOKS = 8  # such connections at once
MANY = 3000  # twice MSD_CLOSER_BEHIND, and more; a listener's backlog has them


@contextlib.contextmanager
def in_a_process(function):
    """@function in a process of its own, which has done it when the body begins, and is killed at its
    end."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        kept = []
        try:
            kept.append(function())
            theirs.send(b".")
            signal.pause()
        except BaseException as error:
            theirs.send(repr(error).encode())
        os._exit(1)  # it is a copy of the test's process
    theirs.close()
    try:
        assert ours.recv(1000) == b"."
        yield
    finally:
        ours.close()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def pass_to(path, file):
    """In such a process; the daemon is the last to have @file."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    socket.send_fds(s, [b"."], [file.fileno()])
    file.close()
    return s


def test_what_looks_like_a_module_in_a_sandbox(own_arena, folder):
    arena = own_arena(listen=[f"unix:{folder}/m.sock"])
    before, victim, kept = arena.state(), arena.victim(), []

    def connect():
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
        return pass_to(f"{folder}/m.sock", file)

    with contextlib.ExitStack() as processes:
        with arena.standstill():
            for _ in range(LOOKS):
                file, peer = lingering_socket()
                kept.append(peer)
                processes.enter_context(in_a_process(connect))
                file.close()
        assert victim.ask("ping") is None
        arena.daemon.expect_logged("event=connection_sandboxed")
    arena.connections.close()
    arena.expect_as_before(before)


@pytest.fixture
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4 * MANY:
        pytest.skip(f"RLIMIT_NOFILE of {hard}: so many cannot be passed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * MANY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_of_them_than_may_wait_for_their_close(own_arena, folder, many_files):
    """None is left open: the next ones are not accepted until there is room."""
    arena = own_arena(listen=[f"unix:{folder}/m.sock"])
    before, victim = arena.state(), arena.victim()

    def connect():
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
        made = [lingering_socket(small=True) for _ in range(MANY)]
        return [(pass_to(f"{folder}/m.sock", file), peer) for file, peer in made]

    with contextlib.ExitStack() as processes:
        with arena.standstill():
            processes.enter_context(in_a_process(connect))
        assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_who_left_before_it_was_looked_at(own_arena, folder):
    arena = own_arena(listen=[f"unix:{folder}/m.sock"])
    before, victim, kept = arena.state(), arena.victim(), []
    with arena.standstill():
        for _ in range(LOOKS):
            file, peer = lingering_socket()
            kept.append(peer)
            with in_a_process(lambda: pass_to(f"{folder}/m.sock", file)):
                file.close()
    assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_who_asks_for_the_agents_line(own_arena, folder):
    arena = own_arena("--agent-check", f"unix:{folder}/agent.sock", listen=[f"unix:{folder}/m.sock"])
    before, victim = arena.state(), arena.victim()
    with arena.standstill(), socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{folder}/agent.sock")
        kept = [pass_lingering(s) for _ in range(LOOKS)]
    assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)
    assert all(peer.fileno() >= 0 for peer in kept)


@pytest.mark.parametrize("times", [1, 253])
def test_who_asks_for_the_agents_line_with_many(own_arena, folder, times):
    """All come with the one read that it makes."""
    arena = own_arena("--agent-check", f"unix:{folder}/agent.sock", listen=[f"unix:{folder}/m.sock"])
    victim = arena.victim()
    with arena.standstill(), socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{folder}/agent.sock")
        kept = pass_lingering(s, times=times)
    assert victim.ask("ping") is None
    assert kept.fileno() >= 0
