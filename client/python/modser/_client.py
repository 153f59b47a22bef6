"""The blocking client: connect, Client, Module."""
from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from typing import Any, Optional, TypeVar

from . import _address, _requests, _residents, _token, _unasked
from ._attempts import Attempts
from ._channel import Channel, Pending
from ._errors import Error
from ._function import Function, TimeEvaluator
from ._held import Instance, Resident
from ._message import Message
from ._objects import ClientBase, ModuleBase
from ._options import GRACE, Seconds, check_deadline, pack_options
from ._requests import Each, Map, Pause, Reply, Request, Step, Unawaited
from ._segment import Segment
from ._timing import Plan
from ._types import DeviceLike, DTypeLike
from ._upload import Artifact, Source

T = TypeVar("T")
Maps = list[Map]


def connect(
    address: Optional[str] = None,
    *,
    token: Optional[str] = None,
    deadline: Seconds = None,
    tls: Optional[ssl.SSLContext] = None,
) -> Client:
    """A connection to a daemon.

    ``address`` is ``"unix:PATH"``, ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"``, or several with
    a comma between two: the first that answers and is not about to end; without one
    MODSER_HOST counts, then the default socket. ``token`` says whose the connection is to a
    daemon with a file of rights; without one MODSER_TOKEN counts, but over plain TCP.
    ``deadline`` (seconds) holds for connecting, and for every request
    that says nothing else; None waits for as long as it takes.
    ``tls`` says whom to believe and what to show on ``tls://``; without it MODSER_TLS_CA,
    MODSER_TLS_CERT and MODSER_TLS_KEY do, files in PEM.
    """
    check_deadline(deadline)
    address = _address.choose(address)
    token = _token.choose(address, token)
    client = _open(address, deadline, tls)
    if token is not None:
        try:
            client._run(_requests.show(token))
        except BaseException:
            client.close()
            raise
    return client


def _open(address: str, deadline: Seconds, tls: Optional[ssl.SSLContext]) -> Client:
    attempts = Attempts[Client](address, deadline)
    for place, seconds in attempts:
        try:
            client = Client(Channel(place, seconds, tls), deadline)
        except Error as error:
            attempts.failed(error)
            continue
        try:
            stays = attempts.is_one or client._run(_requests.stays(seconds))
        except BaseException as error:
            client.close()
            attempts.failed(error)
            continue
        if stays:
            return attempts.stays(client)
        attempts.leaves(client)
    return attempts.rest()


