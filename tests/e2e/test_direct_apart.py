"""Clients with channels of their own to one worker, and those that call through the daemon, are kept
apart: what one of them does is nobody else's fault or loss."""
import contextlib
import os
import select
import signal
import socket
import time

import direct
import fd_store
import harness
import numpy as np
import pytest
from wire import Closed, Failure, Wire, frame, out

FAULTS = ("--load", f"faults={harness.ZOO / 'faults.so'}")
CALLS = ("--load", f"calls={harness.ZOO / 'calls.so'}")
PASSED = 200  # descriptors with one byte; the kernel takes 253
IDLE_S = 3


@pytest.fixture
def given(own_daemon):
    def start(*words):
        return own_daemon(*direct.GIVEN, *words)

    return start


def test_a_call_through_the_daemon_is_not_blamed_for_one_on_a_channel(given):
    """It waits behind one that has no deadline: it is late, and the worker lives."""
    daemon = given("--kill-grace", "1ms", *FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        held = channel.start("call", "faults:gate", gate.path)
        gate.entered()
        for _ in range(3):  # the grace of the first is over when the second is told
            with pytest.raises(Failure, match="waited .* behind a call of a direct channel "
                                              "and did not start"):
                other.call("faults:ok", deadline_ms=50)
        gate.open()
        assert channel.finish(held) == [[], None]
        other.call("faults:ok")
        assert direct.facts(wire, "faults")["restarts"] == 0


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
        assert direct.facts(wire, "faults")["restarts"] == 0


def test_a_death_in_a_channels_call_is_not_that_of_one_that_waited(given):
    """Behind a call that takes long nothing is sent to the worker: it waits where it is not lost."""
    daemon = given(*FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        channel.start("call", "faults:gate", gate.path)
        gate.entered()
        with pytest.raises(Failure, match="DEADLINE"):
            other.call("faults:ok", deadline_ms=50)  # five times as long as makes a call a long one
        id = other.start("call", "faults:ok")
        harness.until(lambda: direct.facts(wire, "faults")["in_flight"] >= 1, "it waits")
        (pid,) = direct.facts(wire, "faults")["pids"]
        os.kill(pid, signal.SIGKILL)
        assert other.finish(id) == [[], None]


def test_a_call_of_the_daemon_that_overruns_ends_its_worker_beside_channels(given):
    daemon = given("--kill-grace", "1ms", *FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as channel:
        channel.call("faults:ok")
        with pytest.raises(Failure, match="ran .* and did not finish"):
            other.call("faults:gate", gate.path, deadline_ms=100)
        with pytest.raises(Closed):
            channel.receive()
        harness.until(lambda: direct.facts(wire, "faults")["restarts"] == 1, "it is started again")


@pytest.fixture
def older(own_daemon):
    """As on a kernel that lets descriptors through."""

    def start(*words):
        return own_daemon(*words, env={"MODSERD_WITHOUT": "tight"})

    return start


def test_descriptors_on_a_channel_end_it_and_leave_none(older):
    daemon = older(*direct.GIVEN, *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as other, \
            open("/dev/null") as null:
        (pid,) = direct.facts(wire, "calls")["pids"]
        x = np.zeros(4, "f4")
        other.call("calls:addone", x, out("f4", 4))
        before = len(harness.descriptors(pid))
        for _ in range(20):
            channel = direct.open_direct(wire, "calls")
            direct.pass_on(channel, frame([0, 1, "call", ["calls:nothing"]]),
                           [null.fileno()] * PASSED)
            assert direct.farewell(channel)[1:] == [
                "PROTOCOL", "descriptors are not accepted on this connection"]
            channel.socket.close()
            other.call("calls:addone", x, out("f4", 4))
        harness.until(lambda: len(harness.descriptors(pid)) <= before, "all are closed")
        assert direct.facts(wire, "calls")["restarts"] == 0


def test_a_kernel_that_lets_descriptors_through_has_none_without_the_option(older):
    daemon = older(*CALLS)
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="UNSUPPORTED.*disabled"):
        direct.open_direct(wire, "calls")


@direct.tight
def test_no_descriptor_gets_onto_a_channel(own_daemon):
    """It is the sender who is told, whatever it does to its own end; and the module, too, gets none
    to a client."""
    daemon = own_daemon(*direct.GIVEN, *CALLS)
    x = np.zeros(4, "f4")
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel, \
            open("/dev/null") as null:
        (pid,) = direct.facts(wire, "calls")["pids"]
        channel.call("calls:addone", x, out("f4", 4))
        before = len(harness.descriptors(pid))
        assert channel.socket.getsockopt(socket.SOL_SOCKET, direct.SO_PASSRIGHTS) == 0
        for on in (0, 1):
            channel.socket.setsockopt(socket.SOL_SOCKET, direct.SO_PASSRIGHTS, on)
            with pytest.raises(PermissionError):
                socket.send_fds(channel.socket, [b"x"], [null.fileno()])
        channel.call("calls:addone", x, out("f4", 4))
        assert len(harness.descriptors(pid)) == before


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
    daemon = given("--write-stall", "200ms", "--read-stall", "1h", *CALLS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        (pid,) = harness.until(  # one that is being born has none
            lambda: [p for p in direct.facts(wire, "calls")["pids"] if p], "it is there")
        channel = direct.open_direct(other, "calls")
        channel.call("calls:addone", np.zeros(4, "f4"), out("f4", 4))
        with_it = direct.sockets(pid)
        fill(channel)
        if leaves:
            other.socket.close()
        harness.until(lambda: direct.sockets(pid) < with_it, "the worker has let it go")
        wire.call("calls:addone", np.zeros(4, "f4"), out("f4", 4))


def test_an_unload_does_not_wait_for_who_reads_nothing(given):
    daemon = given("--write-stall", "200ms", "--read-stall", "1h", "--drain", "1h", *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        fill(channel)
        assert wire.ask("module.unload", "calls") is None


def test_frames_that_do_not_come_take_nothing_of_the_modules_memory(given):
    daemon = given("--max-worker-memory", "256M", *FAULTS)
    with contextlib.ExitStack() as stack, Wire(daemon.host) as wire:
        for _ in range(7):
            given_to, terms = direct.open_with(wire, "faults")
            channel = stack.enter_context(Wire(given_to))
            channel.send(frame([0, 1, "call", ["faults:ok"]], payload_bytes=terms["bytes"]))
        assert wire.call("faults:alloc_bomb", 192) == ([], 192)
        assert direct.facts(wire, "faults")["restarts"] == 0


@pytest.mark.parametrize("body_bytes", (0, 1000))
def test_who_stops_within_a_frame_is_ended(given, body_bytes):
    daemon = given("--read-stall", "200ms", *FAULTS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "faults") as channel, \
            direct.open_direct(wire, "faults") as other:
        whole = frame([0, 1, "call", ["faults:ok"]], b"\0" * 100000)
        channel.send(whole[:17 + body_bytes])
        assert direct.farewell(channel)[1:] == [
            "BUSY", "started a frame and makes no progress (--read-stall)"]
        other.call("faults:ok")


def test_who_goes_on_within_a_frame_may_take_longer(given):
    daemon = given("--read-stall", "1s", *CALLS)
    x = np.zeros(1 << 21, "f4")
    whole = frame([0, 1, "call", ["calls:nothing"]], x.tobytes())
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel, \
            direct.open_direct(wire, "calls") as silent:
        silent.send(whole[:100])
        step, at = 1 << 17, 0
        while not select.select([silent.socket], [], [], 0.05)[0]:
            if len(whole) - at > step:
                channel.send(whole[at:at + step])
                at += step
        assert direct.farewell(silent)[1] == "BUSY"
        channel.send(whole[at:])
        assert channel.receive()[:2] == [1, 1]


@pytest.mark.parametrize("many", (1, 600))  # more than are read at once
def test_what_was_sent_before_an_unload_is_run(given, many):
    """Though the worker has not read it by then, for it runs another's call; and nothing after it."""
    daemon = given("--drain", "1h", *FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate, \
            direct.open_direct(wire, "faults") as holder, \
            direct.open_direct(wire, "faults") as channel:
        held = holder.start("call", "faults:gate", gate.path)
        gate.entered()
        ids = [next(channel.ids) for _ in range(many)]
        channel.send(b"".join(frame([0, id, "call", ["faults:ok"]]) for id in ids))
        unload = other.start("module.unload", "faults")
        harness.until(lambda: direct.facts(wire, "faults")["state"] == "DRAINING", "it is to end")
        with pytest.raises(BrokenPipeError):
            channel.start("call", "faults:ok")
        gate.open()
        assert direct.farewell(channel)[1] == "DRAINING"
        assert [channel.finish(id) for id in ids] == [[[], None]] * many
        assert holder.finish(held) == [[], None]
        assert other.finish(unload) is None


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
            assert direct.facts(wire, "m")["restarts"] == 0
            manager.end(daemon, number)
        daemon = manager.start(own_daemon, *words)
        assert manager.until_kept(1) == pids
    manager.close()


def calls_until_ended(channel, other):
    """It calls until @other is ended. False: it had no turn for so long that it was silent itself."""
    x, called = np.zeros(4, "f4"), time.monotonic()
    while time.monotonic() - called < IDLE_S / 2:
        if select.select([other.socket], [], [], 0)[0]:
            return True
        called = time.monotonic()
        channel.call("calls:addone", x, out("f4", 4))
    return False


def outlives_silent(daemon):
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel, \
            Wire(daemon.host) as silent:
        silent.ask("ping")
        if not calls_until_ended(channel, silent):
            return False
        assert direct.farewell(silent)[2].endswith("(--idle)")
        wire.ask("ping")  # though it has sent nothing for longer than that one
        return True


def test_who_calls_on_a_channel_is_not_silent(own_daemon):
    """--idle goes by what a client does, whichever way; and one that does nothing is ended."""
    daemon = own_daemon(*direct.GIVEN, "--idle", f"{IDLE_S}s", *CALLS)
    harness.until(lambda: outlives_silent(daemon), "it has turns enough to call")


def test_an_answer_may_have_what_others_leave(own_daemon):
    """More than a channel's part of --max-memory, as the daemon's own answers have."""
    daemon = own_daemon(*direct.GIVEN, "--max-memory", "64M",
                        "--load", f"results={harness.ZOO / 'results.so'}")
    with Wire(daemon.host) as wire, direct.open_direct(wire, "results") as channel:
        for mib in (3, 40, 3, 60):
            for through in (wire, channel):
                (y,), value = through.call("results:int", out("u1", mib << 20))
                assert y.nbytes == mib << 20 and not y.any(), (through, mib)
        with pytest.raises(Failure, match="NO_SPACE"):
            channel.call("results:int", out("u1", 80 << 20))
