"""What a client makes the supervisor hold has a bound, and reaches it without harm: each test
drives one resource there, over the wire, and sees it hold.
"""
import contextlib
import os
import select
import socket
import time

import harness
import msgpack
import numpy as np
import pytest
from wire import DTYPE, Closed, Failure, Wire, frame, out, shape_ext

MIB = 1 << 20
MEMORY = {
    "--max-connection-memory": 8 * MIB,
    "--max-peer-memory": 24 * MIB,
    "--max-total-memory": 32 * MIB,
}
WORDS = [str(w) for pair in MEMORY.items() for w in pair]
# Buffers that are read into and sockets' own are no part of a budget.
OTHERS = 4 * MIB
QUIET, QUIET_TURNS = 0.5, 20  # seconds and turns without a byte: the daemon has stopped reading
PEER_UPLOADS = 512  # MSD_PEER_UPLOADS
FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))


def offer_all(victim, attackers, data):
    """Send @data on each, until nobody has taken any more of it for a while, in which the daemon
    has had many turns."""
    left = {a: memoryview(data) for a in attackers}
    end, turns = time.monotonic() + QUIET, 0
    while left and (time.monotonic() < end or turns < QUIET_TURNS):
        victim.ask("ping")
        turns += 1
        # A socket is said to be ready with less room than a send needs.
        for a in select.select([], left, [], 0.01)[1]:
            try:
                sent = a.offer(left[a])
            except OSError:  # it was ended
                sent = len(left[a])
            left[a] = left[a][sent:]
            if not left[a]:
                del left[a]
            if sent:
                end, turns = time.monotonic() + QUIET, 0


class Offering:
    """An attacker as select() wants it, which never waits."""

    def __init__(self, wire):
        self.wire, self.fileno = wire, wire.socket.fileno

    def offer(self, data):
        self.wire.socket.setblocking(False)
        try:
            return self.wire.offer(data)
        finally:
            self.wire.socket.settimeout(harness.PATIENCE)


def attackers(arena, n):
    wires = [arena.connect() for _ in range(n)]
    return wires, [Offering(w) for w in wires]


def calls(function, n, text):
    return b"".join(frame([0, i, "call", [function, text]]) for i in range(1, n + 1))


def budget(connections):
    """What a peer may make the supervisor hold: each frame was begun before it was too much."""
    return MEMORY["--max-peer-memory"] + connections * MIB + OTHERS


def expect_held_back(victim, n):
    """They are not read any more, once what they may have has come: others have their turns."""
    def held_back():
        return victim.ask("server.info")["held"]["held_back"]
    harness.until(lambda: held_back() == n, f"{n} are held back")


def test_bodies_of_waiting_requests_stay_in_the_budget(own_arena):
    arena = own_arena(*WORDS, modules={"faults": harness.ZOO / "faults.so"})
    before = arena.state()
    victim = arena.victim()
    with harness.Gate() as gate, arena.growth(budget(6)):
        held = victim.start("call", "faults:gate", gate.path)
        gate.entered()
        wires, ready = attackers(arena, 6)
        offer_all(victim, ready, calls("faults:slow", 64, "x" * (MIB - 1024)))
        assert victim.ask("ping") is None
        expect_held_back(victim, 6)
        for w in wires:
            w.socket.close()
        gate.open()
        victim.finish(held)
    arena.connections.close()
    arena.expect_as_before(before)


def are_held_back_or_ended(victim, n):
    """Who has more unread than its share when all are short is ended, the others are not read."""
    info = victim.ask("server.info")
    return 1 <= info["held"]["held_back"] == info["connections"] - 1 <= n


def test_replies_that_nobody_reads_stay_in_the_budget(own_arena):
    arena = own_arena(*WORDS)
    before = arena.state()
    victim = arena.victim()
    asked = b"".join(frame([0, i, "server.info", []]) for i in range(1, 4001))
    with arena.growth(budget(12)):
        _, ready = attackers(arena, 12)
        offer_all(victim, ready, asked)
        assert victim.ask("ping") is None
        harness.until(lambda: are_held_back_or_ended(victim, 12), "all are at their bound")
    arena.connections.close()
    arena.expect_as_before(before)


