"""A module's life and the daemon's: load, replace, unload, restart, drain; nothing left behind."""
import os
import resource
import signal
import subprocess

import harness
import numpy as np
import pytest
from wire import Closed, Failure, Wire, out

FAULTS = harness.ZOO / "faults.so"
RESULTS = harness.ZOO / "results.so"


def listed(wire):
    return {m["name"]: m for m in wire.ask("module.list")}


def test_load_call_unload_really_ends_the_process(daemon):
    with Wire(daemon.host) as wire:
        wire.ask("server.info")
        before = harness.descriptors(daemon.pid)
        wire.load("one", RESULTS.read_bytes())
        pid = listed(wire)["one"]["pid"]
        assert pid in daemon.workers()
        assert wire.call("one:int")[1] == -42
        with harness.Watched(pid) as worker:
            wire.ask("module.unload", "one")
            assert worker.is_reaped(), "answered when the process was reaped"
        assert "one" not in listed(wire)
        with pytest.raises(Failure) as failure:
            wire.call("one:int")
        assert failure.value.name == "NOT_FOUND"
        harness.until(lambda: harness.descriptors(daemon.pid) == before, "descriptors are closed")


def test_a_name_that_exists_is_an_error_and_replace_switches_when_ready(daemon):
    with Wire(daemon.host) as wire:
        wire.load("two", FAULTS.read_bytes())
        with pytest.raises(Failure) as failure:
            wire.load("two", RESULTS.read_bytes())
        assert failure.value.name == "EXISTS" and "two" in failure.value.message
        with harness.Watched(listed(wire)["two"]["pid"]) as old:
            wire.load("two", RESULTS.read_bytes(), replace=True)
            assert wire.call("two:int")[1] == -42
            harness.until(old.has_ended, "the old worker ends")


def test_a_failed_replacement_leaves_the_old_one_in_place(daemon):
    with Wire(daemon.host) as wire:
        wire.load("three", RESULTS.read_bytes())
        with pytest.raises(Failure):
            wire.load("three", (harness.ZOO / "constructor_crash.so").read_bytes(), replace=True)
        assert wire.call("three:int")[1] == -42


def test_replacing_under_load_loses_no_call(daemon):
    with Wire(daemon.host) as wire, Wire(daemon.host) as caller:
        wire.load("four", RESULTS.read_bytes())
        ids = [caller.start("call", "four:int") for _ in range(300)]
        wire.load("four", RESULTS.read_bytes(), replace=True)
        ids += [caller.start("call", "four:int") for _ in range(300)]
        assert all(caller.finish(i)[1] == -42 for i in ids)


def test_unload_lets_running_calls_end_and_refuses_new_ones(own_daemon):
    daemon = own_daemon("--drain", harness.FOREVER)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate:
        wire.load("five", FAULTS.read_bytes())
        held = wire.start("call", "five:gate", gate.path)
        gate.entered()
        unload = other.start("module.unload", "five")
        with Wire(daemon.host) as third:
            harness.until(lambda: listed(third)["five"]["state"] == "DRAINING", "it drains")
            with pytest.raises(Failure) as failure:
                third.call("five:ok")
        assert failure.value.name == "DRAINING"
        gate.open()
        assert wire.finish(held) == [[], None]
        other.finish(unload)


def test_load_answers_other_requests_meanwhile(daemon):
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None
        upload = wire.ask("module.upload", "begin", RESULTS.stat().st_size)
        wire.ask("module.upload", "write", upload, 0, np.fromfile(RESULTS, "u1"))
        wire.ask("module.upload", "commit", upload)
        load = wire.start("module.load", "six", upload)
        wire.ask("ping")
        assert wire.finish(load)["state"] == "READY"
        assert wire.ask("module.wait", "six")["state"] == "READY"


def test_a_killed_idle_worker_is_replaced(daemon):
    with Wire(daemon.host) as wire:
        wire.load("seven", RESULTS.read_bytes())
        pid = listed(wire)["seven"]["pid"]
        os.kill(pid, signal.SIGKILL)
        harness.until(lambda: listed(wire)["seven"]["restarts"] == 1, "the death is noticed")
        assert wire.call("seven:int", deadline_ms=harness.LONG_MS)[1] == -42
        assert listed(wire)["seven"]["pid"] != pid


