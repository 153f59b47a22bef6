#!/usr/bin/env python3
"""Write tests/corpus/tensorflow and tests/corpus/bundle: one behaviour a file, named for it. An
independent writer, from the formats' documents alone. A file of tensorflow is the length of the model,
the model (a GraphDef or a SavedModel), and the table of its variables. Run it after changing it;
--check tells when that was forgotten."""
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
FLOAT, INT32, STRING, BOOL, RESOURCE, VARIANT = 1, 3, 7, 10, 20, 21
MAGIC = 0xdb4775248b80fb57


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7f | 0x80])
        v >>= 7
    return out + bytes([v])


def part(number, raw):
    raw = raw.encode() if isinstance(raw, str) else raw
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def number(field, v):
    return varint(field << 3) + varint(v)


def shape(dims):
    return b"".join(part(2, number(1, d)) for d in dims)


def floats(values, dims):
    return (number(1, FLOAT) + part(2, shape(dims))
            + part(4, struct.pack(f"<{len(values)}f", *values)))


def ints(values, dims=None):
    dims = [len(values)] if dims is None else dims
    return (number(1, INT32) + part(2, shape(dims))
            + part(7, b"".join(varint(v) for v in values)))


def texts(*values):
    return number(1, STRING) + part(2, shape([len(values)])) + b"".join(part(8, v) for v in values)


def kind(v):
    return number(6, v)


def whole(v):
    return number(3, v)


def text(v):
    return part(2, v)


def dims(v):
    return part(7, shape(v))


def tensor(v):
    return part(8, v)


def function_of(name):
    return part(10, part(1, name))


def listed(*values):
    return part(1, part(3, b"".join(varint(v) for v in values)))


def node(name, op, inputs=(), **attrs):
    raw = part(1, name) + part(2, op) + b"".join(part(3, i) for i in inputs)
    return raw + b"".join(part(5, part(1, k) + part(2, v)) for k, v in attrs.items())


def function(name, args, returns, nodes):
    """@args and @returns: (name, type); returns have the text of what they read, too."""
    signature = part(1, name)
    signature += b"".join(part(2, part(1, n) + number(3, t)) for n, t in args)
    signature += b"".join(part(3, part(1, n) + number(3, t)) for n, t, _ in returns)
    return (part(1, signature) + b"".join(part(3, n) for n in nodes)
            + b"".join(part(4, part(1, n) + part(2, link)) for n, _, link in returns))


def graph(nodes, functions=()):
    library = part(2, b"".join(part(1, f) for f in functions)) if functions else b""
    return b"".join(part(1, n) for n in nodes) + library + part(4, number(1, 2000))


def saved(graph_def, inputs, outputs, restore="", name="serving_default"):
    def infos(field, rows):
        return b"".join(part(field, part(1, key) + part(2, part(1, t) + number(2, FLOAT)
                                                        + part(3, shape(d))))
                        for key, t, d in rows)
    meta = part(1, part(4, "serve")) + part(2, graph_def)
    meta += part(3, part(3, restore)) if restore else b""
    meta += part(5, part(1, name) + part(2, infos(1, inputs) + infos(2, outputs)))
    return number(1, 1) + part(2, meta)


def block(entries, kind=0):
    raw, last = b"", b""
    for key, value in entries:
        same = 0
        while same < min(len(key), len(last)) and key[same] == last[same]:
            same += 1
        raw += varint(same) + varint(len(key) - same) + varint(len(value)) + key[same:] + value
        last = key
    return raw + struct.pack("<II", 0, 1) + bytes([kind]) + b"\0\0\0\0"


def bundle(variables, shards=1, kind=0, magic=MAGIC, header=True, slices=False):
    """@variables: {key: (dims, floats)}, their bytes one after another in a file of data."""
    at, entries = 0, [(b"", number(1, shards))] if header else []
    for key in sorted(variables):
        extents, values = variables[key]
        entry = (number(1, FLOAT) + part(2, shape(extents)) + number(4, at)
                 + number(5, 4 * values))
        entries.append((key.encode(), entry + (part(7, b"") if slices else b"")))
        at += 4 * values
    data = block(entries, kind)
    index_at = len(data)
    index = block([(b"z", varint(0) + varint(index_at - 5))])
    footer = varint(0) + varint(0) + varint(index_at) + varint(len(index) - 5)
    return data + index + footer + b"\0" * (40 - len(footer)) + struct.pack("<Q", magic)


def both(model, table=b""):
    return struct.pack("<I", len(model)) + model + table


def placeholder(name="x", extents=(-1, 4), type_=FLOAT):
    return node(name, "Placeholder", dtype=kind(type_), shape=dims(extents))


