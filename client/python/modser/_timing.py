"""Repeated measurement of a call, with TVM's names."""
from __future__ import annotations

import math
import numbers
import operator
import statistics
import struct
import time
from typing import Any, NamedTuple, Optional

from ._call import OutArgument
from ._errors import UnknownOption
from ._objects import FunctionBase, ResidentBase
from ._requests import Pause, Reply, Request, ask, ask_map, free, prepare_outs
from ._residents import alloc, put, read
from ._tensor import Out, Tensor, is_tensor
from ._types import DeviceLike

IN_WORKER_NS = 1e9  # expected time of a repeat up to which one request has all its runs
MOST_RUNS = (1 << 32) - 1  # of one request
MOST_UNMEASURED = 100  # additional runs of a function with a run time of 0


class Times(NamedTuple):
    """Seconds of one run.

    ``results`` has one mean per repeat, measured by the worker; ``wall`` the same by this
    process's clock, with the round trips: one per repeat, or per run of a slow function. ``doubts``
    lists reasons to doubt the figures, and is normally empty.
    """

    results: tuple[float, ...]
    wall: tuple[float, ...]
    doubts: tuple[str, ...] = ()

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
        times = ", ".join(f"{name} {getattr(self, name) * 1e6:.3f} us" for name in names)
        return "; ".join([times, *self.doubts])


class Plan(NamedTuple):
    """The number of runs; see Function.time_evaluator."""

    number: int
    repeat: int
    min_repeat_ms: float
    resident: bool
    cooldown_ms: float
    repeats_to_cooldown: int
    flush_bytes: int

    @classmethod
    def checked(
        cls,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        resident: bool = True,
        cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1,
        cache_flush_bytes: int = 0,
    ) -> Plan:
        _check_count("number", number, 1)
        _check_count("repeat", repeat, 1)
        _check_count("repeats_to_cooldown", repeats_to_cooldown, 1)
        _check_count("cache_flush_bytes", cache_flush_bytes, 0)
        _check_ms("min_repeat_ms", min_repeat_ms)
        _check_ms("cooldown_interval_ms", cooldown_interval_ms)
        return cls(number, repeat, float(min_repeat_ms), resident, float(cooldown_interval_ms),
                   repeats_to_cooldown, cache_flush_bytes)


def _check_count(name: str, value: Any, least: int) -> None:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    if operator.index(value) < least:
        raise ValueError(f"{name} is at least {least}, not {value}")


def _check_ms(name: str, value: Any) -> None:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is a number of milliseconds, not {type(value).__name__}")
    if not 0 <= float(value) < float("inf"):
        raise ValueError(f"{name} is at least 0, not {value}")


def timed(
    function: FunctionBase,
    plan: Plan,
    args: tuple[Any, ...],
    named: dict[str, Any],
    out: OutArgument,
    device: Optional[DeviceLike],
) -> Request[Times]:
    """Run once as a warm-up, then `repeat` times `number` times, or more often until a repeat has
    taken `min_repeat_ms`. The worker runs a short repeat by itself, after another warm-up; a long
    one would keep it from other calls, and might be killed by `max-run`. If `plan.resident` is
    true, the client first copies tensors into the worker. `out` then has the last run's result; a
    model's outputs are not copied."""
    held: list[ResidentBase] = []  # after an error they are freed when they are garbage collected
    filled: list[tuple[ResidentBase, Any]] = []  # with the destination of its elements
    client, module = function._client, function.module

    def placed(value: Any) -> Request[Any]:
        if isinstance(value, Out):
            made = alloc(client, ResidentBase, module, value.dtype, value.shape, device)
        elif isinstance(value, Tensor) or is_tensor(value):
            made = put(client, ResidentBase, module, value, device)
        else:
            return value
        held.append((yield from made))
        if isinstance(value, Out) and value.array is not None:
            filled.append((held[-1], value.given))
        return held[-1]

    calls = 0

    def asked(repeat: Optional[tuple[int, int, int]] = None) -> Request[dict[str, Any]]:
        nonlocal calls
        message = function._message(args, named, device)
        message.repeat = repeat
        reply: Reply = yield message
        calls += 1
        return reply.meta if isinstance(reply.meta, dict) else {}

    def once() -> Request[int]:
        return int((yield from asked()).get("exec_ns", 0))

    def in_worker() -> Request[tuple[float, float]]:
        """The mean seconds of a run, by the worker's clock and by this one."""
        began = time.perf_counter()
        meta = yield from asked((operator.index(plan.number), 1, math.ceil(plan.min_repeat_ms)))
        wall = time.perf_counter() - began
        mean, = struct.unpack("<d", meta["times"])
        return mean, wall / max(int(meta["runs"]) - 1, 1)

    if out is not None:
        args, _ = yield from prepare_outs(function, args, out, None)
    if plan.resident:
        args = yield from _each(args, placed)
        named = dict(zip(named, (yield from _each(named.values(), placed))))
    flushed = None
    if plan.flush_bytes:
        flushed = yield from alloc(client, ResidentBase, module, "uint8", plan.flush_bytes, device)
        held.append(flushed)
    before = yield from _calls_of(module)
    warm_ns = yield from once()
    expected_ns = max(warm_ns * plan.number, plan.min_repeat_ms * 1e6)
    is_short = expected_ns <= IN_WORKER_NS and flushed is None and plan.number <= MOST_RUNS
    results: list[float] = []
    walls: list[float] = []
    for done in range(plan.repeat):
        if plan.cooldown_ms and done and done % plan.repeats_to_cooldown == 0:
            yield Pause(plan.cooldown_ms / 1000)
        if flushed is not None:
            yield from ask("tensor.fill", flushed, done % 256)
        if is_short:
            try:
                mean, wall = yield from in_worker()
            except UnknownOption:  # an older daemon
                is_short = False
            else:
                results.append(mean)
                walls.append(wall)
                continue
        runs, spent, began = 0, 0, time.perf_counter()
        while runs < plan.number or (
            spent < plan.min_repeat_ms * 1e6 and (spent or runs < plan.number + MOST_UNMEASURED)
        ):
            spent += yield from once()
            runs += 1
        walls.append((time.perf_counter() - began) / runs)
        results.append(spent / runs / 1e9)
    others = (yield from _calls_of(module)) - before - calls
    for tensor, array in filled:
        yield from read(tensor, array)
    for tensor in held:
        yield from free(tensor)
    doubts = (f"{others} calls of other clients ran meanwhile",) if others > 0 else ()
    return Times(tuple(results), tuple(walls), doubts)


def _calls_of(module: str) -> Request[int]:
    """The number of calls of the module so far, of all clients."""
    return int((yield from ask_map("module.describe", module)).get("calls", 0))


def _each(values: Any, placed: Any) -> Request[tuple[Any, ...]]:
    done = []
    for value in values:
        done.append((yield from placed(value)))
    return tuple(done)
