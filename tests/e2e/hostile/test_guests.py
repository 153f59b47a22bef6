"""Clients that do with channels of their own to a worker what they like: it serves the others as
before, nothing of them is left, and nobody's call is unanswered or answered twice."""
import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import threading

import direct
import harness
import numpy as np
import pytest
import rights
from test_direct import acl
from test_metrics import calls
from test_unasked import Caller
from wire import Closed, Failure, Wire, frame, out

FAULTS = ("--load", f"faults={harness.ZOO / 'faults.so'}")
CALLS = ("--load", f"calls={harness.ZOO / 'calls.so'}")
MANY = 1000
CUTS = 60
ROUNDS, DEATHS = int(os.environ.get("MSD_ROUNDS", "12")), 2
KEPT_BYTES = 8 << 20  # of what was freed: by allocators, and for the next calls


@pytest.fixture(scope="module")
def daemon():
    with direct.Daemon(*FAULTS, *CALLS) as daemon:
        yield daemon


@pytest.fixture
def wire(daemon):
    with Wire(daemon.host) as wire:
        for name in ("faults", "calls"):
            wire.ask("module.wait", name)
        yield wire


class Held:
    """What a daemon and its worker of a module have."""

    def __init__(self, daemon, wire, name):
        (self.worker,) = direct.facts(wire, name)["pids"]
        self.daemon, self.before = daemon, self.now(daemon)

    def now(self, daemon):
        return [len(harness.descriptors(p)) for p in (daemon.pid, self.worker)]

    def expect_as_before(self):
        harness.until(lambda: all(a <= b for a, b in zip(self.now(self.daemon), self.before)),
                      "all is given back")


def memory(pid):
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def open_and_close(daemon, wire, name):
    with direct.open_direct(wire, name):
        pass


def test_a_thousand_that_come_and_go_leave_nothing(daemon, wire):
    open_and_close(daemon, wire, "faults")
    held = Held(daemon, wire, "faults")
    before = [memory(p) for p in (daemon.pid, held.worker)]
    for _ in range(MANY):
        open_and_close(daemon, wire, "faults")
    held.expect_as_before()
    after = [memory(p) for p in (daemon.pid, held.worker)]
    assert harness.SANITIZED or all(a - b < KEPT_BYTES for a, b in zip(after, before))
    assert direct.facts(wire, "faults")["restarts"] == 0


def test_channels_that_are_asked_for_at_once_and_not_taken_leave_nothing(daemon, wire):
    """The descriptors lie in the socket of who asked, who goes."""
    open_and_close(daemon, wire, "faults")
    held = Held(daemon, wire, "faults")
    for _ in range(20):
        with Wire(daemon.host) as many:
            many.send(b"".join(frame([0, id, "channel.open", ["faults"]]) for id in range(100)))
            many.take(16)
    held.expect_as_before()
    with direct.open_direct(wire, "faults") as channel:
        channel.call("faults:ok")


def test_who_goes_within_a_frame_leaves_nothing(daemon, wire):
    x = np.arange(1 << 18, dtype="f4")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    with direct.open_direct(wire, "calls") as channel:
        channel.call("calls:addone", x, out("f4", x.size))
        held = Held(daemon, wire, "calls")
        whole = b"".join(frame([0, id, "call", ["calls:nothing"]], x.tobytes()) for id in (1, 2))
        for _ in range(CUTS):
            with direct.open_direct(wire, "calls") as cut:
                cut.send(whole[:chance.randrange(1, len(whole))])
        for _ in range(3):
            (y,), _ = channel.call("calls:addone", x, out("f4", x.size))
            assert np.array_equal(y, x + 1)
        held.expect_as_before()
    assert direct.facts(wire, "calls")["restarts"] == 0


def test_requests_of_one_id_have_an_answer_each(daemon, wire):
    """And each cancel is of one of them, if that has not been answered before."""
    with harness.Gate() as gate, direct.open_direct(wire, "faults") as channel, \
            direct.open_direct(wire, "faults") as holder:
        held = holder.start("call", "faults:gate", gate.path)
        gate.entered()
        channel.send(frame([0, 7, "call", ["faults:ok"]]) * 10 + frame([2, "cancel", [7]]) * 4)
        gate.open()
        said = [channel.receive()[1:3] for _ in range(10)]
        assert all(id == 7 for id, _ in said)
        failed = [error[1] for _, error in said if error is not None]
        assert set(failed) <= {"CANCELLED"} and len(failed) <= 4, said
        assert holder.finish(held) == [[], None]
        channel.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            channel.receive()


def test_a_flood_of_cancels_answers_nothing_twice(daemon, wire):
    with harness.Gate() as gate, direct.open_direct(wire, "faults") as channel, \
            direct.open_direct(wire, "faults") as other:
        held = other.start("call", "faults:gate", gate.path)
        gate.entered()
        ids = [next(channel.ids) for _ in range(200)]
        channel.send(b"".join(frame([0, id, "call", ["faults:ok"]]) for id in ids))
        lost = [id for id in ids if id % 2]
        flood = b"".join(frame([2, "cancel", [id]]) for id in (*lost, *range(1000, 4000)))
        sender = threading.Thread(target=channel.send, args=(flood * 5,))
        sender.start()
        gate.open()
        assert other.finish(held) == [[], None]
        other.call("faults:ok")
        sender.join()
        answers = {a[1]: a[2] for a in (channel.receive() for _ in ids)}
        assert sorted(answers) == ids
        assert all(answers[id] is None for id in ids if id not in lost)
        channel.call("faults:ok")


