"""Modules with several workers: calls at the same time, what is bound to one of them, and deaths.

That two calls run at the same time is shown by a FIFO which each of them opens at one end: neither
returns before the other has begun.
"""
import contextlib
import json
import os
import signal

import harness
import msgpack
import numpy as np
import pytest
from test_fixtures import need, ulps
from wire import DTYPE, Failure, Wire, out, shape_ext

MEET = harness.ZOO / "meet.so"
RESULTS = harness.ZOO / "results.so"
F4 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))


def described(wire, name):
    return wire.ask("module.describe", name)


def load(wire, name, path=MEET, **options):
    return wire.load(name, path.read_bytes(), **options)


@pytest.fixture
def fifo(tmp_path):
    def make(name="fifo"):
        path = tmp_path / name
        os.mkfifo(path)
        return str(path)

    return make


@contextlib.contextmanager
def held(daemon, name, path):
    """A call by a connection of its own that runs until the function that this gives is called;
    that one has the answer: the process that ran it."""
    with Wire(daemon.host) as wire:
        call = wire.start("call", f"{name}:take", path)
        with open(path, "wb") as end:  # opened when the function has opened its own

            def finish():
                end.close()
                return wire.finish(call)[1]

            yield finish


def test_two_clients_use_one_module_at_the_same_time(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as one, Wire(daemon.host) as two:
        load(one, "both", workers=2)
        taken = one.start("call", "both:take", path)
        giver = two.call("both:give", path)[1]
        taker = one.finish(taken)[1]
        assert giver != taker
        assert sorted((giver, taker)) == sorted(described(one, "both")["pids"])


def test_one_worker_runs_one_call_after_the_other(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "alone")
        with held(daemon, "alone", path) as taken:
            later = wire.start("call", "alone:pid")
            assert described(wire, "alone")["in_flight"] == 2
            assert taken() == wire.finish(later)[1]
        assert described(wire, "alone")["pids"] == [described(wire, "alone")["pid"]]


def test_calls_of_one_connection_run_together_and_are_answered_as_they_end(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "pipe", workers=3)
        calls = [wire.start("call", "pipe:take", path), wire.start("call", "pipe:pid")]
        quick = wire.finish(calls[1])[1]
        slow = wire.call("pipe:give", path)[1], wire.finish(calls[0])[1]
        assert slow[0] != slow[1] and quick != slow[1]


def test_nothing_waits_behind_a_slow_call_while_another_worker_is_free(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "free", workers=2)
        assert {wire.call("free:pid")[1] for _ in range(20)} <= set(described(wire, "free")["pids"])
        with held(daemon, "free", path) as taken:
            calls = [wire.start("call", "free:pid") for _ in range(100)]
            others = {wire.finish(i)[1] for i in calls}
            assert len(others) == 1 and taken() not in others


def test_a_death_is_its_workers_alone(daemon, fifo):
    first, second = fifo("first"), fifo("second")
    with Wire(daemon.host) as wire:
        load(wire, "death", workers=2)
        with held(daemon, "death", first) as one, held(daemon, "death", second) as two:
            with Wire(daemon.host) as waiting:
                queued = waiting.start("call", "death:pid")
                pids = described(wire, "death")["pids"]
                os.kill(pids[0], signal.SIGKILL)
                with pytest.raises(Failure, match="WORKER_LOST.*KILL"):
                    one()
                assert described(wire, "death")["state"] == "READY"
                assert waiting.finish(queued)[1] not in pids, "the next worker has it"
                now = described(wire, "death")
                assert now["restarts"] == 1 and now["ready"] == 2 and pids[1] in now["pids"]
                assert two() == pids[1], "the other one has not noticed"


def test_without_any_worker_a_module_is_restarting(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire:
        load(wire, "all", workers=3)
        for pid in described(wire, "all")["pids"]:
            os.kill(pid, signal.SIGKILL)
        harness.until(lambda: described(wire, "all")["restarts"] == 3, "the deaths are noticed")
        assert wire.call("all:count", deadline_ms=harness.LONG_MS)[1] == 1
        harness.until(lambda: described(wire, "all")["ready"] == 3, "all are back")
        assert described(wire, "all")["state"] == "READY"


def test_resident_tensors_bind_their_connection_to_one_worker(daemon, models):
    with Wire(daemon.host) as wire:
        load(wire, "kept", models / "shapes.so", workers=3)
        x = np.arange(5, dtype="f4")
        made = [wire.start("tensor.alloc", "kept", F4, shape_ext(5)) for _ in range(8)]
        made = [wire.finish(i) for i in made]
        steps = [wire.start("tensor.copy", x, made[0])]
        for a, b in zip(made, made[1:]):
            steps.append(wire.start("call", "kept:addone", a, b))
        steps.append(wire.start("tensor.copy", made[-1], out("f4", 5)))
        wire.start("tensor.free", *made)
        answers = [wire.finish(i) for i in steps]
        assert answers[-1].tolist() == (x + 7).tolist()
        with pytest.raises(Failure, match="STALE_HANDLE"):
            wire.call("kept:addone", made[0], out("f4", 5))


def test_connections_that_hold_something_are_spread_and_keep_their_order(daemon):
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in range(4)]
        load(wires[0], "spread", workers=2)
        kept = [w.ask("tensor.alloc", "spread", F4, shape_ext(1)) for w in wires]
        homes = [w.call("spread:pid")[1] for w in wires]
        assert sorted(map(homes.count, set(homes))) == [2, 2]
        one = wires[0]
        counts = [one.finish(i)[1] for i in [one.start("call", "spread:count") for _ in range(200)]]
        assert counts == list(range(counts[0], counts[0] + 200))
        for w, t in zip(wires, kept):
            w.ask("tensor.free", t)


def test_what_needs_no_order_leaves_the_worker_that_holds_its_connections_objects(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "loose", workers=2)
        kept = wire.ask("tensor.alloc", "loose", F4, shape_ext(1))
        home = wire.call("loose:pid")[1]
        running = wire.start("call", "loose:take", path)
        behind = wire.start("call", "loose:pid")
        asked = wire.start("tensor.fill", kept, 3, unordered=True)
        assert wire.call("loose:give", path, unordered=True)[1] != home
        assert wire.finish(running)[1] == wire.finish(behind)[1] == home
        wire.finish(asked)
        assert wire.ask("tensor.copy", kept, out("f4", 1)).tolist() == [3]


def test_what_is_held_is_lost_with_its_worker_alone(daemon):
    with Wire(daemon.host) as one, Wire(daemon.host) as two:
        load(one, "held", workers=2)
        mine = one.ask("tensor.alloc", "held", F4, shape_ext(3))
        other = two.ask("tensor.alloc", "held", F4, shape_ext(3))
        home = one.call("held:pid")[1]
        os.kill(home, signal.SIGKILL)
        harness.until(lambda: described(two, "held")["restarts"] == 1, "the death is noticed")
        with pytest.raises(Failure, match="STALE_HANDLE"):
            one.ask("tensor.copy", mine, out("f4", 3))
        assert two.ask("tensor.copy", other, out("f4", 3)).tolist() == [0, 0, 0]
        harness.until(lambda: described(two, "held")["ready"] == 2, "the next worker is ready")
        again = one.ask("tensor.alloc", "held", F4, shape_ext(3))
        assert one.ask("tensor.copy", again, out("f4", 3)).tolist() == [0, 0, 0]
        assert one.call("held:pid")[1] != two.call("held:pid")[1]


def test_requests_that_wait_for_a_dead_worker_are_stale(daemon, fifo):
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "stale", workers=2)
        kept = wire.ask("tensor.alloc", "stale", F4, shape_ext(3))
        home = wire.call("stale:pid")[1]
        running = wire.start("call", "stale:take", path)
        with open(path, "wb"):
            behind = [wire.start("tensor.fill", kept, i) for i in range(100)]
            harness.until(lambda: described(wire, "stale")["in_flight"] == 101, "all have come")
            os.kill(home, signal.SIGKILL)
            with pytest.raises(Failure, match="WORKER_LOST"):
                wire.finish(running)
        names = set()
        for i in behind:
            with pytest.raises(Failure) as failure:
                wire.finish(i)
            names.add(failure.value.name)
        assert names == {"WORKER_LOST", "STALE_HANDLE"}, "sent to it, and not"
        assert wire.call("stale:pid")[1] != home


