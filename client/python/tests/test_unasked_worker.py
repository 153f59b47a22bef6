"""What becomes of blocking calls that go past the daemon when the module's worker ends, is replaced
or answers what is none: who is told what, and that no call is run twice or lost."""
import array
import contextlib
import fcntl
import os
import signal
import socket
import struct
import termios
import time
from types import SimpleNamespace

import direct
import harness
import numpy as np
import pytest
from test_unasked import message
from unasked import FIRST, MANY, ZOO, begin, elsewhere, library, times, unhurried  # noqa: F401
from wire import Wire, frame

import modser
from modser import _auto_direct
from modser._direct import Direct, NotBegun
from modser._lost_workers import LostWorkers

DEADLINE = 0.3
DONE = SimpleNamespace(done=True, meta=None, error=None, is_plain=True)
FAREWELL = [2, "session.close", [23, "DRAINING", "the daemon takes it back"]]


def kill(scene, name):
    pid = scene.pid(name)
    with harness.Watched(pid) as worker:
        os.kill(pid, signal.SIGKILL)
        harness.until(worker.has_ended, "it has died")


def unread(channel):
    """How much of what was sent over the channel lies in the kernel yet."""
    left = array.array("i", [0])
    fcntl.ioctl(channel._socket, termios.TIOCOUTQ, left)
    return left[0]


def test_a_death_is_told_and_the_next_call_is_answered(begin):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    scene.goes_past(zoo.ok)
    with pytest.raises(modser.WorkerLost, match="^module zoo: the worker died during this request"):
        zoo.crash()
    assert zoo.ok() is None
    metrics = scene.wire.ask("server.metrics")
    assert 'function="crash",code="WORKER_LOST"} 1\n' in metrics, "it has not been called twice"


def test_what_is_told_of_a_death_is_the_cause_of_that_one(begin):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    for function, cause in (("crash", "SEGV"), ("abort", "ABRT"), ("exit3", "3")):
        scene.goes_past(zoo.ok)
        with pytest.raises(modser.WorkerLost, match=f"{cause}.*"):
            zoo[function]()


def test_it_is_told_while_another_thread_reads(begin):
    scene = begin(*ZOO, *library("other", "faults"))
    zoo, other = scene.client["zoo"], scene.client["other"]
    with harness.Gate() as first, harness.Gate() as second:
        scene.goes_past(zoo.ok)
        with elsewhere(zoo.gate, first.path) as lost, elsewhere(other.gate, second.path) as waits:
            first.entered()
            second.entered()
            kill(scene, "zoo")
            harness.until(lambda: lost, "the call has ended")
            second.open()
    assert "died during this request (signal KILL" in str(lost[0]) and waits == [None]


def test_the_daemons_death_is_told_as_that(begin):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    scene.goes_past(zoo.ok)
    with harness.Gate() as gate, elsewhere(zoo.gate, gate.path) as outcome:
        gate.entered()
        scene.daemon.kill()
    assert type(outcome[0]) is modser.ConnectionLost


def test_a_death_between_calls_is_nobodys_failure(begin):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    for _ in range(3):
        scene.goes_past(ok)
        kill(scene, "zoo")
        assert ok() is None
    assert direct.facts(scene.wire, "zoo")["restarts"] == 3


def test_a_call_that_a_dead_worker_had_not_read_is_run_by_the_next(begin):
    scene = begin("--load", f"zoo={harness.ZOO / 'meet.so'}")
    zoo, pid = scene.client["zoo"], scene.pid("zoo")
    zoo.count()  # its results are plain: it may go past
    scene.goes_past(zoo.pid)
    mine = scene.client._auto_direct._modules["zoo"].direct
    with harness.Gate() as gate, direct.open_direct(scene.wire, "zoo") as channel:
        channel.start("call", "zoo:take", gate.path)
        gate.entered()
        with elsewhere(zoo.count) as outcome:
            harness.until(lambda: unread(mine), "the call has been sent")
            os.kill(pid, signal.SIGKILL)
    assert outcome == [1] and zoo.pid() != pid


