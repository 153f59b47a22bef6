"""An independent writer of ONNX files, from the field numbers alone."""
import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """An int, a float, a text, or bytes, as their kinds are written."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, array, typed=False, **more):
    raw = b"".join(field(1, int(n)) for n in array.shape)
    raw += field(2, TYPES[array.dtype.name]) + field(8, name)
    if typed:
        where = {"float32": 4, "int64": 7, "float64": 10}.get(array.dtype.name, 5)
        body = (array.tobytes() if where in (4, 10)
                else b"".join(varint(int(v)) for v in array.ravel()))
        return raw + field(where, body)
    for key, value in more.get("external", {}).items():
        raw += field(13, field(1, key) + field(2, value))
    return raw + (field(14, 1) if "external" in more else field(9, array.tobytes()))


def value(name, dtype, shape):
    if shape is None:  # not even how many extents there are
        return field(1, name) + field(2, field(1, field(1, TYPES[dtype])))
    dims = b"".join(field(1, field(2, n) if isinstance(n, str) else field(1, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + field(2, dims)))


class Graph:
    """A graph, in a model or as the attribute of a node."""

    def __init__(self, nodes, inputs, outputs, constants=(), name="g"):
        self.raw = b"".join(field(1, n) for n in nodes) + field(2, name)
        self.raw += b"".join(field(5, c) for c in constants)
        self.raw += b"".join(field(11, i) for i in inputs)
        self.raw += b"".join(field(12, o) for o in outputs)


class Reference:
    """An attribute that is what the call of a function says of @name: of a float's kind."""

    def __init__(self, name):
        self.name = name


def attribute(name, v):
    if isinstance(v, Reference):
        return field(1, name) + field(20, 1) + field(21, v.name)
    kinds = {int: (3, 2), float: (2, 1), str: (4, 3)}
    if isinstance(v, list):
        number, kind = {float: (7, 6), str: (9, 8)}.get(type(v[0]) if v else int, (8, 7))
        return field(1, name) + b"".join(field(number, one) for one in v) + field(20, kind)
    if isinstance(v, Graph):
        return field(1, name) + field(6, v.raw) + field(20, 5)
    if isinstance(v, bytes):
        return field(1, name) + field(5, v) + field(20, 4)
    number, kind = kinds[type(v)]
    return field(1, name) + field(number, v) + field(20, kind)


def node(op, inputs, outputs, name="n", domain=None, **attributes):
    raw = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    raw += field(3, name) + field(4, op)
    raw += b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
    return raw + (field(7, domain) if domain else b"")


def model(nodes, inputs, outputs, constants=(), opset=17, ir=8, name="g"):
    graph = Graph(nodes, inputs, outputs, constants, name)
    return (field(1, ir) + field(2, "test") + field(7, graph.raw) +
            field(8, field(1, "") + field(2, opset)))


def with_functions(raw, *functions):
    """The model @raw, which has operators of the domain "local", too."""
    return of_domain(raw, "local", 1) + b"".join(field(25, f) for f in functions)


def function(name, inputs, outputs, nodes, opset=17, **defaults):
    raw = field(1, name) + b"".join(field(4, i) for i in inputs)
    raw += b"".join(field(5, o) for o in outputs) + b"".join(field(7, n) for n in nodes)
    raw += field(9, field(1, "") + field(2, opset)) + field(10, "local")
    return raw + b"".join(field(11, attribute(k, v)) for k, v in defaults.items())


def of_domain(raw, domain, version):
    """The model @raw, which has operators of another domain, too."""
    return raw + field(8, field(1, domain) + field(2, version))


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
