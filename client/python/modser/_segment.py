"""Segments: memory that a client shares with the daemon."""
from __future__ import annotations

import fcntl
import math
import mmap
import os
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _requests
from ._errors import SystemRefused
from ._tensor import ALIGN, as_shape

if TYPE_CHECKING:
    from ._client import Client

# Linux's numbers: Python has no names for them on other systems.
_SIZE_SEALS = 0x0001 | 0x0002 | 0x0004  # SEAL, SHRINK, GROW
_ADD_SEALS = 1033


def _memfd(nbytes: int) -> int:
    make = getattr(os, "memfd_create", None)
    if make is None:
        raise SystemRefused("a segment needs memfd_create, which this system does not have")
    fd = int(make("modser", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
    try:
        os.ftruncate(fd, nbytes)
        fcntl.fcntl(fd, _ADD_SEALS, _SIZE_SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd


class Segment:
    """Memory shared with the daemon; ``client.segment(nbytes)`` makes one.

        with client.segment(1 << 26) as segment:
            x = segment.array((1, 3, 224, 224))
            y = segment.array((1, 1000))
            x[...] = image
            module.main(x, out=y)  # neither is sent

    Calls use and fill arrays in it in place. Do not write to an array while a call uses it: the
    call may see that. ``close()`` or the end of its ``with`` block ends the sharing; arrays stay
    valid.
    """

    def __init__(self, client: Client, nbytes: int) -> None:
        if nbytes <= 0:
            raise ValueError(f"a segment of {nbytes} bytes: expected at least 1")
        self._client = client
        self.nbytes = nbytes
        self._used = 0
        fd = _memfd(nbytes)
        try:
            self._memory = np.frombuffer(mmap.mmap(fd, nbytes), np.uint8)
            self.address = int(self._memory.__array_interface__["data"][0])
            self.number = client._run(_requests.lend(nbytes, fd))
        finally:
            os.close(fd)
        client._segments.append(self)

    def array(self, shape: Any, dtype: Any = "float32", offset: Optional[int] = None) -> Any:
        """An array in the segment: behind the previous one, or at `offset`, a multiple of 128. Its
        contents are the segment's."""
        dims, numpy = as_shape(shape), np.dtype(dtype)
        start = self._used if offset is None else offset
        nbytes = math.prod(dims) * numpy.itemsize
        if start % ALIGN or start < 0:
            raise ValueError(f"offset {start} is not a multiple of {ALIGN}")
        if start + nbytes > self.nbytes:
            raise ValueError(
                f"{numpy.name}{list(dims)} at {start} does not fit into the {self.nbytes} bytes "
                "of the segment"
            )
        if offset is None:
            self._used = start + (nbytes + ALIGN - 1) // ALIGN * ALIGN
        return self._memory[start : start + nbytes].view(numpy).reshape(dims)

    def close(self) -> None:
        """End the sharing; a second call does nothing."""
        if self in self._client._segments:
            self._client._segments.remove(self)
            if not self._client.is_lost():
                self._client._run(_requests.ask("segment.remove", self.number))

    def __enter__(self) -> Segment:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<modser.Segment of {self.nbytes} bytes>"