def pipelined(host, name, n):
    """@n calls in flight on a channel, again and again, until that ends."""
    with Wire(host) as wire, direct.open_direct(wire, name) as channel:
        while True:
            ids = [next(channel.ids) for _ in range(n)]
            channel.send(b"".join(frame([0, id, "call", [f"{name}:ok"]]) for id in ids))
            for id in ids:
                channel.finish(id)


def again_and_again(host, name, n):
    while True:
        with contextlib.suppress(Failure, Closed, OSError):
            pipelined(host, name, n)


@contextlib.contextmanager
def load(host, name="faults", times=3):
    """@times processes call on channels of their own; one that loses it asks for another."""
    context = multiprocessing.get_context("fork")
    clients = [context.Process(target=again_and_again, args=(host, name, 64))
               for _ in range(times)]
    for client in clients:
        client.start()
    try:
        yield clients
    finally:
        for client in clients:
            client.kill()
            client.join()


def wait_for_calls(wire, more):
    begun = wire.ask("server.info")["calls"]
    harness.until(lambda: wire.ask("server.info")["calls"] >= begun + more, "they call")


@contextlib.contextmanager
def caller(host, *token):
    """A program that calls by libmodser, past the daemon by itself."""
    with harness.started(harness.BIN / "unasked_client", host, *token,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Caller(process)


def test_workers_that_are_killed_under_load_leave_nothing():
    data = (harness.ZOO / "faults.so").read_bytes()
    with direct.Daemon(*FAULTS) as daemon, Wire(daemon.host) as wire, \
            caller(daemon.host) as one:
        wire.ask("module.wait", "faults")
        one.goes_past(wire, "faults:ok")
        before = harness.descriptors(daemon.pid)
        with load(daemon.host):
            for n in range(ROUNDS):
                if n % DEATHS == 0:  # so many are not too many
                    wire.load("faults", data + b"%d" % n, replace=True)
                direct.wait_for_restart(wire, n % DEATHS)
                wait_for_calls(wire, MANY)
                one.begin(10 * MANY, "faults:ok")
                (pid,) = direct.facts(wire, "faults")["pids"]
                os.kill(pid, signal.SIGKILL)
                done, code = one.end()
                assert (done, code) == (10 * MANY, "OK") or code == "WORKER_LOST", (done, code)
        direct.wait_for_restart(wire, DEATHS)
        assert one.call(1, "faults:ok") == (1, "OK")
        one.process.stdin.close()
        one.process.wait(harness.PATIENCE)
        harness.until(lambda: len(harness.descriptors(daemon.pid)) <= len(before), "none is left")


def test_clients_that_are_killed_under_load_leave_nothing(daemon, wire):
    open_and_close(daemon, wire, "faults")
    held = Held(daemon, wire, "faults")
    for _ in range(ROUNDS):
        with load(daemon.host):
            wait_for_calls(wire, MANY)
    held.expect_as_before()
    assert direct.facts(wire, "faults")["restarts"] == 0


def test_no_call_fails_while_its_module_is_replaced_under_load():
    data = (harness.ZOO / "faults.so").read_bytes()
    with direct.Daemon(*FAULTS) as daemon, Wire(daemon.host) as wire, \
            caller(daemon.host) as one, load(daemon.host):
        wire.ask("module.wait", "faults")
        for n in range(ROUNDS):
            wait_for_calls(wire, MANY)
            one.begin(MANY, "faults:ok")
            wire.load("faults", data + b"%d" % n, replace=True)
            assert one.end() == (MANY, "OK")
        ended = calls(wire, "faults")  # of all that had the name
        assert sum(ended.values()) >= ROUNDS * MANY
        assert not [key for key, n in ended.items() if n > 0 and key[1] != "OK"], ended


def test_rights_that_come_and_go_under_load_hold(folder):
    path = acl(folder, ("ann", "+@lookup +@call faults/*"))
    with direct.Daemon("--acl", path, *FAULTS) as daemon, Wire(daemon.host) as wire, \
            caller(daemon.host, rights.token_of("ann")) as one:
        wire.ask("module.wait", "faults")
        for _ in range(ROUNDS):
            one.goes_past(wire, "faults:ok")
            one.begin(10 ** 9, "faults:ok")
            wait_for_calls(wire, MANY)
            acl(folder, ("ann", "+@lookup */*"))
            wire.ask("server.reload")
            assert one.end()[1] == "REFUSED"
            after = direct.facts(wire, "faults")["calls"]
            assert one.call(1, "faults:ok") == (0, "REFUSED")
            assert direct.facts(wire, "faults")["calls"] == after, "none was run"
            acl(folder, ("ann", "+@lookup +@call faults/*"))
            wire.ask("server.reload")


@contextlib.contextmanager
def among_many(daemon, wire, one):
    """@one calls without end on its channel, and others do, too."""
    wire.ask("module.wait", "faults")
    one.goes_past(wire, "faults:ok")
    with load(daemon.host):
        one.begin(10 ** 9, "faults:ok")
        wait_for_calls(wire, MANY)
        yield


def test_a_daemon_that_is_killed_under_load_leaves_no_worker():
    with direct.Daemon(*FAULTS) as daemon, Wire(daemon.host) as wire, \
            caller(daemon.host) as one:
        with among_many(daemon, wire, one):
            os.kill(daemon.pid, signal.SIGKILL)
            # Its worker ends with it, which the client may see first.
            assert one.end()[1] in ("IO", "WORKER_LOST")
        daemon.process.wait(harness.PATIENCE)
        harness.until(lambda: not daemon.processes(), "nothing is left")


def test_a_daemon_that_is_to_end_does_so_under_load():
    with direct.Daemon(*FAULTS) as daemon, Wire(daemon.host) as wire, \
            caller(daemon.host) as one, among_many(daemon, wire, one):
        daemon.stop()
        assert one.end()[1] in ("IO", "DRAINING")