def constant(name, value, inputs=()):
    return node(name, "Const", inputs, value=tensor(value))


def convolution(data=(1, 2, 3, 4), padding="SAME"):
    return graph([placeholder(extents=(1, 3, 3, 1)),
                  constant("w", floats(data, (2, 2, 1, 1))),
                  node("y", "Conv2D", ("x", "w"), strides=listed(1, 1, 1, 1),
                       padding=text(padding), T=kind(FLOAT)),
                  constant("b", floats((1,), (1,))),
                  node("z", "BiasAdd", ("y", "b"), T=kind(FLOAT))])


def computed_shape():
    """A Reshape to a shape of which one extent is that of the input."""
    return graph([placeholder(extents=(-1, 2, 2)), node("s", "Shape", ("x",), T=kind(FLOAT)),
                  constant("zero", ints([0])), constant("one", ints([1])),
                  node("n", "StridedSlice", ("s", "zero", "one", "one"),
                       shrink_axis_mask=whole(1), T=kind(INT32)),
                  constant("four", ints([4], [])),
                  node("p", "Pack", ("n", "four"), T=kind(INT32)),
                  node("y", "Reshape", ("x", "p"), T=kind(FLOAT))])


def loop_functions(step="AddV2"):
    args = [("i", INT32), ("v", FLOAT)]
    return [
        function("c", args, [("go", BOOL, "less:z:0")],
                 [constant("n", ints([3], [])), node("less", "Less", ("i", "n:output:0"),
                                                     T=kind(INT32))]),
        function("b", args, [("i_out", INT32, "add:z:0"), ("v_out", FLOAT, "twice:z:0")],
                 [constant("one", ints([1], [])),
                  node("add", step, ("i", "one:output:0"), T=kind(INT32)),
                  node("twice", "AddV2", ("v", "v"), T=kind(FLOAT))])]


def loop(functions=None):
    return graph([placeholder(), constant("zero", ints([0], [])),
                  node("w", "StatelessWhile", ("zero", "x"), cond=function_of("c"),
                       body=function_of("b")),
                  node("y", "Identity", ("w:1",), T=kind(FLOAT))],
                 functions or loop_functions())


def filled_list():
    """A loop that fills a list of three elements in turn."""
    args = [("i", INT32), ("l", VARIANT), ("x", FLOAT)]
    body = function("b", args, [("i_out", INT32, "add:z:0"), ("l_out", VARIANT, "set:output:0"),
                                ("x_out", FLOAT, "x")],
                    [constant("one", ints([1], [])),
                     node("add", "AddV2", ("i", "one:output:0"), T=kind(INT32)),
                     node("f", "Cast", ("i",), SrcT=kind(INT32), DstT=kind(FLOAT)),
                     node("item", "Mul", ("x", "f:y:0"), T=kind(FLOAT)),
                     node("set", "TensorListSetItem", ("l", "i", "item:z:0"),
                          element_dtype=kind(FLOAT))])
    cond = function("c", args, [("go", BOOL, "less:z:0")],
                    [constant("n", ints([3], [])),
                     node("less", "Less", ("i", "n:output:0"), T=kind(INT32))])
    return graph([placeholder(), constant("zero", ints([0], [])),
                  constant("size", ints([3], [])), constant("element", ints([-1, 4])),
                  node("r", "TensorListReserve", ("element", "size"), element_dtype=kind(FLOAT)),
                  node("w", "While", ("zero", "r", "x"), cond=function_of("c"),
                       body=function_of("b")),
                  node("y", "TensorListStack", ("w:1", "element"), element_dtype=kind(FLOAT))],
                 [cond, body])


def branches(returns=(("r", FLOAT, "n:y:0"),)):
    one = function("t", [("x", FLOAT)], returns,
                   [node("n", "Neg", ("x",), T=kind(FLOAT))])
    two = function("e", [("x", FLOAT)], [("r", FLOAT, "n:y:0")],
                   [node("n", "Relu", ("x",), T=kind(FLOAT))])
    return graph([placeholder(extents=(2,)), placeholder("p", (), BOOL),
                  node("y", "If", ("p", "x"), then_branch=function_of("t"),
                       else_branch=function_of("e"))], [one, two])


