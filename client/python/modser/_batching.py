"""Calls that run as one, joined along the first extent of all their arrays."""
from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Optional

import numpy as np

from ._errors import Busy, DeadlineExceeded, Draining, Error, ProtocolError
from ._retry import may_have_run

Outcome = tuple[Any, Optional[Exception]]  # the result of a call, or its error
_Call = Callable[..., Awaitable[Any]]


def has_rows(params: Any) -> bool:
    """True if all that a call needs are tensors whose first extent is open, of the same name."""
    params = [p for p in params if not p.get("optional")]
    names = {(p.get("extents") or ("",))[0] for p in params}
    is_open = all((p.get("shape") or (0,))[0] == -1 for p in params)
    return is_open and len(names) == 1 and (len(params) == 1 or names != {""})


def group(calls: list[tuple[Any, ...]]) -> list[list[int]]:
    """Groups of indices of calls that can be joined: their arrays agree in all but the rows. A call
    whose arrays have different numbers of rows, or none, is alone."""
    found: dict[Any, list[int]] = {}
    for i, args in enumerate(calls):
        rows = {a.shape[:1] for a in args}
        fits = tuple((str(a.dtype), a.shape[1:]) for a in args)
        found.setdefault(fits if len(rows) == 1 and rows != {()} else i, []).append(i)
    return list(found.values())


def join(calls: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(column) for column in zip(*calls))


def split(y: Any, calls: list[tuple[Any, ...]]) -> Optional[list[Any]]:
    """The rows of ``y`` for each call; None: not all results have rows."""
    counts = [len(args[0]) for args in calls]
    parts = y if isinstance(y, tuple) else (y,)
    if not all(isinstance(p, np.ndarray) and p.shape[:1] == (sum(counts),) for p in parts):
        return None
    pieces = [np.split(part, np.cumsum(counts)[:-1]) for part in parts]
    return list(zip(*pieces)) if isinstance(y, tuple) else list(pieces[0])


class Batcher:
    """Runs calls as one ``call``, until its results turn out not to have rows."""

    def __init__(self, call: _Call) -> None:
        self._call, self._joins = call, True

    async def run(self, calls: list[tuple[Any, ...]]) -> list[Outcome]:
        """The outcomes in order. Calls that agree in shapes and dtypes run as one."""
        found: list[Any] = [None] * len(calls)
        for indices in group(calls):
            for i, outcome in zip(indices, await self._run_group([calls[i] for i in indices])):
                found[i] = outcome
        return found

    async def _run_group(self, calls: list[tuple[Any, ...]]) -> list[Outcome]:
        """Run the calls as one; each alone if that fails or the results have no rows."""
        if len(calls) > 1 and self._joins:
            try:
                parts = split(await self._call(*join(calls)), calls)
                if parts is None:
                    self._joins = False
            except Exception as error:
                if _concerns_all(error):
                    return [(None, error)] * len(calls)
                parts = None
            if parts is not None:
                return [(part, None) for part in parts]
        return [await self._run_one(args) for args in calls]

    async def _run_one(self, args: tuple[Any, ...]) -> Outcome:
        try:
            return await self._call(*args), None
        except Exception as error:  # the error of this call alone
            return None, error


def _concerns_all(error: Exception) -> bool:
    """True if the error concerns all calls: they may have run, or none can run now."""
    if isinstance(error, Error) and may_have_run(error):
        return True
    return isinstance(error, (DeadlineExceeded, ProtocolError, Busy, Draining))
