"""Rows of docs/internals/bounds.md that no other attack drives to their bound: each over the wire, by one
client, and what it was refused is named by its option."""
import contextlib
import resource
import socket
import struct

import harness
import pytest
from wire import MAGIC, Closed, Failure, frame

MIB = 1 << 20
RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"
BACKLOG = 4096


def expect_ended(wire):
    """The reason comes before the end."""
    said = b""
    with pytest.raises(Closed):
        while True:
            said = wire.receive()
    assert said[1] == "session.close", said
    return said[2][2]


def refused(wire, *request):
    with pytest.raises(Failure) as said:
        wire.ask(*request)
    return said.value


def test_modules_are_so_many(own_arena):
    arena = own_arena("--max-modules", 2, modules={"a": RESULTS, "b": RESULTS})
    wire = arena.connect()
    with pytest.raises(Failure, match="BUSY.*may have 2 modules .max-modules"):
        wire.load("c", RESULTS.read_bytes())
    wire.load("b", RESULTS.read_bytes(), replace=True)
    harness.until(lambda: wire.ask("server.info")["modules"] == 2, "the old one is gone")
    wire.ask("module.unload", "a")
    wire.load("c", RESULTS.read_bytes())
    assert {m["name"] for m in wire.ask("module.list")} == {"b", "c"}


def test_handles_of_a_connection_are_so_many(own_arena):
    arena = own_arena("--max-handles", 3, modules={"results": RESULTS})
    wire = arena.connect()
    handles = [wire.ask("function.get", "results", "int") for _ in range(3)]
    assert refused(wire, "function.get", "results", "int").name == "BUSY"
    assert arena.connect().ask("function.get", "results", "int"), "another has its own"
    wire.ask("function.free", handles[0])
    assert wire.ask("function.get", "results", "int")


def test_a_payload_is_so_long(own_arena):
    arena = own_arena("--max-payload", MIB)
    wire = arena.connect()
    with arena.growth(0):
        wire.send(MAGIC + struct.pack("<IQ", 100, MIB + 1))
        assert "payload" in expect_ended(wire)


@pytest.mark.parametrize("value", [
    [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]],
    [0] * 65536,
    {str(i): 0 for i in range(65)},
], ids=["deep", "long", "wide"])
def test_what_has_too_many_parts_is_not_unpacked(own_arena, value):
    arena = own_arena()
    wire = arena.connect()
    with arena.growth(2 * MIB):
        wire.send(frame([0, 1, "ping", [value]]))
        expect_ended(wire)
    assert arena.victim().ask("ping") is None


@pytest.mark.parametrize("kind", (1, 2), ids=["response", "notification"])
def test_what_clients_do_not_send_has_no_more_parts(own_arena, kind):
    """A response of 4 Mi may come to a client."""
    arena = own_arena()
    wire = arena.connect()
    shapes = {1: [1, 1, None, [0] * 65536], 2: [2, "cancel", [0] * 65536]}
    wire.send(frame(shapes[kind]))
    assert "more than 65536 objects" in expect_ended(wire)
    assert arena.victim().ask("ping") is None


def test_replies_that_are_never_read_end_their_connection(own_arena):
    arena = own_arena("--write-stall", "3s")
    victim, wire = arena.victim(), arena.connect()
    wire.offer(frame([0, 1, "server.info", []]) * 1000)  # its answers are more than sockets hold
    harness.until(lambda: victim.ask("server.info")["connections"] == 1, "it is ended")


def test_who_is_not_accepted_yet_waits_in_a_queue_with_an_end(own_arena):
    arena = own_arena("--max-connections", 2 * BACKLOG)
    most = min(BACKLOG, int(open("/proc/sys/net/core/somaxconn").read()))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 3 * BACKLOG:
        pytest.skip(f"RLIMIT_NOFILE of {hard}: so many connections cannot be made here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 200, hard))
    before = arena.state()
    with contextlib.ExitStack() as waiting:
        with arena.standstill(), pytest.raises(BlockingIOError):
            for _ in range(most + 100):
                s = waiting.enter_context(socket.socket(socket.AF_UNIX))
                s.setblocking(False)
                s.connect(arena.host[5:])
    arena.expect_as_before(before)


def test_a_log_is_followed_so_often(own_arena):
    arena = own_arena(modules={"quiet": FAULTS})
    wire, other = arena.connect(), arena.connect()
    follow = ["module.logs", "quiet", {"from": 0, "wait_ms": harness.FOREVER_MS}]
    waiting = [wire.start(*follow) for _ in range(4)]
    assert refused(wire, *follow).name == "BUSY"
    waiting_too = other.start(*follow)
    wire.call("quiet:say")
    assert all("said" in wire.finish(id)["text"] for id in waiting)
    assert "said" in other.finish(waiting_too)["text"]


def test_a_module_is_waited_for_so_often(own_arena):
    arena = own_arena("--load-timeout", harness.LONG)
    wire, other = arena.connect(), arena.connect()
    data = (harness.ZOO / "constructor_loop.so").read_bytes()
    loading = wire.start("module.load", "slow", wire.upload(data), {})
    waiting = [wire.start("module.wait", "slow") for _ in range(16)]
    assert refused(wire, "module.wait", "slow").name == "BUSY"
    other.ask("module.unload", "slow")
    for id in (loading, *waiting):
        with pytest.raises(Failure):
            wire.finish(id)
