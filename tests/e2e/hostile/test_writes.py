"""However many of its connections a peer reads from at once, or leaves behind, a turn is short: what
is written to them is MSD_CONN_SHARE_BYTES, and what is read and dropped is of MSD_CONN_TURN_SHARE."""
import contextlib
import socket

import harness
import msgpack
import pytest
from test_http_inputs import addone
from wire import DTYPE, out, shape_ext

MIB = 1 << 20
SHARE = 64  # MSD_CONN_TURN_SHARE
WRITTEN = 2 * MIB  # MSD_CONN_SHARE_BYTES
UINT8 = msgpack.ExtType(DTYPE, bytes([1, 8, 1, 0]))


def drain(s):
    """Read all that is there."""
    patience = s.gettimeout()
    s.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while s.recv(MIB):
            pass
    s.settimeout(patience)


def all_wait(victim, n):
    """@n others have answers that their sockets do not take."""
    unread = [c["unread_bytes"] for c in victim.ask("client.list")]
    return sum(b > 0 for b in unread) >= n


def test_answers_that_are_read_at_once_are_written_in_turns(own_arena, folder):
    """48 connections, an answer of a MiB each that is written in part: all was, in one turn."""
    arena = own_arena(listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"],
                      modules={"faults": harness.ZOO / "faults.so"})
    attackers, victim = [arena.connect() for _ in range(48)], arena.victim(arena.daemon.hosts[1])
    watcher = arena.victim()
    for attacker in attackers:
        tensor = attacker.ask("tensor.alloc", "faults", UINT8, shape_ext(MIB))
        for _ in range(2):
            attacker.start("tensor.copy", tensor, out("u1", MIB))
    harness.until(lambda: all_wait(watcher, len(attackers)), "they read nothing")
    victim.begin()
    with arena.standstill():
        for attacker in attackers:
            drain(attacker.socket)
        victim.ask_later()
    cost = victim.cost()
    victim.expect_within(cost, bytes=(cost.turns + 1) * (WRITTEN + MIB + 65536))


@pytest.fixture
def web(own_arena, folder):
    """(the arena, what connects to its HTTP address)"""
    arena = own_arena("--http", "127.0.0.1:0", listen=[f"unix:{folder}/m.sock"],
                      modules={"shapes": harness.MODELS / "shapes.so"})
    host, _, port = arena.daemon._line().removeprefix("listening http://").rpartition(":")
    return arena, lambda: arena.connections.enter_context(
        socket.create_connection((host, int(port)), harness.PATIENCE))


def test_results_by_http_that_are_read_at_once_are_written_in_turns(web):
    """16 connections, a result of 4 MiB each that is written in part."""
    arena, connect = web
    attackers, victim = [connect() for _ in range(16)], arena.victim()
    for s in attackers:
        s.sendall(b"".join(addone()))
    harness.until(lambda: all_wait(victim, len(attackers)), "they read nothing")

    def ask():
        """Connections, and turns, as they were at the same time."""
        return victim.start("client.list"), victim.start("server.info")

    def written(asked):
        clients, info = map(victim.finish, asked)
        return sum(c["out_bytes"] for c in clients), info["turns"]

    before, turns_before = written(ask())
    with arena.standstill():
        for s in attackers:
            drain(s)
        asked = ask()
    after, turns = written(asked)
    assert after - before <= (turns - turns_before + 1) * (WRITTEN + MIB // 2)


def test_who_is_answered_and_goes_is_let_go_in_turns(web):
    """300 that were told that theirs was the last answer, and end at once."""
    arena, connect = web
    victim = arena.victim()
    last = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    attackers = [connect() for _ in range(300)]
    for s in attackers:
        s.sendall(last)
        assert s.recv(256).startswith(b"HTTP/1.1 200")
    before = victim.ask("server.info")
    assert before["connections"] > len(attackers)
    with arena.standstill():
        for s in attackers:
            s.shutdown(socket.SHUT_WR)
        victim.ask_later()
    after = victim.finish(victim.asked)
    while before["connections"] > 1:
        gone = before["connections"] - after["connections"]
        assert gone <= (after["turns"] - before["turns"] + 1) * SHARE
        before, after = after, victim.ask("server.info")
