"""What becomes of calls on channels of clients' own when they are late, or their worker ends: who is
told what, and what is counted."""
import os
import signal

import direct
import harness
import pytest
from wire import Closed, Failure, Wire, frame


def test_an_overrun_ends_the_worker_and_bars_its_peer_in_the_end(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--kill-grace", "1ms", "--load", f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire:
        for n in range(3):
            direct.wait_for_restart(wire, n)
            with harness.Gate() as gate, direct.open_direct(wire, "faults") as channel:
                channel.start("call", "faults:gate", gate.path, deadline_ms=100)
                with pytest.raises(Closed):
                    channel.receive()
        direct.wait_for_restart(wire, 3)
        with pytest.raises(Failure, match="BUSY.*cost"):
            direct.open_direct(wire, "faults")


def test_a_death_ends_it_and_a_new_one_is_had(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--load", f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire:
        channel = direct.open_direct(wire, "faults")
        (pid,) = direct.facts(wire, "faults")["pids"]
        channel.start("call", "faults:crash")
        with pytest.raises(Closed):
            channel.receive()
        kind, method, (lost, error) = wire.receive()
        assert (kind, method, lost, error[1]) == (2, "channel.lost", pid, "WORKER_LOST")
        why = error[2]
        assert why.startswith("module faults: the worker died during this request (")
        assert "SIGSEGV" in why
        direct.wait_for_restart(wire, 1)
        with direct.open_direct(wire, "faults") as channel:
            channel.call("faults:ok")
        assert 'function="crash",code="WORKER_LOST"} 1\n' in wire.ask("server.metrics")


def count_of(wire, code):
    """How many calls of the module of faults were answered so; those of all functions."""
    lines = wire.ask("server.metrics").splitlines()
    return sum(int(line.split()[-1]) for line in lines
               if line.startswith("modserd_calls_total") and f'code="{code}"' in line)


def test_calls_that_are_lost_with_a_worker_are_counted_as_lost(own_daemon):
    """One ran; the worker may have read the others, or not yet."""
    daemon = own_daemon(*direct.GIVEN, "--load", f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        channel = direct.open_direct(wire, "faults")
        channel.call("faults:gate", open_gate(gate))
        calls = direct.facts(wire, "faults")["calls"]
        ids = [next(channel.ids) for _ in range(5)]
        words = [["faults:gate", gate.path]] + 4 * [["faults:ok"]]
        channel.send(b"".join(frame([0, id, "call", w]) for id, w in zip(ids, words)))
        gate.entered()
        (pid,) = direct.facts(wire, "faults")["pids"]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Closed):
            channel.receive()
        direct.wait_for_restart(wire, 1)
        after = direct.facts(wire, "faults")
        lost = after["calls"] - calls
        assert 1 <= lost <= len(ids) and after["errors"] == lost, "those that it had read"
        assert count_of(wire, "WORKER_LOST") == lost
        assert 'function="gate",code="WORKER_LOST"} 1\n' in wire.ask("server.metrics")


def open_gate(gate):
    """A path at which `gate` of faults.so does not wait."""
    path = gate.folder / "open"
    path.touch()
    return str(path)


def test_a_call_that_is_late_is_answered_and_counted_so(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--kill-grace", "1h", "--load",
                        f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire, direct.open_direct(wire, "faults") as channel:
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED.*ran .* and did not finish"):
            channel.call("faults:slow", 1000, deadline_ms=400)
        assert count_of(wire, "DEADLINE_EXCEEDED") == 1 and count_of(wire, "OK") == 0


def test_a_worker_that_is_ended_for_a_late_call_counts_as_that(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--kill-grace", "1ms", "--load",
                        f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        channel = direct.open_direct(wire, "faults")
        channel.start("call", "faults:gate", gate.path, deadline_ms=100)
        with pytest.raises(Closed):
            channel.receive()
        direct.wait_for_restart(wire, 1)
        assert count_of(wire, "DEADLINE_EXCEEDED") == 1 and count_of(wire, "WORKER_LOST") == 0
