"""The asyncio twin of modser: what waits there is awaited here.

    async with modser.aio.connect() as client:
        y = await client["digits"].main(x)

One client belongs to one event loop (one that has add_reader, which Windows' default one has
not). Requests are written at once as far as the socket takes them; arrays of requests that
have not been answered must not be changed. Cancelling a task that awaits a call asks the
daemon to drop the call.
"""
from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, Optional

from . import _address, _aio_channel
from ._aio_channel import Channel, Pending
from ._call import (
    PIECE,
    OutArgument,
    call_message,
    call_value,
    load_options,
    pack_options,
    request_message,
)
from ._channel import GRACE, TENSOR_FREE
from ._errors import DeadlineExceeded, Error
from ._message import Message, pack
from ._resident import ResidentBase
from ._tensor import Out, Tensor, as_shape, compact, out, to_array
from ._types import Device, DeviceLike, DType, DTypeLike, Shape
from ._upload import Source, opened

__all__ = ["Client", "Function", "Module", "Resident", "connect"]

Seconds = Optional[float]
Maps = list[dict[str, Any]]


def connect(address: Optional[str] = None, *, deadline: Seconds = None) -> Connecting:
    """``client = await connect()`` or ``async with connect() as client``; the arguments are
    those of modser.connect()."""
    return Connecting(address or _address.default(), deadline)


class Connecting:
    """A connection that is being made."""

    def __init__(self, address: str, deadline: Seconds) -> None:
        self._address, self._deadline = address, deadline
        self._client: Optional[Client] = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self._connect().__await__()

    async def _connect(self) -> Client:
        channel = await _aio_channel.connect(self._address, self._deadline)
        return Client(channel, self._deadline)

    async def __aenter__(self) -> Client:
        self._client = await self._connect()
        return self._client

    async def __aexit__(self, *_: Any) -> None:
        if self._client is not None:
            self._client.close()


class Client:
    """One connection; see modser.Client."""

    def __init__(self, channel: Channel, deadline: Seconds) -> None:
        self._channel = channel
        self._deadline = deadline

    @property
    def address(self) -> str:
        return self._channel.address

    def __getitem__(self, name: str) -> Module:
        return Module(self, name)

    async def ping(self, *, deadline: Seconds = None) -> None:
        await self._ask("ping", deadline=deadline)

    async def info(self) -> dict[str, Any]:
        return dict(await self._ask("server.info"))

    async def list(self) -> Maps:
        return [dict(m) for m in await self._ask("module.list")]

    async def describe(self, name: str) -> dict[str, Any]:
        return dict(await self._ask("module.describe", name))

    async def functions(self, name: str) -> Maps:
        return [dict(f) for f in await self._ask("function.list", name)]

    async def logs(self, name: str) -> str:
        return str(await self._ask("module.logs", name))

    async def wait(self, name: str, *, deadline: Seconds = None) -> Module:
        await self._ask("module.wait", name, deadline=deadline)
        return Module(self, name)

    async def unload(self, name: str, *, deadline: Seconds = None) -> None:
        await self._ask("module.unload", name, deadline=deadline)

    async def load(
        self,
        name: str,
        source: Source,
        *,
        replace: bool = False,
        device: Optional[DeviceLike] = None,
        deadline: Seconds = None,
    ) -> Module:
        with opened(source) as (data, file):
            upload = await self._ask("module.upload", "begin", len(data))
            try:
                for at in range(0, len(data), PIECE):
                    piece = data[at : at + PIECE]
                    await self._ask("module.upload", "write", upload, at, piece)
                await self._ask("module.upload", "commit", upload)
            except (Exception, asyncio.CancelledError):
                if self._channel.lost is None:
                    abort = request_message("module.upload", ["abort", upload])
                    self._channel.start_and_forget(abort)
                raise
        how = load_options(replace, file, device)
        await self._ask("module.load", name, upload, how, deadline=deadline)
        return Module(self, name)

    def close(self) -> None:
        """End the connection; what awaits it gets ConnectionLost."""
        self._channel.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<modser.aio.Client {self.address}{' (closed)' if self._channel.lost else ''}>"

    def _start(self, message: Message, deadline: Seconds, unordered: bool = False) -> Pending:
        return self._channel.start(message, pack_options(deadline, unordered, message))

    async def _send(self, message: Message, deadline: Seconds, unordered: bool = False) -> Any:
        if deadline is None:
            deadline = self._deadline
        pending = self._start(message, deadline, unordered)
        try:
            if deadline is None:
                return (await pending.future)[0]
            return (await asyncio.wait_for(pending.future, deadline + GRACE))[0]
        except asyncio.TimeoutError as error:
            if isinstance(error, Error):
                raise
            text = f"{self.address}: no answer within the deadline and {GRACE:g} s of grace"
            raise DeadlineExceeded(text) from None
        except asyncio.CancelledError:
            self._channel.cancel(pending.id)
            raise

    async def _ask(self, method: str, *params: Any, deadline: Seconds = None) -> Any:
        return await self._send(request_message(method, params), deadline)


