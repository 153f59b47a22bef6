"""Replies without a socket: bytes to Python values.

target() returns the destination of the next bytes; the caller writes n bytes there and calls
received(n). Small frames use one buffer; tensors of large ones are received directly into their
own memory. All sizes are compared with the limits and with the available bytes before an
allocation.
"""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Optional, Protocol

import msgpack

from ._connect_errors import foreign_protocol
from ._errors import (
    ConnectionEnded,
    ConnectionLost,
    Draining,
    Error,
    ProtocolError,
    Unsupported,
    from_wire,
)
from ._lost_workers import LostWorkers
from ._message import DEVICE, DTYPE, HEADER, MAGIC, MAP, MAX_PAYLOAD, MAX_TENSORS, OBJECT, SHAPE
from ._reply_tensor import Handle, ReplyTensor
from ._tensor import INLINE, MAX_NDIM, RESIDENT, SEGMENT, SHAPES, TENSOR, Out
from ._types import Device, DType, Shape

BUFFER = 1 << 16
MAX_REPLY_BODY = 64 << 20


#: The first element of a tuple that is a map.
_MAP = object()


class Waiting(Protocol):
    """A request that waits for its reply."""

    outs: list[Out]
    lent: dict[tuple[int, int], Out]
    is_plain: bool  # the function returns no objects and no maps

    def finish(self, error: Optional[Error], result: Any, meta: Any) -> None: ...


