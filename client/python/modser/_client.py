"""The blocking client: connect, Client, Module."""
from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, TypeVar, Union

from . import _address, _auto_direct, _requests, _residents, _token
from ._channel import Channel, Pending
from ._errors import Error, NotFound
from ._failover import Failover
from ._function import Function, TimeEvaluator
from ._message import Message
from ._objects import ClientBase, ModuleBase
from ._options import GRACE, Seconds, check_deadline, pack_options
from ._remote_objects import Instance, Object, Resident
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
    """Connect to a daemon.

    ``address`` is ``"unix:PATH"``, ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"``, or several
    with commas: the first one that answers and is not about to end. Default: MODSER_HOST, then
    the default socket. ``token`` identifies the user for a daemon with an access file; default:
    MODSER_TOKEN, but not over plain TCP. ``deadline`` (seconds) applies to connecting, and to
    every request without its own; None: no limit. ``tls`` is an ssl.SSLContext for ``tls://``;
    default: the PEM files of MODSER_TLS_CA, MODSER_TLS_CERT and MODSER_TLS_KEY.
    """
    check_deadline(deadline)
    address = _address.choose(address)
    token = _token.choose(address, token)
    client = _open(address, deadline, tls)
    if token is not None:
        try:
            client._run(_requests.identify(token))
        except BaseException:
            client.close()
            raise
    return client


def _open(address: str, deadline: Seconds, tls: Optional[ssl.SSLContext]) -> Client:
    failover = Failover[Client](address, deadline)
    for one, seconds in failover:
        try:
            client = Client(Channel(one, seconds, tls), deadline)
        except Error as error:
            failover.failed(error)
            continue
        try:
            is_serving = failover.is_single or client._run(_requests.is_serving(seconds))
        except BaseException as error:
            client.close()
            failover.failed(error)
            continue
        if is_serving:
            return failover.use(client)
        failover.keep_draining(client)
    return failover.fallback()