class Module:
    """A module by its name; see modser.Module."""

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
        if function.startswith("_"):
            raise AttributeError(f'no attribute {function}; a function is module["{function}"]')
        found = self[function]
        self.__dict__[function] = found
        return found

    async def describe(self) -> dict[str, Any]:
        return await self._client.describe(self._name)

    async def functions(self) -> Maps:
        return await self._client.functions(self._name)

    async def logs(self) -> str:
        return await self._client.logs(self._name)

    async def wait(self, *, deadline: Seconds = None) -> Module:
        return await self._client.wait(self._name, deadline=deadline)

    async def unload(self, *, deadline: Seconds = None) -> None:
        await self._client.unload(self._name, deadline=deadline)

    async def alloc(
        self, dtype: DTypeLike, shape: Any, device: Optional[DeviceLike] = None
    ) -> Resident:
        params: list[Any] = [self._name, DType.parse(dtype), Shape(as_shape(shape))]
        if device is not None:
            params.append(Device.parse(device))
        place = await self._client._ask("tensor.alloc", *params)
        return Resident(self._client, self._name, place)

    async def put(self, value: Any, device: Optional[DeviceLike] = None) -> Resident:
        value = value if isinstance(value, Tensor) else compact(to_array(value))
        resident = await self.alloc(value.dtype, value.shape, device)
        return await resident.copy_from(value)

    def __repr__(self) -> str:
        return f"<modser.aio.Module {self._name}>"


class Function:
    """A function of a module; see modser.Function."""

    def __init__(self, client: Client, module: str, name: str) -> None:
        self._client = client
        self.module = module
        self.name = name
        self._full = f"{module}:{name}"
        self._packed = pack(self._full)

    async def __call__(
        self,
        *args: Any,
        out: OutArgument = None,
        deadline: Seconds = None,
        unordered: bool = False,
        device: Optional[DeviceLike] = None,
        **named: Any,
    ) -> Any:
        message = call_message(self._full, self._packed, args, out, named, device)
        return call_value(message.outs, await self._client._send(message, deadline, unordered))

    async def signature(self) -> Optional[str]:
        """What the function takes, where that can be known."""
        for facts in await self._client.functions(self.module):
            if facts["name"] == self.name:
                signature: Optional[str] = facts.get("signature")
                return signature
        return None

    def __repr__(self) -> str:
        return f"<modser.aio.Function {self._full}>"


class Resident(ResidentBase):
    """A tensor on the server; see modser.Resident."""

    __slots__ = ("_client",)

    def __init__(self, client: Client, module: str, place: Any) -> None:
        super().__init__(module, place, client._channel.forgotten.append)
        self._client = client

    async def numpy(self, into: Any = None) -> Any:
        target = Out(self.dtype, self.shape) if into is None else out(into)
        return await self._client._ask("tensor.copy", self, target)

    async def copy_from(self, value: Any) -> Resident:
        await self._client._ask("tensor.copy", value, self)
        return self

    async def fill(self, number: Any) -> Resident:
        await self._client._ask("tensor.fill", self, number)
        return self

    async def to(self, device: DeviceLike) -> Resident:
        place = await self._client._ask("tensor.copy", self, Device.parse(device))
        return Resident(self._client, self.module, place)

    async def free(self) -> None:
        if self._handle:
            message = Message(TENSOR_FREE)
            message.raw(self.packed())
            self._handle = 0
            await self._client._send(message, None)

    async def __aenter__(self) -> Resident:
        return self

    async def __aexit__(self, *_: Any) -> None:
        if self._client._channel.lost is None:
            await self.free()
