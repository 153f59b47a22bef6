"""Calls that a worker joins and runs as one: each gets what it would get alone.

The worker stands still until all calls have been sent to it; then it has them at once, and
waits, where it may, for as long as these take to be read."""
import contextlib
import json
import os
import signal

import harness
import msgpack
import numpy as np
import pytest
from harness import until
from onnx_writer import floats, model, node, tensor, value
from wire import DTYPE, Failure, Wire, frame, shape_ext

ROWS = 8
MOST_CALLS = 64  # that a worker joins, and that it is sent ahead
LONG = "10s"  # far above what reading calls takes that are there


@contextlib.contextmanager
def standstill(daemon, name):
    pids = json.loads(daemon.ok("show", "--json", name).out)["pids"]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            until(lambda pid=pid: harness.is_stopped(pid), "the worker stands still")
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def settle(wire):
    """What a turn of the supervisor has left to send goes to its peers one after the other, an
    answer to a client perhaps before what the worker gets; a later turn's answer is behind both."""
    for _ in range(2):
        wire.ask("ping")


def together(daemon, function, calls, deadline_ms=harness.LONG_MS):
    """The (result or failure, how many ran as one) of each of @calls, lists of arguments, by a
    connection each, which are with the worker before it begins the first."""
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in calls]
        with standstill(daemon, function.partition(":")[0]):
            ids = []
            for wire, args in zip(wires, calls):
                ids.append(wire.start("call", function, *args, deadline_ms=deadline_ms))
                settle(wire)
        return [ending(wire, id) for wire, id in zip(wires, ids)]


def ending(wire, id):
    try:
        (_, result), meta = wire.finish_meta(id)
    except Failure as failure:
        return failure, 0
    return result, meta.get("joined", 1)


@pytest.fixture
def mlp(daemon, models):
    """A network of TVM's, main(x: Tensor([n, 16])), of which eight rows may be joined."""
    daemon.load("mlp", models / "mlp.so", "--batch", ROWS, "--batch-delay", LONG, "--replace")
    return daemon


def inputs(*rows):
    values = np.random.RandomState(3)
    return [[values.randn(n, 16).astype("float32")] for n in rows]


def alone(daemon, models, calls):
    daemon.load("alone", models / "mlp.so", "--replace")
    with Wire(daemon.host) as wire:
        return [wire.call("alone:main", *args)[1] for args in calls]


def test_calls_of_many_clients_run_as_one_and_get_what_they_would_get_alone(mlp, models):
    calls = inputs(*[1] * ROWS)
    answers = together(mlp, "mlp:main", calls)
    assert [joined for _, joined in answers] == [ROWS] * ROWS
    for (got, _), want in zip(answers, alone(mlp, models, calls)):
        assert got.shape == (1, 10) and np.array_equal(got, want)


def test_each_gets_as_many_rows_as_it_gave(mlp, models):
    calls = inputs(3, 1, 4)
    answers = together(mlp, "mlp:main", calls)
    assert [joined for _, joined in answers] == [3, 3, 3]
    for (got, _), want in zip(answers, alone(mlp, models, calls)):
        assert np.array_equal(got, want)


def test_more_rows_than_allowed_run_alone(mlp, models):
    calls = inputs(ROWS + 1)
    [(got, joined)] = together(mlp, "mlp:main", calls)
    assert joined == 1 and np.array_equal(got, alone(mlp, models, calls)[0])


def test_what_does_not_fit_runs_apart_and_gets_its_own_error(mlp, models):
    calls = inputs(2, 1, 6, 2)
    calls.insert(2, [np.zeros((1, 15), "float32")])
    answers = together(mlp, "mlp:main", calls)
    assert [joined for _, joined in answers] == [2, 2, 0, 2, 2]
    failure, _ = answers.pop(2)
    assert failure.name in ("BAD_ARGUMENT", "CALL_FAILED") and "16" in failure.message
    del calls[2]
    for (got, _), want in zip(answers, alone(mlp, models, calls)):
        assert np.array_equal(got, want)


def test_what_is_cancelled_while_it_waits_is_left_out(daemon, models):
    daemon.load("three", models / "mlp.so", "--batch", 3, "--batch-delay", LONG, "--replace")
    calls = inputs(1, 1, 1, 1)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in calls]
        with standstill(daemon, "three"):
            ids = []
            for wire, args in zip(wires, calls):
                ids.append(wire.start("call", "three:main", *args))
                if len(ids) == 2:
                    wire.send(frame([2, "cancel", [ids[1]]]))
                settle(wire)
        answers = [ending(wire, id) for wire, id in zip(wires, ids)]
    assert [joined for _, joined in answers] == [3, 0, 3, 3]
    assert answers.pop(1)[0].name == "CANCELLED"
    del calls[1]
    for (got, _), want in zip(answers, alone(daemon, models, calls)):
        assert np.array_equal(got, want)