def test_instances_of_an_executor_stay_with_their_worker(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    file = need(folder, "mlp_llvm.so")
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in range(4)]
        load(wires[0], "mlp", file, workers=2)
        owned = [(w, w.ask("module.instance", "mlp")) for w in wires]

        def all_call(function, *args):
            ids = [(w, w.start("call", f"mlp:{function}", *args, instance=i)) for w, i in owned]
            return [w.finish(i)[1] for w, i in ids]

        all_call("set_input", "data", x)
        all_call("run")
        assert all(ulps(y, want) <= 2 for y in all_call("get_output", 0))


def test_unload_leaves_nothing_of_any_worker(own_daemon, fifo):
    daemon = own_daemon()
    path = fifo()
    with Wire(daemon.host) as wire:
        wire.ask("server.info")
        before = harness.descriptors(daemon.pid)
        load(wire, "gone", workers=4)
        assert sorted(daemon.workers()) == sorted(described(wire, "gone")["pids"])
        with held(daemon, "gone", path) as taken:
            with Wire(daemon.host) as other:
                unload = other.start("module.unload", "gone")
                harness.until(lambda: len(daemon.workers()) == 1, "idle workers end first")
                with pytest.raises(Failure, match="DRAINING"):
                    wire.call("gone:pid")
                assert daemon.workers() == [taken()]
                other.finish(unload)
                assert not daemon.workers()
        with pytest.raises(Failure, match="NOT_FOUND"):
            wire.ask("module.describe", "gone")
        harness.until(lambda: harness.descriptors(daemon.pid) == before, "descriptors are closed")


