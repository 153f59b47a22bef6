"""What modser.ray joins, and takes apart again."""
import numpy as np
from modser import _joining


def rows(n, width=3, dtype="float32"):
    return (np.arange(n * width, dtype=dtype).reshape(n, width),)


def param(*shape, extents=None):
    return {"kind": "tensor", "shape": shape, **({"extents": extents} if extents else {})}


def test_rows_are_the_open_first_extent_of_all_arrays():
    n, m = param(-1, 2, extents=("n", "")), param(-1, 3, extents=("m", ""))
    for has, params in ((True, (n,)), (True, (n, n)), (True, (param(-1, 2),)), (False, (n, m)), (False, ()),
                        (False, (param(-1, 2),) * 2), (False, (n, param(2))), (False, ({"kind": "int"},))):
        assert _joining.has_rows(params) == has, params


def test_those_that_differ_in_shape_or_dtype_are_apart():
    calls = [rows(1), rows(2), rows(1, width=4), rows(1, dtype="float64"), rows(3)]
    assert _joining.alike(calls) == [[0, 1, 4], [2], [3]]


def test_a_call_whose_arrays_have_different_rows_is_alone():
    odd = rows(1) + rows(2)
    assert _joining.alike([rows(2) + rows(2), odd, odd, rows(1) + rows(1)]) == [[0, 3], [1], [2]]


def test_each_gets_its_own_rows():
    calls = [rows(1), rows(3), rows(2)]
    (x,) = _joining.join(calls)
    assert [part.tolist() for part in _joining.split(x, calls)] == [a.tolist() for (a,) in calls]


def test_of_several_results_each_gets_its_rows():
    calls = [rows(1), rows(2)]
    (x,) = _joining.join(calls)
    parts = _joining.split((x, x[:, 0]), calls)
    assert [(a.shape, b.shape) for a, b in parts] == [((1, 3), (1,)), ((2, 3), (2,))]


def test_what_is_not_of_rows_is_nobodys():
    calls = [rows(1), rows(1)]
    for y in (np.zeros((1, 3)), np.float32(0), 5, (np.zeros(2), np.zeros(3))):
        assert _joining.split(y, calls) is None
