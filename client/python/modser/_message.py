"""Requests before sending: Python values to the bytes of one frame."""
from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

import msgpack
import numpy as np

from ._reply_tensor import Handle
from ._shared_memory import SharedSegment, find_segment
from ._tensor import (
    ALIGN,
    INLINE,
    OUT,
    SEGMENT,
    Destination,
    Out,
    Tensor,
    as_bytes,
    compact,
    is_tensor,
    pack_array,
    pack_tensor,
    to_array,
)
from ._types import BY_NUMPY, Device, DType, Shape

MAGIC = b"\xedmd\x01"
HEADER = struct.Struct("<4sIQ")
MAX_BODY = 1 << 20
MAX_PAYLOAD = 1 << 32
MAX_TENSORS = 1024
MAX_TUPLES = 14  # nesting depth of tuples and dicts: the protocol's limit less the body and its params
DTYPE, DEVICE, SHAPE, RESULT_OF, OBJECT, MAP = range(6, 12)  # ext types
MAP_MARK = b"\xc7\x00\x0b"  # the first element of an array that is a map

_ZEROS = bytes(ALIGN)
_BUFFERS = frozenset("?bBhHiIlLqQefd")  # types that a memoryview can cast to bytes
_REQUEST = b"\x94\x00\xcf"
_REQUEST_WITH_OPTIONS = b"\x95\x00\xcf"

Buffer = Union[bytes, "np.ndarray[Any, Any]", memoryview]


class _Local(threading.local):
    """A packer for each thread: making one for each value would cost more than packing."""

    def __init__(self) -> None:
        self.pack = msgpack.Packer().pack


_local = _Local()


def pack(value: Any) -> bytes:
    """A str, map or other plain value that needs no checks."""
    return bytes(_local.pack(value))


def array_header(n: int) -> bytes:
    if n < 16:
        return bytes([0x90 | n])
    return struct.pack(">BH", 0xDC, n) if n < 1 << 16 else struct.pack(">BI", 0xDD, n)


_HEADERS = tuple(array_header(n) for n in range(32))


class ResultOf(NamedTuple):
    """The result of an earlier request of this connection with the option `promised`."""

    message: Message

    def packed(self) -> bytes:
        return b"\xd7" + bytes([RESULT_OF]) + self.message.id.to_bytes(8, "little")


