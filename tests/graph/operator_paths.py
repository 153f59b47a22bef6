#!/usr/bin/env python3
"""operator_paths.py [NAME ...]: which places of the sources an operator touches: of NAME, or, without
one, that of all there are they are those that docs/internals/graph.md names. A schema in one file of
graph/op/ and its row in the table there; rows in one file of the ONNX serializer; a kernel in one
file of the reference engine, if the row says so. Its name anywhere else is a fault, but in what is about
certain operators (ELSEWHERE). Then it sees that faults which are planted are found."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("graph", "runtime", "daemon", "client")  # others have TVM's names
SCHEMAS, TABLE = "graph/op/", "graph/op/table.h"
ONNX = "graph/serializer/onnx/"
REFERENCE = "runtime/engine/reference/"
# Those that a plan runs itself, or that passes make for an engine.
WITHOUT = """const input_op if_else loop scan quantized_binary quantized_convolution
quantized_mat_mul quantized_pooling quantized_table fused_convolution fused_product
fused_attention"""
OWN = (SCHEMAS, ONNX + "rows/", REFERENCE)
# Who may name operators beside these, and which: "" is any.
ELSEWHERE = {
    "graph/pass/": "",  # a pass is about certain operators
    "runtime/engine/native/": "",  # which nodes it claims
    "graph/serializer/caffe/": "",  # what each layer becomes
    "graph/serializer/mxnet/": "",
    "graph/serializer/tensorflow/": "",
    "graph/serializer/tflite/": "",
    "graph/serializer/build/": "",  # nodes that several formats add
    "graph/serializer/tmfile/forms_": "",  # how Tengine has each
    "graph/serializer/tmfile/rows.c": "",  # Tengine's numbers
    "graph/serializer/tmfile/param.c": "DepthToSpace Reduction",  # defaults of Tengine
    "graph/serializer/tmfile/nhwc.c": "",  # what each does to a layout
    ONNX + "elements.c": "",  # what its later opsets take
    ONNX + "constant.c": "Shape Range",  # extents that are known at a run
    "graph/ir/": "Const InputOp",  # those that compute nothing
    "graph/modser_graph.h": "Const InputOp",
    ONNX: "Const InputOp Noop",
    "graph/layout/views.c": "",  # which may write over their input
    "graph/layout/pieces.c": "",  # which only copy
    "runtime/plan/operations.c": "",  # how many operations each has
    "client/cli/measure/node_times.c": "",  # which only move elements
    "runtime/plan/outline": "Shape Size Loop",  # shapes without values
}


def sources():
    return {str(p.relative_to(ROOT)): p.read_text()
            for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.[ch]"))}


def rows_of(text, column=r"\w+"):
    """The names of the table's rows with that column."""
    return re.findall(rf"\tX\((\w+) ?, {column}\)", text)


def definitions(files, folder, what):
    """{row: files of @folder that define it, by itself or by a macro of theirs}"""
    found = re.compile(rf"\b{what}_(\w+) = \{{|^[A-Z_0-9]+\((\w+) ?,", re.M)
    homes = {}
    for path, text in files.items():
        if path.startswith(folder) and path.endswith(".c") and path != TABLE:
            for row in {own or by_macro for own, by_macro in found.findall(text)}:
                homes.setdefault(row, []).append(path)
    return homes


def names_of(files):
    """{the operator's name in files: its row in the table}"""
    names = {}
    for path, text in files.items():
        if path.startswith(SCHEMAS):
            for row, name in re.findall(r'\bmsd_op_(\w+) = \{\s*\.name = "(\w+)"', text):
                names[name] = row
            for row, name in re.findall(r'^[A-Z_0-9]+\((\w+) ?, "(\w+)"', text, re.M):
                names[name] = row
    return names


def allowed(path, name):
    if path.startswith(OWN):
        return True
    return any(path.startswith(place) and (not words or name in words.split())
               for place, words in ELSEWHERE.items())


def touched(files, name):
    row = names_of(files)[name]
    quoted = f'"{name}"'
    paths = {TABLE, *(f for f, text in files.items() if quoted in text)}
    if row in rows_of(files[TABLE], "KERNEL"):
        paths |= {*definitions(files, REFERENCE, "msd_kernel").get(row, [])}
    return sorted(paths)


def faults(files):
    names = names_of(files)
    said = []
    for folder, what, column in ((SCHEMAS, "msd_op", r"\w+"), (REFERENCE, "msd_kernel", "KERNEL")):
        homes = definitions(files, folder, what)
        for row in rows_of(files[TABLE], column):
            where = homes.get(row, [])
            if len(where) != 1:
                said.append(f"{TABLE}: {row} is defined in {where or 'no file'}, expected one")
    for row in set(rows_of(files[TABLE], "NO_KERNEL")) - set(WITHOUT.split()):
        said.append(f"{TABLE}: {row} has no kernel, so no model with it runs")
    for row in set(names.values()) - set(rows_of(files[TABLE])):
        said.append(f"{TABLE}: {row} has no row")
    homes = {}
    for path, text in files.items():
        if path.startswith(ONNX + "rows/rows_"):
            if "/rows_microsoft" in path:  # another domain
                continue
            for name in re.findall(r'^\s*(?:\{|REDUCE\()"(\w+)",\s*\d+,', text, re.M):
                homes.setdefault(name, set()).add(path)
    said += [f"ONNX's {name} has rows in {sorted(where)}, expected one file"
             for name, where in homes.items() if len(where) > 1]
    for path, text in files.items():
        for name in set(re.findall(r'"(\w+)"', text)) & set(names):
            if not allowed(path, name):
                said.append(f"{path} names {name}: an operator touches its own places alone")
    return said


def prove(files):
    """Each fault, planted, is found."""
    planted = {
        "names Concat": ("runtime/plan/plan.c", '\nconst char *special = "Concat";\n'),
        "names Neg": ("graph/ir/check.c", '\nconst char *special = "Neg";\n'),
        "concat is defined in": (SCHEMAS + "layer/softmax.c", "\nx msd_op_concat = {0};\n"),
        "neg is defined in": (REFERENCE + "layer/softmax.c", "\nx msd_kernel_neg = {0};\n"),
        "dft has no kernel": (TABLE, "\tX(dft, NO_KERNEL)\n"),
        "lost has no row": (SCHEMAS + "layer/softmax.c", '\nx msd_op_lost = {\n\t.name = "Lost"};\n'),
        "ONNX's Concat has rows": (ONNX + "rows/rows_ml.c", '\n\t{"Concat", 1, "Concat", "", NULL},\n'),
    }
    for what, (path, text) in planted.items():
        if not any(what in fault for fault in faults({**files, path: files[path] + text})):
            yield f"a planted fault is not found: {what}"


def main():
    files = sources()
    for name in sys.argv[1:]:
        if name not in names_of(files):
            sys.exit(f"operator_paths: {TABLE} has no operator {name}")
        print(f"{name}: {' '.join(touched(files, name))}")
    if len(sys.argv) > 1:
        return
    said = faults(files) or list(prove(files))
    print("\n".join(said + [f"operator_paths: {len(names_of(files))} operators, {len(said)} faults"]))
    sys.exit(bool(said))


main()
