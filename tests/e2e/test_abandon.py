"""What becomes of a call that nobody waits for any more: it goes on, or with `abandon: "kill"` its
worker is ended. The gate of the fault module is not opened then, so that only a kill ends the call.
"""

import signal
import subprocess

import harness
import msgpack
import pytest
from wire import DTYPE, Failure, Wire, out, shape_ext

KILLS = 3  # of a peer in a minute; then it is barred


@pytest.fixture
def daemon(own_daemon):
    return own_daemon("--kill-grace", "1ms", "--load", f"faults={harness.ZOO / 'faults.so'}")


def expect_killed(daemon, times=1):
    """The call is over by its worker's end, and the module is there again."""

    def again():
        facts = next(m for m in wire.ask("module.list") if m["name"] == "faults")
        return facts["state"] == "READY" and facts["restarts"] == times

    with Wire(daemon.host) as wire:
        harness.until(again, f"kill {times}")
        assert wire.call("faults:ok")[1] is None
    harness.until(lambda: len(daemon.restarts("faults")) >= times, "all are logged")
    assert daemon.restarts("faults") == [0] * times, "at once, as after a deadline's kill"


def test_ends_the_worker_when_its_client_is_gone(daemon):
    with harness.Gate() as gate:
        with Wire(daemon.host) as wire:
            wire.start("call", "faults:gate", gate.path, abandon="kill")
            gate.entered()
        expect_killed(daemon)


def test_ends_the_worker_when_it_is_cancelled_and_answers_at_once(daemon):
    with harness.Gate() as gate, Wire(daemon.host) as wire:
        call = wire.start("call", "faults:gate", gate.path, abandon="kill")
        gate.entered()
        cancel = wire.start("cancel", call)
        with pytest.raises(Failure, match="CANCELLED"):
            wire.finish(call)
        assert wire.finish(cancel) is False, "it was not queued any more"
        expect_killed(daemon)


def test_without_it_a_cancelled_call_goes_on(daemon):
    with harness.Gate() as gate, Wire(daemon.host) as wire:
        call = wire.start("call", "faults:gate", gate.path, abandon="run")
        gate.entered()
        assert wire.ask("cancel", call) is False
        gate.open()
        assert wire.finish(call)[1] is None
        assert daemon.restarts("faults") == []


def test_counts_against_the_peer_as_kills_by_deadline_do(daemon):
    for times in range(1, KILLS + 1):
        with harness.Gate() as gate:
            with Wire(daemon.host) as wire:
                wire.start("call", "faults:gate", gate.path, abandon="kill")
                gate.entered()
            expect_killed(daemon, times)
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="BUSY"):
            wire.call("faults:ok", abandon="kill")
        assert wire.call("faults:ok")[1] is None, "one that goes on is taken"


def test_interrupted_modser_takes_the_worker_along(daemon):
    with harness.Gate() as gate:
        words = ["-H", daemon.host, "call", "--kill-on-exit", "faults:gate", f"str:{gate.path}"]
        with harness.started(harness.BIN / "modser", *words, stderr=subprocess.PIPE) as modser:
            gate.entered()
            modser.send_signal(signal.SIGINT)
            modser.wait(harness.PATIENCE)
        expect_killed(daemon)


def test_what_is_cancelled_leaves_the_order_of_the_rest(daemon):
    """Turns that were given back had a later request of the same connection begun before earlier ones."""
    uint8 = msgpack.ExtType(DTYPE, bytes([1, 8, 1, 0]))
    with harness.Gate() as gate, Wire(daemon.host) as wire:
        tensor = wire.ask("tensor.alloc", "faults", uint8, shape_ext(1))
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        dropped = [wire.start("call", "faults:ok") for _ in range(8)]
        filled = [wire.start("tensor.fill", tensor, n) for n in range(1, 9)]
        for id in dropped:
            wire.start("cancel", id)
        read = wire.start("tensor.copy", tensor, out("u1", 1))
        assert wire.ask("ping") is None
        gate.open()
        wire.finish(held)
        for id in filled:
            wire.finish(id)
        assert wire.finish(read).tolist() == [8]
