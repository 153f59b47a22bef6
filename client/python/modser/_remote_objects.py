"""Objects of the blocking client in a module's worker: instances and resident tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _requests, _residents
from ._function import Function
from ._objects import InstanceBase, ResidentBase
from ._types import DeviceLike

if TYPE_CHECKING:
    from ._client import Client


class Instance(InstanceBase["Function"]):
    __doc__ = InstanceBase.__doc__

    def __init__(self, client: Client, module: str, handle: Any) -> None:
        super().__init__(client, module, handle)
        self._client = client

    def _function(self, name: str) -> Function:
        return Function(self._client, self._name, name, self)

    def close(self) -> None:
        """Free it now; a second time does nothing."""
        self._client._run(_requests.free(self))

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            self.close()


class Resident(ResidentBase):
    __doc__ = ResidentBase.__doc__

    def __init__(self, client: Client, module: str, place: Any) -> None:
        super().__init__(client, module, place)
        self._client = client

    def numpy(self, into: Any = None) -> Any:
        """The elements as a new array (a Tensor if numpy lacks the dtype), or in `into`."""
        return self._client._run(_residents.read(self, into))

    def copy_from(self, value: Any) -> Resident:
        """Copy the elements of an array, Tensor or resident tensor of the same dtype and shape."""
        self._client._run(_residents.write(self, value))
        return self

    def fill(self, number: Any) -> Resident:
        """Write a number (int, float, bool) into every element."""
        self._client._run(_requests.ask("tensor.fill", self, number))
        return self

    def fill_random(self, seed: int = 0) -> Resident:
        """Fill with random numbers, equal for equal seeds: floats in [0, 1), integers 0 to 9."""
        self._client._run(_residents.fill_random(self, seed))
        return self

    def to(self, device: DeviceLike) -> Resident:
        """A copy on another device of the same worker."""
        return self._client._run(_residents.move(self._client, Resident, self, device))

    def free(self) -> None:
        """Free it now; a second time does nothing."""
        self._client._run(_requests.free(self))

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            self.free()
