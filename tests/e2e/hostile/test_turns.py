"""However much one connection has sent, others get their turn after 64 frames or 200 us of it."""
import json
import socket
import statistics

import harness
import msgpack
import pytest
from wire import DTYPE, Failure, Wire, frame, shape_ext

TURN = 64  # MSD_CONN_TURN_FRAMES
SHARE = 64  # MSD_CONN_TURN_SHARE
MAX_OBJECTS = 65536  # MSD_MAX_OBJECTS
TENSOR_BYTES = 35  # of one resident tensor in a request
UINT8 = msgpack.ExtType(DTYPE, bytes([1, 8, 1, 0]))
PING = frame([0, 1, "ping", []])
GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


def test_what_came_at_once_is_served_in_turns(arena):
    attacker, victim = arena.connect(), arena.victim()
    with arena.standstill():
        sent = attacker.offer(PING * 10000)
        victim.ask_later()
    assert sent > 4 * TURN * len(PING)
    victim.expect_within(victim.cost(), turns=4, frames=2 * TURN)


def test_attackers_get_one_turn_each(arena):
    attackers, victim = [arena.connect() for _ in range(8)], arena.victim()
    with arena.standstill():
        for attacker in attackers:
            attacker.offer(PING * 10000)
        victim.ask_later()
    victim.expect_within(victim.cost(), turns=4, frames=(len(attackers) + 1) * TURN)


