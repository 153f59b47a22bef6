"""Every operator of tmfiles, one by one: each field of its structure is read and written again in
its place; Tengine's own operators compute what its kernels do, here in numpy; the others are refused
by name."""
import struct

import harness
import numpy as np
import pytest
from tmfile_fields import EVERY, MISSING, Tmfile
from tmfile_writer import File, floats, words

CONST, INPUT = 4, 12
RANDOM = np.random.default_rng(5)


def fields_of(kinds):
    """A value for each field, all different."""
    made = {"i": lambda i: 20 + i, "f": lambda i: 0.5 + i, "b": lambda i: 1,
            "I": lambda i: [20 + i, -3, 5], "F": lambda i: [0.5 + i, -2.0]}
    return [made[kind](i) for i, kind in enumerate(kinds)]


def pack(file, kinds, values):
    raw = b""
    for kind, value in zip(kinds, values):
        if kind == "b":
            raw += bytes([value])
            continue
        raw += b"\x55" * (-len(raw) % 4)
        if kind in "IF":
            value = file.put(words(len(value)) + (words if kind == "I" else floats)(*value))
        raw += struct.pack("<f" if kind == "f" else "<i", value)
    return raw + b"\x55" * (-len(raw) % 4)


def model(kind, kinds, values, inputs, out=(1,)):
    """The input x, further constants, and one operator."""
    file, nodes, tensors, buffers = File(), [], [], []
    for i, x in enumerate(inputs):
        is_const = i > 0
        nodes.append(file.node(i, f"n{i}", CONST if is_const else INPUT, [], [i]))
        dtype = {"float32": 0, "int32": 4}[str(x.dtype)]
        tensors.append(file.tensor(i, f"t{i}", 2 if is_const else 3, x.shape, dtype, len(buffers)))
        if is_const:
            buffers.append(file.put(words(x.nbytes, file.put(x.tobytes()))))
    n = len(inputs)
    raw = pack(file, kinds, values)
    nodes.append(file.node(n, "op", kind, list(range(n)), [n], raw))
    tensors.append(file.tensor(n, "y", 1, out))
    return file.end(nodes, tensors, buffers, [0], [n])


def convert(folder, raw):
    (folder / "a.tmfile").write_bytes(raw)
    return harness.run(harness.BIN / "modser", "convert", folder / "a.tmfile", "-o",
                       folder / "b.tmfile")


@pytest.mark.parametrize("kind", EVERY, ids=[name for name, _ in EVERY.values()])
def test_each_field_is_read_and_written(tmp_path, kind):
    name, kinds = EVERY[kind]
    values = fields_of(kinds)
    for n in range(1, 8):  # as many inputs as it takes
        said = convert(tmp_path, model(kind, kinds, values, [np.zeros(3, "f4")] * n))
        if "inputs" not in said.err:
            break
    assert said.status == 0, said
    file = Tmfile((tmp_path / "b.tmfile").read_bytes(), origin=3)
    assert file.operators() == [name]
    assert list(file.only(name).values()) == values


@pytest.mark.parametrize("kind", MISSING, ids=list(MISSING.values()))
def test_what_is_not_there_is_refused_by_its_name(tmp_path, kind):
    said = convert(tmp_path, model(kind, "", [], [np.zeros(3, "f4")]))
    assert said.status != 0
    assert f'node 1 "op": Tengine\'s operator {MISSING[kind]} is not supported' in said.err


def test_the_old_number_of_resize_is_read(tmp_path):
    said = convert(tmp_path, model(2, "ffi", [2.0, 4.0, 1], [np.zeros((1, 1, 2, 2), "f4")]))
    assert said.status == 0, said
    file = Tmfile((tmp_path / "b.tmfile").read_bytes(), origin=3)
    assert [n[1:3] for n in file.nodes][1] == ("Resize", {"0": 2.0, "1": 4.0, "2": 1})


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def region(x, classes, boxes):
    y = x.reshape(x.shape[0], boxes, classes + 5, *x.shape[2:]).copy()
    y[:, :, :2], y[:, :, 4] = sigmoid(y[:, :, :2]), sigmoid(y[:, :, 4])
    e = np.exp(y[:, :, 5:] - y[:, :, 5:].max(2, keepdims=True))
    y[:, :, 5:] = e / e.sum(2, keepdims=True)
    return y.reshape(x.shape)


