"""Common parts of the blocking and the asyncio client: names, handles, texts."""
from __future__ import annotations

import collections
import contextlib
import functools
import math
import weakref
from typing import Any, Callable, Generic, Optional, Protocol, TypeVar

from ._call import call_message
from ._errors import Error, StaleHandle
from ._help import Signature
from ._message import OBJECT, Message, pack
from ._options import Seconds, check_deadline
from ._reply_tensor import Handle, ReplyTensor
from ._shared_memory import SharedSegment
from ._tensor import RESIDENT, pack_tensor
from ._types import Device, DeviceLike, DType

#: Server objects that the garbage collector released: the method that frees each, and its handle,
#: both packed. A deque, because the collector may run at any moment, also while this thread holds
#: a lock.
Unreferenced = collections.deque[tuple[bytes, bytes]]

F = TypeVar("F")


class AnyChannel(Protocol):
    address: str
    lost: Optional[Error]
    forgotten: Unreferenced

    def use_objects(self, make: Callable[[bytes, str], Any]) -> None: ...


def name_of(name: Any, kind: str = "a module's name") -> str:
    if not isinstance(name, str):
        raise TypeError(f"{kind} is a str, not {type(name).__name__}")
    return name


def pop_unreferenced(forgotten: Unreferenced) -> list[Message]:
    """Requests that free objects which were garbage collected."""
    if not forgotten:
        return []
    messages: dict[bytes, Message] = {}
    with contextlib.suppress(IndexError):  # the deque is empty, or another thread was faster
        for _ in range(256):
            method, packed = forgotten.popleft()
            messages.setdefault(method, Message(method)).raw(packed)
    return list(messages.values())


class Connected:
    """An object that is bound to a connection of this process, and so cannot be pickled."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"{self!r} belongs to a connection of this process and cannot be pickled; "
            "call modser.connect() in the process that uses it"
        )


class ClientBase(Connected):
    """A connection, for both clients."""

    #: The class of objects in results.
    _Object: Any = None

    def __init__(self, channel: AnyChannel, deadline: Seconds) -> None:
        check_deadline(deadline)
        self._channel = channel
        channel.use_objects(functools.partial(_make_object, weakref.ref(self)))
        self._deadline = deadline
        #: Memory shared with the daemon.
        self._segments: list[SharedSegment] = []
        #: The facts of functions from function.list.
        self._known: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def address(self) -> str:
        return self._channel.address

    #: Without this, Python would iterate by client[0]. The blocking client overrides it.
    __iter__: Any = None

    def __bool__(self) -> bool:
        return True  # also without modules

    def is_lost(self) -> bool:
        """True if the connection is closed or broken."""
        return self._channel.lost is not None

    def __repr__(self) -> str:
        return f"<{_title(self)} {self.address}{' (closed)' if self.is_lost() else ''}>"


def _make_object(client: Any, head: bytes, type: str) -> Any:
    owner = client()
    return None if owner is None else owner._Object(owner, head, type)


def _title(thing: Any) -> str:
    kind = type(thing)
    module = "modser.aio" if kind.__module__ == "modser.aio" else "modser"
    return f"{module}.{kind.__name__}"


class Namespace(Connected, Generic[F]):
    """Functions as attributes, or as items if the name is in use or is not an identifier."""

    _name: str
    #: Without this, Python would iterate by module[0]. A blocking module overrides it.
    __iter__: Any = None

    def _function(self, name: str) -> F:
        raise NotImplementedError

    def __getitem__(self, function: str) -> F:
        return self._function(name_of(function, "a function's name"))

    def __getattr__(self, function: str) -> F:
        if function.startswith("_"):  # Python looks for many of these
            raise AttributeError(f'no attribute {function}; a function is module["{function}"]')
        found = self[function]
        self.__dict__[function] = found
        return found

    def __repr__(self) -> str:
        return f"<{_title(self)} {self._name}>"


class ModuleBase(Namespace[F]):
    def __init__(self, client: Any, name: str) -> None:
        self._name = name_of(name)

    def __bool__(self) -> bool:
        return True  # also without functions

    def get_function(self, name: str) -> F:
        """``module[name]``, as in TVM's modules."""
        return self[name]

    @property
    def name(self) -> str:
        return self._name


class RemoteObject(Connected):
    """An object on the server that belongs to this connection."""

    FREE: bytes  # the method that frees it, packed

    def __init__(self, client: ClientBase, packed: bytes) -> None:
        self._owner = client
        self._packed: Optional[bytes] = packed

    def packed(self) -> bytes:
        if self._packed is None:
            raise StaleHandle(f"{self!r} has been freed")
        return self._packed

    def detach(self) -> Optional[bytes]:
        """Remove and return the handle, for the caller that frees it; None if it was freed."""
        packed, self._packed = self._packed, None
        return packed

    def __del__(self) -> None:
        packed = self.__dict__.get("_packed")
        if packed:
            self._owner._channel.forgotten.append((self.FREE, packed))