def test_the_next_call_is_of_what_has_replaced_it(begin):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    for file, function in (("results", "int"), ("faults", "ok"), ("results", "int")):
        scene.client.load("zoo", harness.ZOO / f"{file}.so", replace=True)
        zoo[function]()
        scene.goes_past(zoo[function])
    scene.client.unload("zoo")
    with pytest.raises(modser.NotFound):
        zoo.int()


def test_no_call_is_lost_while_a_module_is_replaced(begin):
    scene = begin("--load", f"zoo={harness.ZOO / 'meet.so'}")
    count, seen, is_over = scene.client["zoo"].count, [], []
    scene.goes_past(count)

    def call():
        while not is_over:
            seen.append(count())

    other = (harness.ZOO / "meet_once.so").read_bytes(), (harness.ZOO / "meet.so").read_bytes()
    with elsewhere(call) as outcome:
        for i in range(6):
            scene.wire.load("zoo", other[i % 2], replace=True)
            n = len(seen)
            harness.until(lambda n=n: len(seen) > n + FIRST or outcome, "it is called again")
        is_over.append(True)
    assert outcome == [None]
    assert all(b in (a + 1, 1) for a, b in zip(seen, seen[1:])), "none was run twice"
    assert seen.count(1) == 6, "each worker that came later counts its own"


def test_a_deadline_holds(begin):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    scene.goes_past(zoo.ok)
    with harness.Gate() as gate:
        with pytest.raises(modser.DeadlineExceeded):
            zoo.gate(gate.path, deadline=DEADLINE)
        # Its worker is ended after the grace; who calls meanwhile waits for the next one.
        times(MANY, zoo.ok)
    assert direct.facts(scene.wire, "zoo")["restarts"] == 1


def test_what_was_not_begun_has_the_rest_of_its_deadline(begin, monkeypatch):
    scene, sent, clock = begin(*ZOO), [], iter((50.0, 57.0))
    client = scene.client
    scene.goes_past(client["zoo"].ok)

    def not_begun(*_):
        raise NotBegun

    monkeypatch.setattr(Direct, "call", not_begun)
    client._auto_direct._modules["zoo"].plain.add(b"")
    monkeypatch.setattr(_auto_direct, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    through = client._auto_direct.call("zoo", message(), 10.0, lambda m: sent.append(m) or DONE)
    assert through is DONE and [m.deadline for m in sent] == [3.0]


def test_an_interrupted_call_is_over(begin, monkeypatch):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Direct, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ok()
    assert scene.requests(ok) == 1, "no answer is left on a channel that is used"
    scene.goes_past(ok)


@pytest.fixture
def pair():
    """A channel, and who is its worker."""
    ours, theirs = socket.socketpair()
    channel = Direct(ours, {"pid": 1, "bytes": 1 << 20, "workers": 1})
    with Wire(theirs) as worker:
        yield channel, worker
    channel.close()


def called(channel, deadline=harness.PATIENCE, what=None):
    limit = time.monotonic() + deadline
    assert channel.reserve()
    try:
        return channel.call(message() if what is None else what, b"", limit)
    finally:
        channel.release()


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 400 Bad Request\r\n\r\n", frame([1, 7, None, [[], None]]), frame([1, 1, None, 5]),
    frame([1, 1, None, [[1], None]]), frame([3, 1]), frame(b"\xc1"), frame([1, 1, "no"]),
    frame([2, "session.close", [2, "PROTOCOL", "x"]]),
    frame([1, 1, None, [[], None]], b"", b"none"),
    struct.pack("<4sIQ", b"\xedmd\x01", 1 << 31, 0)])
def test_what_is_no_answer_is_the_workers_fault(pair, answer):
    channel, worker = pair
    worker.send(answer)
    worker.socket.shutdown(socket.SHUT_WR)
    error = called(channel).error
    assert isinstance(error, modser.WorkerLost) and "sent an invalid answer: " in error.message
    assert channel.is_closed and not channel.worker_ended


def test_an_end_without_a_word_is_a_death(pair):
    channel, worker = pair
    worker.socket.shutdown(socket.SHUT_WR)
    error = called(channel).error
    assert isinstance(error, modser.WorkerLost) and "may have run" in error.message
    assert channel.worker_ended