class Client(ClientBase):
    """One connection; its methods and those of what it gives may be used by any thread.

    ``client["resnet18"].main(x)`` calls a function. A child process
    connects again: the connection stays its parent's.
    """

    _channel: Channel

    def __init__(self, channel: Channel, deadline: Seconds) -> None:
        super().__init__(channel, deadline)
        self._unasked = _unasked.for_channel(channel)

    def __getitem__(self, name: str) -> Module:
        return Module(self, name)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        """The names of the modules that are there now."""
        return iter([module["name"] for module in self.list()])

    def __len__(self) -> int:
        return len(self.list())

    def ping(self, *, deadline: Seconds = None) -> float:
        """A round trip that does nothing; the seconds that it took."""
        return self._run(_requests.ping(deadline))

    def info(self) -> Map:
        """Facts about the daemon: version, pid, limits, counters."""
        return self._run(_requests.ask_map("server.info"))

    def list(self) -> Maps:
        """One map per module: name, state, calls, errors, rss, …"""
        return self._run(_requests.ask_maps("module.list"))

    def describe(self, name: str) -> Map:
        """What the list has of one module, and of what it is made."""
        return self[name].describe()

    def functions(self, name: str) -> Maps:
        """One map per function of a module: name, style, signature where it is known, …"""
        return self[name].functions()

    def logs(self, name: str) -> str:
        """The last of what the module wrote to standard output and error."""
        return self[name].logs()

    def wait(self, name: str, *, deadline: Seconds = None) -> Module:
        """Until the module is READY; raises the cause when it has failed."""
        return self[name].wait(deadline=deadline)

    def unload(self, name: str, *, deadline: Seconds = None) -> None:
        """Let the module's calls end, then end its process."""
        self[name].unload(deadline=deadline)

    def load(
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
        within: Seconds = None,
        max_run: Seconds = None,
        era: Optional[str] = None,
        tvm_inputs: bool = False,
        fill: Optional[str] = None,
        format: Optional[str] = None,
        inputs: Optional[Mapping[str, str]] = None,
        keep: bool = False,
        deadline: Seconds = None,
    ) -> Module:
        """Upload a library (a path, or the file's bytes) and wait until it is READY.

        Loading is executing its code. ``graph`` is a graph executor's graph.json, or a virtual
        machine's program, and ``params`` a model's parameters, for a library that does not hold them. ``files`` are those that a framework's
        model names (ONNX's external data), by its names. ``replace`` lets it take the
        place of a module of that name, once it is ready. ``device`` (``"opencl:0"``, ``"cpu"``)
        says where it runs; without it the library's code decides. ``workers`` is how many
        processes run it, and so how many calls at the same time. ``batch`` joins calls that wait,
        of a function whose tensors all begin with the same open extent, to so many rows, and runs
        them as one; the first waits ``within`` seconds for others. A call that runs for longer than
        ``max_run`` seconds ends its worker (0: never; None: as the daemon has it). ``era``, ``"classic"`` or
        ``"ffi"``, is the calling convention of a library of TVM's C target, which may have no
        symbol that tells it. ``tvm_inputs`` lets an instance's ``set_input`` ignore names that
        the model lacks, as TVM does. ``fill``, ``"zero"`` or ``"seeded"``, stands for weights that
        were taken out of a framework's model. ``format`` (``"onnx"``) says what such a model is,
        whatever its bytes look like, and ``inputs`` the shapes that it leaves open, by the inputs'
        names: ``{"x": "float32[1,3,224,224]"}``, where ``?`` leaves an extent open. ``keep`` has a
        daemon with a store load it again whenever that starts.
        """
        artifact = Artifact(source, graph, params, files)
        how = _requests.load_options(
            replace, device, workers, era, tvm_inputs, fill, keep, batch, within, format, inputs,
            max_run,
        )
        self._run(_requests.load(self, name, artifact, how, deadline))
        return self[name]

    def rollback(self, name: str, *, deadline: Seconds = None) -> Module:
        """Serve the edition before the one that is served, which the daemon's store has kept."""
        self._run(_requests.rollback(self, name, deadline))
        return self[name]

    def store_list(self) -> Maps:
        """One map per edition that the daemon's store has: module, ref, version, sha256, …"""
        return self._run(_requests.pages("store.list", "editions"))

    def store_verify(self) -> Maps:
        """Have the daemon hash all that its modules need: a map of module and fault for each damage."""
        return self._run(_requests.pages("store.verify", "faults"))

    def store_collect(self) -> Map:
        """Remove the files that no module needs, and tell how many there were."""
        return self._run(_requests.ask_map("store.collect"))

    def store_pin(self, name: str, pinned: bool = True) -> None:
        """Give up nothing of the module when the store needs room, or let it be given up."""
        self._run(_requests.pin(name, pinned))

    def pull(
        self,
        name: str,
        uri: str,
        *,
        sha256: Optional[str] = None,
        device: Optional[DeviceLike] = None,
        workers: int = 1,
        batch: int = 0,
        within: Seconds = None,
        max_run: Seconds = None,
        era: Optional[str] = None,
        tvm_inputs: bool = False,
        fill: Optional[str] = None,
        format: Optional[str] = None,
        inputs: Optional[Mapping[str, str]] = None,
        deadline: Seconds = None,
    ) -> Module:
        """Have the daemon get what is at ``uri`` by itself, and wait until it is READY.

        ``https://HOST/FILE``, ``oci://HOST/REPOSITORY:TAG``, ``modser://HOST:PORT/MODULE``, or ``file:///PATH`` of the daemon's
        machine; ``sha256`` is what it must hash to. It is kept in the daemon's store and takes
        the place of a module of that name once it is ready. The other arguments are those of
        :meth:`load`.
        """
        how = _requests.load_options(
            False, device, workers, era, tvm_inputs, fill, False, batch, within, format, inputs,
            max_run,
        )
        self._run(_requests.pull(self, name, uri, sha256, how, deadline))
        return self[name]

    def segment(self, nbytes: int) -> Segment:
        """Memory of so many bytes that is lent to the daemon, over a unix socket: arrays in it are
        arguments and outputs of calls that are not copied."""
        return Segment(self, nbytes)

    def close(self) -> None:
        """End the connection; what waits for it gets ConnectionLost."""
        if self._unasked is not None:
            self._unasked.close()
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _send(self, message: Message) -> Pending:
        deadline = self._deadline if message.deadline is None else message.deadline
        options = pack_options(message, deadline)
        limit = None if deadline is None else time.monotonic() + deadline + GRACE
        return self._channel.start(message, options, limit)

    def _call(self, module: str, message: Message) -> Pending:
        """A call that is waited for at once: it may go past the daemon."""
        if self._unasked is None:
            pending = self._send(message)
            self._channel.wait_once(pending)
            return pending
        deadline = self._deadline if message.deadline is None else message.deadline
        return self._unasked.call(module, message, deadline, self._send)

    def _settle(self, pending: Pending) -> Reply:
        self._channel.wait_once(pending)
        if pending.error is not None:
            raise pending.error
        return Reply(pending.result, pending.meta)

    def _answer(self, step: Step) -> Any:
        if isinstance(step, Message):
            return self._settle(self._send(step))
        if isinstance(step, Unawaited):
            return None if self.is_lost() else self._send(step.message)
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        if isinstance(step, Each):
            return [self._outcome(p) for p in [self._send(m) for m in step.messages]]
        sent = [self._send(message) for message in step]
        return [self._settle(pending) for pending in sent]

    def _outcome(self, pending: Pending) -> Any:
        try:
            return self._settle(pending)
        except Error as error:
            return error

    def _run(self, request: Request[T]) -> T:
        try:
            step = next(request)
            while True:
                try:
                    answer = self._answer(step)
                except BaseException as error:
                    step = request.throw(error)
                else:
                    step = request.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value


