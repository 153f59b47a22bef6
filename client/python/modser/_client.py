"""The blocking client: Client, Module, Function, Future, Resident."""
from __future__ import annotations

import time
from typing import Any, Optional

from . import _address
from ._call import (
    PIECE,
    OutArgument,
    call_message,
    call_value,
    load_options,
    pack_options,
    request_message,
)
from ._channel import GRACE, TENSOR_FREE, Channel, Pending
from ._message import Message, pack
from ._resident import ResidentBase
from ._tensor import Out, Tensor, as_shape, compact, is_tensor, out, to_array
from ._timing import Times, measure
from ._types import Device, DeviceLike, DType, DTypeLike, Shape
from ._upload import Source, opened

Seconds = Optional[float]
Maps = list[dict[str, Any]]


def connect(address: Optional[str] = None, *, deadline: Seconds = None) -> Client:
    """A connection to a daemon.

    ``address`` is ``"unix:PATH"`` or ``"tcp://HOST:PORT"``; without one MODSER_HOST counts,
    then the default socket. ``deadline`` (seconds) holds for connecting, and for every request
    that says nothing else; None waits for as long as it takes.
    """
    return Client(Channel(address or _address.default(), deadline), deadline)


class Client:
    """One connection; its methods and those of what it gives may be used by any thread.

    ``client["resnet18"].main(x)`` calls a function. A client does not survive a fork.
    """

    def __init__(self, channel: Channel, deadline: Seconds) -> None:
        self._channel = channel
        self._deadline = deadline

    @property
    def address(self) -> str:
        return self._channel.address

    def __getitem__(self, name: str) -> Module:
        return Module(self, name)

    def ping(self, *, deadline: Seconds = None) -> float:
        """A round trip that does nothing; the seconds that it took."""
        began = time.perf_counter()
        self._ask("ping", deadline=deadline)
        return time.perf_counter() - began

    def info(self) -> dict[str, Any]:
        """Facts about the daemon: version, pid, limits, counters."""
        return dict(self._ask("server.info"))

    def list(self) -> Maps:
        """One map per module: name, state, calls, errors, rss, …"""
        return [dict(m) for m in self._ask("module.list")]

    def describe(self, name: str) -> dict[str, Any]:
        """What the list has of one module, and of what it is made."""
        return dict(self._ask("module.describe", name))

    def functions(self, name: str) -> Maps:
        """One map per function of a module: name, style, signature where it is known, …"""
        return [dict(f) for f in self._ask("function.list", name)]

    def logs(self, name: str) -> str:
        """The last of what the module wrote to standard output and error."""
        return str(self._ask("module.logs", name))

    def wait(self, name: str, *, deadline: Seconds = None) -> Module:
        """Until the module is READY; raises the cause when it has failed."""
        self._ask("module.wait", name, deadline=deadline)
        return Module(self, name)

    def unload(self, name: str, *, deadline: Seconds = None) -> None:
        """Let the module's calls end, then end its process."""
        self._ask("module.unload", name, deadline=deadline)

    def load(
        self,
        name: str,
        source: Source,
        *,
        replace: bool = False,
        device: Optional[DeviceLike] = None,
        deadline: Seconds = None,
    ) -> Module:
        """Upload a library (a path, or the file's bytes) and wait until it is READY.

        Loading is executing its code. ``replace`` lets it take the place of a module of that
        name, once it is ready. ``device`` (``"opencl:0"``, ``"cpu"``) says where it runs;
        without it the library's code decides.
        """
        with opened(source) as (data, file):
            upload = self._ask("module.upload", "begin", len(data))
            try:
                writes = [
                    self._start("module.upload", "write", upload, at, data[at : at + PIECE])
                    for at in range(0, len(data), PIECE)
                ]
                for write in writes:
                    self._settle(write)
                self._ask("module.upload", "commit", upload)
            except Exception:
                if self._channel.lost is None:
                    self._start("module.upload", "abort", upload)
                raise
            how = load_options(replace, file, device)
            self._ask("module.load", name, upload, how, deadline=deadline)
        return Module(self, name)

    def close(self) -> None:
        """End the connection; what waits for it gets ConnectionLost."""
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<modser.Client {self.address}{' (closed)' if self._channel.lost else ''}>"

    def _start(self, method: str, *params: Any, deadline: Seconds = None) -> Pending:
        return self._send(request_message(method, params), deadline)

    def _send(self, message: Message, deadline: Seconds, unordered: bool = False) -> Pending:
        if deadline is None:
            deadline = self._deadline
        options = pack_options(deadline, unordered, message)
        limit = None if deadline is None else time.monotonic() + deadline + GRACE
        return self._channel.start(message, options, limit)

    def _settle(self, pending: Pending) -> Any:
        self._channel.wait(pending)
        if pending.error is not None:
            raise pending.error
        return pending.result

    def _ask(self, method: str, *params: Any, deadline: Seconds = None) -> Any:
        return self._settle(self._start(method, *params, deadline=deadline))


