"""What a connection begins and does not go on with is its own loss: frames, payloads, places."""
import struct

import harness
import numpy as np
import pytest
from wire import MAGIC, Closed, Failure, frame, out, tensor_ext

MIB = 1 << 20
STALL_MS, ROOM = 1000, 4 * MIB
LITTLE = 64 << 10  # in the socket before the daemon asks for it


def big_call(n, id=1, **options):
    """The frame of a call with @n bytes of tensor, without the tensor."""
    body = [0, id, "call", ["faults:not_there", tensor_ext(0, "u1", (n,))]]
    return frame(body + ([options] if options else []), payload_bytes=n)


@pytest.fixture
def small(own_arena, faults):
    """One that has room for 4 MiB of tensors."""
    return own_arena("--max-memory", ROOM, "--read-stall", f"{STALL_MS}ms", modules=faults)


@pytest.fixture
def faults():
    return {"faults": harness.ZOO / "faults.so"}


def expect_ended(wire, why):
    said = b""
    with pytest.raises(Closed):
        while True:
            said = wire.receive()
    assert said[1] == "session.close" and why in said[2][2], said


def expect_call_to_finish(wire, id, n):
    """Send the tensor of a call that has begun; it gets as far as its function."""
    wire.send(bytes(n))
    with pytest.raises(Failure) as failure:
        wire.finish(id)
    assert failure.value.name == "NOT_FOUND", failure.value


def expect_answered(victim):
    """A call with a tensor gets as far as its function, which there is none of."""
    with pytest.raises(Failure) as failure:
        victim.ask("call", "faults:not_there", np.zeros(LITTLE, "u1"))
    assert failure.value.name == "NOT_FOUND", failure.value


@pytest.mark.parametrize("begun", [
    MAGIC, MAGIC + struct.pack("<IQ", 100, 0), MAGIC + struct.pack("<IQ", 100, 0) + b"\x94\x00",
    frame([0, 2, "ping", []], payload_bytes=100) + bytes(99)])
def test_a_frame_that_does_not_go_on_ends_its_connection(small, begun):
    attacker = small.connect()
    attacker.ask("ping")
    attacker.send(begun)
    expect_ended(attacker, "--read-stall")


def test_who_declares_all_memory_and_sends_nothing_loses_it(small):
    attacker, victim = small.connect(), small.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    expect_answered(victim)
    expect_ended(attacker, "--read-stall")


def test_who_declares_all_memory_and_sends_nothing_holds_up_nobody(own_arena, faults):
    """Others are answered long before anything ends it, and it goes on when it has its bytes."""
    forever = ("--first-frame", harness.FOREVER, "--read-stall", harness.FOREVER)
    arena = own_arena("--max-memory", ROOM, *forever, modules=faults)
    attacker, victim = arena.connect(), arena.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    for _ in range(3):
        expect_answered(victim)
    expect_call_to_finish(attacker, 1, ROOM)


def test_a_trickle_does_not_hold_memory_that_others_wait_for(small):
    attacker, victim = small.connect(), small.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    victim.send(big_call(LITTLE, id=1000) + bytes(LITTLE))
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while True:  # the daemon reads whatever comes, as slowly as it comes
            attacker.send(b"x")
    expect_call_to_finish(victim, 1000, 0)


def test_a_deadline_counts_while_there_is_no_room(own_arena, faults):
    arena = own_arena("--max-memory", ROOM, modules=faults)
    attacker, victim = arena.connect(), arena.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    with pytest.raises(Failure) as failure:
        victim.ask("call", "faults:not_there", np.zeros(MIB, "u1"), deadline_ms=200)
    assert failure.value.name == "DEADLINE_EXCEEDED"
    assert "before its tensors were received" in failure.value.message
    assert victim.ask("ping") is None, "its payload was dropped, and it goes on"


def test_a_deadline_counts_while_the_payload_comes(own_arena, faults):
    wire = own_arena(modules=faults).connect()
    wire.send(big_call(MIB, deadline_ms=100))
    body = wire.receive()
    assert body[1] == 1 and body[2][1] == "DEADLINE_EXCEEDED", body
    wire.send(bytes(MIB) + frame([0, 2, "ping", []]))
    assert wire.receive()[:3] == [1, 2, None]


