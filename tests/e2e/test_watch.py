"""What has replaced another is watched: it proves itself, or the other one is back."""
import hashlib
import time

import direct
import harness
import pytest
from test_store import end
from wire import Failure, Wire

OLD = harness.ZOO / "faults.so"
FAILS = "m:error_long"
IN_FLIGHT = 16


@pytest.fixture
def new(folder):
    """The same functions in other bytes."""
    path = folder / "new.so"
    path.write_bytes(OLD.read_bytes() + b"\0")
    return path


@pytest.fixture
def start(own_daemon, folder):
    def start(*words):
        return own_daemon("--store", folder / "store", "--max-deaths", "8", *words)

    return start


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record(folder):
    return (folder / "store" / "modules" / "m").read_text()


def served(wire):
    return wire.ask("module.describe", "m")["sha256"]


def expect_served(wire, path):
    harness.until(lambda: served(wire) == sha256(path), f"{path.name} is served")
    wire.ask("module.wait", "m")


def expect_back(wire, folder, new):
    """The old one serves, what replaced it is bad, and there is nothing to go back to."""
    expect_served(wire, OLD)
    assert f"bad {sha256(new)}" in record(folder)
    assert f"current 1 {sha256(OLD)}" in record(folder)
    assert "previous" not in record(folder) and "attempts" not in record(folder)
    assert wire.call("m:ok") == ([], None)


def replaced(daemon, new):
    daemon.ok("load", "--keep", "m", OLD)
    daemon.ok("load", "--keep", "--replace", "m", new)
    return daemon


def is_watched(wire):
    return wire.ask("module.list")[0]["watch_ms"] is not None


def test_three_deaths_bring_the_old_one_back(start, folder, new):
    with Wire(replaced(start(), new).host) as wire:
        harness.until(lambda: is_watched(wire), "it is watched")
        for _ in range(3):
            with pytest.raises(Failure, match="WORKER_LOST"):
                wire.call("m:crash", deadline_ms=harness.LONG_MS)
        expect_back(wire, folder, new)
        assert not is_watched(wire)


def test_calls_that_fail_bring_the_old_one_back(start, folder, new):
    with Wire(replaced(start(), new).host) as wire:
        harness.until(lambda: is_watched(wire), "it is watched")
        for _ in range(20):
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.call(FAILS)
        expect_back(wire, folder, new)


def test_calls_that_fail_on_a_direct_channel_bring_the_old_one_back(start, folder, new):
    with Wire(replaced(start(*direct.GIVEN), new).host) as wire:
        harness.until(lambda: is_watched(wire), "it is watched")
        with direct.open_direct(wire, "m") as channel:
            for _ in range(20):
                with pytest.raises(Failure, match="CALL_FAILED"):
                    channel.call(FAILS)
            expect_served(wire, OLD)  # though it asks for nothing else
        expect_back(wire, folder, new)


def test_what_clients_get_wrong_does_not(start, folder, new):
    with Wire(replaced(start(), new).host) as wire:
        harness.until(lambda: is_watched(wire), "it is watched")
        for _ in range(40):
            with pytest.raises(Failure, match="NOT_FOUND"):
                wire.call("m:no_such_function")
        assert served(wire) == sha256(new) and is_watched(wire)


def test_what_failed_in_the_old_one_as_often_is_no_reason(start, new):
    daemon = start()
    daemon.ok("load", "--keep", "m", OLD)
    with Wire(daemon.host) as wire:
        for i in range(80):
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.call(FAILS)
            if i == 39:
                daemon.ok("load", "--keep", "--replace", "m", new)
                harness.until(lambda: is_watched(wire), "it is watched")
        assert served(wire) == sha256(new) and is_watched(wire)


def test_when_it_has_held_it_is_good(start, folder, new):
    daemon = replaced(start("--watch", "10ms"), new)
    harness.until(lambda: "attempts" not in record(folder), "it has proven itself")
    with Wire(daemon.host) as wire:
        assert served(wire) == sha256(new) and not is_watched(wire)
        for _ in range(4):  # a connection may cost the module no more than three workers
            with Wire(daemon.host) as other, pytest.raises(Failure, match="WORKER_LOST"):
                other.call("m:crash", deadline_ms=harness.LONG_MS)
        wire.ask("module.wait", "m")
        assert served(wire) == sha256(new)
    assert "bad" not in record(folder)


def test_the_first_one_is_not_watched(start, folder):
    daemon = start()
    daemon.ok("load", "--keep", "m", OLD)
    with Wire(daemon.host) as wire:
        assert not is_watched(wire)
    assert "attempts" not in record(folder)


def test_after_three_starts_that_were_cut_short_the_old_one_is_served(start, folder, new):
    daemon = replaced(start(), new)
    for attempt in (1, 2, 3):
        with Wire(daemon.host) as wire:
            expect_served(wire, new)
            assert is_watched(wire)
        assert f"attempts {attempt}\n" in record(folder)
        end(daemon)
        daemon = start()
    with Wire(daemon.host) as wire:
        expect_back(wire, folder, new)


def test_starts_that_ended_in_good_order_do_not_count(start, folder, new):
    daemon = replaced(start(), new)
    for _ in range(4):
        with Wire(daemon.host) as wire:
            expect_served(wire, new)
            assert is_watched(wire)
        daemon.stop()
        assert "attempts 1\n" in record(folder)
        daemon = start()


def test_what_was_brought_back_is_there_after_a_restart(start, folder, new):
    first = replaced(start(), new)
    with Wire(first.host) as wire:
        harness.until(lambda: is_watched(wire), "it is watched")
        for _ in range(20):
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.call(FAILS)
        expect_served(wire, OLD)
    end(first)
    with Wire(start().host) as wire:
        expect_back(wire, folder, new)


class Stream:
    """So many calls at a time, without a pause, and what became of each."""

    def __init__(self, wire):
        self.wire, self.function = wire, "m:ok"
        self.ids = [self.send() for _ in range(IN_FLIGHT)]
        self.answers = {"OK": 0}

    def send(self):
        return self.wire.start("call", self.function, deadline_ms=harness.LONG_MS)

    def finish(self, id):
        try:
            self.wire.finish(id)
            name = "OK"
        except Failure as failure:
            name = failure.name
        self.answers[name] = self.answers.get(name, 0) + 1

    def until(self, claim):
        """Go on until that is so, looking at it after each round."""
        end = time.monotonic() + harness.PATIENCE
        while not claim():
            assert time.monotonic() < end, self.answers
            for _ in range(IN_FLIGHT):
                self.finish(self.ids.pop(0))
                self.ids.append(self.send())

    def end(self):
        for id in self.ids:
            self.finish(id)


def test_a_switch_and_a_return_lose_no_call_and_refuse_none(start, folder, new):
    daemon = start()
    daemon.ok("load", "--keep", "m", OLD)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        stream = Stream(wire)
        upload = other.upload(new.read_bytes())
        load = other.start("module.load", "m", upload, {"keep": True, "replace": True})
        stream.until(lambda: served(other) == sha256(new))
        other.finish(load)
        stream.until(lambda: is_watched(other))
        stream.function = FAILS
        stream.until(lambda: served(other) == sha256(OLD))
        stream.function = "m:ok"
        stream.until(iter([False, False, True]).__next__)
        stream.end()
        expect_back(other, folder, new)
    assert set(stream.answers) == {"OK", "CALL_FAILED"}, stream.answers
