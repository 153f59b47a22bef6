"""Clients with channels of their own to one worker, and those that call through the daemon, are kept
apart: what one of them does is nobody else's fault or loss."""
import os
import signal

import direct
import fd_store
import harness
import numpy as np
import pytest
from wire import Closed, Failure, Wire, frame, out

FAULTS = ("--load", f"faults={harness.ZOO / 'faults.so'}")
CALLS = ("--load", f"calls={harness.ZOO / 'calls.so'}")
PASSED = 200  # descriptors with one byte; the kernel takes 253


@pytest.fixture
def given(own_daemon):
    def start(*words):
        return own_daemon(*direct.GIVEN, *words)

    return start


def facts(wire, name):
    return next(m for m in wire.ask("module.list") if m["name"] == name)


def test_a_call_through_the_daemon_is_not_blamed_for_one_on_a_channel(given):
    """It waits behind one that has no deadline: it is late, and the worker lives."""
    daemon = given("--kill-grace", "1ms", *FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        held = channel.start("call", "faults:gate", gate.path)
        gate.entered()
        for _ in range(3):  # the grace of the first is over when the second is told
            with pytest.raises(Failure, match="waited .* behind a call of a direct channel "
                                              "and was not begun"):
                other.call("faults:ok", deadline_ms=50)
        gate.open()
        assert channel.finish(held) == [[], None]
        other.call("faults:ok")
        assert facts(wire, "faults")["restarts"] == 0


def test_who_leaves_a_call_that_waits_behind_a_channel_ends_no_worker(given):
    daemon = given("--kill-grace", "1ms", *FAULTS)
    with Wire(daemon.host) as wire, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        held = channel.start("call", "faults:gate", gate.path)
        gate.entered()
        with Wire(daemon.host) as leaver:
            id = leaver.start("call", "faults:ok", abandon="kill")
            leaver.send(frame([2, "cancel", [id]]))
            with pytest.raises(Failure, match="CANCELLED"):
                leaver.finish(id)
        with pytest.raises(Failure, match="DEADLINE"):
            wire.call("faults:ok", deadline_ms=50)
        gate.open()
        assert channel.finish(held) == [[], None]
        assert facts(wire, "faults")["restarts"] == 0


def test_a_death_in_a_channels_call_is_not_put_on_one_that_waited(given):
    daemon = given(*FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        channel.start("call", "faults:gate", gate.path)
        gate.entered()
        id = other.start("call", "faults:ok")
        harness.until(lambda: facts(wire, "faults")["queued"] == 1, "it is sent")
        (pid,) = facts(wire, "faults")["pids"]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Failure, match="perhaps not begun"):
            other.finish(id)


def test_a_call_of_the_daemon_that_overruns_ends_its_worker_beside_channels(given):
    daemon = given("--kill-grace", "1ms", *FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        channel.call("faults:ok")
        with pytest.raises(Failure, match="ran .* and was not done"):
            other.call("faults:gate", gate.path, deadline_ms=100)
        with pytest.raises(Closed):
            channel.receive()
        harness.until(lambda: facts(wire, "faults")["restarts"] == 1, "it is started again")


def test_descriptors_on_a_channel_end_it_and_leave_none(given):
    daemon = given(*CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as other, \
            open("/dev/null") as null:
        (pid,) = facts(wire, "calls")["pids"]
        x = np.zeros(4, "f4")
        other.call("calls:addone", x, out("f4", 4))
        before = len(harness.descriptors(pid))
        for _ in range(20):
            channel = direct.open_direct(wire, "calls")
            direct.pass_on(channel, frame([0, 1, "call", ["calls:nothing"]]),
                           [null.fileno()] * PASSED)
            assert direct.farewell(channel)[1:] == [
                "PROTOCOL", "no descriptors are taken here"]
            channel.socket.close()
            other.call("calls:addone", x, out("f4", 4))
        harness.until(lambda: len(harness.descriptors(pid)) <= before, "all are closed")
        assert facts(wire, "calls")["restarts"] == 0


def fill(channel):
    """Calls until the worker reads no more of them, for nobody reads the answers; or it has ended
    the channel for that by then."""
    x = np.zeros(1 << 18, "f4")
    channel.socket.settimeout(0.2)
    with pytest.raises((TimeoutError, BrokenPipeError, ConnectionResetError)):
        while True:
            channel.start("call", "calls:addone", x, out("f4", 1 << 18))


@pytest.mark.parametrize("leaves", (False, True))
def test_who_does_not_read_its_answers_is_ended(given, leaves):
    daemon = given("--write-stall", "200ms", *CALLS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        (pid,) = harness.until(lambda: facts(wire, "calls")["pids"], "it is there")
        channel = direct.open_direct(other, "calls")
        channel.call("calls:addone", np.zeros(4, "f4"), out("f4", 4))
        with_it = direct.sockets(pid)
        fill(channel)
        if leaves:
            other.socket.close()
        harness.until(lambda: direct.sockets(pid) < with_it, "the worker has let it go")
        wire.call("calls:addone", np.zeros(4, "f4"), out("f4", 4))


def test_an_unload_does_not_wait_for_who_reads_nothing(given):
    daemon = given("--write-stall", "200ms", "--drain", "1h", *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        fill(channel)
        assert wire.ask("module.unload", "calls") is None


def test_one_user_has_half_of_the_channels(own_daemon):
    daemon = own_daemon("--max-directs", "5", *CALLS)
    with Wire(daemon.host) as wire:
        channels = [direct.open_direct(wire, "calls") for _ in range(3)]
        with Wire(daemon.host) as other, \
                pytest.raises(Failure, match="BUSY.*3 direct channels of one user"):
            direct.open_with(other, "calls")
        channels[0].socket.close()
        harness.until(lambda: is_given(wire), "another is given")


def is_given(wire):
    try:
        direct.open_with(wire, "calls")[0].close()
    except Failure as e:
        assert e.name == "BUSY", e
        return False
    return True


def test_channels_of_the_daemon_before_harm_no_kept_worker(own_daemon, folder):
    """Its calls are counted under their own names again, and the old ones are nobody's."""
    manager = fd_store.Manager(folder)
    words = ("--keep-workers", *direct.GIVEN, "--load", f"m={harness.ZOO / 'results.so'}")
    daemon = manager.start(own_daemon, *words)
    pids = manager.until_kept(1)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with Wire(daemon.host) as wire:
            channels = [direct.open_direct(wire, "m") for _ in range(4)]
            for channel in channels:
                for function in ("int", "str"):
                    channel.call(f"m:{function}")
            text = wire.ask("server.metrics")
            for function in ("int", "str"):
                assert f'module="m",function="{function}",code="OK"}} 4\n' in text
            assert facts(wire, "m")["restarts"] == 0
            manager.end(daemon, number)
        daemon = manager.start(own_daemon, *words)
        assert manager.until_kept(1) == pids
    manager.close()
