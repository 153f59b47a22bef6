"""Blocking calls by libmodser that go past the daemon without being told to: nobody is told another
thing than through the daemon."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess

import direct
import harness
import pytest
import rights
from direct import facts
from test_direct import acl
from wire import Closed, Wire

MANY = 1000
DEADLINE_MS = 300


def library(name, file):
    return ("--load", f"{name}={harness.ZOO / file}.so")


class Caller:
    """A program that calls, one call after the other; its daemon, if it may be ended."""

    def __init__(self, process, daemon=None):
        self.process, self.daemon = process, daemon

    def call(self, n, function, *text, deadline_ms=0):
        """(how many were well, the code of the last)"""
        self.begin(n, function, *text, deadline_ms=deadline_ms)
        return self.end()

    def begin(self, n, function, *text, deadline_ms=0):
        words = [str(w) for w in (n, function, deadline_ms, *text)]
        self.process.stdin.write(" ".join(words).encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        n, code = self.process.stdout.readline().split()
        return int(n), code.decode()

    def goes_past(self, wire, function="zoo:ok"):
        """Until most of its calls pass the daemon by; how often it calls is the machine's to say."""

        def goes():
            before = wire.ask("server.info")
            assert self.call(MANY, function) == (MANY, "OK")
            after = wire.ask("server.info")
            assert after["calls"] - before["calls"] == MANY, "all are counted"
            return after["requests"] - before["requests"] < MANY // 2

        harness.until(goes, "it has a channel")


@pytest.fixture
def start(own_daemon):
    with contextlib.ExitStack() as stack:

        def start(*words, given=direct.GIVEN, env=None, token=(), **more):
            """A program that calls a daemon started with @words, and a connection to that."""
            daemon = own_daemon(*given, *words)
            wire = stack.enter_context(Wire(daemon.host))
            process = stack.enter_context(harness.started(
                harness.BIN / "unasked_client", daemon.host, *token, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, env=harness.environment() | (env or {}), **more))
            return Caller(process, daemon), wire

        yield start


