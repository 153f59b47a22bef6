#!/usr/bin/env python3
"""parameters.py LIBRARY --check | --write: docs/reference/parameters.md is made from the schemas
that libmodser_graph.so tells, so that names, kinds and defaults in it are those of the library."""
import ctypes
import pathlib
import sys

import operators

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/parameters.md"
KINDS = ("int", "float", "text", "ints", "floats", "graph")
MANY = 0xFFFF
HEAD = """# Operators of a StaticGraph

`tests/graph/parameters.py LIBRARY --write` makes this page from the schemas of
`libmodser_graph.so`. `modser_sg_op_create()` gives an operator the default of each parameter;
`modser_sg_op_set_param()` changes one. A parameter means what the attribute of the same purpose
means in the named operators of ONNX; operators without one are Tengine's, Caffe's or made by the
passes. `static-graph.md` says how to build a graph.

| operator | inputs, outputs | parameters: kind = default | operators of ONNX |
|---|---|---|---|
"""


class Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("f", ctypes.c_float), ("s", ctypes.c_char_p),
                ("ints", ctypes.POINTER(ctypes.c_int64)),
                ("floats", ctypes.POINTER(ctypes.c_float))]


class Attr(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("n", ctypes.c_size_t), ("value", Value)]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("default", Attr), ("is_rare", ctypes.c_bool)]


class Schema(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("fields", ctypes.POINTER(Field)), ("n_fields", ctypes.c_size_t),
                ("min_in", ctypes.c_uint), ("max_in", ctypes.c_uint),
                ("min_out", ctypes.c_uint), ("max_out", ctypes.c_uint)]


def schemas(library):
    lib = ctypes.CDLL(library)
    lib.modser_sg_op_schema_at.restype = ctypes.POINTER(Schema)
    lib.modser_sg_op_schema_at.argtypes = [ctypes.c_size_t]
    i = 0
    while schema := lib.modser_sg_op_schema_at(i):
        yield schema.contents
        i += 1


def default(attr):
    value = attr.value
    if KINDS[attr.kind] == "int":
        return str(value.i)
    if KINDS[attr.kind] == "float":
        return f"{value.f:g}"
    if KINDS[attr.kind] == "text":
        return f'"{value.s.decode()}"' if value.s else '""'
    if KINDS[attr.kind] == "ints":
        return str(value.ints[: attr.n])
    if KINDS[attr.kind] == "floats":
        return "[" + ", ".join(f"{x:g}" for x in value.floats[: attr.n]) + "]"
    return "none"


def count(least, most):
    if least == most:
        return str(least)
    return f"{least} or more" if most == MANY else f"{least} to {most}"


def page(library):
    of_onnx = {}
    for name, (_, ours) in operators.rows().items():
        for one in ours:
            of_onnx.setdefault(one, []).append(name)
    lines = []
    for s in sorted(schemas(library), key=lambda s: s.name):
        fields = [f"`{f.name.decode()}`: {KINDS[f.default.kind]} = {default(f.default)}"
                  for f in s.fields[: s.n_fields]] if s.n_fields else []
        lines.append(f"| {s.name.decode()} | {count(s.min_in, s.max_in)}; "
                     f"{count(s.min_out, s.max_out)} | {'; '.join(fields)} | "
                     f"{', '.join(sorted(of_onnx.get(s.name.decode(), [])))} |")
    return HEAD + "\n".join(lines) + f"\n\n{len(lines)} operators.\n"


if __name__ == "__main__":
    text = page(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is not what the schemas say: tests/graph/parameters.py --write")