def test_the_first_restart_is_at_once_and_the_next_waits(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire:
        wire.load("eight", RESULTS.read_bytes())
        for deaths in (1, 2):
            os.kill(listed(wire)["eight"]["pid"], signal.SIGKILL)
            harness.until(lambda: listed(wire)["eight"]["restarts"] == deaths, "it is noticed")
            assert wire.call("eight:int", deadline_ms=harness.LONG_MS)[1] == -42
    harness.until(lambda: len(daemon.restarts("eight")) >= 2, "both are logged")
    waits = daemon.restarts("eight")
    assert len(waits) == 2 and waits[0] == 0 < waits[1]


def test_no_descriptors_for_a_worker_are_no_fault_of_the_module(own_daemon):
    daemon = own_daemon("--max-deaths", "2")
    with Wire(daemon.host) as wire:
        wire.load("ten", RESULTS.read_bytes())
        limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (1, limits[1]))
        os.kill(listed(wire)["ten"]["pid"], signal.SIGKILL)
        harness.until(lambda: len(daemon.restarts("ten")) > 3, "starting fails, is tried again")
        harness.until(lambda: "RLIMIT_NOFILE is 1, and it needs" in daemon.log(), "it says why")
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
        assert wire.call("ten:int", deadline_ms=harness.LONG_MS)[1] == -42


