"""The asyncio client: the same as modser, with ``await``.

    async with modser.aio.connect() as client:
        y = await client["digits"].main(x)

A client belongs to one event loop, which must have add_reader (the default loop of Windows has
not). Requests are written at once as far as the socket accepts them. Do not change arrays of
requests without an answer. If a task that awaits a call is cancelled, the daemon drops the call.
"""
from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Coroutine, Generator, Mapping, Sequence
from typing import Any, Generic, Optional, Protocol, TypeVar, Union

from . import _address, _aio_channel, _requests, _residents, _token
from ._aio_channel import Channel, Pending
from ._aio_function import Function, TimeEvaluator
from ._errors import DeadlineExceeded, Error, NotFound
from ._failover import Failover
from ._message import Message
from ._objects import ClientBase, InstanceBase, ModuleBase, ObjectBase, ResidentBase
from ._options import GRACE, Seconds, check_deadline, pack_options
from ._requests import Each, Map, Pause, Reply, Request, Step, Unawaited
from ._timing import Plan
from ._types import DeviceLike, DTypeLike
from ._upload import Artifact, Source

__all__ = ["Client", "Function", "Instance", "Module", "Object", "Resident", "TimeEvaluator", "connect"]

T = TypeVar("T")
Maps = list[Map]


class Ended(Protocol):
    """Base of objects that a `with` block ends: a client, an instance, a resident tensor."""

    async def __aexit__(self, *error: Any) -> None: ...


E = TypeVar("E", bound=Ended)


def connect(
    address: Optional[str] = None,
    *,
    token: Optional[str] = None,
    deadline: Seconds = None,
    tls: Optional[ssl.SSLContext] = None,
) -> Opening[Client]:
    """``client = await connect()`` or ``async with connect() as client``; the arguments are
    those of modser.connect()."""
    check_deadline(deadline)
    address = _address.choose(address)
    return Opening(_connect(address, _token.choose(address, token), deadline, tls))


async def _connect(
    address: str, token: Optional[str], deadline: Seconds, tls: Optional[ssl.SSLContext]
) -> Client:
    client = await _open(address, deadline, tls)
    if token is not None:
        try:
            await client._run(_requests.identify(token))
        except BaseException:
            client.close()
            raise
    return client


async def _open(address: str, deadline: Seconds, tls: Optional[ssl.SSLContext]) -> Client:
    failover = Failover[Client](address, deadline)
    for one, seconds in failover:
        try:
            client = Client(await _aio_channel.connect(one, seconds, tls), deadline)
        except Error as error:
            failover.failed(error)
            continue
        try:
            is_serving = failover.is_single or await client._run(_requests.is_serving(seconds))
        except BaseException as error:
            client.close()
            failover.failed(error)
            continue
        if is_serving:
            return failover.use(client)
        failover.keep_draining(client)
    return failover.fallback()


class Opening(Generic[E]):
    """An object in construction: ``x = await opening`` or ``async with opening as x``."""

    def __init__(self, making: Coroutine[Any, Any, E]) -> None:
        self._making = making

    def __await__(self) -> Generator[Any, None, E]:
        return self._making.__await__()

    async def __aenter__(self) -> E:
        self._made = await self._making
        return self._made

    async def __aexit__(self, *error: Any) -> None:
        await self._made.__aexit__(*error)