def old_loop(cond="cond"):
    return graph([placeholder(extents=(2,)), constant("zero", ints([0], [])),
                  constant("two", floats((2,), ())),
                  node("e0", "Enter", ("zero",), frame_name=text("f"), T=kind(INT32)),
                  node("e1", "Enter", ("x",), frame_name=text("f"), T=kind(FLOAT)),
                  node("k", "Enter", ("two",), frame_name=text("f"), T=kind(FLOAT)),
                  node("m0", "Merge", ("e0", "n0"), T=kind(INT32)),
                  node("m1", "Merge", ("e1", "n1"), T=kind(FLOAT)),
                  constant("three", ints([3], []), ("^m0",)),
                  node("less", "Less", ("m0", "three"), T=kind(INT32)),
                  node("cond", "LoopCond", ("less",)),
                  node("s0", "Switch", ("m0", cond), T=kind(INT32)),
                  node("s1", "Switch", ("m1", cond), T=kind(FLOAT)),
                  constant("one", ints([1], []), ("^s0",)),
                  node("add", "Add", ("s0:1", "one"), T=kind(INT32)),
                  node("mul", "Mul", ("s1:1", "k"), T=kind(FLOAT)),
                  node("n0", "NextIteration", ("add",), T=kind(INT32)),
                  node("n1", "NextIteration", ("mul",), T=kind(FLOAT)),
                  node("y", "Exit", ("s1",), T=kind(FLOAT))])


def old_condition():
    return graph([placeholder(extents=(2,)), placeholder("p", (), BOOL),
                  node("s", "Switch", ("x", "p"), T=kind(FLOAT)),
                  node("a", "Neg", ("s:1",), T=kind(FLOAT)),
                  node("b", "Relu", ("s",), T=kind(FLOAT)),
                  node("y", "Merge", ("b", "a"), T=kind(FLOAT))])


def with_variables(keys=("one", "two"), **kw):
    restore = function("restore", [("prefix", STRING), ("a", RESOURCE), ("b", RESOURCE)],
                       [("done", STRING, "prefix")],
                       [constant("names", texts(*keys)), constant("slices", texts("", "")),
                        node("r", "RestoreV2", ("prefix", "names:output:0", "slices:output:0")),
                        node("i", "Identity", ("r:tensors:0",)),
                        node("s0", "AssignVariableOp", ("a", "i:output:0")),
                        node("j", "Identity", ("r:tensors:1",)),
                        node("s1", "AssignVariableOp", ("b", "j:output:0"))])
    call = function("serve", [("x", FLOAT), ("w", RESOURCE), ("b", RESOURCE)],
                    [("y", FLOAT, "add:z:0")],
                    [node("w0", "ReadVariableOp", ("w",), dtype=kind(FLOAT)),
                     node("b0", "ReadVariableOp", ("b",), dtype=kind(FLOAT)),
                     node("m", "MatMul", ("x", "w0:value:0"), T=kind(FLOAT)),
                     node("add", "BiasAdd", ("m:product:0", "b0:value:0"), T=kind(FLOAT))])
    raw = graph([placeholder("serving_default_x", (-1, 2)),
                 node("weights", "VarHandleOp", dtype=kind(FLOAT)),
                 node("bias", "VarHandleOp", dtype=kind(FLOAT)),
                 node("prefix", "Placeholder", dtype=kind(STRING), shape=dims(())),
                 node("call", "StatefulPartitionedCall", ("serving_default_x", "weights", "bias"),
                      f=function_of("serve")),
                 node("restored", "StatefulPartitionedCall", ("prefix", "weights", "bias"),
                      f=function_of("restore"))], [restore, call])
    return saved(raw, [("x", "serving_default_x:0", (-1, 2))], [("y", "call:0", (-1, 3))],
                 "restored", **kw)


TABLE = {"one": ((2, 3), 6), "two": ((3,), 3)}


def rolled():
    """The angles of the elements, rolled by one place."""
    return graph([placeholder(), constant("one", ints([1])), constant("left", floats((-1,), ())),
                  node("r", "Roll", ("x", "one", "one"), T=kind(FLOAT)),
                  node("y", "Atan2", ("r", "left"), T=kind(FLOAT))])


def written():
    """Row 0 of what has one row more, by the sums of segments."""
    return graph([placeholder(extents=(3, 2)), constant("ids", ints([0, 0, 1])),
                  node("s", "SegmentSum", ("x", "ids"), T=kind(FLOAT)),
                  constant("at", ints([1], [1, 1])), constant("row", floats((7, 8), (1, 2))),
                  node("y", "TensorScatterUpdate", ("s", "at", "row"), T=kind(FLOAT))])


