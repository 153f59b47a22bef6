"""Tensors on the wire, and tensor arguments that are not arrays."""
from __future__ import annotations

import math
import operator
import struct
import sys
from typing import Any, Optional, Union, cast

import numpy as np

from ._types import BY_NUMPY, Device, DType, DTypeLike

TENSOR = 1  # the ext type
INLINE, SEGMENT, RESIDENT, OUT = range(4)
ALIGN = 128
MAX_NDIM = 32

HEAD = struct.Struct("<BBBBHHiiQQ")
SHAPES = tuple(struct.Struct(f"<{n}q") for n in range(MAX_NDIM + 1))
_EXTS = tuple(struct.Struct(f"<BBBBHHiiQQ{n}q") for n in range(MAX_NDIM + 1))
_PREFIXES = tuple(
    bytes([0xC7, e.size, TENSOR]) if e.size < 256 else b"\xc8" + struct.pack(">HB", e.size, TENSOR)
    for e in _EXTS
)
_CPU, _CUDA_HOST = 1, 3


def pack_tensor(
    where: int,
    dtype: tuple[int, int, int],
    shape: tuple[int, ...],
    offset: int,
    nbytes: int,
    device: tuple[int, int] = (0, 0),
    segment: int = 0,
) -> bytes:
    """The msgpack ext of a tensor, with its header."""
    code, bits, lanes = dtype
    ndim = len(shape)
    return _PREFIXES[ndim] + _EXTS[ndim].pack(
        where, code, bits, ndim, lanes, segment, device[0], device[1], offset, nbytes, *shape
    )


def pack_array(array: np.ndarray[Any, Any], code: int, bits: int, offset: int) -> bytes:
    """pack_tensor() for an inline array, optimised for the path of every call."""
    ndim = array.ndim
    return _PREFIXES[ndim] + _EXTS[ndim].pack(
        INLINE, code, bits, ndim, 1, 0, 0, 0, offset, array.nbytes, *array.shape
    )


def is_tensor(value: Any) -> bool:
    """True for tensors of numpy and other libraries; false for numpy scalars."""
    return isinstance(value, np.ndarray) or (
        hasattr(value, "__dlpack__") and not isinstance(value, np.generic)
    )


def to_array(value: Any) -> np.ndarray[Any, Any]:
    """Another library's tensor as an array, by DLPack, without a copy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        kind = type(value).__name__
        raise TypeError(
            f"expected an array, an object with __dlpack__ or a modser.Tensor, not {kind}; "
            "np.asarray(x, dtype) makes an array"
        )
    device = _device_of(value)
    if device not in (_CPU, _CUDA_HOST):
        name = Device.from_wire(int(device), 0).type
        raise TypeError(f"a tensor on device {name} cannot be read here; move it to the cpu")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        return _by_bits(value, error)


def _device_of(value: Any) -> int:
    """DLPack's number of its device type."""
    if not hasattr(value, "__dlpack_device__"):
        return _CPU
    try:
        return int(value.__dlpack_device__()[0])
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        kind = type(value).__name__
        raise TypeError(f"a {kind} cannot be read in this process: {error}") from error


def _by_bits(value: Any, error: Exception) -> np.ndarray[Any, Any]:
    """Convert a torch tensor with a dtype that numpy lacks to the dtype of ml_dtypes."""
    if getattr(value, "requires_grad", False):
        raise TypeError("the tensor requires grad, which modser does not support: pass x.detach()")
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        raise TypeError(f"DLPack cannot export a {type(value).__name__}: {error}") from error
    if value.layout != torch.strided:
        raise TypeError(f"a torch tensor has the layout {value.layout}: pass x.to_dense()")
    if value.is_conj() or value.is_neg():
        raise TypeError(
            "a torch tensor is a lazy conjugate or negative view: "
            "pass x.resolve_conj().resolve_neg()")
    name = str(value.dtype).partition(".")[2]
    numpy = DType.parse(name).numpy
    if numpy is None:
        raise TypeError(f"a torch.{name} needs the package ml_dtypes, or x.float()")
    bits = {1: torch.uint8, 2: torch.int16}.get(numpy.itemsize)
    if bits is None:
        raise TypeError(f"DLPack cannot export a torch.{name}: {error}") from error
    return np.from_dlpack(value.view(bits)).view(numpy)


def as_tensor(value: Any) -> Union[Tensor, np.ndarray[Any, Any]]:
    return value if isinstance(value, Tensor) else to_array(value)