class Module(ModuleBase["Function"]):
    """A module by its name; making one asks nothing of the daemon.

    Functions are attributes, or items where the name is taken or is no identifier:
    ``module.main``, ``module["alloc"]``, ``module["odd name"]``.
    """

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(client, name)
        self._client = client

    def _function(self, name: str) -> Function:
        return Function(self._client, self._name, name)

    def __contains__(self, function: object) -> bool:
        return function in list(self)

    def __iter__(self) -> Iterator[str]:
        """The names of its functions."""
        return iter([function["name"] for function in self.functions()])

    def __len__(self) -> int:
        return len(self.functions())

    def time_evaluator(
        self, function: str, device: Optional[DeviceLike] = None, **plan: Any
    ) -> TimeEvaluator:
        """``module[function].time_evaluator(**plan)``, its calls on `device`; as TVM's."""
        return TimeEvaluator(self[function], Plan.checked(**plan), device)

    def describe(self) -> Map:
        return self._client._run(_requests.ask_map("module.describe", self._name))

    def functions(self) -> Maps:
        return self._client._run(_requests.ask_maps("function.list", self._name))

    def logs(self) -> str:
        return self._client._run(_requests.logs(self._name))

    def wait(self, *, deadline: Seconds = None) -> Module:
        self._client._run(_requests.wait(self._name, deadline))
        return self

    def unload(self, *, deadline: Seconds = None) -> None:
        self._client._run(_requests.unload(self._client, self._name, deadline))

    def instance(self) -> Instance:
        """An executor of its own, which keeps its inputs and outputs between calls."""
        return Instance(self._client, self._name, self._client._run(_requests.instance(self._name)))

    def alloc(
        self, dtype: DTypeLike, shape: Any, device: Optional[DeviceLike] = None
    ) -> Resident:
        """A tensor of zeros that stays in the module's worker."""
        client = self._client
        return client._run(_residents.alloc(client, Resident, self._name, dtype, shape, device))

    def put(self, value: Any, device: Optional[DeviceLike] = None) -> Resident:
        """A resident tensor with the elements of an array, DLPack object or Tensor."""
        client = self._client
        return client._run(_residents.put(client, Resident, self._name, value, device))
