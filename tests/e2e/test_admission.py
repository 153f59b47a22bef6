"""A call that would not be done by its deadline is told so at once, and when to come again."""
import contextlib

import harness
import pytest
from wire import Failure, Wire

SLOW_MS = 30
N_AHEAD = 40
HALF_MS = SLOW_MS * N_AHEAD // 2


@contextlib.contextmanager
def kept_busy(daemon):
    """(the daemon, the gate): `bad` runs a call that the gate holds, and others of the same
    client, of which it is known how long they take, wait behind it."""
    daemon.load("bad", harness.ZOO / "faults.so", "--replace")
    with harness.Gate() as gate, Wire(daemon.host) as other:
        other.call("bad:slow", SLOW_MS)
        ids = [other.start("call", "bad:gate", gate.path)]
        ids += [other.start("call", "bad:slow", SLOW_MS) for _ in range(N_AHEAD)]
        gate.entered()
        other.ask("ping")
        yield daemon, gate
        if gate.fd is not None:
            gate.open()
        for id in ids:
            other.finish(id)


@pytest.fixture
def busy(daemon):
    with kept_busy(daemon) as both:
        yield both


def test_a_call_that_would_be_late_is_refused_and_told_when_to_come(busy):
    daemon, _ = busy
    with Wire(daemon.host) as wire, pytest.raises(Failure) as failure:
        wire.call("bad:slow", SLOW_MS, deadline_ms=HALF_MS)
    assert failure.value.name == "BUSY"
    assert failure.value.details["retry_after_ms"] >= HALF_MS
    assert "module bad: the calls ahead of this one take about" in failure.value.message


def test_a_call_that_alone_takes_longer_than_its_deadline_is_told_so(busy):
    """No time would be better: it is not told to come again, but to bring more time."""
    daemon, _ = busy
    with Wire(daemon.host) as wire, pytest.raises(Failure) as failure:
        wire.call("bad:slow", SLOW_MS, deadline_ms=SLOW_MS // 3)
    assert failure.value.name == "BUSY"
    assert "module bad: this call alone takes about" in failure.value.message
    assert "give it more time" in failure.value.message
    assert not failure.value.details


def test_a_call_with_a_long_deadline_or_none_waits(busy):
    daemon, gate = busy
    with Wire(daemon.host) as wire:
        ids = [wire.start("call", "bad:slow", SLOW_MS, **options)
               for options in ({}, {"deadline_ms": harness.LONG_MS})]
        gate.open()
        assert [wire.finish(id)[0] for id in ids] == [[], []]


def test_nobody_waits_longer_than_the_daemon_lets_any(own_daemon):
    """Whatever its deadline; what has none waits."""
    with kept_busy(own_daemon("--max-wait", f"{SLOW_MS // 2}ms")) as (daemon, gate), Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.call("bad:slow", SLOW_MS, deadline_ms=harness.LONG_MS)
        assert failure.value.name == "BUSY" and failure.value.details["retry_after_ms"] > 0
        assert f"longer than {SLOW_MS // 2} ms (max-wait)" in failure.value.message
        waits = wire.start("call", "bad:slow", SLOW_MS)
        gate.open()
        assert wire.finish(waits)[0] == []


def test_what_was_never_seen_is_tried(busy):
    """Nobody knows how long it takes, so it is begun late, or at its deadline not at all."""
    daemon, _ = busy
    daemon.load("other", harness.ZOO / "faults.so")
    with harness.Gate() as gate, Wire(daemon.host) as wire:
        held = wire.start("call", "other:gate", gate.path)
        gate.entered()
        with Wire(daemon.host) as second, pytest.raises(Failure) as failure:
            second.call("other:ok", deadline_ms=50)
        assert failure.value.name == "DEADLINE_EXCEEDED"
        gate.open()
        wire.finish(held)