def test_replacing_changes_the_number_and_loses_no_call(own_daemon):
    daemon = own_daemon()
    with Wire(daemon.host) as wire, Wire(daemon.host) as caller:
        load(wire, "more", RESULTS)
        for n in (3, 2, 1):
            ids = [caller.start("call", "more:int") for _ in range(200)]
            load(wire, "more", RESULTS, replace=True, workers=n)
            ids += [caller.start("call", "more:int") for _ in range(200)]
            assert all(caller.finish(i)[1] == -42 for i in ids)
            harness.until(lambda: len(daemon.workers()) == n, "the old workers end")
            now = described(wire, "more")
            assert (now["workers"], now["ready"], len(now["pids"])) == (n, n, n)


def test_deaths_of_all_workers_quarantine_and_spare_what_runs(own_daemon, fifo):
    daemon = own_daemon("--max-deaths", "3")
    path = fifo()
    with Wire(daemon.host) as wire:
        load(wire, "bad", workers=2)
        with held(daemon, "bad", path) as taken:
            for _ in range(3):
                idle = wire.call("bad:pid", deadline_ms=harness.LONG_MS)[1]
                os.kill(idle, signal.SIGKILL)  # it runs nothing: no call is to blame
                harness.until(lambda: idle not in described(wire, "bad")["pids"], "it is gone")
            assert described(wire, "bad")["state"] == "QUARANTINED"
            with pytest.raises(Failure, match="QUARANTINED"):
                wire.call("bad:pid")
            assert daemon.workers() == [taken()], "what ran before is answered"
        harness.until(lambda: not daemon.workers(), "then its worker ends")
        harness.until(lambda: described(wire, "bad")["ready"] == 0, "and that is known")
        load(wire, "bad", workers=2, replace=True)
        assert wire.call("bad:count")[1] == 1


def test_a_load_fails_when_one_worker_does(own_daemon, tmp_path):
    daemon = own_daemon(env={"MSD_TEST_ONCE": str(tmp_path / "once")})
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="MODULE_FAILED.*somebody was here before"):
            load(wire, "half", harness.ZOO / "meet_once.so", workers=3)
        assert described(wire, "half")["state"] == "FAILED"
        assert not daemon.workers()
        load(wire, "whole", workers=2)
        with pytest.raises(Failure, match="somebody was here before"):
            load(wire, "whole", harness.ZOO / "meet_once.so", workers=2, replace=True)
        assert wire.call("whole:count")[1] == 1 and described(wire, "whole")["ready"] == 2


