"""What modser.ray joins, and takes apart again."""
import asyncio

import modser
import numpy as np
import pytest
from modser import _batching


def rows(n, width=3, dtype="float32"):
    return (np.arange(n * width, dtype=dtype).reshape(n, width),)


def param(*shape, extents=None):
    return {"kind": "tensor", "shape": shape, **({"extents": extents} if extents else {})}


def test_rows_are_the_open_first_extent_of_all_arrays():
    n, m = param(-1, 2, extents=("n", "")), param(-1, 3, extents=("m", ""))
    for has, params in ((True, (n,)), (True, (n, n)), (True, (param(-1, 2),)), (False, (n, m)), (False, ()),
                        (False, (param(-1, 2),) * 2), (False, (n, param(2))), (False, ({"kind": "int"},))):
        assert _batching.has_rows(params) == has, params


def test_those_that_differ_in_shape_or_dtype_are_apart():
    calls = [rows(1), rows(2), rows(1, width=4), rows(1, dtype="float64"), rows(3)]
    assert _batching.group(calls) == [[0, 1, 4], [2], [3]]


def test_a_call_whose_arrays_have_different_rows_is_alone():
    odd = rows(1) + rows(2)
    assert _batching.group([rows(2) + rows(2), odd, odd, rows(1) + rows(1)]) == [[0, 3], [1], [2]]


def test_each_gets_its_own_rows():
    calls = [rows(1), rows(3), rows(2)]
    (x,) = _batching.join(calls)
    assert [part.tolist() for part in _batching.split(x, calls)] == [a.tolist() for (a,) in calls]


def test_of_several_results_each_gets_its_rows():
    calls = [rows(1), rows(2)]
    (x,) = _batching.join(calls)
    parts = _batching.split((x, x[:, 0]), calls)
    assert [(a.shape, b.shape) for a, b in parts] == [((1, 3), (1,)), ((2, 3), (2,))]


def test_what_is_not_of_rows_is_nobodys():
    calls = [rows(1), rows(1)]
    for y in (np.zeros((1, 3)), np.float32(0), 5, (np.zeros(2), np.zeros(3))):
        assert _batching.split(y, calls) is None


def test_what_has_no_rows_at_all_is_alone():
    lone = (np.float32(1),)
    assert _batching.group([rows(1), lone, lone, rows(1), (), ()]) == [[0, 3], [1], [2], [4], [5]]


class Model:
    """Doubles its rows, or what it @gives, and keeps how many each run has had; of several it says @error."""

    def __init__(self, error=None, gives=lambda x: x * 2):
        self.error, self.gives, self.runs = error, gives, []
        self.batcher = _batching.Batcher(self)

    async def __call__(self, x):
        self.runs.append(len(x))
        if self.error and len(x) > 1:
            raise self.error
        if (x < 0).any():
            raise TypeError("below 0")
        return self.gives(x)

    def answer(self, *calls):
        return asyncio.run(self.batcher.run(list(calls)))


def test_those_that_fit_run_as_one():
    model = Model()
    outcomes = model.answer(rows(1), rows(2), rows(1, width=4))
    assert model.runs == [3, 1]
    for (y, error), (x,) in zip(outcomes, (rows(1), rows(2), rows(1, width=4))):
        assert error is None and np.array_equal(y, x * 2)


@pytest.mark.parametrize("kind", [modser.ConnectionLost, modser.WorkerLost, modser.GpuFault, modser.ProtocolError,
                                  modser.DeadlineExceeded, modser.Busy, modser.Draining])
def test_what_may_have_run_or_must_wait_is_told_to_all_and_not_run_again(kind):
    model = Model(kind("as it is"))
    assert model.answer(rows(1), rows(1)) == [(None, model.error)] * 2
    assert model.runs == [2]


@pytest.mark.parametrize("error", [modser.BadArgument("too many"), modser.CallFailed("of one"), ValueError("of one")])
def test_where_they_fail_as_one_each_runs_for_itself(error):
    model = Model(error)
    assert [error for _, error in model.answer(rows(1), rows(1))] == [None, None]
    assert model.runs == [2, 1, 1]


def test_one_that_is_wrong_in_whatever_way_is_no_others_fault():
    (right, no), (none, why) = Model().answer(rows(1), (-rows(1)[0] - 1,))
    assert no is None and right.shape == (1, 3)
    assert none is None and isinstance(why, TypeError)


def test_what_turns_out_not_to_give_rows_runs_apart_from_then_on():
    model = Model(gives=lambda x: x.sum(0))
    for runs in ([2, 1, 1], [1, 1]):
        model.runs.clear()
        outcomes = model.answer(rows(1), rows(1))
        assert model.runs == runs
        assert all(error is None and y.shape == (3,) for y, error in outcomes)