def test_a_call_in_a_channel_that_is_given_up_is_answered(pair):
    channel, worker = pair
    with elsewhere(called, channel) as outcome:
        harness.until(lambda: worker.socket.recv(1, socket.MSG_PEEK), "it has been sent")
        channel.retire()
        worker.send(frame([1, 1, None, [[], None]]))
    assert outcome[0].error is None and not channel.worker_ended
    assert channel._socket.fileno() < 0 and not channel.reserve()


def test_who_gives_a_channel_up_ends_no_call_of_another_thread(begin, monkeypatch):
    scene = begin(*ZOO)
    scene.goes_past(scene.client["zoo"].ok)
    leave, others = Direct.release, []
    with harness.Gate() as gate, contextlib.ExitStack() as stack:

        def leave_to_another(channel):
            leave(channel)
            if not others:  # and its own call ran for long, so that it gives the channel up
                others.append(elsewhere(scene.client["zoo"].gate, gate.path))
                others.append(stack.enter_context(others[0]))
                gate.entered()

        monkeypatch.setattr(Direct, "release", leave_to_another)
        monkeypatch.setattr(_auto_direct, "LONG_NS", -1)
        scene.client["zoo"].ok()
        assert scene.client._auto_direct._modules["zoo"].direct is None
        gate.open()
    assert others[1] == [None]


@pytest.mark.parametrize("error, code", [((1, "NO_MEMORY", "x"), 1), ((22, "BUSY", "x"), 22)])
def test_another_reason_is_told_as_it_is(pair, error, code):
    channel, worker = pair
    worker.send(frame([2, "session.close", error]))
    worker.socket.shutdown(socket.SHUT_WR)
    assert called(channel).error.code == code and channel.is_closed


def draining(worker):
    worker.send(frame(FAREWELL))
    worker.socket.shutdown(socket.SHUT_WR)


def refused(worker):
    worker.send(frame([1, 1, [20, "REFUSED", "not for this function"], None]))


def taken_back(worker):
    worker.socket.shutdown(socket.SHUT_RD)


@pytest.mark.parametrize("does", [draining, refused, taken_back], ids=lambda f: f.__name__)
def test_what_was_not_begun_is_for_the_daemon(pair, does):
    channel, worker = pair
    does(worker)
    with pytest.raises(NotBegun):
        called(channel)
    assert channel.is_closed == (does is not refused), "another function may go past"


def test_what_was_not_read_was_not_begun(pair):
    channel, worker = pair
    with elsewhere(called, channel) as outcome:
        harness.until(lambda: worker.socket.recv(1, socket.MSG_PEEK), "it has been sent")
        worker.socket.close()  # and not read: a reset
    assert isinstance(outcome[0], NotBegun) and channel.is_closed


def test_a_worker_that_does_not_read_keeps_nobody_beyond_the_deadline(pair):
    channel, worker = pair
    with elsewhere(called, channel, DEADLINE, message(np.zeros(1 << 24, "u1"))) as outcome, worker:
        harness.until(lambda: outcome, "the call has ended")
    assert isinstance(outcome[0].error, modser.DeadlineExceeded) and channel.is_closed
    assert not channel.reserve()


def test_of_the_last_workers_the_causes_are_known():
    lost = LostWorkers()
    for params in (5, (5,), (5, 6), ("5", (17, "WORKER_LOST", "x")), (5, (17, "WORKER_LOST"))):
        lost.add(params)
    assert lost.pop(5) is None
    for pid in (*range(1, 6), 5):
        lost.add((pid, (17, "WORKER_LOST", f"of {pid}")))
    causes = [str(lost.pop(pid)).partition("\n")[0] for pid in (1, 2, 3, 5, 5, 5)]
    assert causes == ["None", "None", "of 3", "of 5", "of 5", "None"]


def test_who_waits_for_a_cause_is_told_at_once_whichever_comes_first():
    lost, told = LostWorkers(), []
    waiting = SimpleNamespace(finish=lambda *_: told.append(1))
    with lost.expected(5, waiting):
        assert not told
        lost.add((6, (17, "WORKER_LOST", "x")))
        assert not told
        lost.add((5, (17, "WORKER_LOST", "x")))
        assert len(told) == 1
    with lost.expected(5, waiting):
        assert len(told) == 2
