"""What the daemon remembers of its peers, and of what they have said and asked, has an end: a thousand
different things leave no more than a few do. What would be too much without the end is far more than
what a test allows.
"""
import os
import pathlib
import re
import socket

import harness
import msgpack
import numpy as np
import pytest
from onnx_writer import floats, model, node, value
from test_bounds import Offering, offer_all
from test_http import Visit
from wire import Failure, Wire, frame

MIB = 1 << 20
RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
SLOW_CALLS, ARGUMENT_BYTES = 128, 256
CALLS, CALLS_TOLD = 4096, 512
READ_AHEAD = 256 << 10
LAST_TURNS, TURN_FRAMES = 1024, 64
PING = frame([0, 1, "ping", []])


def both():
    return [f"unix:{harness.short_folder()}/m.sock", "tcp://127.0.0.1:0"]


def private(pid):
    """Bytes that the process has written and nobody shares: pages of a program that another
    daemon ran until now are its own, too, and were not taken by it."""
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * int(re.search(r"^Private_Dirty:\s+(\d+) kB", rollup, re.M)[1])


def expect_level(pid, again, budget):
    """Once @again() has been done, doing it takes no more memory of the process."""
    again(0)
    before = private(pid)
    again(1)
    grown = private(pid) - before
    assert harness.SANITIZED or grown <= budget, f"grew by {grown} of {budget}"


def visit_as(host, address):
    """One frame from @address of this machine, and the end."""
    name, port = host.removeprefix("tcp://").split(":")
    made = socket.create_connection((name, int(port)), harness.PATIENCE, (address, 0))
    with Wire(made) as wire:
        return wire.ask("acl.whoami")["peer"]


