#!/usr/bin/env python3
"""Write tests/corpus/tflite and tests/corpus/mxnet: one behaviour a file, named for it. Independent
writers, from the formats' documents alone. Run it after changing it; --check tells when that was
forgotten."""
import json
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
FLOAT32, INT32, INT8 = 0, 2, 9


def aligned(raw, size=4):
    return raw + b"\0" * (-len(raw) % size)


class Flat:
    """A FlatBuffer: objects are written front to back, and offsets point forwards."""

    def __init__(self, ident=b"TFL3"):
        self.bytes = bytearray(struct.pack("<I4s", 0, ident))
        self.late = []

    def table(self, *fields):
        """Each field: None, ("b", n), ("i", n), ("f", n), ("q", n), or ("@", function that writes)."""
        kinds = {"b": 1, "i": 4, "f": 4, "q": 8, "@": 4}
        at, places = 4, []
        for field in fields:
            if field is None:
                places.append(0)
                continue
            size = kinds[field[0]]
            at += -at % size
            places.append(at)
            at += size
        total = at + -at % 4
        vtable = struct.pack(f"<{2 + len(places)}H", 4 + 2 * len(places), total, *places)
        self.bytes += b"\0" * (-len(self.bytes) % 8)
        start = len(self.bytes)
        body = bytearray(total)
        skip = len(aligned(vtable, 8))
        where = start + skip
        struct.pack_into("<i", body, 0, skip)
        for field, place in zip(fields, places):
            if place and field[0] != "@":
                struct.pack_into("<" + field[0], body, place, field[1])
        self.bytes += aligned(vtable, 8) + body
        for field, place in zip(fields, places):
            if place and field[0] == "@":
                self.point(where + place, field[1])
        return where

    def point(self, place, write):
        to = write()
        struct.pack_into("<I", self.bytes, place, to - place)

    def vector(self, raw, n, size=4):
        self.bytes += b"\0" * (-(len(self.bytes) + 4) % size)
        while (len(self.bytes)) % 4:
            self.bytes += b"\0"
        at = len(self.bytes)
        self.bytes += struct.pack("<I", n) + raw
        return at

    def ints(self, *v):
        return "@", lambda: self.vector(struct.pack(f"<{len(v)}i", *v), len(v))

    def longs(self, *v):
        return "@", lambda: self.vector(struct.pack(f"<{len(v)}q", *v), len(v), 8)

    def floats(self, *v):
        return "@", lambda: self.vector(struct.pack(f"<{len(v)}f", *v), len(v))

    def raw(self, raw):
        return "@", lambda: self.vector(aligned(raw), len(raw), 16)

    def text(self, text):
        return "@", lambda: self.vector(text.encode() + b"\0", len(text))

    def child(self, *fields):
        return "@", lambda: self.table(*fields)

    def tables(self, *tables):
        def write():
            at = self.vector(b"\0" * (4 * len(tables)), len(tables))
            for i, fields in enumerate(tables):
                self.point(at + 4 + 4 * i, lambda fields=fields: self.table(*fields))
            return at
        return "@", write

    def end(self, root):
        struct.pack_into("<I", self.bytes, 0, root)
        return bytes(self.bytes)


def tflite(tensors, operators, inputs, outputs, version=3, subgraphs=1, signature=None):
    """@tensors: (name, shape, type, bytes or None, (scales, zeros, axis) or None). @operators:
    (code or custom name, inputs, outputs, options as a function of the file, or None)."""
    f = Flat()
    buffers, rows = [()], []
    for name, shape, kind, data, quant in tensors:
        index = 0
        if data is not None:
            buffers.append((f.raw(data),))
            index = len(buffers) - 1
        q = None
        if quant:
            q = f.child(None, None, f.floats(*quant[0]), f.longs(*quant[1]), None, None,
                        ("i", quant[2]))
        rows.append((f.ints(*shape), ("b", kind), ("i", index), f.text(name), q))
    codes = [(("b", 32), f.text(code), ("i", 1), ("i", 32)) if isinstance(code, str)
             else (("b", min(code, 127)), None, ("i", 1), ("i", code)) for code, *_ in operators]
    ops = []
    for i, (_, ins, outs, options, *kind) in enumerate(operators):
        ops.append((("i", i), f.ints(*ins), f.ints(*outs), ("b", kind[0] if kind else 1),
                    f.child(*options(f)) if options else None))
    graph = (f.tables(*rows), f.ints(*inputs), f.ints(*outputs), f.tables(*ops), f.text("main"))
    signatures = None
    if signature:
        signatures = f.tables((f.tables((f.text(signature[0]), ("i", inputs[0]))),
                               f.tables((f.text(signature[1]), ("i", outputs[0]))),
                               f.text("serving_default")))
    return f.end(f.table(("i", version), f.tables(*codes), f.tables(*[graph] * subgraphs),
                         f.text("made by hand"), f.tables(*buffers), None, None, signatures))