def test_the_part_of_a_client_that_has_left_is_left_out(daemon, models):
    daemon.load("left", models / "mlp.so", "--batch", 3, "--batch-delay", LONG, "--replace")
    calls = inputs(1, 1, 1, 1)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in calls]
        with standstill(daemon, "left"):
            ids = []
            for wire, args in zip(wires, calls):
                ids.append(wire.start("call", "left:main", *args))
                settle(wire)
            wires[1].__exit__()
            until(lambda: len(wires[0].ask("client.list")) == len(calls) - 1, "it has left")
            settle(wires[0])
        answers = [ending(wires[i], ids[i]) for i in (0, 2, 3)]
    assert [joined for _, joined in answers] == [3, 3, 3]
    want = alone(daemon, models, [calls[i] for i in (0, 2, 3)])
    assert all(np.array_equal(got, right) for (got, _), right in zip(answers, want))


def test_what_is_behind_as_many_calls_as_run_as_one_waits_its_turn(daemon, models):
    """What another has left behind is freed by the worker, after the calls it was sent."""
    daemon.load("many", models / "mlp.so", "--batch", 2 * MOST_CALLS, "--batch-delay", LONG,
                "--replace")
    pids = json.loads(daemon.ok("show", "--json", "many").out)["pids"]
    calls = inputs(*[1] * MOST_CALLS)
    with contextlib.ExitStack() as stack:
        leaver = stack.enter_context(Wire(daemon.host))
        leaver.ask("tensor.alloc", "many", msgpack.ExtType(DTYPE, b"\2\x20\1\0"),
                   shape_ext(4))
        wires = [stack.enter_context(Wire(daemon.host)) for _ in calls]
        with standstill(daemon, "many"):
            ids = [wire.start("call", "many:main", *args) for wire, args in zip(wires, calls)]
            for wire in wires:
                settle(wire)
            leaver.__exit__()
            until(lambda: len(wires[0].ask("client.list")) == len(calls), "it has left")
            settle(wires[0])
        answers = [ending(wire, id) for wire, id in zip(wires, ids)]
    assert [joined for _, joined in answers] == [MOST_CALLS] * MOST_CALLS
    for (got, _), want in zip(answers, alone(daemon, models, calls)):
        assert np.array_equal(got, want)
    assert json.loads(daemon.ok("show", "--json", "many").out)["pids"] == pids


def test_nobody_is_made_late_by_waiting_for_others(mlp, models):
    """Its deadline is before the end of the wait: it is begun at once."""
    calls = inputs(1)
    [(got, joined)] = together(mlp, "mlp:main", calls, deadline_ms=9000)
    assert joined == 1 and np.array_equal(got, alone(mlp, models, calls)[0])


def save(folder, name, *parts):
    path = folder / f"{name}.onnx"
    path.write_bytes(model(*parts))
    return path


def test_results_that_are_not_of_rows_are_made_apart(daemon, tmp_path):
    path = save(tmp_path, "sum", [node("ReduceSum", ["x"], ["y"], keepdims=1)],
                [value("x", "float32", ["n", 3])], [value("y", "float32", [1, 1])])
    daemon.load("sum", path, "--batch", ROWS, "--batch-delay", LONG, "--replace")
    calls = [[floats(4, 3) + i] for i in range(2)]
    for _ in range(2):
        answers = together(daemon, "sum:run", calls)
        assert [joined for _, joined in answers] == [1, 1]
        assert [got.item() for got, _ in answers] == [x.sum() for [x] in calls]
    assert "calls of run are no longer joined" in daemon.ok("logs", "sum").out


def test_a_call_that_fails_fails_alone(daemon, tmp_path):
    path = save(tmp_path, "rows", [node("Gather", ["table", "i"], ["y"])],
                [value("i", "int64", ["n"])], [value("y", "float32", ["n", 2])],
                [tensor("table", floats(5, 2))])
    daemon.load("rows", path, "--batch", 4, "--batch-delay", LONG, "--replace")
    calls = [[np.int64([i])] for i in (0, 4, 7, 2)]
    for _ in range(2):
        answers = together(daemon, "rows:run", calls)
        failure, _ = answers.pop(2)
        assert isinstance(failure, Failure) and "7" in failure.message
        assert [got.tolist() for got, _ in answers] == [floats(5, 2)[[i]].tolist()
                                                        for i in (0, 4, 2)]


