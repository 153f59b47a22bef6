"""Modules that misbehave cost their own worker and nothing else."""
import os
import signal
import subprocess

import harness
import numpy as np
import pytest
from wire import Closed, Failure, Wire


@pytest.fixture(scope="module")
def served(daemon):
    daemon.load("good", harness.ZOO / "results.so")
    daemon.load("bad", harness.ZOO / "faults.so")
    return daemon


def expect_healthy(served):
    """The other module answers, and so does the faulty one again."""
    assert served.ok("call", "good:int").out.strip() == "-42"
    served.ok("wait", "bad")
    served.ok("call", "bad:ok")


@pytest.fixture
def fresh(served):
    """`bad` with a clean record: deaths are counted, and enough of them quarantine."""
    served.load("bad", harness.ZOO / "faults.so", "--replace")
    harness.until(lambda: len(served.workers()) == 2, "the replaced worker ends")
    before = served.ok("call", "good:int").out
    yield served
    assert served.ok("call", "good:int").out == before


@pytest.mark.parametrize(
    "function, cause",
    [
        ("crash", "SEGV"),
        ("abort", "ABRT"),
        ("exit0", "0"),
        ("exit3", "3"),
        ("overflow_stack", "SEGV"),
        ("fork_and_die", "7"),
    ],
)
def test_a_death_is_answered_with_its_cause(fresh, function, cause):
    with Wire(fresh.host) as wire, pytest.raises(Failure) as failure:
        wire.call(f"bad:{function}")
    assert failure.value.name == "WORKER_LOST"
    assert cause in failure.value.message
    expect_healthy(fresh)


@pytest.mark.parametrize("function", ["close_everything", "junk_everywhere", "junk_frame"])
def test_the_channel_is_not_among_the_low_descriptors(fresh, function):
    workers = fresh.workers()
    fresh.ok("call", f"bad:{function}")
    expect_healthy(fresh)
    assert fresh.workers() == workers


@pytest.mark.parametrize("function", ["close_everything", "junk_everywhere", "junk_frame"])
def test_junk_on_the_channel_or_its_end_cost_the_worker_alone(fresh, function):
    with Wire(fresh.host) as wire, pytest.raises(Failure) as failure:
        wire.call(f"bad:{function}", 70000)
    assert failure.value.name == "WORKER_LOST"
    assert "channel" in failure.value.message or "protocol" in failure.value.message
    expect_healthy(fresh)


@pytest.mark.parametrize("function", ["abort", "exit3"])
def test_the_last_words_are_in_the_answer_and_in_the_logs(fresh, function):
    said = fresh.modser("call", f"bad:{function}")
    assert said.status == 1 and f"the last words of {function}" in said.err
    fresh.ok("wait", "bad")
    assert f"the last words of {function}" in fresh.ok("logs", "bad").out


def test_a_child_that_holds_the_channel_dies_with_its_worker(fresh):
    with harness.Watched(int(fresh.ok("call", "bad:fork_hold").out)) as child:
        assert fresh.modser("call", "bad:crash").status == 1
        harness.until(child.has_ended, "the forked child is killed")
    expect_healthy(fresh)


def expires(wire, *request):
    """True: the call's deadline has passed, after it began, before, or before its worker
    was ready."""
    with pytest.raises(Failure) as failure:
        wire.call(*request, deadline_ms=100)
    assert failure.value.name in ("DEADLINE_EXCEEDED", "NOT_READY")
    return True


def restarts(wire):
    return next(m["restarts"] for m in wire.ask("module.list") if m["name"] == "bad")


def test_an_endless_loop_ends_at_the_deadline(fresh):
    with Wire(fresh.host) as wire:
        before = restarts(wire)
        harness.until(
            lambda: expires(wire, "bad:loop") and restarts(wire) > before,
            "the looping worker is replaced",
        )
        wire.call("bad:ok", deadline_ms=harness.LONG_MS)
    expect_healthy(fresh)


@pytest.fixture
def patient(own_daemon):
    """A daemon that gives a call which overruns its deadline all the time it may want."""
    daemon = own_daemon("--kill-grace", harness.FOREVER, "--drain", "100ms")
    daemon.load("bad", harness.ZOO / "faults.so")
    return daemon


def test_a_client_is_answered_at_its_deadline_whatever_the_worker_does(patient):
    worker = patient.workers()
    with Wire(patient.host) as wire:
        assert expires(wire, "bad:loop")
        assert patient.workers() == worker and restarts(wire) == 0