def test_a_peer_that_is_gone_is_forgotten(own_arena):
    """Some 150 bytes each, if it were not: 8000 of them are more than a megabyte."""
    arena = own_arena(listen=both())
    before = arena.state()

    def come(times):
        for i in range(8000 * times + 500):
            address = f"127.{1 + times}.{i // 250}.{1 + i % 250}"
            assert visit_as(arena.daemon.hosts[1], address) == address

    expect_level(arena.pid, come, MIB // 2)
    arena.expect_as_before(before)


def test_who_is_not_read_from_has_no_more_read_ahead_than_a_buffer(own_arena):
    arena = own_arena("--max-in-flight", "1", modules={"faults": FAULTS})
    before, victim = arena.state(), arena.victim()
    n, data = 48, frame([0, 1, "call", ["faults:slow", harness.FOREVER_MS]]) + PING * (2 * MIB // len(PING))
    sent = []

    class Counting(Offering):
        def offer(self, some):
            sent.append(super().offer(some))
            return sent[-1]

    with arena.growth(n * READ_AHEAD):
        offer_all(victim, [Counting(arena.connect()) for _ in range(n)], data)
        assert sum(sent) < n * len(data) / 2, "they were read to the end"
        assert victim.ask("ping") is None
    arena.connections.close()
    harness.until(lambda: arena.state().connections == 1, "they are gone")
    os.kill(arena.workers_of("faults")[0], 9)  # it runs what they have asked for
    harness.until(lambda: arena.workers_of("faults"), "another is there")
    arena.expect_as_before(before)


def test_who_is_gone_and_talks_on_is_heard_for_so_many_turns(own_arena):
    """It hears nothing any more, so it is gone; but it says pings for ever."""
    arena = own_arena()
    before, victim, wire = arena.state(), arena.victim(), arena.connect()
    wire.ask("ping")
    wire.socket.shutdown(socket.SHUT_RD)
    sent, some = 0, PING * 1000
    victim.begin()
    with pytest.raises(OSError):
        while sent < 64 * MIB:
            sent += wire.socket.send(some)
    assert sent <= (LAST_TURNS + 8) * TURN_FRAMES * len(PING) + 2 * MIB, "and what sockets hold"
    victim.ask_later()
    victim.expect_within(victim.cost(), frames=(LAST_TURNS + 8) * TURN_FRAMES)
    arena.connections.close()
    arena.expect_as_before(before)


def test_of_slow_calls_the_last_are_kept(own_arena):
    arena = own_arena("--slow-call", "1ms", modules={"faults": FAULTS})
    wire = arena.connect()
    asked = [wire.start("call", "faults:slow", 3) for _ in range(SLOW_CALLS)]
    asked += [wire.start("call", "faults:slow", 3, *["x" * 20] * 100) for _ in range(SLOW_CALLS)]
    with arena.growth(0):
        for id in asked[:SLOW_CALLS]:
            wire.finish(id)
        for id in asked[SLOW_CALLS:]:
            with pytest.raises(Failure, match="takes the milliseconds"):
                wire.finish(id)
    log = wire.ask("server.slowlog")
    assert len(log) == SLOW_CALLS
    assert log[-1]["number"] - log[0]["number"] == SLOW_CALLS - 1
    assert all(0 < len(e["arguments"]) <= ARGUMENT_BYTES for e in log)


def test_of_calls_the_last_are_kept(own_arena):
    arena = own_arena(modules={"results": RESULTS})
    wire = arena.connect()
    with arena.growth(MIB):
        for id in [wire.start("call", "results:int") for _ in range(CALLS + 1000)]:
            wire.finish(id)
    first = wire.ask("server.monitor", {"from": 0})
    assert first["next"] - first["from"] == len(first["requests"]) == CALLS_TOLD
    end = wire.ask("server.monitor")["next"]
    assert end - first["from"] == CALLS


@pytest.mark.parametrize("whose", ["supervisor", "worker"])
def test_calls_that_come_again_are_known_so_many(own_arena, whose):
    """18000 of a kilobyte each, twice."""
    arena = own_arena(modules={"results": RESULTS})
    wire = arena.connect()

    def call(times):
        for some in texts(times):
            asked = [wire.start("call", "results:count", text, 1) for text in some]
            assert [wire.finish(id)[1] for id in asked] == [2] * len(some)

    expect_level(arena.pid if whose == "supervisor" else arena.workers_of("results")[0], call, 2 * MIB)


def test_answers_that_come_again_are_known_so_many(liars):
    wire = liars.connect()

    def call(times):
        for some in texts(times):
            asked = [wire.start("call", "other:none", text) for text in some]
            assert [wire.finish(id)[1] for id in asked] == [[text] for text in some]

    expect_level(liars.pid, call, 2 * MIB)


def texts(times):
    """Hundreds of them, each hundred twice."""
    for at in range(0, 2000 + 16000 * times, 100):
        for _ in range(2):
            yield [f"{i:>900}" for i in range(at, at + 100)]


def test_a_lane_goes_with_its_connection(own_arena):
    """3000 connections call, and are gone; each had a lane in each of two modules."""
    arena = own_arena(modules={"a": RESULTS, "b": RESULTS})
    before = arena.state()

    def come(times):
        for _ in range(300 + 2700 * times):
            with Wire(arena.host) as wire:
                assert wire.call("a:int")[1] == wire.call("b:int")[1] == -42

    expect_level(arena.pid, come, MIB // 2)
    arena.expect_as_before(before)


def http_arena(own_arena, *words, **more):
    arena = own_arena("--http", "127.0.0.1:0", *words, **more)
    arena.daemon.hosts.append(arena.daemon._line().partition(" ")[2])
    return arena


def test_a_long_head_is_not_kept(own_arena):
    """200 visits, each with a head of 15 KiB behind it: 3 MiB; one of a kilobyte is kept."""
    arena = http_arena(own_arena)
    visits = []

    def visit(times, n=200):
        for at in range(0, n):
            if times == 0:
                visits.append(Visit(arena.daemon))
            field = f"A: {'x' * (900 if times == 0 else 15000)}\r\n"
            assert visits[at].ask("/livez", field)[0] == 200

    expect_level(arena.pid, visit, MIB)
    for v in visits:
        v.socket.close()


def deep(folder, n_nodes=400):
    """A model with one open extent and so many tensors."""
    names = ["x"] + [f"t{i}" for i in range(n_nodes - 1)] + ["y"]
    nodes = [node("Relu", [a], [b], name=b) for a, b in zip(names, names[1:])]
    path = folder / "deep.onnx"
    path.write_bytes(model(nodes, [value("x", "float32", ["n"])], [value("y", "float32", ["n"])]))
    return path


def test_shapes_of_runs_are_remembered_so_many(own_arena, folder):
    """500 shapes of 400 tensors each would be some ten megabytes of the worker."""
    arena = own_arena(modules={"deep": deep(folder)})
    wire = arena.connect()

    def run(times):
        for n in range(1000, 980 - 480 * times, -1):
            x = floats(n)
            _, y = wire.call("deep:run", x)
            assert np.array_equal(np.maximum(x, 0), y[0] if isinstance(y, list) else y)

    expect_level(arena.workers_of("deep")[0], run, 3 * MIB)


@pytest.mark.parametrize("head", [b"\xdc\x00\x04\x00", b"\x94\xcc\x00"], ids=["array", "kind"])
def test_a_request_whose_head_has_more_bytes_is_answered_as_any(own_arena, head):
    """What comes again and again is known again: not by what stands where others have the id."""
    arena = own_arena(modules={"faults": FAULTS})
    before, attacker = arena.state(), arena.connect()
    call = head + msgpack.packb(1 << 40) + msgpack.packb("call") + msgpack.packb(["faults:ok"])
    for _ in range(8):
        attacker.send(frame(call))
        assert attacker.receive()[:4] == [1, 1 << 40, None, [[], None]]
    attacker.socket.close()
    arena.expect_as_before(before)
