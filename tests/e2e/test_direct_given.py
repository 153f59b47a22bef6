"""Who is given a channel of its own to a worker, how many there are, and when they are taken back."""
import contextlib
import time

import direct
import harness
import pytest
from wire import Failure, Wire, frame

FAULTS = ("--load", f"faults={harness.ZOO / 'faults.so'}")
CALLS = ("--load", f"calls={harness.ZOO / 'calls.so'}")
UNUSED_S = 1  # after which somebody else may have the channel


def test_one_user_has_half_of_the_channels(own_daemon):
    daemon = own_daemon("--max-directs", "5", *CALLS)
    with Wire(daemon.host) as wire:
        channels = [direct.open_direct(wire, "calls") for _ in range(3)]
        with Wire(daemon.host) as other, \
                pytest.raises(Failure, match="BUSY.*3 direct channels of one user"):
            direct.open_with(other, "calls")
        channels[0].socket.close()
        harness.until(lambda: is_given(wire), "another is given")


def is_given(wire, name="calls"):
    try:
        direct.open_with(wire, name)[0].close()
    except Failure as e:
        assert e.name == "BUSY", e
        return False
    return True


def test_a_reload_reaches_channels_that_are_open(own_daemon, folder):
    """They end, and the next one is under what is said now."""
    conf = folder / "m.conf"
    conf.write_text("max-directs = 16\nslow-call = 0\n")
    daemon = own_daemon("--config", conf, *FAULTS)
    with Wire(daemon.host) as wire:
        channel = direct.open_direct(wire, "faults")
        channel.call("faults:slow", 20)
        conf.write_text("max-directs = 16\nslow-call = 10ms\n")
        wire.ask("server.reload")
        assert direct.farewell(channel)[1] == "DRAINING"
        channel = direct.open_direct(wire, "faults")
        channel.call("faults:slow", 20)
        assert [one["function"] for one in wire.ask("server.slowlog")] == ["slow"]
        conf.write_text("max-directs = 0\n")
        wire.ask("server.reload")
        assert direct.farewell(channel)[1] == "DRAINING"
        with pytest.raises(Failure, match="UNSUPPORTED.*disabled"):
            direct.open_with(wire, "faults")


def test_a_payload_has_no_more_bytes_than_the_daemon_takes(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--max-payload", "1M", *CALLS)
    with Wire(daemon.host) as wire:
        socket_, terms = direct.open_with(wire, "calls")
        assert terms["bytes"] == 1 << 20
        with Wire(socket_) as channel:
            channel.send(frame([0, 1, "call", ["calls:nothing"]], payload_bytes=(1 << 20) + 1))
            assert direct.farewell(channel)[1] == "TOO_LARGE"


def test_none_is_given_that_could_hold_next_to_nothing(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--max-payload", "4K", *CALLS)
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="UNSUPPORTED.*max-payload"):
        direct.open_with(wire, "calls")


def test_none_is_given_where_no_call_may_wait_for_long(own_daemon):
    """A worker would have it wait behind the others until its deadline."""
    daemon = own_daemon(*direct.GIVEN, "--max-wait", "20ms", *CALLS)
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="UNSUPPORTED.*max-wait"):
        direct.open_with(wire, "calls")


def test_who_is_given_none_has_not_failed(own_daemon):
    """It calls through the daemon; what names no module is an error."""
    daemon = own_daemon("--max-directs", "0", *CALLS)
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="UNSUPPORTED"):
            direct.open_with(wire, "calls")
        assert wire.ask("server.info")["errors"] == 0
        with pytest.raises(Failure, match="NOT_FOUND"):
            wire.ask("channel.open", "nothing")
        assert wire.ask("server.info")["errors"] == 1


def test_who_has_not_called_loses_its_channel_to_who_asks(own_daemon):
    daemon = own_daemon("--max-directs", "2", *FAULTS)  # one for one user
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate:
        unused = direct.open_direct(wire, "faults")
        harness.until(lambda: is_given(other, "faults"), "it is taken back")
        assert direct.farewell(unused)[1] == "DRAINING"
        used = direct.open_direct(wire, "faults")
        held = used.start("call", "faults:gate", gate.path)
        gate.entered()
        until = time.monotonic() + 2 * UNUSED_S
        while time.monotonic() < until:
            assert not is_given(other, "faults")
        gate.open()
        assert used.finish(held) == [[], None]


def test_channels_are_taken_back_while_many_wait_for_the_daemon(own_daemon):
    """Each of them would have a turn for four of all these."""
    daemon = own_daemon(*direct.GIVEN, *FAULTS)
    with contextlib.ExitStack() as stack, harness.Gate() as gate:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in range(5)]
        channel = direct.open_direct(wires[0], "faults")
        held = channel.start("call", "faults:gate", gate.path)
        gate.entered()
        ids = [(wire, wire.start("call", "faults:ok")) for wire in wires[1:]]
        wires[0].ask("ping")
        with direct.open_direct(wires[0], "faults") as one_more:
            ids.append((wires[0], wires[0].start("call", "faults:ok")))
            harness.until(lambda: is_crowded(wires[0]), "five wait")
            gate.open()
            assert direct.farewell(one_more)[1] == "DRAINING"
        assert direct.farewell(channel)[1] == "DRAINING"
        assert channel.finish(held) == [[], None]
        for wire, id in ids:
            wire.finish(id)


def is_crowded(wire):
    try:
        direct.open_with(wire, "faults")[0].close()
    except Failure as e:
        return "serves them in turn" in e.message
    return False


def test_channels_of_one_user_hold_a_quarter_of_the_memory(own_daemon):
    words = [w for i in range(3) for w in ("--load", f"m{i}={harness.ZOO / 'results.so'}")]
    daemon = own_daemon(*direct.GIVEN, "--max-memory", "64M", *words)
    with Wire(daemon.host) as wire:
        four = [direct.open_direct(wire, f"m{i % 3}") for i in range(4)]  # of 4 MiB each
        with pytest.raises(Failure, match="BUSY.*half of that"):
            direct.open_direct(wire, "m0")
        four[3].socket.close()
        harness.until(lambda: is_given(wire, "m0"), "another is given")
