"""How much a user may ask for: the limits of its line of the file of rights."""
import time

import harness
import msgpack
import numpy as np
import pytest
from rights import User, connect, token_of, whole
from test_batching import standstill
from wire import DTYPE, Failure, Wire, out, shape_ext

X = np.zeros(1 << 18, "f4")
FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")


def line(name, limits):
    return User(name, ["lookup", "call"]).line().rstrip() + f" {limits}\n"


@pytest.fixture
def start(folder, own_daemon, models):
    """start(line...): a daemon with these rights and modules that return and wait; its file."""

    def run(*lines):
        acl = folder / "rights.acl"
        acl.write_text(whole(*lines))
        daemon = own_daemon("--acl", acl)
        daemon.load("results", harness.ZOO / "results.so")
        daemon.load("shapes", models / "shapes.so")
        daemon.load("faults", harness.ZOO / "faults.so", "--workers", 4)
        return daemon, acl

    return run


def finish(wire, id):
    """None, or why there is no result."""
    try:
        wire.finish(id)
    except Failure as failure:
        return failure
    return None


def expect_busy(failure, word):
    assert failure is not None and failure.name == "BUSY", failure
    assert word in failure.message and failure.details["retry_after_ms"] > 0, failure.details


def test_calls_in_a_second_are_counted_for_all_connections_together(start):
    daemon, _ = start(line("web", "rate=1/s"), line("free", ""))
    begun = time.monotonic()
    with connect(daemon, "web") as one, connect(daemon, "web") as two:
        asked = [(w, w.start("call", "results:echo", 1)) for w in (one, two) * 100]
        said = [finish(w, id) for w, id in asked]
    served = said.count(None)
    assert 1 <= served <= 2 + time.monotonic() - begun, said
    for failure in filter(None, said):
        expect_busy(failure, "rate=")
    with connect(daemon, "free") as free:
        asked = [free.start("call", "results:echo", 1) for _ in range(100)]
        assert [finish(free, id) for id in asked] == [None] * 100
    harness.until(lambda: "user=web limit=rate" in daemon.log(), "a thread writes the log")


def test_bytes_that_were_taken_ahead_are_owed_by_the_next_connection_too(start):
    daemon, _ = start(line("web", "bytes=1K/s"))
    with connect(daemon, "web") as wire:
        wire.call("shapes:addone", X, out("f4", X.size))
    with connect(daemon, "web") as wire:
        with pytest.raises(Failure) as caught:
            wire.call("shapes:addone", X, out("f4", X.size))
        expect_busy(caught.value, "bytes=")
        assert caught.value.details["retry_after_ms"] > 1000 * 60, "a thousand seconds' worth"
        wire.ask("ping")


def test_requests_in_flight_are_counted_until_they_are_answered(start):
    daemon, acl = start(line("web", "requests=2"))
    with harness.Gate() as gate, connect(daemon, "web") as one, connect(daemon, "web") as two:
        held = one.start("call", "faults:gate", gate.path)
        gate.entered()
        with harness.Gate() as other:
            more = two.start("call", "faults:gate", other.path)
            other.entered()
            expect_busy(finish(two, two.start("call", "results:echo", 1)), "requests=")
            other.open()
            assert finish(two, more) is None
        assert finish(two, two.start("call", "results:echo", 1)) is None
        gate.open()
        assert finish(one, held) is None


def test_who_leaves_takes_its_requests_along(start):
    daemon, _ = start(line("web", "requests=1"))
    with harness.Gate() as gate:
        with connect(daemon, "web") as wire:
            wire.start("call", "faults:gate", gate.path)
            gate.entered()
        with connect(daemon, "web") as wire:
            harness.until(
                lambda: finish(wire, wire.start("call", "results:echo", 1)) is None,
                "the daemon has noticed that the first one is gone",
            )


def test_modules_are_counted_for_who_has_brought_them(start):
    loads = [User(name, ["lookup", "load"]) for name in ("few", "many")]
    daemon, _ = start(*(f"{u.line().rstrip()} modules={n}\n" for u, n in zip(loads, (1, 9))))
    library = (harness.ZOO / "results.so").read_bytes()
    with connect(daemon, "few") as few, connect(daemon, "many") as many:
        few.load("one", library)
        with pytest.raises(Failure) as caught:
            few.load("two", library)
        expect_busy(caught.value, "few may have 1 modules")
        many.load("three", library)
        few.load("one", library, replace=True)
        with Wire(daemon.host) as operator:
            operator.load("one", library, replace=True)  # it stays one of few's
        with pytest.raises(Failure, match="BUSY"):
            few.load("two", library)
        few.ask("module.unload", "one")
        few.load("two", library)
    with connect(daemon, "few") as again, pytest.raises(Failure, match="BUSY"):
        again.load("four", library)


def test_resident_bytes_are_counted_over_connections_and_modules_until_they_are_freed(start):
    daemon, _ = start(line("web", "resident=8K"), line("free", ""))

    def alloc(wire, n, module="shapes"):
        return wire.ask("tensor.alloc", module, FLOAT32, shape_ext(n))

    with connect(daemon, "web") as one, connect(daemon, "web") as two:
        first = alloc(one, 1024)
        alloc(two, 512, "results")
        for wire, n in ((one, 513), (two, 1 << 40)):
            with pytest.raises(Failure) as caught:
                alloc(wire, n)
            expect_busy(caught.value, "resident=")
        asked = [one.start("tensor.alloc", "shapes", FLOAT32, shape_ext(512))
                 for _ in range(8)]
        assert [finish(one, id) is None for id in asked].count(True) == 1, "asked for at once"
        one.ask("tensor.free", first)
        alloc(two, 1024)
    with connect(daemon, "free") as free:
        alloc(free, 1 << 16)
    with connect(daemon, "web") as again:
        harness.until(lambda: finish(again, again.start(
            "tensor.alloc", "shapes", FLOAT32, shape_ext(2048))) is None,
            "what the others held was freed with them")


def test_a_limit_that_is_lifted_counts_for_the_next_request(start):
    daemon, acl = start(line("web", "bytes=1K/s"))
    with connect(daemon, "web") as wire, Wire(daemon.host) as operator:
        wire.call("shapes:addone", X, out("f4", X.size))
        told = [each["limits"] for each in wire.ask("acl.whoami")["lines"]]
        assert told == [["bytes=1024/s"]]
        acl.write_text(whole(line("web", "")))
        operator.ask("server.reload")
        wire.call("shapes:addone", X, out("f4", X.size))


def test_what_a_worker_has_made_is_counted_by_the_file_as_it_is_then(start):
    daemon, acl = start(line("web", "resident=8K"))
    with connect(daemon, "web") as wire, Wire(daemon.host) as operator:
        with standstill(daemon, "results"):
            asked = wire.start("tensor.alloc", "results", FLOAT32, shape_ext(1024))
            wire.ask("ping")
            acl.write_text(whole(line("web", "resident=1K")))
            operator.ask("server.reload")
        expect_busy(finish(wire, asked), "web may have 1024 bytes")


def test_the_command_line_says_when_to_try_again(start):
    daemon, _ = start(line("web", "requests=1"))
    env = harness.environment() | {"MODSER_TOKEN": token_of("web")}
    with harness.Gate() as gate, connect(daemon, "web") as wire:
        wire.start("call", "faults:gate", gate.path)
        gate.entered()
        said = daemon.modser("call", "results:echo", "1", env=env)
        assert said.status != 0 and "try again in" in said.err, said