def test_which_functions_are_joined_is_said(mlp):
    head, *rows = [line.split("\t") for line in
                   mlp.ok("funcs", "--header", "mlp").out.splitlines()]
    said = {row["name"]: row["batch"] for row in (dict(zip(head, r)) for r in rows)}
    assert said["main"] == str(ROWS)


def test_by_itself_nothing_is_joined(daemon, models):
    daemon.load("plain", models / "mlp.so", "--replace")
    assert "batch" not in daemon.ok("--json", "funcs", "plain").out
    answers = together(daemon, "plain:main", inputs(1, 1))
    assert [joined for _, joined in answers] == [1, 1]


def test_arguments_by_name_are_joined_when_all_name_the_same(daemon, tmp_path):
    ends = [value(name, "float32", ["n", 3]) for name in "ab"], [value("y", "float32", ["n", 3])]
    path = save(tmp_path, "sub", [node("Sub", ["a", "b"], ["y"])], *ends)
    daemon.load("sub", path, "--batch", 4, "--batch-delay", LONG, "--replace")
    a, b = floats(2, 3), floats(2, 3) * 3
    with Wire(daemon.host) as wire:
        with standstill(daemon, "sub"):
            ids = [wire.start("call", "sub:run", b, a, names=["b", "a"]) for _ in range(2)]
            ids += [wire.start("call", "sub:run", a, b) for _ in range(2)]
            settle(wire)
        answers = [ending(wire, id) for id in ids]
    assert [joined for _, joined in answers] == [2] * 4
    assert all(np.array_equal(got, a - b) for got, _ in answers)


def test_a_batch_of_a_module_without_a_common_open_extent_is_refused(daemon, tmp_path):
    """The rows of two names are never joined, even if they are as many."""
    path = save(tmp_path, "outer", [node("MatMul", ["a", "b"], ["y"])],
                [value("a", "float32", ["n", 2]), value("b", "float32", ["m", 2])],
                [value("y", "float32", ["n", 2])])
    said = daemon.modser("load", "outer", path, "--batch", ROWS)
    assert said.status == 8 and "no function has a first extent that may vary" in said.err, said


def test_several_workers_join_what_each_has(daemon, models):
    daemon.load("pair", models / "mlp.so", "--workers", 2, "--batch", 4, "--batch-delay", "20ms")
    calls = inputs(*[1] * 16)
    want = alone(daemon, models, calls)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.host)) for _ in calls]
        for _ in range(4):
            ids = [wire.start("call", "pair:main", *args) for wire, args in zip(wires, calls)]
            answers = [ending(wire, id) for wire, id in zip(wires, ids)]
            assert all(1 <= joined <= 4 for _, joined in answers)
            for (got, _), right in zip(answers, want):
                assert np.array_equal(got, right)
    daemon.ok("unload", "pair")


def test_a_batch_at_the_start_and_from_the_store(own_daemon, folder, models):
    words = ["--store", folder / "store"]
    with_batch = f"first={models / 'mlp.so'},batch=4,batch-delay=1ms"
    daemon = own_daemon(*words, "--load", with_batch)
    daemon.ok("wait", "first")
    assert '"batch":4' in daemon.ok("--json", "funcs", "first").out.replace(" ", "")
    daemon.load("kept", models / "mlp.so", "--keep", "--batch", 6, "--batch-delay", "2ms")
    daemon.stop()
    daemon = own_daemon(*words)
    daemon.ok("wait", "kept")
    assert '"batch":6' in daemon.ok("--json", "funcs", "kept").out.replace(" ", "")


@pytest.mark.parametrize("words, cause", [
    (["--batch", "1"], "batch 1: expected 2 to 65536 rows"),
    (["--batch-delay", "5ms"], "give batch, too"),
    (["--batch", "8", "--batch-delay", "11s"], "batch-delay 11s: expected 10 s at most"),
    (["--batch", "65537"], "batch"),
])
def test_what_cannot_be_a_batch_is_refused(daemon, models, words, cause):
    said = daemon.modser("load", "none", models / "mlp.so", *words)
    assert said.status != 0 and cause in said.err, said