def kept():
    """Boxes that do not overlap a better one."""
    return graph([placeholder(extents=(3, 4)), constant("scores", floats((1, 3, 2), (3,))),
                  constant("most", ints([3], [])), constant("overlap", floats((0.5,), ())),
                  constant("least", floats((0,), ())),
                  node("k", "NonMaxSuppressionV3", ("x", "scores", "most", "overlap", "least"),
                       T=kind(FLOAT)),
                  node("y", "Cast", ("k",), SrcT=kind(INT32), DstT=kind(FLOAT))])


def relu(op="Relu", inputs=("x",), **attrs):
    return graph([placeholder(), node("y", op, inputs, T=kind(FLOAT), **attrs)])


def calls(n, cycle):
    """Functions that call the next one, and the last one the first."""
    def body(i):
        to = f"f{(i + 1) % n}" if cycle or i + 1 < n else None
        inner = (node("c", "PartitionedCall", ("x",), f=function_of(to)) if to
                 else node("c", "Relu", ("x",), T=kind(FLOAT)))
        return function(f"f{i}", [("x", FLOAT)], [("r", FLOAT, "c:output:0")], [inner])
    return graph([placeholder(), node("y", "f0", ("x",))], [body(i) for i in range(n)])


def tensorflow_files():
    return {
        "accept_relu": both(relu()),
        "accept_convolution": both(convolution()),
        "accept_kept": both(kept()),
        "accept_rolled": both(rolled()),
        "accept_selu": both(relu("Selu")),
        "accept_written": both(written()),
        "accept_computed_shape": both(computed_shape()),
        "accept_loop": both(loop()),
        "accept_list": both(filled_list()),
        "accept_branches": both(branches()),
        "accept_old_loop": both(old_loop()),
        "accept_old_condition": both(old_condition()),
        "accept_calls": both(calls(60, False)),
        "accept_variables": both(with_variables(), bundle(TABLE)),
        "reject_no_results": both(branches(())),
        "reject_operator": both(relu("MyOperator")),
        "reject_table": both(relu("LookupTableFindV2")),
        "reject_input": both(relu(inputs=("nothing",))),
        "reject_cycle": both(graph([placeholder(), node("y", "Relu", ("z",)),
                                    node("z", "Relu", ("y",)), node("w", "Relu", ("z",))])),
        "reject_function_cycle": both(calls(3, True)),
        "reject_function_depth": both(calls(70, False)),
        "reject_two_names": both(graph([placeholder(), placeholder()])),
        "reject_constant": both(convolution(data=(1, 2, 3))),
        "reject_nothing": both(graph([placeholder()])),
        "reject_variable": both(graph([node("v", "VarHandleOp", dtype=kind(FLOAT)),
                                       node("y", "ReadVariableOp", ("v",), dtype=kind(FLOAT))])),
        "reject_text": both(graph([placeholder("x", (-1,), STRING), node("y", "Relu", ("x",))])),
        "reject_old_loop": both(old_loop("less")),
        "reject_signature": both(with_variables(name="other"), bundle(TABLE)),
        "reject_missing_variables": both(with_variables()),
        "reject_missing_key": both(with_variables(("one", "three")), bundle(TABLE)),
        "reject_variable_bytes": both(with_variables(), bundle(TABLE | {"two": ((4,), 3)})),
        "reject_variable_place": both(with_variables(), bundle(TABLE | {"one": ((2000, 3), 6000)})),
        "reject_slices": both(with_variables(), bundle(TABLE, slices=True)),
    }


def bundle_files():
    many = {f"layer_{i}/kernel/.ATTRIBUTES/VARIABLE_VALUE": ((2,), 2) for i in range(20)}
    good = bundle(TABLE)
    return {
        "accept_two": good,
        "accept_many": bundle(many),
        "reject_type": bundle(TABLE, kind=1),
        "reject_mark": bundle(TABLE, magic=0),
        "reject_no_header": bundle(TABLE, header=False),
        "reject_no_shards": bundle(TABLE, shards=0),
        "reject_short": good[-40:],
        "reject_place": good[:-48] + varint(0) + varint(0) + varint(1 << 40) + varint(9)
        + b"\0" * 31 + good[-8:],
        "reject_long_key": bundle({"k" * 5000: ((2,), 2)}),
        "reject_shared_key": good.replace(b"\x00\x03\x10one", b"\x09\x03\x10one"),
    }


def main():
    files = {f"tensorflow/{n}.bin": d for n, d in tensorflow_files().items()}
    files |= {f"bundle/{n}.bin": d for n, d in bundle_files().items()}
    wanted = {CORPUS / name: data for name, data in files.items()}
    there = [p for kind in ("tensorflow", "bundle") for p in (CORPUS / kind).glob("*.bin")]
    settle(__file__, wanted, there)


if __name__ == "__main__":
    main()
