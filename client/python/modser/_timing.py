"""Repeated measurement of a call, with the names that tuners know."""
from __future__ import annotations

import statistics
import time
from typing import Callable, NamedTuple


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


def measure(once: Callable[[], int], number: int, repeat: int, min_repeat_ms: float) -> Times:
    """Run once() (which says how many ns the daemon measured) once for nothing, then `repeat`
    times `number` times, or more often until a repeat has taken `min_repeat_ms`."""
    once()
    results, walls = [], []
    for _ in range(repeat):
        runs, spent, began = 0, 0, time.perf_counter()
        while runs < number or spent < min_repeat_ms * 1e6:
            spent += once()
            runs += 1
        walls.append((time.perf_counter() - began) / runs)
        results.append(spent / runs / 1e9)
    return Times(tuple(results), tuple(walls))
