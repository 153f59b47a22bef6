"""What is common to the resident tensors of both clients."""
from __future__ import annotations

import math
from typing import Any, Callable

from ._errors import ProtocolError, StaleHandle
from ._place import Place
from ._tensor import RESIDENT, pack_tensor
from ._types import Device, DType


class ResidentBase:
    """A tensor that is kept in a module's worker; an argument of that module's functions.

    It belongs to its connection, and is gone with the worker. ``free()`` or leaving its
    ``with`` block frees it; forgetting it does so with one of the next requests.
    """

    __slots__ = ("module", "dtype", "shape", "device", "_handle", "_forget")

    def __init__(self, module: str, place: Any, forget: Callable[[bytes], None]) -> None:
        if not isinstance(place, Place) or place.where != RESIDENT:
            raise ProtocolError("no resident tensor where one was expected")
        self.module = module
        self.dtype = DType(*place.dtype)
        self.shape = place.shape
        self.device = Device.from_wire(*place.device)
        self._handle = place.offset
        self._forget = forget

    @property
    def nbytes(self) -> int:
        return self.dtype.nbytes(math.prod(self.shape))

    def packed(self) -> bytes:
        if not self._handle:
            raise StaleHandle(f"{self!r} has been freed")
        device = (self.device.number, self.device.id)
        return pack_tensor(RESIDENT, self.dtype, self.shape, self._handle, self.nbytes, device)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._forget(self.packed())

    def __repr__(self) -> str:
        return f"<resident {self.dtype}{list(self.shape)} of {self.module}>"
