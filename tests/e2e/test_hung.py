"""Calls that hang: none takes a module from the others for ever, and what ends it is told. The gate
of the fault module is not opened then, so that only the daemon ends the call.
"""

import contextlib
import os
import re
import signal
import urllib.error
import urllib.request

import harness
import pytest
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"
SOON = "300ms"  # nothing of what is to be done in time takes a tenth of that


@contextlib.contextmanager
def hung(host, **options):
    """A connection whose call of `faults` does not end."""
    with harness.Gate() as gate, Wire(host) as wire:
        call = wire.start("call", "faults:gate", gate.path, **options)
        gate.entered()
        yield wire, call, gate


def told(wire, name="faults"):
    return wire.ask("module.describe", name)


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=harness.PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_call_that_runs_longer_than_max_run_ends_and_says_so(own_daemon):
    daemon = own_daemon("--max-run", SOON, "--load", f"faults={FAULTS}")
    with hung(daemon.host) as (wire, call, _):
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED") as failure:
            wire.finish(call)
        assert re.search(r"ran \d+ ms, longer than max-run", failure.value.message)
        assert wire.call("faults:ok")[1] is None
        assert told(wire)["restarts"] == 1
    daemon.expect_logged("event=call_killed name=faults worker=1 peer=\"uid ")


def test_the_hint_of_a_hung_call_is_not_more_time(own_daemon):
    daemon = own_daemon("--max-run", SOON, "--load", f"faults={FAULTS}")
    with harness.Gate() as gate:
        said = daemon.modser("call", "faults:gate", f"str:{gate.path}").err
    assert "longer than max-run" in said and "--max-run TIME" in said and "more time" not in said


def test_who_waited_behind_a_hung_call_is_not_told_to_wait_longer(own_daemon):
    daemon = own_daemon("--load", f"faults={FAULTS}")
    with hung(daemon.host):
        said = daemon.modser("call", "--deadline", "100ms", "faults:ok").err
    assert "behind a call of another client" in said and "more time" not in said
    assert "`modser ls` shows how long the module is busy" in said


def test_a_call_that_was_left_does_not_keep_others_waiting(own_daemon):
    daemon = own_daemon("--kill-grace", "1ms", "--load", f"faults={FAULTS}")
    with hung(daemon.host) as (wire, _, gate):
        wire.__exit__(None, None, None)
        with Wire(daemon.host) as other:
            assert other.call("faults:ok")[1] is None
            assert told(other)["restarts"] == 1
    daemon.expect_logged("its client is gone, and other calls wait behind it")


def test_a_cancelled_call_that_is_in_the_way_is_answered(own_daemon):
    daemon = own_daemon("--kill-grace", "1ms", "--load", f"faults={FAULTS}")
    with hung(daemon.host) as (wire, call, _), Wire(daemon.host) as other:
        assert wire.ask("cancel", call) is False
        assert other.call("faults:ok")[1] is None
        with pytest.raises(Failure, match="CANCELLED"):
            wire.finish(call)


def test_a_call_that_was_left_alone_goes_on(own_daemon):
    """Another worker is free: nobody waits behind it."""
    daemon = own_daemon("--kill-grace", "1ms", "--load", f"faults={FAULTS},workers=2")
    with hung(daemon.host) as (wire, _, gate):
        wire.__exit__(None, None, None)
        with Wire(daemon.host) as other:
            for _ in range(100):
                assert other.call("faults:ok")[1] is None
            assert told(other)["restarts"] == 0
            gate.open()
            harness.until(lambda: told(other)["in_flight"] == 0, "it has ended by itself")
            assert told(other)["restarts"] == 0


def test_a_stopped_worker_is_a_hung_one(own_daemon):
    daemon = own_daemon("--max-run", SOON, "--load", f"faults={FAULTS}")
    daemon.ok("wait", "faults")
    with Wire(daemon.host) as wire:
        os.kill(told(wire)["pids"][0], signal.SIGSTOP)
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED: module faults: .*max-run"):
            wire.call("faults:ok")
        assert wire.call("faults:ok")[1] is None