class Module:
    """A module by its name; making one asks nothing of the daemon.

    Functions are attributes, or items where the name is taken or is no identifier:
    ``module.main``, ``module["alloc"]``, ``module["odd name"]``.
    """

    def __init__(self, client: Client, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a module's name is a str, not {type(name).__name__}")
        self._client = client
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def __getitem__(self, function: str) -> Function:
        return Function(self._client, self._name, function)

    def __getattr__(self, function: str) -> Function:
        if function.startswith("_"):  # Python looks for many of these
            raise AttributeError(f'no attribute {function}; a function is module["{function}"]')
        found = self[function]
        self.__dict__[function] = found
        return found

    def describe(self) -> dict[str, Any]:
        return self._client.describe(self._name)

    def functions(self) -> Maps:
        return self._client.functions(self._name)

    def logs(self) -> str:
        return self._client.logs(self._name)

    def wait(self, *, deadline: Seconds = None) -> Module:
        return self._client.wait(self._name, deadline=deadline)

    def unload(self, *, deadline: Seconds = None) -> None:
        self._client.unload(self._name, deadline=deadline)

    def alloc(
        self, dtype: DTypeLike, shape: Any, device: Optional[DeviceLike] = None
    ) -> Resident:
        """A tensor of zeros that stays in the module's worker."""
        params: list[Any] = [self._name, DType.parse(dtype), Shape(as_shape(shape))]
        if device is not None:
            params.append(Device.parse(device))
        place = self._client._ask("tensor.alloc", *params)
        return Resident(self._client, self._name, place)

    def put(self, value: Any, device: Optional[DeviceLike] = None) -> Resident:
        """A resident tensor with the elements of an array, DLPack object or Tensor."""
        value = value if isinstance(value, Tensor) else compact(to_array(value))
        resident = self.alloc(value.dtype, value.shape, device)
        return resident.copy_from(value)

    def __repr__(self) -> str:
        return f"<modser.Module {self._name}>"


class Function:
    """A function of a module, called by name: it survives restarts of the worker."""

    def __init__(self, client: Client, module: str, name: str) -> None:
        self._client = client
        self.module = module
        self.name = name
        self._full = f"{module}:{name}"
        self._packed = pack(self._full)
        self._facts: Optional[dict[str, Any]] = None

    def __call__(
        self,
        *args: Any,
        out: OutArgument = None,
        deadline: Seconds = None,
        unordered: bool = False,
        device: Optional[DeviceLike] = None,
        **named: Any,
    ) -> Any:
        """Call it in one round trip.

        Arguments are arrays (of numpy or by DLPack), ints, floats, bools, None, str, bytes,
        tuples, and modser's Tensor, out(), resident tensors, Shape, DType, Device; by position
        or by the name of their parameter (``**{"input.1": x}``). Returns the single result, or
        a tuple: the out tensors in argument order, then the function's return value unless it
        is None. ``out=array`` (or a tuple of them) stands for ``modser.out(array)`` as last
        positional argument. ``device="cpu"`` keeps tensors on the host, for a function of the
        host in a module that is on a device.
        """
        client = self._client
        message = call_message(self._full, self._packed, args, out, named, device)
        pending = client._send(message, deadline, unordered)
        client._channel.wait(pending)
        if pending.error is not None:
            raise pending.error
        return call_value(pending.outs, pending.result)

    def submit(
        self,
        *args: Any,
        out: OutArgument = None,
        deadline: Seconds = None,
        unordered: bool = False,
        device: Optional[DeviceLike] = None,
        **named: Any,
    ) -> Future:
        """Send the call and go on; any number may be in flight.

        Arrays have been sent when this returns and may be written to. Calls of one module
        start in order, each after the one before, unless they are ``unordered``.
        """
        message = call_message(self._full, self._packed, args, out, named, device)
        return Future(self._client, self._client._send(message, deadline, unordered))

    @property
    def signature(self) -> Optional[str]:
        """What the function takes, where that can be known; asked for once."""
        return self.describe().get("signature")

    def describe(self) -> dict[str, Any]:
        """The map of this function in ``module.functions()``."""
        if self._facts is None:
            found = [f for f in self._client.functions(self.module) if f["name"] == self.name]
            self._facts = found[0] if found else {}
        return self._facts

    def time_evaluator(
        self, number: int = 10, repeat: int = 1, min_repeat_ms: float = 0, resident: bool = True
    ) -> TimeEvaluator:
        """As TVM's: ``f.time_evaluator(number=100, repeat=3)(x, y).mean`` in seconds.

        The daemon's own measurement of each call counts, not the way there and back. Arrays
        and outs are put into the worker first (``resident``), so that they do not travel with
        each call.
        """
        return TimeEvaluator(self, number, repeat, min_repeat_ms, resident)

    def __repr__(self) -> str:
        return f"<modser.Function {self._full}>"


class Future:
    """A call in flight."""

    __slots__ = ("_client", "_pending", "_value")

    def __init__(self, client: Client, pending: Pending) -> None:
        self._client = client
        self._pending = pending

    def done(self) -> bool:
        """Whether result() would return at once."""
        if not self._pending.done:
            self._client._channel.poll()
        return self._pending.done or self._client._channel.lost is not None

    def result(self, timeout: Seconds = None) -> Any:
        """What the call returns or raises; TimeoutError when that has not come in time, and
        the call goes on."""
        pending = self._pending
        self._client._channel.wait(pending, timeout)
        if pending.error is not None:
            raise pending.error
        return call_value(pending.outs, pending.result)

    def exception(self, timeout: Seconds = None) -> Optional[Exception]:
        """What result() would raise, or None."""
        self._client._channel.wait(self._pending, timeout)
        return self._pending.error

    def cancel(self) -> None:
        """Drop the call if it has not begun; its result is Cancelled then."""
        if not self._pending.done:
            self._client._channel.cancel(self._pending.id)

    @property
    def exec_ns(self) -> Optional[int]:
        """How long the function ran, when the call is done."""
        meta = self._pending.meta
        return meta.get("exec_ns") if isinstance(meta, dict) else None


class Resident(ResidentBase):
    """A tensor on the server; see ResidentBase."""

    __slots__ = ("_client",)

    def __init__(self, client: Client, module: str, place: Any) -> None:
        super().__init__(module, place, client._channel.forgotten.append)
        self._client = client

    def numpy(self, into: Any = None) -> Any:
        """Its elements as a new array (a Tensor where numpy lacks the dtype), or in `into`."""
        target = Out(self.dtype, self.shape) if into is None else out(into)
        return self._client._ask("tensor.copy", self, target)

    def copy_from(self, value: Any) -> Resident:
        """Take over the elements of an array, Tensor or resident tensor of the same dtype and
        shape."""
        self._client._ask("tensor.copy", value, self)
        return self

    def fill(self, number: Any) -> Resident:
        """Write a number (int, float, bool) into every element."""
        self._client._ask("tensor.fill", self, number)
        return self

    def to(self, device: DeviceLike) -> Resident:
        """A copy on another device of the same worker."""
        place = self._client._ask("tensor.copy", self, Device.parse(device))
        return Resident(self._client, self.module, place)

    def free(self) -> None:
        """Free it now; a second time does nothing."""
        if self._handle:
            message = Message(TENSOR_FREE)
            message.raw(self.packed())
            self._handle = 0
            self._client._settle(self._client._send(message, None))

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._client._channel.lost is None:
            self.free()


class TimeEvaluator:
    """Calls a function repeatedly and measures; see Function.time_evaluator."""

    def __init__(
        self, function: Function, number: int, repeat: int, min_repeat_ms: float, resident: bool
    ) -> None:
        if number < 1 or repeat < 1:
            raise ValueError("number and repeat are at least 1")
        self._function, self._resident = function, resident
        self._number, self._repeat, self._min_repeat_ms = number, repeat, min_repeat_ms

    def __call__(
        self, *args: Any, device: Optional[DeviceLike] = None, **named: Any
    ) -> Times:
        function = self._function
        module = function._client[function.module]
        held: list[Resident] = []

        def placed(value: Any) -> Any:
            if isinstance(value, Out):
                held.append(module.alloc(value.dtype, value.shape, device))
            elif isinstance(value, Tensor) or is_tensor(value):
                held.append(module.put(value, device))
            else:
                return value
            return held[-1]

        def once() -> int:
            future = function.submit(*args, device=device, **named)
            future.result()
            return future.exec_ns or 0

        try:
            if self._resident:
                args = tuple(placed(a) for a in args)
                named = {name: placed(a) for name, a in named.items()}
            return measure(once, self._number, self._repeat, self._min_repeat_ms)
        finally:
            for tensor in held:
                tensor.free()
