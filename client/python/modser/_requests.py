"""All requests to the daemon, without a socket.

A request is a generator. It yields messages and receives a Reply for each, or the error is
thrown into it; its return value is the result. The blocking and the asyncio client differ only
in how they drive one. It may also yield a list of messages, which are sent together and get a
list of replies; Each(messages), for replies that may be errors; Unawaited, which gets no reply;
or a Pause.
"""
from __future__ import annotations

import math
import operator
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Callable, NamedTuple, Optional, TypeVar, Union

import numpy as np

from ._call import OutArgument, as_outs
from ._errors import DeadlineExceeded, NotFound, NotReady, ProtocolError, StaleHandle
from ._message import Message, pack
from ._objects import ClientBase, FunctionBase, RemoteObject, name_of
from ._options import Seconds
from ._reply_tensor import INSTANCE, Handle
from ._shared_memory import SharedSegment, find_segment
from ._tensor import Destination, Out
from ._types import Device
from ._upload import Artifact

PIECE = 1 << 20  # bytes of one write of an upload
AT_ONCE = 16  # writes in flight
MOST_WORKERS = (1 << 32) - 1  # the protocol's limit; a daemon has a lower one
READY_TIMEOUT = 5.0  # seconds that the daemon, too, waits for a module that is not ready
NAMES = 16  # most functions that an error lists


class Reply(NamedTuple):
    result: Any
    meta: Any


class Unawaited(NamedTuple):
    message: Message


class Each(NamedTuple):
    messages: list[Message]


class Pause(NamedTuple):
    seconds: float


T = TypeVar("T")
Step = Union[Message, "list[Message]", Each, Unawaited, Pause]
Request = Generator[Step, Any, T]
Map = dict[str, Any]
Outs = tuple[Out, ...]


def message_of(method: str, *params: Any) -> Message:
    """The message of a request other than a call; a parameter may be a map."""
    message = Message(pack(method))
    for value in params:
        if isinstance(value, dict):
            message.raw(pack(value))
        else:
            message.add(value)
    return message


def ask(method: str, *params: Any, deadline: Seconds = None) -> Request[Any]:
    message = message_of(method, *params)
    message.deadline = deadline
    reply: Reply = yield message
    return reply.result


def lend(nbytes: int, fd: int) -> Request[int]:
    """Send the memfd to the daemon; returns the segment number."""
    message = message_of("segment.add", nbytes)
    message.fd = fd
    reply: Reply = yield message
    if type(reply.result) is not int:
        raise ProtocolError("expected the number of a segment, got another value")
    return reply.result


def ask_map(method: str, *params: Any) -> Request[Map]:
    return dict((yield from ask(method, *params)))


def ask_maps(method: str, *params: Any) -> Request[list[Map]]:
    return [dict(m) for m in (yield from ask(method, *params))]


def ping(deadline: Seconds) -> Request[float]:
    began = time.perf_counter()
    yield from ask("ping", deadline=deadline)
    return time.perf_counter() - began


def is_serving(deadline: Seconds) -> Request[bool]:
    """True if the daemon is not about to end."""
    message = message_of("ping")
    message.deadline = deadline
    reply: Reply = yield message
    return not (reply.meta or {}).get("leaving")


def identify(token: str) -> Request[None]:
    yield from ask("session.hello", {"token": token})


def logs(name: str) -> Request[str]:
    return str((yield from ask("module.logs", name_of(name))))


def plan(name: str, deadline: Seconds) -> Request[list[Map]]:
    rows: list[Map] = []
    start: Optional[int] = 0
    while start is not None:
        page = dict((yield from ask("module.plan", name_of(name), {"from": start},
                                    deadline=deadline)))
        rows += [dict(row) for row in page["rows"]]
        if page["next"] is not None and page["next"] <= start:
            raise ProtocolError("expected a later page of the plan")
        start = page["next"]
    return rows


def profile(function: str, args: tuple[Any, ...], deadline: Seconds) -> Request[list[Map]]:
    if not isinstance(function, str) or ":" not in function:
        raise ValueError(f'expected "module:function", got {function!r}')
    result = yield from ask("module.profile", function, *args, deadline=deadline)
    times = np.asarray(result[1]).tolist()
    rows = yield from plan(function.partition(":")[0], deadline)
    if len(times) != len(rows) + 1:
        raise ProtocolError("the times are not those of the plan: the module was replaced")
    keys = ("runs", "ns", "begin_ns", "layout_change_ns")
    return [{**row, **dict(zip(keys, at))} for row, at in zip(rows, times)]