def test_a_stopped_worker_is_replaced_at_the_deadline(fresh):
    with Wire(fresh.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.call("bad:stop_self", deadline_ms=100)
        assert failure.value.name in ("DEADLINE_EXCEEDED", "WORKER_LOST")
        wire.call("bad:ok", deadline_ms=harness.LONG_MS)
    expect_healthy(fresh)


def test_a_slow_call_within_its_grace_does_not_cost_the_worker(patient):
    workers = patient.workers()
    with Wire(patient.host) as wire, harness.Gate() as gate:
        harness.until(
            lambda: expires(wire, "bad:gate", gate.path) and gate.is_entered(), "one has begun"
        )
        ok = wire.start("call", "bad:ok", deadline_ms=harness.LONG_MS)
        gate.open()
        wire.finish(ok)
    assert patient.workers() == workers


def test_an_alloc_bomb_costs_its_own_worker_at_most(fresh):
    with Wire(fresh.host) as wire:
        try:
            wire.call("bad:alloc_bomb", 1024)
        except Failure as failure:
            assert failure.name in ("CALL_FAILED", "WORKER_LOST")
    fresh.ok("wait", "bad")
    fresh.ok("unload", "bad")
    fresh.load("bad", harness.ZOO / "faults.so")


@pytest.mark.skipif(harness.SANITIZED, reason="a sanitizer's own memory counts as data")
def test_a_worker_may_be_given_a_limit_of_memory(own_daemon):
    daemon = own_daemon("--max-worker-memory", "512M")
    daemon.load("bad", harness.ZOO / "faults.so")
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.call("bad:alloc_bomb", 2048)
        assert failure.value.name == "CALL_FAILED"
        assert "malloc gave NULL" in failure.value.message


def test_when_memory_runs_out_the_kernel_takes_the_worker_first(served):
    with open(f"/proc/{worker_of(served, 'good')}/oom_score_adj") as file:
        assert int(file.read()) >= 500


def test_a_flood_on_stderr_blocks_nobody_and_is_cut(fresh):
    with Wire(fresh.host) as other, Wire(fresh.host) as wire:
        request = wire.start("call", "bad:flood_stderr")
        for _ in range(20):
            assert other.call("good:int")[1] == -42
        wire.finish(request)
    assert len(fresh.ok("logs", "bad").bytes) <= 65536 + 1024
    with open(f"/proc/{fresh.pid}/status") as status:
        rss = next(int(l.split()[1]) for l in status if l.startswith("VmRSS"))
    assert harness.SANITIZED or rss < 40 * 1024, "the flood is not kept"


def test_both_outputs_of_a_module_are_its_log(fresh):
    fresh.ok("call", "bad:say")
    harness.until(lambda: "said on stderr" in fresh.ok("logs", "bad").out, "stderr in logs")
    harness.until(lambda: "said on stdout" in fresh.ok("logs", "bad").out, "stdout in logs")


def test_a_long_error_arrives_whole(fresh):
    with Wire(fresh.host) as wire, pytest.raises(Failure) as failure:
        wire.call("bad:error_long")
    assert failure.value.name == "CALL_FAILED"
    text = failure.value.message
    assert "begins eee" in text and "eee ends" in text and text.count("e") > 10200


def test_an_error_that_is_not_text_is_an_error_all_the_same(fresh):
    for function in ("error_not_utf8", "error_without_text"):
        with Wire(fresh.host) as wire, pytest.raises(Failure) as failure:
            wire.call(f"bad:{function}")
        assert failure.value.name == "CALL_FAILED"
        assert function in failure.value.message or "bad" in failure.value.message


@pytest.mark.parametrize(
    "name, cause",
    [("crash", "SEGV"), ("exit", "0"), ("abort", "ABRT")],
)
def test_a_death_before_ready_is_one_failed_load(served, name, cause):
    said = served.modser("load", f"ctor-{name}", harness.ZOO / f"constructor_{name}.so")
    assert said.status == 1, said
    assert cause in said.err and "the last words of a constructor" in said.err
    expect_healthy(served)


def test_a_constructor_without_end_runs_into_the_load_timeout(own_daemon, folder):
    conf = folder / "m.conf"
    conf.touch()
    daemon = own_daemon("--config", conf)
    daemon.load("good", harness.ZOO / "results.so")
    conf.write_text("load-timeout = 500ms\n")  # on a busy machine it may be too little for good
    daemon.ok("reload")

    def is_given_up():
        """Its worker; before, the same time is that of reading the upload."""
        said = daemon.modser("load", "endless", harness.ZOO / "constructor_loop.so")
        assert said.status in (1, 5) and "endless" in said.err and "--load-timeout" in said.err
        return "not ready within 0.500 seconds" in said.err

    harness.until(is_given_up, "the endless worker is ended")
    assert daemon.ok("call", "good:int").out.strip() == "-42"
    harness.until(lambda: len(daemon.workers()) == 1, "the endless worker is gone")


def given_up(daemon, name, **options):
    """What is said of a load whose deadline passes; the upload has all the time it needs."""
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="NOT_READY.*was cancelled") as said:
        upload = wire.upload((harness.ZOO / "constructor_loop.so").read_bytes())
        wire.ask("module.load", name, upload, options, deadline_ms=300)
    return said.value.message