class Reader:
    """Assembles frames and hands each reply to its request in `waiting`."""

    def __init__(self) -> None:
        self.waiting: dict[int, Waiting] = {}
        self._view = memoryview(bytearray(BUFFER))
        self._start = self._end = 0
        self._plan: list[memoryview] = []  # unfilled buffers of a large frame, last first
        self._places: list[ReplyTensor] = []
        self._in_segments: list[ReplyTensor] = []  # tensors in a shared segment
        self._body: Any = None
        self._has_maps = self._has_objects = False
        #: Makes the object of a reply, from its handle and its type.
        self.make_object: Optional[Callable[[bytes, str], Any]] = None
        #: The reason for the end of the connection.
        self.end_text = "the daemon closed the connection"
        #: The error that the other side sent as that reason.
        self.cause: Optional[Error] = None
        self.lost_workers = LostWorkers()

    def end(self, address: str, error: Optional[OSError] = None) -> ConnectionLost:
        """The connection has ended, with `error` or without; a report of the daemon comes first."""
        if isinstance(self.cause, Draining):
            return ConnectionEnded(f"{address}: {self.end_text}")
        why = self.end_text if error is None else error.strerror or error
        return ConnectionLost(f"{address}: {why}")

    def target(self) -> memoryview:
        return self._plan[-1] if self._plan else self._view[self._end :]

    def discard_rest(self, id: int) -> None:
        """Do not write the rest of the reply to `id` into the caller's memory."""
        if self._plan and self._body[1:2] == (id,):
            self._plan = [piece for view in self._plan for piece in _gap(len(view))]

    def in_payload(self) -> bool:
        """True if target() must be filled completely: the frame does not end before."""
        return bool(self._plan)

    def received(self, n: int) -> None:
        if not self._plan:
            self._end += n
            self._parse()
            return
        first = self._plan[-1]
        if n < len(first):
            self._plan[-1] = first[n:]
            return
        self._plan.pop()
        if not self._plan:
            self._complete()

    def _parse(self) -> None:
        while True:
            view, start, have = self._view, self._start, self._end - self._start
            if have < HEADER.size:
                return self._make_room(HEADER.size)
            magic, body, payload = HEADER.unpack_from(view, start)
            if magic != MAGIC:
                raise foreign_protocol(magic)
            if not 0 < body <= MAX_REPLY_BODY or payload > MAX_PAYLOAD:
                raise ProtocolError(f"a frame of {body} + {payload} bytes is over the limits")
            head, whole = HEADER.size + body, HEADER.size + body + payload
            if have < whole and (have < head or whole <= BUFFER):
                return self._make_room(head if have < head else whole)
            self._decode(view[start + HEADER.size : start + head], payload)
            at = start + head
            if have < whole:
                return self._begin_large(at, payload)
            outs = self._specs()
            for place, spec in zip(self._places, outs):
                place.assign(view[at + place.offset : at + place.offset + place.nbytes], spec)
            self._start += whole
            self._complete()
            if self._start == self._end:
                self._start = self._end = 0
                if len(view) == BUFFER:
                    return

    def _make_room(self, need: int) -> None:
        """Make room for `need` bytes from the start of the current frame."""
        have = self._end - self._start
        if have == 0 or self._start + need > len(self._view):
            old = self._view[self._start : self._end]
            size = max(need, BUFFER)
            if size != len(self._view):
                self._view = memoryview(bytearray(size))
            self._view[:have] = old
            self._start, self._end = 0, have

    def _decode(self, body: memoryview, payload: int) -> None:
        self._places, self._in_segments = [], []
        self._has_maps = self._has_objects = False
        try:
            message = msgpack.unpackb(body, ext_hook=self._ext, use_list=False)
        except ProtocolError:
            raise
        except Exception as error:  # msgpack raises many classes
            raise ProtocolError(f"the body is not valid msgpack: {error}") from None
        if not isinstance(message, tuple) or not message:
            raise ProtocolError("the body is not a response")
        self._body = message
        end = 0
        if len(self._places) > MAX_TENSORS:
            raise ProtocolError(f"more than {MAX_TENSORS} tensors in a reply")
        for place in self._places:
            if not place.nbytes:
                place.offset = 0
            elif place.offset < end or place.offset + place.nbytes > payload:
                raise ProtocolError("a tensor is outside its frame's payload, or overlaps another")
            else:
                end = place.offset + place.nbytes

    def _ext(self, kind: int, data: bytes) -> Any:
        if kind == TENSOR:
            place = ReplyTensor(data)
            if place.where == INLINE:
                self._places.append(place)
            elif place.where == SEGMENT:
                self._in_segments.append(place)
            return place
        if kind == DTYPE and len(data) == 4:
            return DType(data[0], data[1], int.from_bytes(data[2:], "little"))
        if kind == DEVICE and len(data) == 8:
            number = int.from_bytes(data[:4], "little", signed=True)
            return Device.from_wire(number, int.from_bytes(data[4:], "little", signed=True))
        if kind == SHAPE and len(data) % 8 == 0 and len(data) <= 8 * MAX_NDIM:
            return Shape(SHAPES[len(data) // 8].unpack(data))
        if kind == OBJECT and len(data) >= 9 and self.make_object is not None:
            self._has_objects = True
            return self.make_object(data[:9], str(data[9:], errors="replace"))
        if kind == MAP and not data:
            self._has_maps = True
            return _MAP
        if TENSOR < kind < DTYPE and len(data) == 8:
            return Handle(kind, data)
        raise ProtocolError(f"unknown value: ext type {kind} with {len(data)} bytes")

    def _specs(self) -> list[Optional[Out]]:
        """The expected tensors of the request; None for those of the return value."""
        body = self._body
        waiting = self.waiting.get(body[1]) if len(body) > 3 and body[0] == 1 else None
        places = self._places
        outs: list[Optional[Out]] = _inline_outs(waiting) if waiting is not None else []
        for place, spec in zip(places, outs):
            assert spec is not None
            if place.dtype != spec.dtype or place.shape != spec.shape:
                raise ProtocolError(f"expected the out tensor {spec!r}, got another dtype or shape")
        return outs + [None] * (len(places) - len(outs))

    def _begin_large(self, at: int, payload: int) -> None:
        plan, end = [], 0
        for place, spec in zip(self._places, self._specs()):
            if not place.nbytes:
                place.assign(memoryview(b""), spec)
                continue
            plan += _gap(place.offset - end)
            plan.append(place.reserve(spec))
            end = place.offset + place.nbytes
        plan += _gap(payload - end)
        self._plan = plan[::-1]
        while at < self._end:  # bytes that have arrived
            n = min(self._end - at, len(self._plan[-1]))
            self._plan[-1][:n] = self._view[at : at + n]
            at += n
            if n == len(self._plan[-1]):
                self._plan.pop()
            else:
                self._plan[-1] = self._plan[-1][n:]
        self._start = self._end = 0

    def _complete(self) -> None:
        body, places = self._body, self._places
        self._body, self._places = None, []
        if body[0] == 2:
            return self._notified(body)
        if not 4 <= len(body) <= 5 or body[0] != 1 or not isinstance(body[1], int):
            raise ProtocolError("the body is not a response")
        waiting = self.waiting.pop(body[1], None)
        if waiting is None:
            if body[1] == 0:  # to hello_frame()
                return
            raise ProtocolError(f"a response to request {body[1]}, which is not in flight")
        error, result = body[2], body[3]
        if error is not None:
            try:
                error = from_wire(error)
            except TypeError:
                raise ProtocolError("an error is not in the form of the protocol") from None
        elif places or self._in_segments or self._has_maps:
            for place in self._in_segments:
                _fill_in(place, waiting.lent)
            try:
                result = _settle(result)
            except Unsupported as unsupported:
                error = unsupported
        meta = body[4] if len(body) > 4 else None
        is_varied = isinstance(meta, dict) and "varied" in meta
        waiting.is_plain = not self._has_maps and not self._has_objects and not is_varied
        waiting.finish(error, result, meta)

    def _notified(self, body: Any) -> None:
        """Handle the daemon's reason for closing the connection, and lost workers; ignore other
        notifications."""
        if len(body) == 3 and body[1] == "channel.lost":
            self.lost_workers.add(body[2])
        if len(body) == 3 and body[1] == "session.close":
            with contextlib.suppress(TypeError):
                cause = self.cause = from_wire(body[2])
                self.end_text = f"the daemon ended the connection: {cause.message} [{cause.name}]"


def without_memory(waiting: Waiting) -> list[Out]:
    """Its outs with the same dtypes and shapes, but without memory of the caller, except in
    segments."""
    lent = {id(o) for o in waiting.lent.values()}
    return [o if id(o) in lent else Out(o.dtype, o.shape) for o in waiting.outs]


def _inline_outs(waiting: Waiting) -> list[Optional[Out]]:
    if not waiting.lent:
        return list(waiting.outs)
    lent = {id(o) for o in waiting.lent.values()}
    return [o for o in waiting.outs if id(o) not in lent]


def _fill_in(place: ReplyTensor, lent: dict[tuple[int, int], Out]) -> None:
    """Set the value of a tensor in a segment: the object that the caller passed as out."""
    spec = lent.get((place.segment, place.offset))
    if spec is None or place.dtype != spec.dtype or place.shape != spec.shape:
        raise ProtocolError("a tensor is at a position of a segment that the request did not name")
    place.value = spec.given


def _gap(nbytes: int) -> list[memoryview]:
    """Memory for bytes that no tensor names."""
    scratch = memoryview(bytearray(min(nbytes, BUFFER)))
    return [scratch[: min(BUFFER, nbytes - at)] for at in range(0, nbytes, BUFFER)]


def _settle(value: Any) -> Any:
    """The value with arrays in place of their positions, and dicts in place of maps."""
    if type(value) is tuple:
        settled = tuple([_settle(v) for v in value])
        return _map_of(settled) if settled and settled[0] is _MAP else settled
    if type(value) is ReplyTensor and value.where != RESIDENT:
        return value.value
    return value


def _map_of(items: tuple[Any, ...]) -> dict[Any, Any]:
    keys, values = items[1::2], items[2::2]
    if len(keys) != len(values):
        raise ProtocolError("a map has a key without a value")
    try:
        found = dict(zip(keys, values))
    except TypeError as error:
        raise Unsupported(f"the result has a map with a key that no dict can have: {error}") from None
    if len(found) != len(keys):
        raise Unsupported("the result has a map with keys that are equal in Python, such as 1 and True")
    return found