def floats(*v):
    return struct.pack(f"<{len(v)}f", *v)


def words(*v):
    return struct.pack(f"<{len(v)}i", *v)


def convolution(code=3, weights=(1, 2, 2, 1), data=floats(1, 2, 3, 4), **kw):
    """x [1, 3, 3, 1] and a kernel of 2 x 2, VALID, then a ReLU in the options."""
    return tflite([("x", (1, 3, 3, 1), FLOAT32, None, None), ("w", weights, FLOAT32, data, None),
                   ("b", (1,), FLOAT32, floats(-1), None),
                   ("y", (1, 2, 2, 1), FLOAT32, None, None)],
                  [(code, (0, 1, 2), (3,), lambda f: (("b", 1), ("i", 1), ("i", 1), ("b", 1)))],
                  (0,), (3,), **kw)


def quantized():
    """int8 in and out, weights with a scale for each row."""
    return tflite([("x", (1, 2), INT8, None, ((0.5,), (1,), 0)),
                   ("w", (2, 2), INT8, bytes([1, 2, 3, 4]), ((0.5, 0.25), (0, 0), 0)),
                   ("b", (2,), INT32, words(4, -8), ((0.25, 0.125), (0, 0), 0)),
                   ("y", (1, 2), INT8, None, ((1.0,), (-3,), 0))],
                  [(9, (0, 1, 2), (3,), lambda f: (("b", 0),))], (0,), (3,))


def one(code, shapes, constants=(), options=None, kind=FLOAT32):
    """One operator: x, constants of int32, and y."""
    tensors = [("x", shapes[0], kind, None, None)]
    tensors += [(f"c{i}", (len(v),), INT32, words(*v), None) for i, v in enumerate(constants)]
    tensors.append(("y", shapes[1], kind, None, None))
    last = len(tensors) - 1
    return tflite(tensors, [(code, range(last), (last,), options)], (0,), (last,))


def tflite_files():
    relu = lambda **kw: tflite([("x", (2,), 0, None, None), ("y", (2,), 0, None, None)],  # noqa: E731
                               [(19, (0,), (1,), None)], (0,), (1,), **kw)
    slices = lambda f: (("i", 0), ("i", 1), ("i", 0), ("i", 0), ("i", 1))  # noqa: E731
    files = {
        "accept_convolution": convolution(),
        "accept_quantized": quantized(),
        "accept_signature": relu(signature=("image", "label")),
        "accept_strided_slice": one(45, ((3, 4), (4,)), ((1, 0), (2, 0), (1, 1)), slices),
        "accept_transpose": one(39, ((2, 3), (3, 2)), ((1, 0),)),
        "accept_space_to_batch": tflite(
            [("x", (1, 2, 2, 1), 0, None, None), ("k", (2,), INT32, words(2, 2), None),
             ("p", (2, 2), INT32, words(0, 0, 0, 0), None), ("y", (4, 1, 1, 1), 0, None, None)],
            [(38, (0, 1, 2), (3,), None)], (0,), (3,)),
        "reject_version": relu(version=2),
        "reject_subgraphs": relu(subgraphs=2),
        "reject_custom": tflite([("x", (2,), 0, None, None), ("y", (2,), 0, None, None)],
                                [("MyOperator", (0,), (1,), None)], (0,), (1,)),
        "reject_builtin": one(16, ((2,), (2,))),
        "reject_unknown_builtin": one(999, ((2,), (2,))),
        "reject_unwritten": tflite([("x", (2,), 0, None, None), ("y", (2,), 0, None, None),
                                    ("z", (2,), 0, None, None)],
                                   [(0, (0, 2), (1,), None), (19, (1,), (2,), None)], (0,), (1,)),
        "reject_two_writers": tflite([("x", (2,), 0, None, None), ("y", (2,), 0, None, None)],
                                     [(19, (0,), (1,), None)] * 2, (0,), (1,)),
        "reject_short_constant": convolution(data=floats(1, 2, 3)),
        "reject_weights": convolution(weights=(1, 4), data=floats(1, 2, 3, 4)),
        "reject_missing_tensor": tflite([("x", (2,), 0, None, None)],
                                        [(19, (0,), (7,), None)], (0,), (0,)),
        "reject_string": tflite([("x", (2,), 5, None, None), ("y", (2,), 0, None, None)],
                                [(19, (0,), (1,), None)], (0,), (1,)),
    }
    return {f"tflite/{name}.bin": data for name, data in files.items()}