def test_who_calls_often_goes_past_the_daemon(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    before = facts(wire, "zoo")["calls"]
    assert caller.call(MANY, "zoo:ok") == (MANY, "OK")
    assert caller.call(1, "zoo:nothing") == (0, "NOT_FOUND")
    assert facts(wire, "zoo")["calls"] - before == MANY + 1


def test_a_single_call_does_not(start):
    caller, wire = start(*library("zoo", "faults"))
    before = wire.ask("server.info")["requests"]
    for _ in range(20):
        assert caller.call(1, "zoo:ok") == (1, "OK")
    assert wire.ask("server.info")["requests"] - before == 20 + 1


@direct.tight
def test_neither_daemon_nor_client_has_to_be_told(start):
    caller, wire = start(*library("zoo", "faults"), given=())
    caller.goes_past(wire)
    assert caller.call(1, "zoo:ok") == (1, "OK")


@pytest.mark.parametrize("given", (pytest.param((), marks=direct.tight), direct.GIVEN))
def test_who_does_not_want_it_says_so(start, given):
    caller, wire = start(*library("zoo", "faults"), given=given, env={"MODSER_DIRECT": "off"})
    before = wire.ask("server.info")["requests"]
    assert caller.call(MANY, "zoo:ok") == (MANY, "OK")
    assert wire.ask("server.info")["requests"] - before == MANY + 1


def test_a_module_with_several_workers_is_the_daemons_to_share(start):
    caller, wire = start(*library("zoo", "faults")[:1], f"zoo={harness.ZOO}/faults.so,workers=2")
    before = wire.ask("server.info")["requests"]
    for _ in range(5):
        assert caller.call(MANY, "zoo:ok") == (MANY, "OK")
    assert wire.ask("server.info")["requests"] - before > 5 * MANY


def test_a_death_is_told_and_the_next_call_is_answered(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    assert caller.call(1, "zoo:crash") == (0, "WORKER_LOST")
    assert caller.call(MANY, "zoo:ok") == (MANY, "OK")


def test_the_daemons_death_is_told_as_that(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    with harness.Gate() as gate:
        caller.begin(1, "zoo:gate", gate.path)
        gate.entered()
        caller.daemon.kill()
        assert caller.end() == (0, "IO")


def test_a_death_between_calls_is_nobodys_failure(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    (pid,) = facts(wire, "zoo")["pids"]
    with harness.Watched(pid) as worker:
        os.kill(pid, signal.SIGKILL)
        harness.until(worker.has_ended, "it has died")
    assert caller.call(MANY, "zoo:ok") == (MANY, "OK")


def test_what_is_told_of_a_death_is_the_cause_of_that_one(start):
    caller, wire = start(*library("zoo", "faults"), stderr=subprocess.PIPE)
    for function, cause in (("crash", "SEGV"), ("abort", "ABRT"), ("exit3", "3")):
        caller.goes_past(wire)
        assert caller.call(1, f"zoo:{function}") == (0, "WORKER_LOST")
        told = next(line.decode() for line in caller.process.stderr
                    if line.startswith(b"module zoo: "))  # the worker's last words are others
        assert told.startswith("module zoo: the worker died during this request ("), told
        assert cause in told


def test_a_call_that_a_dead_worker_had_not_read_is_run_by_the_next(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    (pid,) = facts(wire, "zoo")["pids"]
    with harness.Gate() as gate, direct.open_direct(wire, "zoo") as channel:
        channel.start("call", "zoo:gate", gate.path)
        gate.entered()
        caller.begin(1, "zoo:ok")
        harness.until(lambda: receives(caller.process.pid), "it waits for its answer")
        os.kill(pid, signal.SIGKILL)
        assert caller.end() == (1, "OK")
        with pytest.raises(Closed):
            channel.receive()


def test_what_goes_to_the_daemon_then_has_what_is_left_of_its_deadline(start):
    caller, wire = start(*library("zoo", "faults"), stderr=subprocess.PIPE)
    caller.goes_past(wire)
    (pid,) = facts(wire, "zoo")["pids"]
    with harness.Gate() as gate, harness.Gate() as other, direct.open_direct(wire, "zoo") as channel:
        channel.start("call", "zoo:gate", gate.path)
        gate.entered()
        caller.begin(1, "zoo:gate", other.path, deadline_ms=3000)
        harness.until(lambda: not is_idle(caller.process.pid), "it waits for its answer")
        begin = wire.ask("server.info")["uptime_ms"]
        harness.until(lambda: wire.ask("server.info")["uptime_ms"] >= begin + 2000, "time passes")
        os.kill(pid, signal.SIGKILL)
        assert caller.end()[0] == 0
    waited = re.findall(r"(\d+) ms", caller.process.stderr.readline().decode())
    # With all of its deadline it would have waited for no less than that.
    assert all(int(ms) < 3000 for ms in waited), waited


def is_idle(pid):
    """The process @pid waits in read(), which is 0 on x86-64 and 63 on ARM."""
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("0", "63")


def receives(pid):
    """The process @pid waits in recvmsg(), which is 47 on x86-64 and 212 on ARM."""
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("47", "212")


def test_the_next_call_is_of_what_has_replaced_it(start):
    caller, wire = start(*library("zoo", "faults"))
    for file in ("results", "faults", "results"):
        other = {"results": "zoo:int", "faults": "zoo:ok"}
        wire.load("zoo", (harness.ZOO / f"{file}.so").read_bytes(), replace=True)
        assert caller.call(1, other[file]) == (1, "OK")
        caller.goes_past(wire, other[file])
    assert wire.ask("module.unload", "zoo") is None
    assert caller.call(1, "zoo:int") == (0, "NOT_FOUND")


def test_calls_are_seen_while_somebody_watches(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    next_one = wire.ask("server.monitor")["next"]
    assert caller.call(10, "zoo:ok") == (10, "OK")
    told = wire.ask("server.monitor", {"from": next_one})
    assert [r["function"] for r in told["requests"]] == 10 * ["ok"]


def test_a_deadline_holds(start):
    caller, wire = start(*library("zoo", "faults"))
    caller.goes_past(wire)
    with harness.Gate() as gate:
        assert caller.call(1, "zoo:gate", gate.path, deadline_ms=DEADLINE_MS) == (
            0, "DEADLINE_EXCEEDED")
        # Its worker is ended after the grace; who calls meanwhile waits for the next one.
        assert caller.call(MANY, "zoo:ok") == (MANY, "OK")
    assert facts(wire, "zoo")["restarts"] == 1


def test_rights_that_were_taken_away_are_missed_at_once(start, folder):
    path = acl(folder, ("ann", "+@lookup +@call zoo/*"))
    caller, wire = start("--acl", path, *library("zoo", "faults"),
                         token=[rights.token_of("ann")])
    caller.goes_past(wire)
    acl(folder, ("ann", "+@lookup */*"))
    wire.ask("server.reload")
    assert caller.call(1, "zoo:ok") == (0, "REFUSED")


def test_what_may_be_called_alone_goes_past_alone(start, folder):
    path = acl(folder, ("ann", "+@lookup +@call zoo/ok"))
    caller, wire = start("--acl", path, *library("zoo", "faults"),
                         token=[rights.token_of("ann")])
    caller.goes_past(wire)
    assert caller.call(1, "zoo:slow", "1") == (0, "REFUSED")
    assert caller.call(MANY, "zoo:ok") == (MANY, "OK")
