"""ONNX files from their field numbers alone: what tests need of them. Shares no code with the
serializer; protobuf's wire is varints, fixed words and counted bytes."""
import struct

import numpy as np

DTYPES = {1: "<f4", 2: "u1", 3: "i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2",
          11: "<f8", 12: "<u4", 13: "<u8"}
BFLOAT16 = 16
FLOAT8_E5M2 = 19
FLOAT8 = (17, 18, 19, 20, 24)
PACKED = {21: 2, 22: 2, 23: 2, 25: 4, 26: 4}  # elements of a byte


def varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def fields(raw):
    """(number, value) of each field: an int, or bytes."""
    at = 0
    while at < len(raw):
        tag, at = varint(raw, at)
        if tag & 7 == 0:
            value, at = varint(raw, at)
        elif tag & 7 == 2:
            n, at = varint(raw, at)
            value, at = raw[at:at + n], at + n
        else:
            n = 8 if tag & 7 == 1 else 4
            value, at = raw[at:at + n], at + n
        yield tag >> 3, value


def numbers(values, width):
    """The varints (width 0) or words of a repeated field, packed or not."""
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(signed(v))
        elif width:
            out += struct.unpack(f"<{len(v) // width}{'f' if width == 4 else 'd'}", v)
        else:
            at = 0
            while at < len(v):
                one, at = varint(v, at)
                out.append(signed(one))
    return out


def group(raw):
    found = {}
    for number, value in fields(raw):
        found.setdefault(number, []).append(value)
    return found


def tensor(raw):
    """A TensorProto as an array; None for elements that numpy does not have."""
    f = group(raw)
    dims = numbers(f.get(1, []), 0)
    kind = f.get(2, [0])[-1]
    if kind == BFLOAT16:
        return widened(f, dims)
    if kind in FLOAT8 or kind in PACKED:  # bytes, of which an element has one or a part
        raw = (np.frombuffer(f[9][-1], "u1") if 9 in f
               else np.array(numbers(f.get(5, []), 0)).astype("u1"))
        return raw if kind in PACKED else raw.reshape(dims)
    if kind not in DTYPES:
        return None
    dtype = np.dtype(DTYPES[kind])
    if 9 in f:
        return np.frombuffer(f[9][-1], dtype).reshape(dims)
    if kind == 1:
        return np.array(numbers(f.get(4, []), 4), dtype).reshape(dims)
    if kind == 11:
        return np.array(numbers(f.get(10, []), 8), dtype).reshape(dims)
    if kind == 10:
        return np.array(numbers(f.get(5, []), 0), "<u2").view(dtype).reshape(dims)
    where = 7 if kind == 7 else 11 if kind in (12, 13) else 5
    return np.array(numbers(f.get(where, []), 0)).astype(dtype).reshape(dims)


def widened(f, dims):
    """bfloat16 as float32, whose upper half it is."""
    half = (np.frombuffer(f[9][-1], "<u2") if 9 in f
            else np.array(numbers(f.get(5, []), 0), "<u2"))
    return (half.astype("<u4") << 16).view("<f4").reshape(dims)


def values(raw):
    """ValueInfoProtos: name, element type, extents (None: not known), or no tensor: None."""
    out = []
    for one in raw:
        f = group(one)
        kind = group(f.get(2, [b""])[0])
        inner = group(kind[1][0]) if 1 in kind else None
        shape = None
        if inner and 2 in inner:
            dims = [group(d) for d in group(inner[2][0]).get(1, [])]
            shape = [signed(d[1][0]) if 1 in d else None for d in dims]
        out.append((f[1][0].decode(), inner and inner.get(1, [0])[0], shape))
    return out


class Model:
    def __init__(self, raw):
        top = group(raw)
        graph = group(top[7][0])
        self.opsets = {f.get(1, [b""])[0].decode(): f[2][0]
                       for f in (group(o) for o in top.get(8, []))}
        constants = {group(t).get(8, [b""])[0].decode() for t in graph.get(5, [])}
        self.operators = [group(n)[4][0].decode() for n in graph.get(1, [])]
        self.inputs = [v for v in values(graph.get(11, [])) if v[0] not in constants]
        self.outputs = values(graph.get(12, []))