def array(values, shape, version=2, flag=0, pack="f"):
    head = {0: struct.pack(f"<I{len(shape)}I", len(shape), *shape),
            1: struct.pack(f"<II{len(shape)}q", 0xF993FAC8, len(shape), *shape),
            2: struct.pack(f"<IiI{len(shape)}q", 0xF993FAC9, 0, len(shape), *shape),
            3: struct.pack(f"<Iii{len(shape)}q", 0xF993FACA, 0, len(shape), *shape)}[version]
    return head + struct.pack(f"<iii{len(values)}{pack}", 1, 0, flag, *values)


def params(arrays, magic=0x112, names=None):
    raw = struct.pack("<QQQ", magic, 0, len(arrays)) + b"".join(a for _, a in arrays)
    names = [name for name, _ in arrays] if names is None else names
    raw += struct.pack("<Q", len(names))
    return raw + b"".join(struct.pack("<Q", len(n)) + n.encode() for n in names)


def symbol(nodes, heads, attrs="attrs"):
    rows = [{"op": op, "name": name, attrs: a, "inputs": [[i, 0, 0] for i in inputs]}
            for op, name, a, inputs in nodes]
    return json.dumps({"nodes": rows, "arg_nodes": [], "heads": [[h, 0, 0] for h in heads]}).encode()


def both(sym, par):
    """A file of the fuzz target: the length of the symbol, the symbol, the parameters."""
    return struct.pack("<I", len(sym)) + sym + par


def mxnet_files():
    w, b = array([1, 2, 3, 4, 5, 6], (2, 3)), array([1, -1], (2,))
    fc = [("null", "data", {}, []), ("null", "w", {}, []), ("null", "b", {}, []),
          ("FullyConnected", "fc", {"num_hidden": "2"}, [0, 1, 2])]
    out = fc + [("null", "label", {}, []), ("SoftmaxOutput", "softmax", {}, [3, 4])]
    good = params([("arg:w", w), ("arg:b", b)])
    net = symbol(fc, [3])
    files = {
        "accept_fully_connected": (net, good),
        "accept_softmax_output": (symbol(out, [5]), good),
        "accept_param_attributes": (symbol(fc, [3], "param"), good),
        "accept_legacy_arrays": (net, params([("arg:w", array([1, 2, 3, 4, 5, 6], (2, 3), 0)),
                                              ("arg:b", array([1, -1], (2,), 1))])),
        "accept_version_3": (net, params([("arg:w", array([1, 2, 3, 4, 5, 6], (2, 3), 3)),
                                          ("b", b)])),
        "reject_operator": (symbol(fc[:3] + [("MyOperator", "fc", {}, [0])], [3]), good),
        "reject_number": (symbol(fc[:3] + [("FullyConnected", "fc", {"num_hidden": "two"},
                                            [0, 1, 2])], [3]), good),
        "reject_cycle": (symbol([("null", "data", {}, []), ("relu", "a", {}, [2]),
                                 ("relu", "b", {}, [1])], [2]), good),
        "reject_no_heads": (symbol(fc, []), good),
        "reject_no_shape": (symbol([("null", "data", {}, []), ("relu", "a", {}, [0])], [1]), good),
        "reject_depth": (b'{"nodes": ' + b"[" * 10000 + b"]" * 10000 + b"}", good),
        "reject_json": (b'{"nodes": [', good),
        "reject_magic": (net, params([("arg:w", w)], 0x113)),
        "reject_long_array": (net, params([("arg:w", w[:-4] + b"")])[:-20]),
        "reject_sparse": (net, params([("arg:w", w[:4] + words(1) + w[8:]), ("arg:b", b)])),
        "reject_element_type": (net, params([("arg:w", array([1, 2, 3, 4, 5, 6], (2, 3), 2, 99))])),
        "reject_names": (net, params([("arg:w", w), ("arg:b", b)], names=["arg:w"])),
        "reject_twice": (net, params([("arg:w", w), ("arg:w", w)])),
    }
    return {f"mxnet/{name}.bin": both(*pair) for name, pair in files.items()}


def main():
    wanted = {CORPUS / name: data for name, data in (tflite_files() | mxnet_files()).items()}
    there = [p for kind in ("tflite", "mxnet") for p in (CORPUS / kind).glob("*.bin")]
    settle(__file__, wanted, there)


if __name__ == "__main__":
    main()
