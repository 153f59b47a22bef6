"""Repeated measurement of a call, with the names that tuners know."""
from __future__ import annotations

import numbers
import operator
import statistics
import time
from typing import Any, NamedTuple, Optional

from ._call import OutArgument
from ._objects import FunctionBase, ResidentBase
from ._requests import Reply, Request, alloc, free, place_outs, put
from ._tensor import Out, Tensor, is_tensor
from ._types import DeviceLike

MOST_UNMEASURED = 100  # runs more, of a function that takes no time at all


class Times(NamedTuple):
    """Seconds that one run took.

    ``results`` has one mean per repeat by the daemon's own clock, without the way there and
    back; ``wall`` the same by this process's clock, with it.
    """

    results: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        return min(self.results)

    @property
    def max(self) -> float:
        return max(self.results)

    @property
    def std(self) -> float:
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        names = ("mean", "median", "max", "min", "std")
        return ", ".join(f"{name} {getattr(self, name) * 1e6:.3f} us" for name in names)


class Plan(NamedTuple):
    """How often to run; see Function.time_evaluator."""

    number: int
    repeat: int
    min_repeat_ms: float
    resident: bool

    @classmethod
    def checked(cls, number: int, repeat: int, min_repeat_ms: float, resident: bool) -> Plan:
        for name, value in [("number", number), ("repeat", repeat)]:
            if not hasattr(value, "__index__"):
                raise TypeError(f"{name} is an int, not {type(value).__name__}")
            if operator.index(value) < 1:
                raise ValueError(f"{name} is at least 1, not {value}")
        if not isinstance(min_repeat_ms, numbers.Real):
            kind = type(min_repeat_ms).__name__
            raise TypeError(f"min_repeat_ms is a number of milliseconds, not {kind}")
        if not 0 <= min_repeat_ms < float("inf"):
            raise ValueError(f"min_repeat_ms is at least 0, not {min_repeat_ms}")
        return cls(number, repeat, float(min_repeat_ms), resident)


def timed(
    function: FunctionBase,
    plan: Plan,
    args: tuple[Any, ...],
    named: dict[str, Any],
    out: OutArgument,
    device: Optional[DeviceLike],
) -> Request[Times]:
    """Run it once for nothing, then `repeat` times `number` times, or more often until a repeat
    has taken `min_repeat_ms`. Tensors are put into the worker before, if the plan says so. What
    a function fills is measured with it; a model's outputs are not copied into `out`."""
    held: list[ResidentBase] = []  # what an error leaves is freed when it is forgotten
    client, module = function._client, function.module

    def placed(value: Any) -> Request[Any]:
        if isinstance(value, Out):
            made = alloc(client, ResidentBase, module, value.dtype, value.shape, device)
        elif isinstance(value, Tensor) or is_tensor(value):
            made = put(client, ResidentBase, module, value, device)
        else:
            return value
        held.append((yield from made))
        return held[-1]

    def once() -> Request[int]:
        reply: Reply = yield function._message(args, named, device)
        return int(reply.meta.get("exec_ns", 0)) if isinstance(reply.meta, dict) else 0

    if out is not None:
        args, _ = yield from place_outs(function, args, out, None)
    if plan.resident:
        args = yield from _each(args, placed)
        named = dict(zip(named, (yield from _each(named.values(), placed))))
    yield from once()
    results, walls = [], []
    for _ in range(plan.repeat):
        runs, spent, began = 0, 0, time.perf_counter()
        while runs < plan.number or (
            spent < plan.min_repeat_ms * 1e6 and (spent or runs < plan.number + MOST_UNMEASURED)
        ):
            spent += yield from once()
            runs += 1
        walls.append((time.perf_counter() - began) / runs)
        results.append(spent / runs / 1e9)
    for tensor in held:
        yield from free(tensor)
    return Times(tuple(results), tuple(walls))


def _each(values: Any, placed: Any) -> Request[tuple[Any, ...]]:
    done = []
    for value in values:
        done.append((yield from placed(value)))
    return tuple(done)