class Client(ClientBase):
    """A connection; see modser.Client. ``async for name in client`` gives the module names."""

    _channel: Channel

    def __init__(self, channel: Channel, deadline: Seconds) -> None:
        super().__init__(channel, deadline)

    def __getitem__(self, name: str) -> Module:
        return Module(self, name)

    async def __aiter__(self) -> AsyncIterator[str]:
        for module in await self.list():
            yield module["name"]

    async def ping(self, *, deadline: Seconds = None) -> float:
        return await self._run(_requests.ping(deadline))

    async def info(self) -> Map:
        return await self._run(_requests.ask_map("server.info"))

    async def list(self) -> Maps:
        return await self._run(_requests.ask_maps("module.list"))

    async def describe(self, name: str) -> Map:
        return await self[name].describe()

    async def functions(self, name: str) -> Maps:
        return await self[name].functions()

    async def logs(self, name: str) -> str:
        return await self[name].logs()

    async def plan(self, name: str, *, deadline: Seconds = None) -> Maps:
        return await self._run(_requests.plan(name, deadline))

    async def profile(self, function: str, *args: Any, deadline: Seconds = None) -> Maps:
        return await self._run(_requests.profile(function, args, deadline))

    async def wait(self, name: str, *, deadline: Seconds = None) -> Module:
        return await self[name].wait(deadline=deadline)

    async def unload(self, name: str, *, deadline: Seconds = None) -> None:
        await self[name].unload(deadline=deadline)

    async def sleep(self, name: str) -> None:
        await self[name].sleep()

    async def load(
        self,
        name: str,
        source: Source,
        *,
        graph: Optional[Source] = None,
        params: Optional[Source] = None,
        files: Optional[Mapping[str, Source]] = None,
        replace: bool = False,
        device: Optional[DeviceLike] = None,
        workers: int = 1,
        batch: int = 0,
        batch_delay: Seconds = None,
        max_run: Seconds = None,
        keep_alive: Seconds = None,
        threads: Optional[int] = None,
        abi: Optional[str] = None,
        ignore_unknown_inputs: bool = False,
        missing_weights: Optional[str] = None,
        format: Optional[str] = None,
        inputs: Optional[Mapping[str, str]] = None,
        outputs: Union[str, Sequence[str], None] = None,
        signature: Optional[str] = None,
        engine: Optional[str] = None,
        keep: bool = False,
        deadline: Seconds = None,
    ) -> Module:
        options = _requests.run_options(locals())
        artifact = Artifact(source, graph, params, files)
        await self._run(_requests.load(self, name, artifact, options, replace, keep, deadline))
        return self[name]

    async def rollback(self, name: str, *, deadline: Seconds = None) -> Module:
        await self._run(_requests.rollback(self, name, deadline))
        return self[name]

    async def store_list(self) -> Maps:
        return await self._run(_requests.pages("store.list", "editions"))

    async def store_verify(self) -> Maps:
        return await self._run(_requests.pages("store.verify", "faults"))

    async def store_collect(self) -> Map:
        return await self._run(_requests.ask_map("store.collect"))

    async def store_pin(self, name: str, pinned: bool = True) -> None:
        await self._run(_requests.pin(name, pinned))

    async def pull(
        self,
        name: str,
        uri: str,
        *,
        sha256: Optional[str] = None,
        device: Optional[DeviceLike] = None,
        workers: int = 1,
        batch: int = 0,
        batch_delay: Seconds = None,
        max_run: Seconds = None,
        keep_alive: Seconds = None,
        threads: Optional[int] = None,
        abi: Optional[str] = None,
        ignore_unknown_inputs: bool = False,
        missing_weights: Optional[str] = None,
        format: Optional[str] = None,
        inputs: Optional[Mapping[str, str]] = None,
        outputs: Union[str, Sequence[str], None] = None,
        signature: Optional[str] = None,
        engine: Optional[str] = None,
        deadline: Seconds = None,
    ) -> Module:
        options = _requests.run_options(locals())
        await self._run(_requests.pull(self, name, uri, sha256, options, deadline))
        return self[name]

    def close(self) -> None:
        """Close the connection; awaiting calls raise ConnectionLost."""
        self._channel.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    def _send(self, message: Message, deadline: Seconds) -> Pending:
        return self._channel.start(message, pack_options(message, deadline))

    async def _settle(self, message: Message) -> Reply:
        deadline = self._deadline if message.deadline is None else message.deadline
        pending = self._send(message, deadline)
        try:
            if deadline is None:
                return Reply(*await pending.future)
            return Reply(*await asyncio.wait_for(pending.future, deadline + GRACE))
        except asyncio.TimeoutError as error:
            if isinstance(error, Error):
                raise
            self._channel.give_up(pending)
            text = f"{self.address}: no answer within the deadline and {GRACE:g} s of grace"
            raise DeadlineExceeded(text) from None
        except asyncio.CancelledError:
            self._channel.give_up(pending)
            self._channel.cancel(pending.id)
            raise

    async def _answer(self, step: Step) -> Any:
        if isinstance(step, Message):
            return await self._settle(step)
        if isinstance(step, Unawaited):
            return None if self.is_lost() else self._channel.start_and_forget(step.message)
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Each):
            return await asyncio.gather(*[self._outcome(message) for message in step.messages])
        return await asyncio.gather(*[self._settle(message) for message in step])

    async def _outcome(self, message: Message) -> Any:
        try:
            return await self._settle(message)
        except Error as error:
            return error

    async def _run(self, request: Request[T]) -> T:
        try:
            step = next(request)
            while True:
                try:
                    answer = await self._answer(step)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step = request.throw(error)
                else:
                    step = request.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value