class Message:
    """The parameters of one request: packed pieces of the body, and the payload's buffers."""

    __slots__ = (
        "pieces", "payload", "size", "outs", "count", "depth",
        "names", "device", "instance", "deadline", "unordered", "kill_abandoned",
        "background", "trace", "repeat", "segments", "lent", "fd", "promised", "id", "results",
        "has_remote_objects",
    )  # fmt: skip

    def __init__(self, method: bytes, segments: Sequence[SharedSegment] = ()) -> None:
        #: The method's name, packed; then the params' header and the params.
        self.pieces: list[bytes] = [method, b""]
        self.payload: list[Buffer] = []
        self.size = 0
        self.outs: list[Out] = []
        self.count = 0
        #: The nesting depth of the tuple that add() fills.
        self.depth = 0
        #: The parameter name of each argument of a call; None: by position.
        self.names: Optional[list[Optional[str]]] = None
        #: The device of a call; None: the module's.
        self.device: Optional[str] = None
        #: The handle of the instance that has the function; None: the module has it.
        self.instance: Optional[bytes] = None
        #: Seconds; None: the connection's deadline.
        self.deadline: Optional[float] = None
        self.unordered = False
        #: The daemon kills the worker of the call when no client waits for it.
        self.kill_abandoned = False
        #: All other calls of the module run first.
        self.background = False
        #: The daemon reports the time of each stage.
        self.trace = False
        #: The worker measures the call: runs, series and milliseconds.
        self.repeat: Optional[tuple[int, int, int]] = None
        #: Memory shared with the daemon: arrays in it are sent as positions.
        self.segments = segments
        #: Outs in that memory, by segment number and offset.
        self.lent: dict[tuple[int, int], Out] = {}
        #: A descriptor to pass with the first byte; the caller closes it.
        self.fd: Optional[int] = None
        #: Later requests may name its result before it has arrived.
        self.promised = False
        #: The request's number; set by frame().
        self.id = 0
        #: The pieces that are results of earlier requests.
        self.results: list[tuple[int, ResultOf]] = []
        #: It names objects of this connection in the daemon or a worker.
        self.has_remote_objects = False

    def raw(self, packed: bytes) -> None:
        self.pieces.append(packed)
        self.count += 1

    def add(self, value: Any) -> None:
        """Append a parameter."""
        self.count += 1
        kind = type(value)
        if kind is np.ndarray:
            self._array(value)
        elif kind is Out:
            self.pieces.append(self._pack_out(value) if self.segments else value.packed)
            self.outs.append(value)
        elif kind is int:
            if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
                raise OverflowError(f"{value} is beyond int64")
            self.pieces.append(_local.pack(value))
        elif kind is float or kind is bool or kind is bytes or value is None:
            self.pieces.append(_local.pack(value))
        else:
            self._other(value)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        code_bits = BY_NUMPY.get(array.dtype)
        if code_bits is None or not array.flags.c_contiguous or array.ndim > 32:
            array = compact(array)
            code_bits = BY_NUMPY[array.dtype]
        code, bits = code_bits
        nbytes = array.nbytes
        if self.segments and self._name((code, bits, 1), array.shape, array):
            return
        if nbytes:
            if self.size % ALIGN:
                self._pad()
            self.payload.append(array if array.dtype.char in _BUFFERS else as_bytes(array))
        self.pieces.append(pack_array(array, code, bits, self.size if nbytes else 0))
        self.size += nbytes

    def _name(
        self, dtype: tuple[int, int, int], shape: tuple[int, ...], memory: np.ndarray[Any, Any]
    ) -> bool:
        """Append it as segment and offset, if it lies in a segment."""
        place = find_segment(self.segments, memory)
        if place is not None:
            self.pieces.append(
                pack_tensor(SEGMENT, dtype, shape, place[1], memory.nbytes, segment=place[0])
            )
        return place is not None

    def _pack_out(self, value: Out) -> bytes:
        """Pack an output, in a segment if its memory lies in one."""
        memory = value.memory()
        place = None if memory is None else find_segment(self.segments, memory)
        if place is None:
            return value.packed
        self.lent[place] = value
        return pack_tensor(
            OUT, value.dtype, value.shape, place[1], value.nbytes, segment=place[0]
        )

    def _tensor(self, tensor: Tensor) -> None:
        if self.segments and self._name(tensor.dtype, tensor.shape, tensor.data):
            return
        if tensor.nbytes:
            if self.size % ALIGN:
                self._pad()
            self.payload.append(tensor.data)
        offset = self.size if tensor.nbytes else 0
        self.pieces.append(pack_tensor(INLINE, tensor.dtype, tensor.shape, offset, tensor.nbytes))
        self.size += tensor.nbytes

    def _pad(self) -> None:
        gap = -self.size % ALIGN
        self.payload.append(_ZEROS[:gap])
        self.size += gap

    def _other(self, value: Any) -> None:
        """Pack rarer values: subclasses, numpy scalars, tuples, objects of other libraries."""
        if isinstance(value, str):
            try:
                self.pieces.append(_local.pack(str(value)))
            except UnicodeEncodeError:
                raise TypeError("a str with a lone surrogate is not UTF-8; send bytes") from None
        elif isinstance(value, Tensor):
            self._tensor(value)
        elif isinstance(value, Destination):
            self.has_remote_objects = True
            self.pieces.append(self._pack_out(value.out))
        elif isinstance(value, ResultOf):
            self.has_remote_objects = True
            self.results.append((len(self.pieces), value))
            self.pieces.append(b"")
        elif isinstance(value, Handle):
            self.has_remote_objects = True
            self.pieces.append(value.packed())
        elif isinstance(value, DType):
            self._ext(DTYPE, struct.pack("<BBH", *value))
        elif isinstance(value, Device):
            self._ext(DEVICE, struct.pack("<ii", value.number, value.id))
        elif isinstance(value, Shape):
            if len(value) > 32:
                raise TypeError(f"Shape of {len(value)} dimensions; at most 32")
            self._ext(SHAPE, struct.pack(f"<{len(value)}q", *value))
        elif isinstance(value, (tuple, list)):
            self.depth += 1
            if self.depth > MAX_TUPLES:
                raise ValueError(f"tuples and dicts are nested more than {MAX_TUPLES} deep")
            self.pieces.append(array_header(len(value)))
            for item in value:
                self.add(item)
            self.count -= len(value)
            self.depth -= 1
        elif isinstance(value, dict):
            self._map(value)
        else:
            self._convertible(value)

    def _map(self, value: dict[Any, Any]) -> None:
        self.depth += 1
        if self.depth > MAX_TUPLES:
            raise ValueError(f"tuples and dicts are nested more than {MAX_TUPLES} deep")
        self.pieces.append(array_header(2 * len(value) + 1) + MAP_MARK)
        for key, item in value.items():
            self.add(key)
            self.add(item)
        self.count -= 2 * len(value)
        self.depth -= 1

    def _ext(self, kind: int, data: bytes) -> None:
        self.pieces.append(_local.pack(msgpack.ExtType(kind, data)))

    def _convertible(self, value: Any) -> None:
        self.count -= 1  # add() counts it
        if isinstance(value, np.dtype):
            self.add(DType.parse(value))
        elif is_tensor(value):
            self.add(to_array(value))
        elif isinstance(value, np.generic):
            self.add(_plain_scalar(value))
        elif isinstance(value, int):
            self.add(int(value))
        elif isinstance(value, float):
            self.add(float(value))
        elif isinstance(value, (bytearray, memoryview)):
            self.add(bytes(value))
        elif hasattr(type(value), "packed"):  # a resident tensor; modules have all attributes
            self.count += 1
            self.has_remote_objects = True
            self.pieces.append(value.packed())
        else:
            raise TypeError(
                f"{type(value).__name__} cannot be an argument; expected an array, a number, "
                "bool, None, str, bytes, a tuple, a dict, or one of modser's own types"
            )

    def frame(self, id: int, options: bytes = b"") -> list[Any]:
        """The request's buffers, in order."""
        pieces, count = self.pieces, self.count
        self.id = id
        for at, result in self.results:
            pieces[at] = result.packed()
        pieces[1] = _HEADERS[count] if count < 32 else array_header(count)
        kind = _REQUEST_WITH_OPTIONS if options else _REQUEST
        body = b"".join([kind, id.to_bytes(8, "big"), *pieces, options])
        if len(body) > MAX_BODY or self.size > MAX_PAYLOAD:
            raise ValueError(
                f"a request of {len(body)} + {self.size} bytes is over the protocol's "
                f"{MAX_BODY} of values and {MAX_PAYLOAD} of tensors"
            )
        if len(self.payload) > 2 * MAX_TENSORS:
            raise ValueError(f"more than {MAX_TENSORS} tensors in one request")
        return [HEADER.pack(MAGIC, len(body), self.size) + body, *self.payload]


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, (np.str_, np.bytes_)):
        return value.item()
    if isinstance(value, np.floating) or value.dtype in BY_NUMPY and value.dtype.kind != "c":
        return float(value)
    raise TypeError(f"a numpy scalar of dtype {value.dtype} cannot be an argument")


def hello_frame() -> bytes:
    """The first frame of a connection: results may hold objects and maps. Its answer, to request 0,
    is ignored: a daemon without this feature refuses it."""
    body = b"\x94\x00\x00\xadsession.hello" + pack([{"objects": True}])
    return HEADER.pack(MAGIC, len(body), 0) + body


def cancel_frame(id: int) -> list[Any]:
    body = b"\x93\x02\xa6cancel\x91\xcf" + id.to_bytes(8, "big")
    return [HEADER.pack(MAGIC, len(body), 0) + body]