def reorg(x, s):
    """Darknet's: the input is read as if it were (c / s², h s, w s)."""
    n, c, h, w = x.shape
    y = x.reshape(n, c // (s * s), h, s, w, s).transpose(0, 3, 5, 1, 2, 4)
    return y.reshape(n, c * s * s, h // s, w // s)


def mvn(x, axes, eps, divides):
    y = x - x.mean(axes, keepdims=True)
    return y / (x.std(axes, keepdims=True) + eps) if divides else y


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f4")


def of_channels(v):
    return v.reshape(-1, 1, 1)


X, C = drawn(2, 4, 6, 8), drawn(4)
R = drawn(2, 14, 3, 4)
INDEX = np.float32([0, 4, -1, 9])
# Number, kinds and values of the fields, inputs, and the answer.
CASES = {
    "Bias": (61, "i", [4], [X, C], X + of_channels(C)),
    "Scale": (26, "iii", [1, 1, 1], [X, C, C + 1], X * of_channels(C) + of_channels(C + 1)),
    "Scale of two axes": (26, "iii", [-2, 2, 0], [X, drawn(6, 8)], None),
    "Threshold": (63, "f", [0.25], [X], (X > 0.25).astype("f4")),
    "Expanddims": (60, "i", [1], [X[0]], X[0][:, None]),
    "SwapAxis": (50, "ii", [1, 3], [X], X.swapaxes(1, 3)),
    "SwapAxis backwards": (50, "ii", [2, 0], [X], X.swapaxes(0, 2)),
    "SwapAxis with itself": (50, "ii", [2, 2], [X], X),
    "Reverse": (81, "", [], [X, np.int32([-3])], X[:, ::-1]),
    "StridedSlice": (41, "i" * 12, [0, 0, 1, 1, -1, 1, 0, 0, 2, 2, -2, 3], [X],
                     X[:, 1:3, ::2, 2:6:3]),
    "Reorg": (22, "i", [2], [X], reorg(X, 2)),
    "Region": (19, "iiiiffF", [2, 3, 2, 4, 0.5, 0.5, [1.0] * 4], [R], region(R, 2, 2)),
    "Normalize": (14, "ii", [0, 0], [X, C],
                  X / np.sqrt((X**2).sum(1, keepdims=True)) * of_channels(C)),
    "Normalize as a whole": (14, "ii", [1, 1], [X, np.float32([3])],
                             X / np.sqrt((X**2).sum((1, 2, 3), keepdims=True)) * 3),
    "MVN": (67, "iif", [0, 1, 0.5], [X], mvn(X, (2, 3), 0.5, True)),
    "MVN of all channels": (67, "iif", [1, 0, 0.5], [X], mvn(X, (1, 2, 3), 0, False)),
    "L2Normalization": (101, "", [], [X[0, 0]],
                        X[0, 0] / np.sqrt((X[0, 0]**2).sum(1, keepdims=True))),
    "ReduceL2": (89, "ii", [2, 1], [X], np.sqrt((X**2).sum((2, 3), keepdims=True))),
    "ReduceL2 without the axes": (89, "ii", [-1, 0], [X], np.sqrt((X**2).sum(3))),
    "Embedding": (65, "iiii", [3, 5, 1, 15], [INDEX, drawn(5, 3), drawn(3)], None),
    "DepthToSpace": (80, "i", [2], [X], X.reshape(2, 1, 2, 2, 6, 8).transpose(
        0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 16)),
    "Reduction of amounts": (45, "i" * 6, [3, -2, -2, -2, 7, 1], [X],
                             np.abs(X).sum(3, keepdims=True)),
}


def answer_of(name):
    want = CASES[name][4]
    inputs = CASES[name][3]
    if name == "Scale of two axes":
        want = X * inputs[1]
    if name == "Embedding":
        want = inputs[1][[0, 4, 0, 4]] + inputs[2]
    return want


@pytest.mark.parametrize("name", CASES)
def test_tengines_own_operators_compute_what_its_kernels_do(daemon, tmp_path, name):
    kind, kinds, values, inputs, _ = CASES[name]
    want = answer_of(name)
    (tmp_path / "a.tmfile").write_bytes(model(kind, kinds, values, inputs, want.shape))
    daemon.ok("load", "op", tmp_path / "a.tmfile", "--replace")
    np.save(tmp_path / "x.npy", inputs[0])
    daemon.ok("call", "op:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    y = np.load(tmp_path / "y.npy")
    assert y.shape == want.shape and np.allclose(y, want, rtol=1e-5, atol=1e-6)


# Fields or shapes with which an operator cannot be, and what the load says.
FAULTS = {
    "Bias": (61, "i", [4], [X, drawn(3)], "has not an element for each channel"),
    "Scale": (26, "iii", [3, 2, 0], [X, C], "num_axes is 2, expected -1 to 1"),
    "SwapAxis": (50, "ii", [0, 4], [X], "axis"),
    "Reverse": (81, "", [], [X, np.float32([1])], "input 1 is not one int32 or int64"),
    "StridedSlice": (41, "i" * 12, [0, 0, 1, 3, 3, 1] + [0, 0, 1] * 2, [X], "reach beyond axis 1"),
    "Reorg": (22, "i", [3], [X], "not multiples of stride"),
    "Region": (19, "iiiiffF", [3, 3, 2, 4, 0.5, 0.5, []], [R], "its boxes are not its channels"),
    "Normalize": (14, "ii", [0, 0], [X, drawn(3)], "has not an element for each channel"),
    "L2Normalization": (101, "", [], [X], "dimensions"),
    "ReduceL2": (89, "ii", [4, 1], [X], "axis is 4"),
    "Embedding": (65, "iiii", [3, 5, 1, 15], [INDEX, drawn(5)], "dimensions"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_does_not_go_together_is_refused(daemon, tmp_path, name):
    kind, kinds, values, inputs, why = FAULTS[name]
    (tmp_path / "a.tmfile").write_bytes(model(kind, kinds, values, inputs, ()))
    said = daemon.modser("load", "op", tmp_path / "a.tmfile", "--replace")
    assert said.status != 0 and why in said.err, said