def test_the_deadline_of_a_load_ends_it_and_leaves_nothing(own_daemon):
    daemon = own_daemon()
    assert "endless" in given_up(daemon, "endless")
    harness.until(lambda: not daemon.workers(), "its worker is gone")
    assert daemon.ok("ls").out == ""


def test_the_deadline_of_a_replacement_leaves_what_was_there(own_daemon):
    daemon = own_daemon()
    daemon.load("m", harness.ZOO / "results.so")
    given_up(daemon, "m", replace=True)
    harness.until(lambda: len(daemon.workers()) == 1, "the endless worker is gone")
    assert daemon.ok("call", "m:int").out.strip() == "-42"


def test_an_absent_symbol_is_named_before_anything_runs(served):
    said = served.modser("load", "wants", harness.ZOO / "wants.so")
    assert said.status == 8 and "modserd_test_absent_symbol" in said.err
    assert "the last words" not in said.err


@pytest.mark.parametrize("fault", ["crash", "loop"])
def test_a_function_that_cannot_be_asked_for_its_signature_is_good_all_the_same(own_daemon, fault):
    daemon = own_daemon()
    daemon.load("odd", harness.ZOO / f"unguarded_{fault}.so")
    assert daemon.ok("call", "odd:ok").out.strip() == "1"
    assert daemon.ok("call", "odd:unguarded").out.strip() == "2"
    names = [line.split("\t")[0] for line in daemon.ok("funcs", "odd").out.splitlines()]
    assert names == ["ok", "unguarded"]


def test_repeated_deaths_quarantine_and_a_new_load_lifts_it(own_daemon):
    daemon = own_daemon("--max-deaths", "3")
    daemon.load("bad", harness.ZOO / "faults.so")
    daemon.load("good", harness.ZOO / "results.so")
    for deaths in range(1, 4):
        daemon.ok("wait", "bad")
        with Wire(daemon.host) as wire:
            pid, = wire.ask("module.describe", "bad")["pids"]
            os.kill(pid, signal.SIGKILL)  # it runs nothing: no call is to blame
            harness.until(lambda: wire.ask("module.describe", "bad")["pids"] != [pid], "it is gone")
    harness.until(lambda: "QUARANTINED" in daemon.ok("ls").out, "quarantine")
    with Wire(daemon.host) as wire, pytest.raises(Failure) as failure:
        wire.call("bad:ok")
    assert failure.value.name == "QUARANTINED"
    assert daemon.ok("call", "good:int").out.strip() == "-42"
    daemon.load("bad", harness.ZOO / "faults.so", "--replace")
    daemon.ok("call", "bad:ok")


def test_killing_a_worker_under_load_answers_at_once_and_spares_the_others(fresh):
    victim = worker_of(fresh, "bad")
    with Wire(fresh.host) as wire, Wire(fresh.host) as other, harness.Gate() as gate:
        requests = [wire.start("call", "bad:gate", gate.path)]
        requests += [wire.start("call", "bad:slow", harness.FOREVER_MS) for _ in range(20)]
        gate.entered()
        harness.until(lambda: listed(other, "bad")["in_flight"] == 21, "all have been sent")
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(Failure) as failure:
            wire.finish(requests[0])
        assert failure.value.name == "WORKER_LOST" and "KILL" in failure.value.message
        assert other.call("good:int")[1] == -42
    with Wire(fresh.host) as wire:
        wire.call("bad:ok", deadline_ms=harness.LONG_MS)
    expect_healthy(fresh)


def listed(wire, name):
    return next(m for m in wire.ask("module.list") if m["name"] == name)


def worker_of(daemon, name):
    with Wire(daemon.host) as wire:
        return listed(wire, name)["pid"]