def test_numbers_of_workers_are_checked(own_daemon):
    daemon = own_daemon("--max-workers", "2")
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="TOO_LARGE.*3 workers.*max-workers"):
            load(wire, "n", workers=3)
        for n in (0, -1, 1 << 40, "2"):
            with pytest.raises(Failure, match="BAD_REQUEST.*workers"):
                load(wire, "n", workers=n)
        with pytest.raises(Failure, match="BAD_REQUEST.*instances: say workers"):
            load(wire, "n", instances=2)
        assert not wire.ask("module.list") and not daemon.workers()
        load(wire, "n", workers=2)


def test_a_daemon_that_starts_shows_one_failure_per_name(own_daemon):
    """Also of numbers that it does not allow, and of names that are given twice."""
    daemon = own_daemon(
        "--max-workers", "2",
        "--load", f"many={MEET},workers=3",
        "--load", "twice=/absent/one.so",
        "--load", "twice=/absent/two.so",
        "--load", "mended=/absent.so",
        "--load", f"mended={MEET}",
    )
    daemon.ok("wait", "mended")
    listed = json.loads(daemon.ok("ls", "--json").out)
    assert [m["name"] for m in listed] == ["many", "twice", "mended"]
    assert "3 workers" in listed[0]["error"] and "two.so" in listed[1]["error"]
    assert [m["state"] for m in listed] == ["FAILED", "FAILED", "READY"]


def test_the_cores_are_divided_among_the_workers(own_daemon, models):
    daemon = own_daemon(env={"TVM_NUM_THREADS": ""})
    cores = len(os.sched_getaffinity(0))
    with Wire(daemon.host) as wire:
        for n in (1, 2, 4):
            load(wire, "threads", models / "parallel.so", workers=n, replace=True)
            wire.call("threads:exponents", np.ones((64, 64), "f4"), out("f4", 64, 64))
            most = max(len(os.listdir(f"/proc/{p}/task")) for p in described(wire, "threads")["pids"])
            assert most == max(1, cores // n)


def test_workers_share_a_device(daemon, fixtures):
    folder = fixtures / "tvm-0.8/convnet_opencl"
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as one, Wire(daemon.host) as two:
        if "opencl:0" not in {d["device"] for d in one.ask("server.info")["devices"]}:
            pytest.skip("no OpenCL device")
        load(one, "device", need(folder, "convnet_opencl.so"), workers=2)
        calls = [(wire, wire.start("call", "device:run", x)) for wire in (one, two) for _ in range(4)]
        for wire, call in calls:
            assert ulps(wire.finish(call)[1][0], want) <= 2


def test_the_command_line_loads_and_shows_several(own_daemon):
    daemon = own_daemon("--load", f"first={MEET},workers=2")
    daemon.ok("wait", "first")
    daemon.ok("load", "--workers", "3", "second", MEET)
    listed = {m["name"]: m for m in json.loads(daemon.ok("ls", "--json").out)}
    assert listed["first"]["workers"] == listed["first"]["ready"] == 2
    assert listed["second"]["workers"] == listed["second"]["ready"] == 3
    said = daemon.modser("load", "--workers", "none", "third", MEET)
    assert said.status == 2 and "--workers" in said.err
    head, *rows = [line.split("\t") for line in daemon.ok("ls", "-l", "--header").out.splitlines()]
    shown = [dict(zip(head, row)) for row in rows]
    assert [(m["workers"], m["ready"]) for m in shown] == [("2", "2"), ("3", "3")]
    assert json.loads(daemon.ok("show", "second", "--json").out)["ready"] == 3


def test_a_list_is_whole_while_workers_are_being_started(own_daemon):
    """Each gets its number from another thread, at any moment."""
    daemon, library = own_daemon(), RESULTS.read_bytes()
    with Wire(daemon.host) as loader, Wire(daemon.host) as wire:

        def is_ready():
            lists = [wire.finish(id) for id in [wire.start("module.list") for _ in range(64)]]
            for one in lists:
                assert all(len(m["pids"]) == len(m["devices"]) for m in one), one
            return lists[-1] and lists[-1][0]["state"] == "READY"

        for _ in range(20):
            begun = loader.start("module.load", "many", loader.upload(library), {"workers": 32})
            harness.until(is_ready, "all are there")
            loader.finish(begun)
            loader.ask("module.unload", "many")