class Module(ModuleBase["Function"]):
    """A module by its name; see modser.Module."""

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(client, name)
        self._client = client

    def _function(self, name: str) -> Function:
        return Function(self._client, self._name, name)

    async def __call__(self, /, *args: Any, deadline: Seconds = None, **named: Any) -> Any:
        """Call the module's model; see modser.Module."""
        model = await self._client._run(_requests.model(self._client, self._name, deadline))
        try:
            return await self[model](*args, deadline=deadline, **named)
        except NotFound:  # another client may have replaced the module by one with another model
            found = await self._client._run(_requests.model(self._client, self._name, deadline))
            if found == model:
                raise
        return await self[found](*args, deadline=deadline, **named)

    async def __aiter__(self) -> AsyncIterator[str]:
        for function in await self.functions():
            yield function["name"]

    def time_evaluator(
        self, function: str, device: Optional[DeviceLike] = None, **plan: Any
    ) -> TimeEvaluator:
        return TimeEvaluator(self[function], Plan.checked(**plan), device)

    async def describe(self) -> Map:
        return await self._client._run(_requests.ask_map("module.describe", self._name))

    async def functions(self) -> Maps:
        return await self._client._run(_requests.ask_maps("function.list", self._name))

    async def logs(self) -> str:
        return await self._client._run(_requests.logs(self._name))

    async def wait(self, *, deadline: Seconds = None) -> Module:
        await self._client._run(_requests.wait(self._name, deadline))
        return self

    async def sleep(self) -> None:
        await self._client._run(_requests.sleep(self._name))

    async def unload(self, *, deadline: Seconds = None) -> None:
        await self._client._run(_requests.unload(self._client, self._name, deadline))

    def instance(self) -> Opening[Instance]:
        """``async with module.instance() as graph``; see modser.Module.instance."""
        return Opening(self._instance())

    async def _instance(self) -> Instance:
        handle = await self._client._run(_requests.instance(self._name))
        return Instance(self._client, self._name, handle)

    def alloc(
        self, dtype: DTypeLike, shape: Any, device: Optional[DeviceLike] = None
    ) -> Opening[Resident]:
        client = self._client
        request = _residents.alloc(client, Resident, self._name, dtype, shape, device)
        return Opening(client._run(request))

    def put(self, value: Any, device: Optional[DeviceLike] = None) -> Opening[Resident]:
        client = self._client
        return Opening(client._run(_residents.put(client, Resident, self._name, value, device)))


class Instance(InstanceBase["Function"]):
    __doc__ = InstanceBase.__doc__

    def __init__(self, client: Client, module: str, handle: Any) -> None:
        super().__init__(client, module, handle)
        self._client = client

    def _function(self, name: str) -> Function:
        return Function(self._client, self._name, name, self)

    async def close(self) -> None:
        await self._client._run(_requests.free(self))

    async def __aenter__(self) -> Instance:
        return self

    async def __aexit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            await self.close()


class Resident(ResidentBase):
    """A tensor on the server; see modser.Resident."""

    def __init__(self, client: Client, module: str, place: Any) -> None:
        super().__init__(client, module, place)
        self._client = client

    async def numpy(self, into: Any = None) -> Any:
        return await self._client._run(_residents.read(self, into))

    async def copy_from(self, value: Any) -> Resident:
        await self._client._run(_residents.write(self, value))
        return self

    async def fill(self, number: Any) -> Resident:
        await self._client._run(_requests.ask("tensor.fill", self, number))
        return self

    async def fill_random(self, seed: int = 0) -> Resident:
        await self._client._run(_residents.fill_random(self, seed))
        return self

    async def to(self, device: DeviceLike) -> Resident:
        return await self._client._run(_residents.move(self._client, Resident, self, device))

    async def free(self) -> None:
        await self._client._run(_requests.free(self))

    async def __aenter__(self) -> Resident:
        return self

    async def __aexit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            await self.free()


class Object(ObjectBase):
    """A value that stays in a module's worker; see modser.Object."""

    def __init__(self, client: Client, head: bytes, type: str) -> None:
        super().__init__(client, head, type)
        self._client = client

    async def __call__(self, /, *args: Any, **options: Any) -> Any:
        function = Function(self._client, "", self.type)
        function._full, function._object = self.type, self
        return await function(*args, **options)

    async def describe(self) -> Map:
        return await self._client._run(_requests.describe_object(self))

    async def free(self) -> None:
        await self._client._run(_requests.free(self))

    async def __aenter__(self) -> Object:
        return self

    async def __aexit__(self, *_: Any) -> None:
        if not self._client.is_lost():
            await self.free()


Client._Object = Object