class Client(ClientBase):
    """A connection. Any thread may use it and its objects.

    ``client["resnet18"].main(x)`` calls a function. A child process must connect again: the
    connection belongs to its parent.
    """

    _channel: Channel
    _Object = Object

    def __init__(self, channel: Channel, deadline: Seconds) -> None:
        super().__init__(channel, deadline)
        self._auto_direct = _auto_direct.for_channel(channel)

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
        """Make an empty round trip; returns its seconds."""
        return self._run(_requests.ping(deadline))

    def info(self) -> Map:
        """Facts about the daemon: version, pid, limits, counters."""
        return self._run(_requests.ask_map("server.info"))

    def list(self) -> Maps:
        """One map per module: name, state, calls, errors, rss, …"""
        return self._run(_requests.ask_maps("module.list"))

    def describe(self, name: str) -> Map:
        """The map of `list` for one module, and its parts."""
        return self[name].describe()

    def functions(self, name: str) -> Maps:
        """One map per function of a module: name, style, signature if it is known, …"""
        return self[name].functions()

    def logs(self, name: str) -> str:
        """The last output of the module's workers (standard output and error)."""
        return self[name].logs()

    def plan(self, name: str, *, deadline: Seconds = None) -> Maps:
        """How each node of a framework's model runs: a map per node (engine, fused nodes, …)."""
        return self._run(_requests.plan(name, deadline))

    def profile(self, function: str, *args: Any, deadline: Seconds = None) -> Maps:
        """Call "module:function" once; the rows of `plan` with runs, ns and begin_ns of each."""
        return self._run(_requests.profile(function, args, deadline))

    def wait(self, name: str, *, deadline: Seconds = None) -> Module:
        """Wait until the module is READY; raises the cause if it has failed."""
        return self[name].wait(deadline=deadline)

    def unload(self, name: str, *, deadline: Seconds = None) -> None:
        """Wait for the module's calls, then end its processes."""
        self[name].unload(deadline=deadline)

    def sleep(self, name: str) -> None:
        """End the processes of an idle module until its next call."""
        self[name].sleep()

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
        """Upload a library or model (a path, or the file's bytes) and wait until it is READY.

        Loading runs the file's code on the server. Further contents:

        - ``graph``, ``params``: a graph executor's graph.json or a virtual machine's program,
          and parameters, for a library that lacks them. A folder of shards, as
          ``tvmjs.dump_tensor_cache`` writes it, for ``params``: calls need not send these
          parameters.
        - ``files``: external data of an ONNX model, by the names in the model.

        Serving:

        - ``replace``: the module replaces one of the same name when it is ready.
        - ``keep``: a daemon with a store loads it again at every start.
        - ``device``: ``"opencl:0"``, ``"cpu"``; default: the device of its code.
        - ``workers``: the number of processes, and so of concurrent calls.
        - ``batch``, ``batch_delay``: join waiting calls up to so many rows, for functions whose
          tensors all begin with the same open extent; the first call waits ``batch_delay`` seconds
          for others.
        - ``max_run``: seconds after which a call ends its worker (0: never; None: the daemon's
          value).
        - ``keep_alive``: seconds without calls after which the processes end, until the next call
          (0, the default: never).
        - ``threads``: threads of each process (None: the daemon's value).

        TVM libraries:

        - ``abi``: ``"classic"`` or ``"ffi"``, the calling convention of a library without
          symbols that show it.
        - ``ignore_unknown_inputs``: ``set_input`` of an instance ignores names that the
          model lacks, as in TVM.

        Models of frameworks:

        - ``missing_weights``: ``"zero"`` or ``"seeded"``, in place of weights that the file
          lacks.
        - ``format``: the format, such as ``"onnx"``, instead of detection.
        - ``inputs``: shapes that the model leaves open: ``{"x": "float32[1,3,224,224]"}``; ``?``
          leaves an extent open.
        - ``outputs``, ``signature``: the tensors to return, by their names in the file, and the
          signature of a SavedModel.
        - ``engine``: ``"auto"``, ``"native"`` or ``"reference"``: the kernels that compute it.
        """
        options = _requests.run_options(locals())
        artifact = Artifact(source, graph, params, files)
        self._run(_requests.load(self, name, artifact, options, replace, keep, deadline))
        return self[name]

    def rollback(self, name: str, *, deadline: Seconds = None) -> Module:
        """Serve the previous edition from the daemon's store."""
        self._run(_requests.rollback(self, name, deadline))
        return self[name]

    def store_list(self) -> Maps:
        """One map per edition in the daemon's store: module, ref, version, sha256, …"""
        return self._run(_requests.pages("store.list", "editions"))

    def store_verify(self) -> Maps:
        """Hash all files of the store: a map of module and fault for each damage."""
        return self._run(_requests.pages("store.verify", "faults"))

    def store_collect(self) -> Map:
        """Remove the files that no module needs; returns their number."""
        return self._run(_requests.ask_map("store.collect"))

    def store_pin(self, name: str, pinned: bool = True) -> None:
        """Keep all editions of the module when the store needs space, or stop doing so."""
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
        """Let the daemon download ``uri``, and wait until the module is READY.

        ``https://HOST/FILE``, ``oci://HOST/REPOSITORY:TAG``, ``modser://HOST:PORT/MODULE``, or
        ``file:///PATH`` on the daemon's machine. ``sha256`` is the expected digest. The daemon
        keeps the module in its store; it replaces a module of that name when it is ready. The
        other arguments are those of :meth:`load`.
        """
        options = _requests.run_options(locals())
        self._run(_requests.pull(self, name, uri, sha256, options, deadline))
        return self[name]

    def segment(self, nbytes: int) -> Segment:
        """Share so many bytes of memory with the daemon, over a unix socket. Arrays in it are
        arguments and outputs of calls without a copy."""
        return Segment(self, nbytes)

    def close(self) -> None:
        """Close the connection; waiting calls raise ConnectionLost."""
        if self._auto_direct is not None:
            self._auto_direct.close()
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
        if self._auto_direct is None or message.has_remote_objects:
            pending = self._send(message)
            self._channel.wait_once(pending)
            return pending
        deadline = self._deadline if message.deadline is None else message.deadline
        return self._auto_direct.call(module, message, deadline, self._send)

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
    """A module by its name. Creating one sends no request.

    Functions are attributes, or items if the name is in use or is not an identifier:
    ``module.main``, ``module["alloc"]``, ``module["odd name"]``.
    """

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(client, name)
        self._client = client

    def _function(self, name: str) -> Function:
        return Function(self._client, self._name, name)

    def __call__(self, /, *args: Any, deadline: Seconds = None, **named: Any) -> Any:
        """Call the module's model: ``client["net"](x)``. The arguments are those of a function.

        The model is the function that HTTP calls: ``main``, else ``run``, else the only one.
        """
        model = self._client._run(_requests.model(self._client, self._name, deadline))
        try:
            return self[model](*args, deadline=deadline, **named)
        except NotFound:  # another client may have replaced the module by one with another model
            found = self._client._run(_requests.model(self._client, self._name, deadline))
            if found == model:
                raise
        return self[found](*args, deadline=deadline, **named)

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
        """``module[function].time_evaluator(**plan)``, with calls on `device`, as in TVM."""
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

    def sleep(self) -> None:
        self._client._run(_requests.sleep(self._name))

    def unload(self, *, deadline: Seconds = None) -> None:
        self._client._run(_requests.unload(self._client, self._name, deadline))

    def instance(self) -> Instance:
        """An executor that keeps its inputs and outputs between calls."""
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