def test_whoever_looks_sees_since_when_it_is_busy(own_daemon):
    daemon = own_daemon("--load", f"faults={FAULTS}")
    daemon.ok("wait", "faults")  # to load is work, too
    with Wire(daemon.host) as other:
        assert (told(other)["busy_ms"], told(other)["busy"]) == (None, [None])
        with hung(daemon.host):
            harness.until(lambda: told(other)["busy_ms"] > 1000, "a second")
            assert told(other)["busy"][0] >= 1000
            assert "busy_ms" in daemon.ok("ls", "--header").out
            text = other.ask("server.metrics")
            assert re.search(r'^modserd_module_busy_seconds{module="faults"} [1-9]', text, re.M)


def test_readyz_of_a_module_is_503_when_nothing_answers(own_daemon):
    """Behind each kill the next call hangs, too: no worker answers for as long as that runs."""
    daemon = own_daemon("--max-run", "2s", "--load", f"faults={FAULTS}", "--http", "127.0.0.1:0")
    word, _, address = daemon._line().partition(" ")
    assert word == "listening"
    url = f"{address}/readyz/faults"
    daemon.ok("wait", "faults")
    assert get(url)[0] == 200
    with harness.Gate() as first, Wire(daemon.host) as wire:
        with pytest.raises(Failure):
            wire.call("faults:gate", first.path)
        second = wire.start("call", "faults:gate", first.path)

        def is_told():
            status, text = get(url)
            return status == 503 and "no worker of faults has answered for" in text

        harness.until(is_told, "it is not ready")
        with pytest.raises(Failure):
            wire.finish(second)
    with Wire(daemon.host) as wire:
        wire.ask("module.unload", "faults")
        wire.ask("module.load", "faults", wire.upload(FAULTS.read_bytes()))
        assert wire.call("faults:ok")[1] is None
    assert get(url)[0] == 200


def test_what_a_load_said_is_kept_and_what_it_did_not_is_the_daemons(own_daemon, tmp_path):
    words = "--store", tmp_path / "store", "--max-run", "5m"
    daemon = own_daemon(*words)
    daemon.load("said", FAULTS, "--keep", "--max-run", "7s")
    daemon.load("never", FAULTS, "--keep", "--max-run", "0")
    daemon.load("unsaid", FAULTS, "--keep")
    expected = {"said": 7000, "never": None, "unsaid": 300_000}

    def limits():
        with Wire(daemon.host) as wire:
            return {m["name"]: m["max_run_ms"] for m in wire.ask("module.list")}

    assert limits() == expected
    daemon.stop()
    daemon = own_daemon(*words)
    harness.until(lambda: limits() == expected, "they are back")
    daemon.load("said", harness.ZOO / "results.so", "--keep", "--replace", "--max-run", "9s")
    assert limits()["said"] == 9000
    daemon.ok("rollback", "said")
    assert limits()["said"] == 7000


def test_deadly_inputs_of_one_client_leave_the_module_to_the_others(own_daemon):
    daemon = own_daemon("--load", f"faults={FAULTS}")
    with Wire(daemon.host) as bad, Wire(daemon.host) as good:
        for n in range(3):
            with pytest.raises(Failure, match="WORKER_LOST") as failure:
                bad.call("faults:crash")
            assert "its input may have caused it" in failure.value.message
            assert good.call("faults:ok")[1] is None, n
        for _ in range(3):
            with pytest.raises(Failure, match="BUSY: module faults: calls of connection"):
                bad.call("faults:ok")
        assert good.call("faults:ok")[1] is None
        assert told(good)["state"] == "READY"


def test_the_hint_of_a_deadly_input_is_not_to_send_it_again(own_daemon):
    daemon = own_daemon("--load", f"faults={FAULTS}")
    said = daemon.modser("call", "faults:crash").err
    assert "check the input" in said and "may run twice" not in said


def test_a_peer_that_comes_again_and_again_is_barred_and_the_module_stays(own_daemon):
    daemon = own_daemon("--load", f"faults={FAULTS}",
                        listen=[f"unix:{harness.short_folder()}/m.sock", "tcp://127.0.0.1:0"])
    for _ in range(5):
        with Wire(daemon.hosts[1]) as bad, pytest.raises(Failure, match="WORKER_LOST"):
            bad.call("faults:crash")
    with Wire(daemon.hosts[1]) as bad, pytest.raises(Failure, match="BUSY: .*127.0.0.1"):
        bad.call("faults:ok")
    with Wire(daemon.host) as good:
        assert good.call("faults:ok")[1] is None, "another peer"
        assert told(good)["state"] == "READY"
