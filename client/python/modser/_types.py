"""Element types, devices and shapes, and the wire's dtypes for numpy's."""
from __future__ import annotations

import contextlib
import operator
import re
from typing import Any, NamedTuple, Optional, Union

import numpy as np

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:  # tensors of these dtypes are then modser.Tensor objects
    ml_dtypes = None

INT, UINT, FLOAT, HANDLE, BFLOAT, COMPLEX, BOOL = range(7)

_NAMED = {
    "bool": (BOOL, 8),
    "handle": (HANDLE, 64),
    "bfloat16": (BFLOAT, 16),
    "complex64": (COMPLEX, 64),
    "complex128": (COMPLEX, 128),
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
    "float6_e2m3fn": (15, 6),
    "float6_e3m2fn": (16, 6),
    "float4_e2m1fn": (17, 4),
}
_NAMES = {code_bits: name for name, code_bits in _NAMED.items()}
_STEMS = {"int": INT, "uint": UINT, "float": FLOAT}
_FORM = re.compile(r"(?P<stem>int|uint|float)(?P<bits>[1-9][0-9]{0,2})")
_LANES = re.compile(r"(?P<one>.*[^x])x(?P<lanes>[1-9][0-9]{0,4})")


class _DTypeFields(NamedTuple):
    code: int
    bits: int
    lanes: int = 1


class DType(_DTypeFields):
    """An element type with DLPack's codes: ``DType("float32")``, ``"bfloat16"``, ``"float32x4"``,
    or its code, bits and lanes."""

    __slots__ = ()

    def __new__(cls, code: Union[int, str], bits: Optional[int] = None, lanes: int = 1) -> DType:
        if isinstance(code, str) and bits is None:
            return cls.parse(code)
        return super().__new__(cls, operator.index(code), operator.index(bits), lanes)

    @classmethod
    def parse(cls, spec: DTypeLike) -> DType:
        """From a name, a numpy dtype or scalar type, or a DType."""
        if isinstance(spec, DType):
            return spec
        if isinstance(spec, str):
            found = _from_name(spec)
            if found is not None:
                return found
        code_bits = None
        with contextlib.suppress(TypeError):
            if spec is not None:  # numpy reads None as float64
                code_bits = BY_NUMPY.get(np.dtype(spec).newbyteorder("="))
        if code_bits is None:
            raise TypeError(f"{spec!r} is not an element type; expected one like 'float32'")
        return cls(*code_bits)

    @property
    def numpy(self) -> Optional[np.dtype[Any]]:
        """numpy's dtype for it, or None: lanes, bits below 8, ml_dtypes not installed."""
        return TO_NUMPY.get(self)

    def nbytes(self, elements: int) -> int:
        return (elements * self.bits * self.lanes + 7) // 8

    def __str__(self) -> str:
        name = _NAMES.get((self.code, self.bits))
        if name is None:
            stem = next((s for s, code in _STEMS.items() if code == self.code), None)
            name = f"{stem}{self.bits}" if stem else f"type<{self.code},{self.bits}>"
        return name if self.lanes == 1 else f"{name}x{self.lanes}"


DTypeLike = Union[DType, str, "np.dtype[Any]", type]


def _from_name(name: str) -> Optional[DType]:
    if name in _NAMED:
        return DType(*_NAMED[name])
    match = _FORM.fullmatch(name)
    if match:
        stem, bits = _STEMS[match["stem"]], int(match["bits"])
        known = bits in (1, 2, 4, 8, 16, 32, 64) and (stem != FLOAT or bits >= 16)
        return DType(stem, bits) if known else None
    match = _LANES.fullmatch(name)
    one = _from_name(match["one"]) if match else None
    return one._replace(lanes=int(match["lanes"])) if match and one else None


def _numpy_table() -> dict[np.dtype[Any], tuple[int, int]]:
    table: dict[Any, tuple[int, int]] = {np.dtype(bool): (BOOL, 8)}
    for name in ("float16", "float32", "float64"):
        table[np.dtype(name)] = (FLOAT, int(name[5:]))
    for bits in (8, 16, 32, 64):
        table[np.dtype(f"int{bits}")] = (INT, bits)
        table[np.dtype(f"uint{bits}")] = (UINT, bits)
    for name, (code, bits) in _NAMED.items():
        kind = getattr(np, name, None) if code == COMPLEX else getattr(ml_dtypes, name, None)
        if kind is not None and bits >= 8:  # ml_dtypes does not pack the narrow ones
            table[np.dtype(kind)] = (code, bits)
    return table


BY_NUMPY = _numpy_table()
TO_NUMPY = {DType(*code_bits): dtype for dtype, code_bits in BY_NUMPY.items()}

_DEVICES = {
    "cpu": 1, "cuda": 2, "cuda_host": 3, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10,
}  # fmt: skip


class _DeviceType(str):
    """The name of a type of devices; ``int()`` gives DLPack's number."""

    __slots__ = ()

    def __int__(self) -> int:
        return _DEVICES[self]


class Device(NamedTuple):
    """A device of the server: ``Device("cuda", 0)``. Type 0 is the device of the call."""

    type: Union[int, str]
    id: int = 0

    @property
    def number(self) -> int:
        """DLPack's number of the type."""
        if isinstance(self.type, int):
            return self.type
        try:
            return _DEVICES[self.type]
        except KeyError:
            known = ", ".join(_DEVICES)
            text = f"unknown device type {self.type!r}; expected one of {known}"
            raise ValueError(text) from None

    @classmethod
    def parse(cls, spec: DeviceLike) -> Device:
        """From ``"opencl:0"``, ``"cpu"`` or a Device."""
        if isinstance(spec, Device):
            return spec
        if not isinstance(spec, str):
            text = f"a device is a str such as 'opencl:0' or a Device, not {type(spec).__name__}"
            raise TypeError(text)
        name, colon, id = spec.partition(":")
        if colon and not (id.isascii() and id.isdigit()):
            raise ValueError(f"{spec!r} is not a device; expected one like 'opencl:0'")
        found = cls(name, int(id or 0))
        _ = found.number  # raises for an unknown name
        return found

    @classmethod
    def from_wire(cls, number: int, id: int) -> Device:
        name = next((n for n, v in _DEVICES.items() if v == number), None)
        return cls(number if name is None else _DeviceType(name), id)

    def __str__(self) -> str:
        return f"{self.type}:{self.id}"


DeviceLike = Union[Device, str]


class Shape(tuple):  # type: ignore[type-arg]
    """A shape as an argument or result; a plain tuple would be a tuple of ints."""

    def __new__(cls, *dims: Any) -> Shape:
        if len(dims) == 1 and hasattr(dims[0], "__iter__"):
            dims = tuple(dims[0])
        try:
            return super().__new__(cls, [operator.index(d) for d in dims])
        except TypeError:
            raise TypeError(f"the dimensions of a Shape are ints, not {dims!r}") from None

    def __repr__(self) -> str:
        return f"Shape{tuple.__repr__(self)}"
