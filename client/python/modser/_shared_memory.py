"""Memory shared with the daemon, and arrays in it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Protocol

import numpy as np

from ._tensor import ALIGN


class SharedSegment(Protocol):
    """The part of a Segment that requests need."""

    number: int
    address: int
    nbytes: int


def find_segment(
    segments: Sequence[SharedSegment], memory: np.ndarray[Any, Any]
) -> Optional[tuple[int, int]]:
    """The segment number and offset of an array that lies in a segment, properly aligned."""
    if not memory.nbytes:  # an empty array has no address
        return None
    at = memory.__array_interface__["data"][0]
    for segment in segments:
        offset = at - segment.address
        if offset >= 0 and offset + memory.nbytes <= segment.nbytes:
            return (segment.number, offset) if offset % ALIGN == 0 else None
    return None