def wait(name: str, deadline: Seconds) -> Request[None]:
    yield from ask("module.wait", name_of(name), deadline=deadline)


def sleep(name: str) -> Request[None]:
    yield from ask("module.sleep", name_of(name))


def unload(client: ClientBase, name: str, deadline: Seconds) -> Request[None]:
    client._known.clear()
    yield from ask("module.unload", name_of(name), deadline=deadline)


def _as_given(value: Any) -> Any:
    return value


def _workers(value: Any) -> Optional[int]:
    if not hasattr(value, "__index__"):
        raise TypeError(f"workers is an int, not {type(value).__name__}")
    if not 1 <= value <= MOST_WORKERS:
        raise ValueError(f"workers is at least 1 and at most {MOST_WORKERS}, not {value}")
    return operator.index(value) if value != 1 else None


def _milliseconds(value: float) -> int:
    return math.ceil(value * 1000)


def _inputs(value: Mapping[str, str]) -> Optional[str]:
    return ":".join(f"{name}={shape}" for name, shape in value.items()) or None


# The run options of load() and pull(): {argument: (key on the wire, conversion)}. A conversion
# returns None for a value that need not be sent.
RUN_OPTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "device": ("device", lambda value: str(Device.parse(value))),
    "workers": ("workers", _workers),
    "batch": ("batch", lambda value: operator.index(value) or None),
    "batch_delay": ("within_ms", lambda value: _milliseconds(value) or None),
    "max_run": ("max_run_ms", _milliseconds),
    "keep_alive": ("keep_alive_ms", _milliseconds),
    "threads": ("threads", operator.index),
    "abi": ("era", _as_given),
    "ignore_unknown_inputs": ("tvm_inputs", lambda value: True if value else None),
    "missing_weights": ("fill", _as_given),
    "format": ("format", _as_given),
    "inputs": ("input", _inputs),
    "outputs": ("outputs", lambda value: value if isinstance(value, str) else ",".join(value)),
    "signature": ("signature", _as_given),
    "engine": ("engine", _as_given),
}


def run_options(arguments: Mapping[str, Any]) -> Map:
    """The run options among the arguments of a method, as the daemon reads them."""
    options: Map = {}
    for name, (key, convert) in RUN_OPTIONS.items():
        value = arguments[name]
        sent = convert(value) if value is not None else None
        if sent is not None:
            options[key] = sent
    return options


def rollback(client: ClientBase, name: str, deadline: Seconds) -> Request[None]:
    client._known.clear()
    try:
        yield from ask("module.rollback", name_of(name), deadline=deadline)
    except NotFound as error:
        error.hint = "a module has a previous edition after load(keep=True) or pull() replaced it"
        raise


def pin(name: str, pinned: bool) -> Request[None]:
    yield from ask("store.pin", name_of(name), bool(pinned))


def pages(method: str, key: str) -> Request[list[Map]]:
    """The maps under @key of all pages of a store method."""
    found: list[Map] = []
    after: Optional[str] = None
    while True:
        page = yield from ask_map(method, *([] if after is None else [after]))
        found += [dict(m) for m in page[key]]
        after = page["after"]
        if after is None:
            return found


def pull(
    client: ClientBase, name: str, uri: str, sha256: Optional[str], options: Map, deadline: Seconds
) -> Request[None]:
    name_of(name)
    client._known.clear()
    if sha256 is not None:
        options = {**options, "sha256": sha256}
    try:
        yield from ask("module.pull", name, uri, options, deadline=deadline)
    except NotFound as error:
        error.hint = "check the URI: the daemon's machine must reach that file or server"
        raise


def load(
    client: ClientBase,
    name: str,
    artifact: Artifact,
    options: Map,
    replace: bool,
    keep: bool,
    deadline: Seconds,
) -> Request[None]:
    name_of(name)
    options = {**options, "replace": bool(replace)}
    if keep:
        options["keep"] = True
    client._known.clear()
    with artifact.opened() as (parts, facts):
        left = _countdown(deadline)
        upload = yield from _upload(parts, left)
        yield from ask("module.load", name, upload, {**options, **facts}, deadline=left())