def test_memory_of_clients_that_have_left_goes_back(own_arena):
    """Replies of some KiB each, which lie in the allocator's heap, 256 MiB of them at least."""
    most = [w for limit in ("connection", "peer", "total") for w in (f"--max-{limit}-memory", "1G")]
    arena = own_arena(*most)
    victim = arena.victim()
    asked = b"".join(frame([0, i, "server.info", []]) for i in range(1, 20001))
    wires, ready = attackers(arena, 4)
    offer_all(victim, ready, asked)
    harness.until(lambda: victim.ask("server.info")["held"]["bytes"] > 256 * MIB, "they are held")
    for wire in wires:
        wire.socket.close()
    harness.until(lambda: victim.ask("server.info")["connections"] == 1, "they have left")
    harness.until(lambda: harness.SANITIZED or arena.memory().rss < 128 * MIB, "it is given back")


def test_tensors_that_nobody_takes_stay_in_the_budget(own_arena, models):
    arena = own_arena(*WORDS, modules={"mlp": models / "mlp.so"})
    before = arena.state()
    victim = arena.victim()
    with arena.growth(budget(12)):
        wires, ready = attackers(arena, 12)
        for wire, offering in zip(wires, ready):
            there = wire.ask("tensor.alloc", "mlp", FLOAT32, shape_ext(MIB // 8))
            copies = (frame([0, i, "tensor.copy", [there, out("f4", MIB // 8)]])
                      for i in range(10, 210))
            offer_all(victim, [offering], b"".join(copies))
        assert victim.ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_small_replies_count_with_the_memory_that_keeps_them(own_arena):
    arena = own_arena(*WORDS)
    victim = arena.victim()
    with arena.growth(budget(4)):
        _, ready = attackers(arena, 4)
        offer_all(victim, ready, frame([0, 1, "ping", []]) * 200000)
        assert victim.ask("ping") is None


def test_half_bodies_stay_in_the_budget(own_arena):
    arena = own_arena(*WORDS)
    before = arena.state()
    victim = arena.victim()
    read_ahead = 60 * MIB // 4
    with arena.growth(budget(1) + read_ahead):
        _, ready = attackers(arena, 60)
        offer_all(victim, ready, frame([0, 1, "call", ["faults:slow", "x" * (MIB - 1024)]])[:-1])
        assert victim.ask("ping") is None
        harness.until(lambda: victim.ask("server.info")["held"]["held_back"] > 0, "the bound holds")
    arena.connections.close()
    arena.expect_as_before(before)


def test_who_gives_nothing_back_is_ended_and_told_why(own_arena):
    arena = own_arena(*WORDS, "--write-stall", "3s", modules={"faults": harness.ZOO / "faults.so"})
    victim = arena.victim()
    with harness.Gate() as gate:
        held = victim.start("call", "faults:gate", gate.path)
        gate.entered()
        wires, ready = attackers(arena, 1)
        offer_all(victim, ready, calls("faults:slow", 64, "x" * (MIB - 1024)))
        said = wires[0].receive()
        assert said[:2] == [2, "session.close"] and "--max-connection-memory" in said[2][2]
        gate.open()
        victim.finish(held)


def test_who_is_held_back_goes_on_when_it_reads(own_arena):
    arena = own_arena(*WORDS)
    victim = arena.victim()
    (wire,), (ready,) = attackers(arena, 1)
    data = memoryview(b"".join(frame([0, i, "server.info", []]) for i in range(1, 4001)))
    data = data[ready.offer(data) :]
    harness.until(lambda: victim.ask("server.info")["held"]["held_back"] == 1, "it is held back")
    for i in range(1, 4001):
        while data and not select.select([wire.socket], [], [], 0)[0]:
            select.select([wire.socket], [wire.socket], [])
            data = data[ready.offer(data) :]
        body = wire.receive()
        assert body[1] == i and body[2] is None
    assert not data


def test_cancels_of_one_request_are_no_memory(own_arena):
    arena = own_arena(modules={"faults": harness.ZOO / "faults.so"})
    victim = arena.victim()
    with harness.Gate() as gate:
        held = victim.start("call", "faults:gate", gate.path)
        gate.entered()
        wires, ready = attackers(arena, 1)
        behind = wires[0].start("call", "faults:slow", harness.FOREVER_MS)
        with arena.growth(0):
            offer_all(victim, ready, frame([2, "cancel", [behind]]) * 200000)
            assert victim.ask("ping") is None
        gate.open()
        victim.finish(held)


def both():
    return [f"unix:{harness.short_folder()}/m.sock", "tcp://127.0.0.1:0"]


def silent(arena, host, n):
    """@n connections, and how many of them were told to go."""
    victim = arena.victim()

    def others():
        return victim.ask("server.info")["connections"] - 1

    harness.until(lambda: others() == 0, "those of the start are gone")
    wires = [arena.connect(host) for _ in range(n)]
    refused = []

    def is_all_decided():
        held = others()
        refused[:] = [w for w in wires if select.select([w.socket], [], [], 0)[0]]
        return held + len(refused) == n

    harness.until(is_all_decided, "each is accepted or refused")
    for w in refused:
        said = w.receive()
        assert said[1] == "session.close" and "connections" in said[2][2], said
    return len(refused)


def test_silent_connections_leave_the_operators_way_in_open(own_arena):
    arena = own_arena(
        "--max-connections", "64", "--reserved-connections", "8", "--max-peer-connections", "1000",
        listen=both(),
    )
    assert silent(arena, arena.daemon.hosts[1], 80) == 80 - (64 - 1 - 8), "one is the victim's"
    assert arena.victim().ask("ping") is None
    harness.until(lambda: "event=connection_refused" in arena.daemon.log(), "it is said")
    assert arena.daemon.log().count("event=connection_refused") < 80 - (64 - 1 - 8), "not of each"


def test_a_peer_has_so_many_connections_and_not_more(own_arena):
    arena = own_arena(
        "--max-peer-connections", "10",
        listen=both(),
    )
    assert silent(arena, arena.daemon.hosts[1], 12) == 2
    arena.connections.close()
    harness.until(lambda: arena.state().connections == 1, "they are gone")
    assert silent(arena, arena.daemon.hosts[1], 10) == 0


def crowd(place, address, n, stack):
    """Those of @n connections from @address that are served."""
    frames = [Wire(socket.create_connection(place, source_address=(address, 0))) for _ in range(n)]
    served = 0
    for w in frames:
        stack.enter_context(w)
        with contextlib.suppress(Failure, Closed, OSError):
            served += w.ask("ping") is None
    return served


def test_addresses_that_take_all_places_leave_some_for_the_next(own_arena):
    arena = own_arena(
        "--max-connections", "72", "--reserved-connections", "8", "--max-peer-connections", "32",
        listen=both(),
    )
    host, port = arena.daemon.hosts[1].removeprefix("tcp://").rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        served = [crowd((host, int(port)), f"127.0.0.{2 + i}", 40, stack) for i in range(4)]
        assert crowd((host, int(port)), "127.0.0.9", 1, stack) == 1, served
        assert served[0] == 32 > served[1] > served[2] > served[3] > 0
        assert arena.victim().ask("ping") is None


def test_uploads_share_a_bound(own_arena):
    arena = own_arena("--max-upload-memory", "8M")
    one, two = arena.connect(), arena.connect()
    held = one.ask("module.upload", "begin", 6 * MIB)
    with pytest.raises(Failure) as failure:
        two.ask("module.upload", "begin", 3 * MIB)
    assert failure.value.name == "NO_SPACE" and "max-upload-memory" in failure.value.message
    assert arena.victim().ask("server.info")["held"]["upload_bytes"] == 6 * MIB
    one.ask("module.upload", "abort", held)
    assert two.ask("module.upload", "begin", 3 * MIB)


def piece(wire, upload, offset, n):
    wire.ask("module.upload", "write", upload, offset, np.zeros(n, "u1"))


def test_an_upload_that_does_not_go_on_gives_its_room_to_another(own_arena, folder):
    conf = folder / "m.conf"
    conf.touch()
    arena = own_arena("--max-upload-memory", "8M", "--config", conf)
    silent, slow, other = arena.connect(), arena.connect(), arena.connect()
    held = [w.ask("module.upload", "begin", 3 * MIB) for w in (silent, slow)]
    piece(slow, held[1], 0, MIB)
    with pytest.raises(Failure, match="NO_SPACE"):
        other.ask("module.upload", "begin", 4 * MIB)  # nobody has stalled yet
    conf.write_text("read-stall = 1ms\n")
    assert [c["state"] for c in other.ask("server.reload")] == ["changed"]

    def is_begun():
        piece(slow, held[1], MIB, MIB)
        with contextlib.suppress(Failure):
            return other.ask("module.upload", "begin", 5 * MIB)
    harness.until(is_begun, "the silent one is dropped")
    with pytest.raises(Failure, match="STALE_HANDLE"):
        piece(silent, held[0], 0, MIB)
    arena.daemon.expect_logged("another upload needs its memory (--read-stall)")


def test_clients_are_listed_with_what_they_hold(own_arena):
    arena = own_arena(*WORDS, modules={"faults": harness.ZOO / "faults.so"})
    victim = arena.victim()
    with harness.Gate() as gate:
        held = victim.start("call", "faults:gate", gate.path)
        gate.entered()
        _, ready = attackers(arena, 1)
        offer_all(victim, ready, calls("faults:slow", 64, "x" * (MIB - 1024)))
        harness.until(
            lambda: victim.ask("client.list")[1]["state"] == "holds too much", "it is at its bound")
        mine, other = victim.ask("client.list")
        assert mine["state"] == "reading" and mine["in_flight"] == 1
        assert other["state"] == "holds too much"
        assert other["held_bytes"] > other["most_bytes"] == MEMORY["--max-connection-memory"]
        assert mine["peer"] == other["peer"] == f"uid {os.geteuid()}"
        assert "holds too much" in arena.daemon.ok("clients").out
        gate.open()
        victim.finish(held)


def test_who_may_not_load_sees_its_own_peer_alone(own_arena):
    arena = own_arena(listen=both())
    arena.victim()
    over_tcp = arena.connect(arena.daemon.hosts[1])
    assert [c["peer"] for c in over_tcp.ask("client.list")] == ["127.0.0.1"]
    assert len(arena.victim().ask("client.list")) == 3


def test_uploads_of_one_peer_have_a_number(own_arena):
    """However many connections it has: of a byte each, no bound of bytes is met."""
    arena = own_arena("--max-concurrent-uploads", PEER_UPLOADS // 2 + 8)
    before, wires = arena.state(), [arena.connect() for _ in range(3)]
    for wire in wires[:2]:
        for id in [wire.start("module.upload", "begin", 1) for _ in range(PEER_UPLOADS // 2)]:
            wire.finish(id)
    with pytest.raises(Failure, match=f"BUSY.*{PEER_UPLOADS} uploads"):
        wires[2].ask("module.upload", "begin", 1)
    wires[0].socket.close()
    harness.until(lambda: "uploads" not in refusal_of(wires[2]), "what it had is given back")
    arena.connections.close()
    arena.expect_as_before(before)


def refusal_of(wire):
    """Why no more can be uploaded, if so."""
    try:
        wire.ask("module.upload", "begin", 1)
    except Failure as failure:
        return failure.message
    return ""