def test_who_waits_for_much_does_not_stop_who_wants_little(own_arena, faults):
    arena = own_arena("--max-memory", ROOM, modules=faults)
    holders = [arena.connect(), arena.connect()]
    greedy, victim = arena.connect(), arena.victim()
    for holder in holders:
        holder.send(big_call(ROOM // 2))
    victim.ask("ping")  # what was sent before has been read
    greedy.send(big_call(ROOM))
    victim.ask("ping")
    victim.send(big_call(MIB, id=1000))
    holders[0].socket.close()
    expect_call_to_finish(victim, 1000, MIB)


@pytest.fixture
def limited(own_arena, folder):
    """(an arena, limit(wire, line)): @line of its configuration counts when @wire was answered,
    so that the limit may be short: all that is to be said before it has been."""
    conf = folder / "m.conf"
    conf.touch()

    def limit(wire, line):
        conf.write_text(f"{line}\n")
        assert [c["state"] for c in wire.ask("server.reload")] == ["changed"]

    return own_arena("--config", conf), limit


def test_a_silent_connection_is_closed(limited):
    arena, limit = limited
    silent, idle = arena.connect(), arena.victim()
    limit(idle, "first-frame = 50ms")
    expect_ended(silent, "--first-frame")
    assert idle.ask("ping") is None, "silence after a frame is free"


def test_idle_ones_are_closed_where_that_is_asked_for(limited):
    arena, limit = limited
    wire = arena.connect()
    limit(wire, "idle = 50ms")
    expect_ended(wire, "--idle")


OUTPUTS = ("call", "faults:not_there", out("u1", MIB))


def test_outputs_wait_for_room_as_arguments_do(small):
    attacker, victim = small.connect(), small.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    asked, behind = victim.start(*OUTPUTS), victim.start("ping")
    with pytest.raises(Failure, match="NOT_FOUND"):
        victim.finish(asked)
    assert victim.finish(behind) is None


def test_a_deadline_counts_while_outputs_wait_for_room(own_arena, faults):
    arena = own_arena("--max-memory", ROOM, modules=faults)
    attacker, victim = arena.connect(), arena.victim()
    attacker.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    asked, behind = victim.start(*OUTPUTS, deadline_ms=200), victim.start("ping")
    with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
        victim.finish(asked)
    assert victim.finish(behind) is None, "it is read again"


def test_who_waits_for_room_for_outputs_and_goes_leaves_nothing(own_arena, faults):
    arena = own_arena("--max-memory", ROOM, modules=faults)
    holder, waiter, victim = arena.connect(), arena.connect(), arena.victim()
    holder.send(big_call(ROOM))
    victim.ask("ping")  # what was sent before has been read
    waiter.start(*OUTPUTS)

    def states():
        return [c["state"] for c in victim.ask("client.list")]

    harness.until(lambda: "waits for tensor memory" in states(), "it waits")
    waiter.socket.close()
    harness.until(lambda: "waits for tensor memory" not in states(), "it is gone")
    holder.socket.close()
    with pytest.raises(Failure, match="NOT_FOUND"):  # which has room for all
        victim.ask("call", "faults:not_there", np.zeros(ROOM, "u1"))


def test_who_is_gone_while_it_is_not_read_is_noticed(own_arena, faults):
    """The call that it waits for is still running."""
    arena = own_arena("--max-in-flight", 4, modules=faults)
    attacker, victim = arena.connect(), arena.victim()
    with harness.Gate() as gate:
        for _ in range(8):
            attacker.start("call", "faults:gate", gate.path)
        gate.entered()
        attacker.socket.close()
        harness.until(lambda: victim.ask("server.info")["connections"] == 1, "it is noticed")
        gate.open()


def test_many_that_are_late_are_ended_in_turns(own_arena, folder, faults):
    """500 whose first frame waits for room, with as much behind it as their sockets hold, which is
    read and dropped: all were in one turn."""
    arena = own_arena("--max-memory", str(64 * MIB), "--first-frame", "10s",
                      listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"], modules=faults)
    victim, holder = arena.victim(arena.daemon.hosts[1]), arena.connect()
    assert holder.ask("ping") is None
    holder.send(big_call(64 * MIB, id=2))
    attackers = [arena.connect() for _ in range(500)]
    for attacker in attackers:
        attacker.offer(big_call(64 * MIB) + bytes(MIB))
    before = victim.ask("server.info")
    assert before["connections"] > len(attackers)
    while before["connections"] > 2:
        victim.begin()
        before = victim.ask("server.info")
        victim.ask_later()
        cost = victim.cost()
        victim.expect_within(cost, cpu_us=4000 * (cost.turns + 1))