class ResidentBase(RemoteObject):
    """A tensor in a module's worker, as an argument of that module's functions.

    It belongs to its connection, and ends with the worker. ``free()`` or the end of its ``with``
    block frees it; if it is garbage collected, one of the next requests frees it.
    """

    FREE = pack("tensor.free")

    def __init__(self, client: ClientBase, module: str, place: ReplyTensor) -> None:
        self.module = module
        self.dtype = DType(*place.dtype)
        self.shape = place.shape
        self.device = Device.from_wire(*place.device)
        super().__init__(
            client,
            pack_tensor(
                RESIDENT, self.dtype, self.shape, place.offset, self.nbytes, place.device
            ),
        )

    @property
    def nbytes(self) -> int:
        return self.dtype.nbytes(math.prod(self.shape))

    def __repr__(self) -> str:
        return f"<resident {self.dtype}{list(self.shape)} of {self.module}>"


class InstanceBase(Namespace[F], RemoteObject):
    """An executor that keeps its inputs and outputs between calls, with TVM's names:

        graph.set_input("data", x)  # or set_input(data=x, mask=m)
        graph.run()
        y = graph.get_output(0)

    It belongs to its connection, and ends with the worker. ``close()`` or the end of its
    ``with`` block frees it; if it is garbage collected, one of the next requests frees it.
    """

    FREE = pack("instance.free")

    def __init__(self, client: ClientBase, module: str, handle: Handle) -> None:
        RemoteObject.__init__(self, client, handle.packed())
        self._name = module

    def __repr__(self) -> str:
        return f"<{_title(self)} of {self._name}>"


class ObjectBase(RemoteObject):
    """A value that stays in a module's worker, as a function of a library returned it.

    It is an argument of functions of the same module, also inside tuples and dicts, and is called
    itself if it is a function. It belongs to its connection, and ends with the worker. ``free()``
    or the end of its ``with`` block frees it; if it is garbage collected, one of the next requests
    frees it.
    """

    FREE = pack("object.free")

    def __init__(self, client: ClientBase, head: bytes, type: str) -> None:
        #: The type key, such as ``"ffi.Function"``.
        self.type = type
        self.is_function = bool(head[8] & 1)
        super().__init__(client, b"\xc7\x09" + bytes([OBJECT]) + head)

    def __repr__(self) -> str:
        return f"<{_title(self)} {self.type}>"


class FunctionBase(Connected):
    """A function of a module or instance, called by name: it survives restarts of the worker."""

    __signature__ = Signature()

    def __init__(
        self, client: Any, module: str, name: str, instance: Optional[RemoteObject] = None
    ) -> None:
        self._client = client
        self.module = module
        self.name = name
        self._instance = instance
        #: The object that is the function, in place of a name.
        self._object: Optional[ObjectBase] = None
        self._full = f"{module}:{name}"
        self._packed = pack(self._full)

    def _facts_at_hand(self) -> dict[str, Any]:
        """The known facts, without a request."""
        known: dict[str, Any] = self._client._known.get((self.module, self.name), {})
        return known if self._has_facts() else {}

    def _has_facts(self) -> bool:
        """True for a function of a module, which function.list describes."""
        return self._instance is None and self._object is None

    def _message(
        self,
        args: tuple[Any, ...],
        named: dict[str, Any],
        device: Optional[DeviceLike] = None,
        deadline: Seconds = None,
        unordered: bool = False,
        kill_abandoned: bool = False,
        background: bool = False,
        is_traced: bool = False,
    ) -> Message:
        if self._instance is not None and self.name == "set_input" and len(args) % 2 == 0:
            # As in TVM's GraphModule: one request with all pairs of name and value.
            args += tuple(part for pair in named.items() for part in pair)
            named = {}
        target = self._packed if self._object is None else self._object.packed()
        message = call_message(
            self._full, target, args, named, device, self._client._segments
        )
        message.deadline, message.unordered = deadline, unordered
        message.kill_abandoned, message.background = kill_abandoned, background
        message.trace = is_traced
        if self._object is not None:
            message.has_remote_objects = True
        if self._instance is not None:
            message.instance = self._instance.packed()[-8:]  # without the ext's header
        return message

    def __repr__(self) -> str:
        return f"<{_title(self)} {self._full}>"
