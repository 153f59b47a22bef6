"""A call that is sent again: what was not begun, and what may have run only where that is said."""
import threading

import harness
import pytest
from harness import PATIENCE

import modser
from modser._retry import Schedule

RESULTS = f"results={harness.ZOO / 'results.so'}"
LOST, BUSY = modser.ConnectionLost("gone"), modser.Busy("full")


def busy(ms):
    return modser.Busy("full", details={"retry_after_ms": ms})


def test_what_is_answered_or_may_have_run_is_not_sent_again():
    assert Schedule(10).wait(modser.CallFailed("no"), True, 0, 0) is None
    assert Schedule(10).wait(LOST, True, 0, 0) is None
    assert Schedule(10).wait(LOST, False, 0, 0) == 0
    for error in LOST, modser.WorkerLost("died"), modser.GpuFault("hung"):
        assert Schedule(10, idempotent=True).wait(error, True, 0, 0) == 0
    assert Schedule(10, idempotent=True).wait(modser.DeadlineExceeded("late"), True, 0, 0) is None


def test_the_bound_of_a_wait_doubles_and_ends():
    schedule = Schedule(1000)
    waits = [schedule.wait(BUSY, True, 0, 1) for _ in range(9)]
    assert waits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]


def test_each_daemon_is_asked_before_any_wait_which_is_the_least_that_they_say():
    schedule = Schedule(1000, daemons=3)
    waits = [schedule.wait(busy(ms), True, 0, 0) for ms in (500, 200, 900, 700, 800, 900)]
    assert waits == [0, 0, 0.2, 0, 0, 0.7]


def test_no_wait_begins_that_would_end_too_late():
    assert Schedule(1).wait(busy(400), True, 0.5, 0) == 0.4
    assert Schedule(1).wait(busy(400), True, 0.6, 0) is None
    assert Schedule(0).wait(BUSY, True, 0, 0) is None


def test_a_daemon_that_drains_is_left_for_the_next(own_daemon):
    first, second = own_daemon("--load", RESULTS, "--drain", "1h"), own_daemon("--load", RESULTS)
    for daemon in first, second:
        daemon.ok("wait", "results")
    with modser.Caller(f"{first.host},{second.host}", retry=PATIENCE) as caller:
        value = caller("results:int")
        with modser.connect(first.host) as client, harness.Gate() as gate:
            client.load("faults", harness.ZOO / "faults.so")
            held = client["faults"].gate.submit(gate.path)
            gate.entered()
            first.process.terminate()
            first.expect_logged("event=daemon_drain")
            assert caller("results:int") == value
            gate.open()
            held.result(PATIENCE)
    with modser.connect(second.host) as client:
        assert client.describe("results")["calls"] == 1


def test_one_killed_costs_nothing_when_calls_may_run_twice(own_daemon):
    first, second = own_daemon("--load", RESULTS), own_daemon("--load", RESULTS)
    for daemon in first, second:
        daemon.ok("wait", "results")
    called, killed, after = threading.Event(), threading.Event(), []

    def call():
        with modser.Caller(f"{first.host},{second.host}", retry=PATIENCE,
                           idempotent=True) as caller:  # fmt: skip
            while not killed.is_set():
                caller("results:int")
                called.set()
            after.extend(caller("results:int") for _ in range(20))

    thread = threading.Thread(target=call)
    thread.start()
    assert called.wait(PATIENCE)
    first.kill()
    killed.set()
    thread.join(PATIENCE)
    assert not thread.is_alive() and len(after) == 20


def test_what_may_have_run_is_raised(own_daemon):
    first, second = own_daemon(), own_daemon()
    for daemon in first, second:
        daemon.load("faults", harness.ZOO / "faults.so")
    with harness.Gate() as gate:
        caller = modser.Caller(f"{first.host},{second.host}", retry=PATIENCE)
        raised = []

        def call():
            try:
                caller("faults:gate", gate.path)
            except modser.ConnectionLost as error:
                raised.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        gate.entered()
        first.kill()
        thread.join(PATIENCE)
        assert not thread.is_alive() and len(raised) == 1
    with modser.connect(second.host) as client:
        assert client.describe("faults")["calls"] == 0
    caller.close()


def test_what_lies_in_a_daemon_is_not_sent_elsewhere(client):
    caller = modser.Caller(client.address, retry=1)
    with client["results"].alloc("float32", [2]) as resident:
        for args in (resident,), ((1, resident),), (client["results"].int,):
            with pytest.raises(TypeError, match="belongs to the connection that made it"):
                caller("results:echo", *args)


def test_it_ends_with_its_time(folder):
    with pytest.raises(modser.ConnectionLost):
        modser.Caller(f"unix:{folder}/nobody", retry=0.3)("m:f")
    with pytest.raises(modser.ConnectionLost):
        modser.Caller(f"unix:{folder}/nobody", retry=PATIENCE, deadline=0.3)("m:f")


def test_a_word_that_is_no_function_is_told(client):
    with pytest.raises(ValueError, match='is not "module:function"'):
        modser.Caller(client.address, retry=1)("results")