def test_nothing_is_left_of_a_hundred_connections_and_loads(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire:
        wire.ask("server.info")  # opens what libuv keeps for the loop's life
        before = harness.descriptors(daemon.pid)
        for i in range(20):
            wire.load(f"m{i}", RESULTS.read_bytes())
        for i in range(100):
            with Wire(daemon.host) as other:
                other.start("call", f"m{i % 20}:int")
                other.ask("module.upload", "begin", 1 << 20)
        for i in range(20):
            wire.ask("module.unload", f"m{i}")
        harness.until(lambda: wire.ask("server.info")["connections"] == 1, "connections end")
        harness.until(lambda: not daemon.workers(), "workers end")
        harness.until(lambda: harness.descriptors(daemon.pid) == before, "descriptors are closed")


def test_memory_of_large_arguments_is_given_back(own_daemon, models):
    daemon = own_daemon()
    with Wire(daemon.host) as wire:
        wire.load("shapes", (models / "shapes.so").read_bytes())
        x = np.zeros(1 << 24, "f4")  # 64 MiB
        wire.call("shapes:addone", x, out("f4", 1 << 24))
        wire.ask("module.unload", "shapes")
        harness.until(
            lambda: "/memfd" not in "".join(harness.descriptors(daemon.pid)), "segments are closed"
        )
        assert harness.SANITIZED or wire.ask("server.info")["rss_bytes"] < 64 << 20


def test_sigterm_drains_and_ends_with_0(own_daemon):
    daemon = own_daemon("--drain", harness.FOREVER)
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        daemon.process.send_signal(signal.SIGTERM)
        harness.until(lambda: refuses(daemon), "it drains")
        gate.open()
        assert wire.finish(held) == [[], None], "what runs is answered"
    assert daemon.process.wait(harness.PATIENCE) == 0
    harness.until(lambda: not daemon.processes(), "nothing is left")
    assert not daemon.socket.exists()


def test_a_drain_has_an_end(own_daemon):
    daemon = own_daemon("--drain", "300ms")
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        wire.start("call", "faults:gate", gate.path)
        gate.entered()
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(harness.PATIENCE) == 0
    harness.until(lambda: not daemon.processes(), "workers are gone")


def test_a_second_sigterm_ends_at_once(own_daemon):
    daemon = own_daemon("--drain", harness.FOREVER)
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        wire.start("call", "faults:gate", gate.path)
        gate.entered()
        daemon.process.send_signal(signal.SIGTERM)
        harness.until(lambda: refuses(daemon), "it drains")
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(harness.PATIENCE) == 0
    harness.until(lambda: not daemon.processes(), "workers are gone")


def test_told_to_end_without_a_pause_it_ends_with_0(own_daemon):
    daemon = own_daemon()
    while daemon.process.poll() is None:
        daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.returncode == 0


def refuses(daemon):
    """No new connection: draining closes the listeners."""
    try:
        with Wire(daemon.host) as wire:
            wire.ask("module.list")
        return False
    except (Closed, OSError):
        return True


def test_a_hangup_ends_nothing(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        daemon.process.send_signal(signal.SIGHUP)
        harness.until(lambda: "event=daemon_signal name=SIGHUP" in daemon.log(), "it is told")
        gate.open()
        wire.finish(held)


def test_a_killed_supervisor_takes_its_workers_with_it(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        wire.load("idle", RESULTS.read_bytes())
        wire.start("call", "faults:gate", gate.path)
        gate.entered()
        assert len(daemon.processes()) == 3, "what is looked for below is found"
        daemon.process.kill()
        daemon.process.wait(harness.PATIENCE)
        harness.until(lambda: not daemon.processes(), "both workers end")


SAID = len("said on stdout\nsaid on stderr\n")  # what one call of `say` leaves in the log


def whole_log(wire, name, calls):
    """When all has come: what a call wrote may come behind its answer."""
    def ask():
        return wire.ask("module.logs", name, {"from": 0})

    harness.until(lambda: ask()["next"] == calls * SAID, "all that was said has come")
    return ask()


def test_a_log_is_followed_from_where_the_last_answer_ended(daemon):
    with Wire(daemon.host) as wire:
        wire.load("said", FAULTS.read_bytes())
        assert wire.ask("module.logs", "said", {"from": 0}) == {"text": "", "from": 0, "next": 0}
        waits = wire.start("module.logs", "said", {"from": 0, "wait_ms": harness.LONG_MS})
        wire.call("said:say")
        first = wire.finish(waits)
        assert first["from"] == 0 and first["next"] == len(first["text"]) > 0
        waits = wire.start("module.logs", "said", {"from": first["next"], "wait_ms": harness.LONG_MS})
        with Wire(daemon.host) as other:
            other.call("said:say")
        second = wire.finish(waits)
        assert second["from"] == first["next"] and "said on" in second["text"]
        whole = whole_log(wire, "said", 2)
        assert whole["text"].startswith(first["text"] + second["text"])
        end = {"from": whole["next"], "wait_ms": 1}
        assert wire.ask("module.logs", "said", end) == {"text": "", "from": whole["next"], "next": whole["next"]}
        waits = wire.start("module.logs", "said", {"from": whole["next"], "wait_ms": harness.LONG_MS})
        wire.ask("module.unload", "said")
        with pytest.raises(Failure, match="DRAINING"):
            wire.finish(waits)


def test_who_follows_a_log_may_leave_or_change_its_mind(daemon):
    with Wire(daemon.host) as wire:
        wire.load("left", FAULTS.read_bytes())
        with Wire(daemon.host) as other:
            for _ in range(3):
                other.start("module.logs", "left", {"from": 0, "wait_ms": harness.LONG_MS})
            other.ask("ping")
        waits = wire.start("module.logs", "left", {"from": 0, "wait_ms": harness.LONG_MS})
        assert wire.ask("cancel", waits) is True
        with pytest.raises(Failure, match="CANCELLED"):
            wire.finish(waits)
        wire.call("left:say")
        wire.ask("module.unload", "left")


def test_logs_f_prints_what_comes_until_the_module_is_unloaded(daemon):
    daemon.load("follow", FAULTS)
    daemon.ok("call", "follow:say")
    with Wire(daemon.host) as wire:
        whole_log(wire, "follow", 1)
    assert daemon.ok("logs", "--tail", "1", "follow").out.count("\n") == 1
    with harness.started(harness.BIN / "modser", "-H", daemon.host, "logs", "-f", "follow",
                         stdout=subprocess.PIPE) as process:
        said = daemon.ok("logs", "follow").out
        assert process.stdout.read(len(said)).decode() == said
        daemon.ok("call", "follow:say")
        assert process.stdout.read(len(said)).decode() == said
        daemon.ok("unload", "follow")
        assert process.wait(harness.PATIENCE) == 0


def test_the_logs_of_a_module_are_kept_over_its_death(daemon):
    with Wire(daemon.host) as wire:
        wire.load("nine", FAULTS.read_bytes())
        with pytest.raises(Failure):
            wire.call("nine:exit3")
        wire.ask("module.wait", "nine", deadline_ms=harness.LONG_MS)
        assert "the last words of exit3" in wire.ask("module.logs", "nine")
