"""The option `repeat` of a call: the worker runs the function often, and times it."""
import harness
import numpy as np
import pytest
from wire import Failure, Wire, out

MEET = harness.ZOO / "meet.so"
MOST_SERIES = 1024


@pytest.fixture
def wire(daemon):
    daemon.load("meet", MEET, "--replace")
    daemon.load("faults", harness.ZOO / "faults.so", "--replace")
    with Wire(daemon.host) as wire:
        yield wire


def measure(wire, repeat, function="meet:count", *args, **options):
    (outs, value), meta = wire.finish_meta(
        wire.start("call", function, *args, repeat=repeat, **options))
    return outs, value, meta


@pytest.mark.parametrize("number, series", [(1, 1), (3, 4), (1, MOST_SERIES), (1000, 2)])
def test_the_function_counts_the_runs(wire, number, series):
    before = wire.call("meet:count")[1]
    _, value, meta = measure(wire, [number, series, 0])
    assert value == before + 1, "the first run's value"
    assert wire.call("meet:count")[1] == before + 1 + number * series + 1
    assert meta["runs"] == number * series + 1
    times = np.frombuffer(meta["times"], "<f8")
    assert len(times) == series and (times > 0).all()
    assert number * times.sum() * 1e9 <= meta["exec_ns"]


def test_a_short_series_runs_again_with_more_runs(wire):
    before = wire.call("meet:count")[1]
    _, _, meta = measure(wire, [1, 2, 2])
    assert wire.call("meet:count")[1] == before + meta["runs"] + 1
    assert meta["runs"] > 1 + 2 and meta["exec_ns"] >= 2 * 2_000_000


def test_out_tensors_and_other_options_go_with_it(served, wire):
    x = np.arange(4, dtype="f4")
    outs, _, meta = measure(wire, [2, 3, 0], "shapes:addone", x, out("f4", 4),
                            names=[None, None], device="cpu", priority="background")
    assert np.array_equal(outs[0], x + 1) and meta["runs"] == 7


@pytest.mark.parametrize("repeat", [
    [0, 1, 0], [1, 0, 0], [-1, 1, 0], [1, 1, -1], [1, 1 << 40, 0], [1 << 40, 1, 0],
    [1, 1, 1 << 40], [1, MOST_SERIES + 1, 0], ["1", 1, 0], [1.5, 1, 0], [1, 1], [1, 1, 0, 0],
    [[1], 1, 0], [], "1", 1, None, {"number": 1}])
def test_a_wrong_value_is_refused_before_anything_runs(wire, repeat):
    before = wire.call("meet:count")[1]
    with pytest.raises(Failure, match="BAD_REQUEST: .*repeat: expected"):
        measure(wire, repeat)
    assert wire.call("meet:count")[1] == before + 1


def test_it_is_for_calls_without_a_trace(wire):
    with pytest.raises(Failure, match="BAD_REQUEST: .*repeat: expected no trace"):
        measure(wire, [1, 1, 0], trace=True)
    for method in ("module.profile", "tensor.alloc"):
        with pytest.raises(Failure, match="BAD_REQUEST: .*repeat: .*for a call"):
            wire.ask(method, "meet:count", repeat=[1, 1, 0])
    with pytest.raises(Failure, match="UNKNOWN_OPTION"):
        wire.ask("ping", repeat=[1, 1, 0])


def test_a_run_that_fails_ends_it(wire):
    with pytest.raises(Failure, match="CALL_FAILED"):
        measure(wire, [5, 5, 0], "faults:error_long")
    assert measure(wire, [1, 1, 0])[2]["runs"] == 2


def test_a_deadline_ends_the_whole_measurement(wire):
    with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
        measure(wire, [(1 << 32) - 1, MOST_SERIES, 0], deadline_ms=100)
