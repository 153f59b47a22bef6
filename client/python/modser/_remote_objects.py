"""Objects of the blocking client in a module's worker: instances, resident tensors, and objects
of libraries."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _requests, _residents
from ._function import Function
from ._future import Future
from ._objects import InstanceBase, ObjectBase, ResidentBase
from ._requests import Map
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


class Object(ObjectBase):
    __doc__ = ObjectBase.__doc__

    def __init__(self, client: Client, head: bytes, type: str) -> None:
        super().__init__(client, head, type)
        self._client = client

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """Call it, if it is a function, with the arguments of a module's function."""
        return self._function()(*args, **options)

    def submit(self, /, *args: Any, **options: Any) -> Future:
        """Send the call without waiting; see Function.submit()."""
        return self._function().submit(*args, **options)

    def _function(self) -> Function:
        function = Function(self._client, "", self.type)
        function._full, function._object = self.type, self
        return function

    def describe(self) -> Map:
        """A map of ``type``, ``is_function``, ``ancestors`` (type keys) and ``fields`` (a dict)."""
        return self._client._run(_requests.describe_object(self))

    def free(self) -> None:
        """Free it now; a second time does nothing."""
        self._client._run(_requests.free(self))

    def __enter__(self) -> Object:
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            self.free()
