"""Tensor memory that is given back can be had again, whatever the sizes of the slots were; and however
many of them others have, a call finds its own without looking at theirs."""
import time

import harness
import numpy as np
import pytest
from wire import INLINE, frame, out, tensor_ext

MIB = 1 << 20
MAX_MEMORY = 64 * MIB
UNREAD = [word for limit in ("connection", "peer", "total") for word in (f"--max-{limit}-memory", "1G")]
SMALL, LARGE = 15 * MIB, 40 * MIB  # four small ones fill it; no two of them have room for a large


@pytest.fixture
def arena(own_arena):
    modules = {"results": harness.ZOO / "results.so"}
    return own_arena("--max-memory", str(MAX_MEMORY), modules=modules)


def expect_room(arena):
    """A large tensor goes to the worker and comes back."""
    large = np.arange(LARGE // 8, dtype="i8")
    assert np.array_equal(arena.victim().call("results:echo", large)[1], large)


def test_dropped_claims_leave_room(arena):
    body = [0, 1, "call", ["results:echo", tensor_ext(INLINE, "u1", (SMALL,))]]
    liars = [arena.connect() for _ in range(4)]
    for liar in liars:
        liar.send(frame(body, b"\0", payload_bytes=SMALL))
    for _ in range(3):
        arena.victim().ask("ping")
    for liar in liars:
        liar.socket.close()
    expect_room(arena)


def test_results_that_lay_together_leave_room(own_arena):
    """Nobody reads the four until all are there."""
    arena = own_arena(
        "--max-memory", str(MAX_MEMORY), *UNREAD, modules={"results": harness.ZOO / "results.so"})
    client, victim = arena.connect(), arena.victim()
    small = np.ones(SMALL, "u1")
    ids = [client.start("call", "results:echo", small) for _ in range(4)]
    harness.until(
        lambda: all(m["calls"] == 4 and m["in_flight"] == 0 for m in victim.ask("module.list")),
        "all are answered",
    )
    for id in ids:
        assert client.finish(id)[1].nbytes == SMALL
    expect_room(arena)


def test_sizes_that_change_leave_room(arena):
    with arena.victim() as client:
        for size in (1, 9, 3, 25, 14, 33, 2, 60, 5, 40, 17, 62, 1, 63):
            x = np.full(size * MIB, size, "u1")
            assert np.array_equal(client.call("results:echo", x)[1], x)
    expect_room(arena)


OUTPUTS = 1000  # of a call: nearly as many as a body may have


def cpu_of(pid):
    """Seconds of processor time that the process has used."""
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes it


def cost_of_calls(client, pid):
    """What @pid needs for some calls with many outputs."""
    before = cpu_of(pid)
    for _ in range(10):
        outs, _ = client.call("results:count", np.zeros(1, "u1"), *[out("u1", 1)] * OUTPUTS)
        assert len(outs) == OUTPUTS
    return cpu_of(pid) - before


def test_outputs_that_nobody_reads_are_not_walked_over(own_arena):
    """300 000 of them, of a byte each: a call took half a minute, be it of one connection or all."""
    arena = own_arena(
        "--max-connection-memory", "1G", "--max-peer-memory", "1G", modules={"results": harness.ZOO / "results.so"})
    victim, (worker,) = arena.victim(), arena.workers_of("results")
    cost_of_calls(victim, worker)  # its memory is warm
    quiet = cost_of_calls(victim, worker)
    attackers = [arena.connect() for _ in range(10)]
    body = ["results:none", *[out("u1", 1)] * OUTPUTS]
    for attacker in attackers:
        for id in range(1, 31):
            attacker.send(frame([0, id, "call", body]))
    calls = 300 + 20

    def are_answered():
        return all(m["calls"] >= calls for m in victim.ask("module.list"))

    harness.until(are_answered, "all are answered, and nobody reads")
    assert cost_of_calls(victim, worker) <= 5 * quiet
    before = cpu_of(worker)
    for attacker in attackers:
        attacker.socket.close()
    harness.until(lambda: victim.ask("server.info")["connections"] == 1, "they are gone")
    cost_of_calls(victim, worker)  # behind what was given back
    assert cpu_of(worker) - before <= 100 * quiet


def test_outputs_of_who_is_gone_are_given_back_in_turns(own_arena):
    """300 000 of them went to the worker as two megabytes in one turn, which was all that it had to do
    for a third of a second."""
    arena = own_arena(
        "--max-connection-memory", "1G", "--max-peer-memory", "1G", modules={"results": harness.ZOO / "results.so"})
    victim, attackers = arena.victim(), [arena.connect() for _ in range(10)]
    body = ["results:none", *[out("u1", 1)] * OUTPUTS]
    for attacker in attackers:
        for id in range(1, 31):
            attacker.send(frame([0, id, "call", body]))
    harness.until(lambda: all(m["calls"] >= 300 for m in victim.ask("module.list")), "all are answered")
    victim.ask_later()
    victim.last = victim.done()
    for attacker in attackers:
        attacker.socket.close()
    given = 0

    def are_given_back():
        nonlocal given
        victim.ask_later()
        now = victim.done()
        since, victim.last = now - victim.last, now
        # What one turn gives back, and what was gathered for one message of 8192.
        assert since.bytes_out <= (since.turns + 1) * 16384 + 100_000, since
        given += since.bytes_out
        return given >= 300 * OUTPUTS * 4

    harness.until(are_given_back, "the worker knows of all")


def test_replies_that_nobody_reads_leave_room_for_anothers_result(arena):
    """Where little tensor memory was given, all of it went to the replies of one who did not read: a
    call of anybody's was run, and its result refused."""
    attacker, victim = arena.connect(), arena.victim()
    body = ["results:none", out("u1", MIB)]
    for id in range(1, 61):
        attacker.send(frame([0, id, "call", body]))

    def is_over():
        return victim.ask("server.info")["connections"] == 1 or victim.ask("module.list")[0]["calls"] == 60

    harness.until(is_over, "all are answered, or it was disconnected")
    outs, _ = victim.call("results:none", out("u1", LARGE // 2))
    assert len(outs) == 1


def test_arguments_that_wait_are_not_walked_over(own_arena):
    """60 000 calls with a tensor each wait for one that runs."""
    arena = own_arena(modules={n: harness.ZOO / f"{n}.so" for n in ("faults", "results")})
    victim, other = arena.victim(), arena.connect()
    small = np.zeros(1, "u1")

    def cost():
        before = cpu_of(arena.pid)
        asked = [victim.start("call", "faults:ok", small) for _ in range(100)]
        victim.ask("ping")
        for id in asked:
            victim.send(frame([2, "cancel", [id]]))
        victim.ask("ping")
        return cpu_of(arena.pid) - before

    with harness.Gate() as gate:
        held = other.start("call", "faults:gate", gate.path)
        gate.entered()
        quiet = cost()
        attackers = [arena.connect() for _ in range(60)]
        body = ["faults:ok", tensor_ext(INLINE, "u1", (1,))]
        for attacker in attackers:
            attacker.send(b"".join(frame([0, id, "call", body], b"0") for id in range(1, 1001)))

        def queued():
            return sum(m["in_flight"] for m in victim.ask("module.list"))

        harness.until(lambda: queued() >= 60_000, "all wait")
        assert cost() <= 5 * quiet + 0.02
        gate.open()
        other.finish(held)


def begin_call(wire, n_bytes):
    """A call without the tensor that is to follow."""
    body = [0, next(wire.ids), "call", ["results:count", tensor_ext(INLINE, "u1", (n_bytes,))]]
    wire.send(frame(body, payload_bytes=n_bytes))


def waiting(victim):
    return sum(c["state"] == "waits for tensor memory" for c in victim.ask("client.list"))


def test_connections_that_wait_for_room_are_not_walked_over(own_arena, folder):
    """400 of another peer, each of which holds a byte of what all want: who waits was counted for
    each of them, whenever anybody gave something back."""
    arena = own_arena("--max-memory", str(MAX_MEMORY), "--read-stall", harness.FOREVER,
                      listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"],
                      modules={n: harness.ZOO / f"{n}.so" for n in ("faults", "results")})
    victim, holder = arena.victim(), arena.connect()
    one = np.zeros(1, "u1")

    def cost():
        before = cpu_of(arena.pid)
        for _ in range(100):
            victim.ask("call", "results:count", one)
        return cpu_of(arena.pid) - before

    quiet = cost()
    with harness.Gate() as gate:
        held = holder.start("call", "faults:gate", gate.path)
        gate.entered()
        attackers = [arena.connect(arena.daemon.hosts[1]) for _ in range(400)]
        for attacker in attackers:
            attacker.start("call", "faults:ok", one)
            begin_call(attacker, MAX_MEMORY // 2)
        harness.until(lambda: waiting(victim) >= len(attackers) - 1, "they wait for room")
        assert cost() <= 5 * quiet + 0.02
        gate.open()
        holder.finish(held)
