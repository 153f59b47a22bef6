"""A call that is sent again: what was not begun, and what may have run only where that is said."""
import json
import threading

import harness
import pytest
from conftest import ROOT
from harness import PATIENCE

import modser
from modser._retry import Schedule

RESULTS = f"results={harness.ZOO / 'results.so'}"
LOST = modser.ConnectionLost("gone")

CASES = json.loads((ROOT / "tests" / "client" / "retry.json").read_text())
HOW = {"not_begun": modser.Busy, "may_have_run": modser.WorkerLost, "answered": modser.CallFailed}


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_steps_are_those_of_the_c_library(case):
    schedule = Schedule(case["for_ms"] / 1000, case.get("daemons", 1), case.get("idempotent", False))
    for step in case["steps"]:
        error = HOW[step["how"]]("no", details={"retry_after_ms": step.get("after_ms", 0)})
        chance = step.get("random", 0) / step.get("of", 1)
        wait = schedule.wait(error, True, step.get("elapsed_ms", 0) / 1000, chance)
        assert (None if wait is None else round(wait * 1000)) == step["wait_ms"]


def test_what_is_answered_or_may_have_run_is_not_sent_again():
    assert Schedule(10).wait(LOST, True, 0, 0) is None
    assert Schedule(10).wait(LOST, False, 0, 0) == 0
    for error in LOST, modser.GpuFault("hung"):
        assert Schedule(10, idempotent=True).wait(error, True, 0, 0) == 0
    assert Schedule(10, idempotent=True).wait(modser.DeadlineExceeded("late"), True, 0, 0) is None


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