def _countdown(deadline: Seconds) -> Callable[[], Seconds]:
    """The remaining time at each call; an error if none is left."""
    until = None if deadline is None else time.monotonic() + deadline

    def left() -> Seconds:
        rest = None if until is None else until - time.monotonic()
        if rest is not None and rest <= 0:
            raise DeadlineExceeded("the deadline passed during the upload; the client aborted it")
        return rest

    return left


def _upload(
    parts: list[np.ndarray[Any, Any]], left: Callable[[], Seconds]
) -> Request[Handle]:
    """Upload the parts one after the other. An upload that fails is aborted."""
    upload: Handle = yield from ask("module.upload", "begin", sum(len(p) for p in parts))
    try:
        batch: list[Message] = []
        for at, piece in _pieces(parts):
            batch.append(message_of("module.upload", "write", upload, at, piece))
            batch[-1].deadline = left()
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
        yield batch
        yield from ask("module.upload", "commit", upload, deadline=left())
    except GeneratorExit:
        raise
    except BaseException:
        yield Unawaited(message_of("module.upload", "abort", upload))
        raise
    return upload


def _pieces(parts: list[np.ndarray[Any, Any]]) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    start = 0
    for part in parts:
        for at in range(0, len(part), PIECE):
            yield start + at, part[at : at + PIECE]
        start += len(part)


def facts(function: FunctionBase) -> Request[Map]:
    """The map of a function in function.list, requested once; empty if there is none."""
    known, key = function._client._known, (function.module, function.name)
    if function._has_facts() and key not in known:
        for found in (yield from ask_maps("function.list", function.module)):
            if found["name"] == function.name:
                known[key] = found
    return dict(known.get(key, {})) if function._has_facts() else {}


def model(client: ClientBase, module: str, deadline: Seconds) -> Request[str]:
    """The name of the function that is the module's model, requested once."""
    known, key = client._known, (module, "")  # no function has an empty name
    if key not in known:
        about = yield from ask_map("module.describe", module)
        if about["functions"] is None:  # a call would wait
            yield from wait(module, READY_TIMEOUT if deadline is None else deadline)
            about = yield from ask_map("module.describe", module)
        if about.get("model") is None:
            names = ", ".join([f["name"] for f in about["functions"] or ()][:NAMES])
            error = NotFound(f"module {module} has no function that is its model; it has: {names}")
            error.hint = f'call one of them: client["{module}"].FUNCTION(...)'
            raise error
        known[key] = {"name": about["model"]}
    return str(known[key]["name"])


def is_in_segment(segments: list[SharedSegment], o: Out) -> bool:
    memory = o.memory()
    return memory is not None and find_segment(segments, memory) is not None


def prepare_outs(
    function: FunctionBase, args: tuple[Any, ...], out: OutArgument, deadline: Seconds
) -> Request[tuple[tuple[Any, ...], Optional[Outs]]]:
    """The arguments, and the arrays into which the results are copied. A PrimFunc fills its last
    arguments. A model, or a function of an instance, returns its results."""
    outs = as_outs(function._full, out)
    if not function._has_facts():
        return args, outs
    try:
        found = yield from facts(function)
    except NotReady:  # a call would wait for the module
        yield from wait(function.module, READY_TIMEOUT if deadline is None else deadline)
        found = yield from facts(function)
    if found.get("style") != "model":
        return args + outs, None
    segments = function._client._segments
    if all(is_in_segment(segments, o) for o in outs):
        return args + tuple([Destination(o) for o in outs]), None
    return args, outs


def instance(module: str) -> Request[Handle]:
    handle = yield from ask("module.instance", module)
    if not isinstance(handle, Handle) or handle.kind != INSTANCE:
        raise ProtocolError("expected an instance, got another value")
    return handle


def describe_object(thing: RemoteObject) -> Request[Map]:
    """Type, ancestors and fields of an object; the fields as a dict."""
    found = yield from ask_map("object.describe", thing)
    found["fields"] = dict(found["fields"])
    return found


def free(thing: RemoteObject) -> Request[None]:
    """Free the object, unless it was freed or its worker is gone."""
    packed = thing.detach()
    if packed is not None:
        message = Message(thing.FREE)
        message.raw(packed)
        try:
            yield message
        except StaleHandle:
            return