def test_however_many_connections_one_peer_has_a_turn_is_short(own_arena, folder):
    """Another peer's answer is behind one turn of 64 of them."""
    arena = own_arena(listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"])
    tcp = arena.daemon.hosts[1]
    attackers, victim = [arena.connect(tcp) for _ in range(300)], arena.victim(f"unix:{folder}/m.sock")
    with arena.standstill():
        for attacker in attackers:
            attacker.offer(PING * 1000)
        victim.ask_later()
    victim.expect_within(victim.cost(), frames=3 * SHARE * TURN)
    for attacker in attackers:
        assert attacker.receive()[:3] == [1, 1, None]


def crowded(id):
    """A ping full of small maps, which take the longest of all that may come: thousands of times as
    long as a plain one."""
    a_map = {format(i, "03x"): None for i in range(64)}
    return frame([0, id, "ping", [a_map] * (MAX_OBJECTS // 129 - 1)])


def test_frames_that_take_long_are_few_in_a_turn(own_arena, folder):
    """A connection each, so that none of them has more than its turn; 64 at once took 0.2 s."""
    arena = own_arena(listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"])
    tcp = arena.daemon.hosts[1]
    attackers, victim = [arena.connect(tcp) for _ in range(SHARE)], arena.victim(f"unix:{folder}/m.sock")
    heavy = crowded(1)
    for attacker in attackers:
        attacker.send(heavy[:-1])

    def are_read():
        victim.ask_later()
        return victim.cost().bytes_in >= SHARE * (len(heavy) - 1)

    harness.until(are_read, "all but their ends are there")
    victim.begin()
    with arena.standstill():
        for attacker in attackers:
            attacker.send(heavy[-1:])
        victim.ask_later()
    # On a machine on which they take a tenth of what they took where this was written.
    victim.expect_within(victim.cost(), frames=SHARE // 3)
    for attacker in attackers:
        with pytest.raises(Failure, match="BAD_REQUEST"):
            attacker.finish(1)


def connect_web(arena, address):
    """A connection that is answered: who is not let in yet does not take turns."""
    attacker = arena.connections.enter_context(
        socket.create_connection(address, harness.PATIENCE))
    attacker.send(GET)
    assert attacker.recv(4096).startswith(b"HTTP/1.1 200")
    return attacker


def test_however_many_connections_one_peer_has_by_http_a_turn_is_short(own_arena, folder):
    arena = own_arena("--http", "127.0.0.1:0", listen=[f"unix:{folder}/m.sock"])
    host, _, port = arena.daemon._line().removeprefix("listening http://").rpartition(":")
    attackers = [connect_web(arena, (host, int(port))) for _ in range(300)]
    victim = arena.victim()
    before = victim.ask("server.info")
    with arena.standstill():
        for attacker in attackers:
            attacker.send(GET)
        victim.ask_later()
    after = victim.finish(victim.asked)
    requests = after["http"]["requests"] - before["http"]["requests"]
    assert requests <= (after["turns"] - before["turns"] + 1) * SHARE
    for attacker in attackers:
        assert attacker.recv(64).startswith(b"HTTP/1.1 200")


def infer_of(n):
    """A request whose JSON takes a thread to read, with @n elements."""
    text = json.dumps({"inputs": [
        {"name": "arg0", "datatype": "FP64", "shape": [n], "data": [1.25] * n}]}).encode()
    head = f"POST /v2/models/results:count/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}"
    return f"{head}\r\n\r\n".encode() + text


def test_json_of_peers_is_read_in_turns(own_arena, folder):
    """40 connections of one have a megabyte each, another a little, behind them: it was the last."""
    arena = own_arena("--http", "127.0.0.1:0", listen=[f"unix:{folder}/m.sock"],
                      modules={"results": harness.ZOO / "results.so"})
    host, _, port = arena.daemon._line().removeprefix("listening http://").rpartition(":")

    def connect_from(peer):
        s = socket.create_connection((host, int(port)), harness.PATIENCE, (peer, 0))
        return arena.connections.enter_context(s)

    watcher = arena.victim()
    attackers, victim = [connect_from("127.0.0.2") for _ in range(40)], connect_from("127.0.0.3")
    large, little = infer_of(150_000), infer_of(4000)
    for attacker in attackers:
        attacker.sendall(large[:-1])
    victim.sendall(little[:-1])

    def are_read():
        came = {c["connection"]: c["in_bytes"] for c in watcher.ask("client.list")}
        return sum(came.values()) >= 40 * (len(large) - 1) + len(little) - 1

    harness.until(are_read, "all but their ends are there")
    with arena.standstill():
        for attacker in attackers:
            attacker.sendall(large[-1:])
        victim.sendall(little[-1:])
    for s in (victim, *attackers):
        assert s.recv(4096).startswith(b"HTTP/1.1 501"), "it is a number"
    calls = [r["peer"] for r in watcher.ask("server.monitor", {"from": 0})["requests"]]
    assert len(calls) == 41 and calls.index("127.0.0.3") <= 6, calls


def flood(host):
    with Wire(host) as wire:
        for _ in range(64):
            wire.send(PING * 1000)
            for _ in range(1000):
                wire.receive()


def test_a_flood_of_pings_costs_others_few_frames(arena):
    victim = arena.victim()
    with arena.attack(flood, times=2, frames=1000):
        arena.expect_turns(victim, others=2 * TURN)


def test_calls_that_came_at_once_are_served_in_turns(arena):
    attacker, victim = arena.connect(), arena.victim()
    with arena.standstill():
        attacker.offer(b"".join(
            frame([0, id, "call", ["faults:not_there"]]) for id in range(1, 1000)))
        victim.ask_later()
    # What the worker has answered meanwhile is frames, too.
    victim.expect_within(victim.cost(), turns=4, frames=4 * TURN)


def alloc(wire, n):
    """@n resident tensors of one byte."""
    last = [wire.start("tensor.alloc", "faults", UINT8, shape_ext(1)) for _ in range(n)][-1]
    wire.finish(last)


def test_what_a_client_had_is_freed_in_turns(arena):
    """16384 tensors: at once they were a megabyte to their worker in one turn."""
    attacker, victim = arena.connect(), arena.victim()
    alloc(attacker, 16384)

    def cost():
        """What was done since the last time."""
        victim.ask_later()
        now = victim.done()
        since, victim.last = now - victim.last, now
        return since

    quiet = statistics.median(cost().bytes_out for _ in range(31))
    attacker.socket.close()
    told = []

    def is_told():
        now = cost()
        told.append(max(0, now.bytes_out - quiet))
        assert told[-1] <= (now.turns + 1) * 2 * TURN * TENSOR_BYTES, told
        return sum(told) >= 16384 * TENSOR_BYTES

    harness.until(is_told, "the worker knows of all")
