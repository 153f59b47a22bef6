"""Calls that run as one, behind each other by rows: the first extent of all their arrays."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np


def has_rows(params: Any) -> bool:
    """All are tensors whose first extent is open, and the same by its name: that those of two names
    are as many is an accident."""
    names = {(p.get("extents") or ("",))[0] for p in params}
    is_open = all((p.get("shape") or (0,))[0] == -1 for p in params)
    return is_open and len(names) == 1 and (len(params) == 1 or names != {""})


def alike(calls: list[tuple[Any, ...]]) -> list[list[int]]:
    """The places of those that can be joined: their arrays agree in all but their rows. What has
    arrays of different rows is alone."""
    found: dict[Any, list[int]] = {}
    for i, args in enumerate(calls):
        rows = {a.shape[:1] for a in args}
        fits = tuple((str(a.dtype), a.shape[1:]) for a in args)
        found.setdefault(fits if len(rows) == 1 else i, []).append(i)
    return list(found.values())


def join(calls: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(column) for column in zip(*calls))


def split(y: Any, calls: list[tuple[Any, ...]]) -> Optional[list[Any]]:
    """What of ``y`` is whose. None: not all of it is of rows, and nobody can say."""
    counts = [len(args[0]) for args in calls]
    parts = y if isinstance(y, tuple) else (y,)
    if not all(isinstance(p, np.ndarray) and p.shape[:1] == (sum(counts),) for p in parts):
        return None
    pieces = [np.split(part, np.cumsum(counts)[:-1]) for part in parts]
    return list(zip(*pieces)) if isinstance(y, tuple) else list(pieces[0])