def compact(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array row-major, without gaps, in native byte order, with a dtype of the wire; the same
    object if it already is."""
    native = array.dtype.newbyteorder("=")
    if native not in BY_NUMPY:
        name = array.dtype.name
        more = "; modser.Tensor takes packed bytes" if array.dtype.kind == "V" else ""
        raise TypeError(f"arrays of dtype {name} cannot be sent{more}")
    if array.ndim > MAX_NDIM:
        raise TypeError(f"{array.ndim} dimensions, at most {MAX_NDIM} can be sent")
    if native != array.dtype:
        return array.astype(native, order="C")
    return array if array.flags.c_contiguous else array.copy(order="C")


def as_bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The memory of a compact array as one row of bytes."""
    return array.reshape(-1).view(np.uint8)


class Tensor:
    """Raw bytes with a dtype and a shape, for dtypes that numpy may lack.

    ``Tensor(data, "bfloat16", (2, 3))``: the bytes are little-endian, row-major and compact.
    ``data`` is bytes-like, an array or a DLPack object; contiguous memory is used without a
    copy. An array gives its shape if its elements have the same size. Types of less than 8 bits
    are packed, the first element in the lowest bits.
    """

    __slots__ = ("dtype", "shape", "data", "__weakref__")

    def __init__(self, data: Any, dtype: DTypeLike, shape: Optional[Any] = None) -> None:
        self.dtype = DType.parse(dtype)
        if isinstance(data, (bytes, bytearray, memoryview)):
            array = np.frombuffer(data, np.uint8)
        else:
            array = to_array(data)
            array = array if array.flags.c_contiguous else array.copy(order="C")
            if shape is None and array.itemsize * 8 == self.dtype.bits * self.dtype.lanes:
                shape = array.shape
            array = as_bytes(array)
        if shape is None:
            raise TypeError(f"Tensor of {self.dtype}: the shape is missing")
        self.shape = as_shape(shape)
        need = self.dtype.nbytes(math.prod(self.shape))
        if array.nbytes != need:
            raise ValueError(
                f"Tensor of {self.dtype}{list(self.shape)}: {array.nbytes} bytes, expected {need}"
            )
        #: The memory as one row of uint8.
        self.data: np.ndarray[Any, Any] = array

    @property
    def nbytes(self) -> int:
        return int(self.data.nbytes)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The same memory as an array, if numpy (or ml_dtypes) has the dtype."""
        numpy = self.dtype.numpy
        if numpy is None:
            raise TypeError(f"numpy has no dtype for {self.dtype}; .data holds the bytes")
        return self.data.view(numpy).reshape(self.shape)

    def tobytes(self) -> bytes:
        return self.data.tobytes()

    def __repr__(self) -> str:
        return f"modser.Tensor({self.dtype}{list(self.shape)})"


class Out:
    """An argument that the function fills; see ``modser.out``."""

    __slots__ = ("dtype", "shape", "nbytes", "packed", "array", "given")

    def __init__(
        self,
        dtype: DType,
        shape: tuple[int, ...],
        array: Optional[Any] = None,
        given: Optional[Any] = None,
    ) -> None:
        self.dtype, self.shape = dtype, shape
        self.nbytes = dtype.nbytes(math.prod(shape))
        self.packed = pack_tensor(OUT, dtype, shape, 0, self.nbytes)
        self.array = array
        #: The object that the call returns when it is filled: the one that the caller passed.
        self.given = array if given is None else given

    def memory(self) -> Optional[np.ndarray[Any, Any]]:
        """The destination of the bytes, if there is one."""
        if self.array is None:
            return None
        return self.array.data if isinstance(self.array, Tensor) else as_bytes(self.array)

    def __repr__(self) -> str:
        return f"modser.out({str(self.dtype)!r}, {self.shape})"


class Destination:
    """A destination for a returned tensor; not an argument of the function."""

    __slots__ = ("out",)

    def __init__(self, out: Out) -> None:
        self.out = out


def out(what: Union[DTypeLike, np.ndarray[Any, Any], Tensor], shape: Any = None) -> Out:
    """An argument that the function fills and the call returns.

    ``out("float32", (1000,))`` is returned as a new array. ``out(array)`` is received directly
    into that array, which must be writable, contiguous and in native byte order. The array's old
    contents are not sent: the function sees zeros.
    """
    if isinstance(what, Tensor):
        if not what.data.flags.writeable:
            raise ValueError("out(): the tensor's memory is read-only")
        return Out(what.dtype, what.shape, what)
    if is_tensor(what):
        array = to_array(what)
        if compact(array) is not array:
            raise ValueError("out(): the array is not contiguous in native byte order")
        if not array.flags.writeable:
            raise ValueError("out(): the array is read-only")
        return Out(DType(*BY_NUMPY[array.dtype.newbyteorder("=")]), array.shape, array, what)
    dtype = DType.parse(cast(DTypeLike, what))
    if shape is None:
        raise TypeError("out(): the shape is missing; () is the shape of one element")
    return Out(dtype, as_shape(shape))


def as_shape(shape: Any) -> tuple[int, ...]:
    try:
        given = shape if hasattr(shape, "__iter__") else (shape,)
        dims = tuple([operator.index(d) for d in given])
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if len(dims) > MAX_NDIM or any(d < 0 for d in dims):
        raise ValueError(f"shape {dims}: at most {MAX_NDIM} dimensions, none negative")
    return dims
