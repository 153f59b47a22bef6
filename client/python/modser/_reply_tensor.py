"""Tensors of a reply, and other objects on the server."""
from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import numpy as np

from ._errors import ProtocolError
from ._tensor import ALIGN, HEAD, INLINE, MAX_NDIM, RESIDENT, SEGMENT, SHAPES, Out, Tensor
from ._types import TO_NUMPY, DType

INSTANCE = 4  # the ext type
LOCATIONS = (INLINE, SEGMENT, RESIDENT)  # of a reply's tensors
ALIGN_FROM = 4096  # bytes; aligning a smaller tensor costs more than it saves


class Handle(NamedTuple):
    """A handle: ext type and 8 bytes."""

    kind: int
    data: bytes

    def packed(self) -> bytes:
        return bytes([0xD7, self.kind]) + self.data


class ReplyTensor:
    """A tensor of a reply: the position of its bytes, and its destination."""

    __slots__ = ("where", "dtype", "shape", "offset", "nbytes", "device", "segment", "value")

    def __init__(self, data: bytes) -> None:
        if len(data) < HEAD.size:
            raise ProtocolError("the header of a tensor is too short")
        where, code, bits, ndim, lanes, segment, device, id, offset, nbytes = HEAD.unpack_from(data)
        if ndim > MAX_NDIM or len(data) != HEAD.size + 8 * ndim or where not in LOCATIONS:
            raise ProtocolError("the header of a tensor is not valid")
        self.where, self.dtype, self.device = where, (code, bits, lanes), (device, id)
        self.shape: tuple[int, ...] = SHAPES[ndim].unpack_from(data, HEAD.size)
        self.offset, self.nbytes, self.segment = offset, nbytes, segment
        self.value: Any = None
        if ndim and min(self.shape) < 0 or not bits or not lanes:
            raise ProtocolError("a tensor has a negative dimension or elements of no bits")
        if nbytes != (math.prod(self.shape) * bits * lanes + 7) // 8:
            raise ProtocolError("the size of a tensor does not match its dtype and shape")

    def assign(self, data: memoryview, spec: Optional[Out]) -> None:
        """Make the value of bytes that have arrived, in the caller's memory if given."""
        own = spec.memory() if spec is not None else None
        if own is not None:
            assert spec is not None
            if self.nbytes:
                view(own)[:] = data
            self.value = spec.given
            return
        numpy = TO_NUMPY.get(self.dtype)  # type: ignore[call-overload]
        memory: Any = bytearray(data) if self.nbytes < ALIGN_FROM else aligned(self.nbytes)
        if self.nbytes >= ALIGN_FROM:
            view(memory)[:] = data
        if numpy is None:
            self.value = Tensor(memory, DType(*self.dtype), self.shape)
        elif self.nbytes:
            self.value = np.ndarray(self.shape, numpy, memory)
        else:
            self.value = np.empty(self.shape, numpy)

    def reserve(self, spec: Optional[Out]) -> memoryview:
        """Memory for bytes that have not arrived; the value uses it."""
        own = spec.memory() if spec is not None else None
        if own is not None:
            assert spec is not None
            self.value = spec.given
            return view(own)
        memory = aligned(self.nbytes)
        numpy = TO_NUMPY.get(self.dtype)  # type: ignore[call-overload]
        if numpy is None:
            self.value = Tensor(memory, DType(*self.dtype), self.shape)
        else:
            self.value = np.ndarray(self.shape, numpy, memory)
        return view(memory)


def aligned(nbytes: int) -> np.ndarray[Any, Any]:
    """New memory at a multiple of 128, as one row of uint8."""
    if nbytes < ALIGN_FROM:
        return np.empty(nbytes, np.uint8)
    block = np.empty(nbytes + ALIGN - 1, np.uint8)
    start = -block.__array_interface__["data"][0] % ALIGN
    return block[start : start + nbytes]


def view(row: Any) -> memoryview:
    """The memory of a row of uint8."""
    return memoryview(row)
