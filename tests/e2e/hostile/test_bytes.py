"""What is no protocol at all costs its own connection, and others nothing."""
import os
import socket
import struct

import msgpack
import pytest
from wire import MAGIC, Closed, Failure, Wire, frame

PING = frame([0, 1, "ping", []])


def throw_garbage(host):
    with Wire(host) as wire:
        wire.send(os.urandom(4096))


def begin_and_vanish(host):
    with Wire(host) as wire:
        wire.send(PING * 3 + PING[:20])


def test_garbage_ends_its_connection(arena):
    wire = arena.connect()
    wire.send(b"\x00" + os.urandom(4095))
    with pytest.raises(Closed):
        while True:
            wire.receive()


@pytest.mark.parametrize("what", [throw_garbage, begin_and_vanish])
def test_a_flood_of_broken_connections_costs_others_few_turns(arena, what):
    victim = arena.victim()
    with arena.attack(what, times=2):
        arena.expect_turns(victim, others=64, bytes=1 << 20)


def test_half_frames_that_stay_cost_nothing(arena):
    for cut in range(1, len(PING)):
        arena.connect().send(PING[:cut])
    victim = arena.victim()
    # The three frames are its own.
    victim.expect_within(victim.cost_of("ping"), frames=3)


def test_headers_without_their_bodies_claim_nothing(arena):
    with arena.growth(0):
        for _ in range(256):
            arena.connect().send(MAGIC + struct.pack("<IQ", 1 << 20, 0))
        assert arena.victim().ask("ping") is None


def test_clients_that_vanish_in_mid_reply_leave_nothing(arena):
    for _ in range(64):
        wire = Wire(arena.host)
        wire.send(PING * 100)
        # Sent at once when it is closed: unread replies make it a reset.
        wire.socket.shutdown(socket.SHUT_WR)
        wire.socket.close()
    assert arena.victim().ask("ping") is None


def test_a_body_of_the_most_bytes_does_not_cost_the_module_its_worker(arena):
    """On the channel it is longer: the function's name stands there instead of the handle."""
    client, workers = arena.connect(), arena.workers_of("results")
    target = client.ask("function.get", "results", "echo")
    body = [0, 9, "call", [target, b""]]
    body[3][1] = bytes((1 << 20) - len(msgpack.packb(body)) - 3)  # its head grows by 3
    assert len(msgpack.packb(body)) == 1 << 20
    client.send(frame(body))
    with pytest.raises(Failure, match="CALL_FAILED: echo"):  # it has no use for bytes
        client.finish(9)
    assert arena.workers_of("results") == workers
