"""tmfiles whose model has channels last, as Tengine's converters write them of TensorFlow's: beside
the same network in ONNX, which is written with channels first, in ONNX Runtime, or, where this
Python lacks that, in onnx's own evaluator; and stored again."""
import harness
import numpy as np
import pytest
from tmfile_writer import File, words

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no networks are made")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (behind what may skip)

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
CONST, INPUT, CONCAT, CONV, RELU, POOL, RESHAPE, SOFTMAX, FC = 4, 12, 3, 5, 20, 16, 23, 28, 11
RANDOM = np.random.default_rng(7)
SAME = (-1,) * 4


def drawn(*shape):
    return RANDOM.normal(0, 0.5, shape).astype("f4")


class Net:
    """A tmfile node by node; add() gives the number of the tensor that it makes."""

    def __init__(self):
        self.file, self.nodes, self.tensors, self.buffers = File(), [], [], []

    def add(self, name, op, inputs=(), param=lambda f: b"", kind=1, dims=(), data=None):
        number = len(self.nodes)
        buffer = -1
        if data is not None:
            at = self.file.put(data.tobytes())
            self.buffers.append(self.file.put(words(data.nbytes, at)))
            buffer = len(self.buffers) - 1
        self.nodes.append(self.file.node(number, name, op, list(inputs), [number],
                                         param(self.file)))
        self.tensors.append(self.file.tensor(number, name, kind, dims, buffer=buffer))
        return number

    def given(self, *dims):
        return self.add("x", INPUT, kind=3, dims=dims)

    def const(self, value, dims=None):
        return self.add("w", CONST, kind=2, dims=dims or value.shape, data=value)

    def conv(self, x, w, k, out, group=1, stride=1, activation=-1):
        return self.add("conv", CONV, [x, w], lambda f: words(
            k, k, stride, stride, 1, 1, 1, out, group, activation, *SAME))

    def end(self, inputs, output, graph_layout=0):
        raw = bytearray(self.file.end(self.nodes, self.tensors, self.buffers, inputs, [output], 1))
        model = int.from_bytes(raw[8:12], "little")
        listed = int.from_bytes(raw[model + 8:model + 12], "little")
        subgraph = int.from_bytes(raw[listed + 4:listed + 8], "little")
        raw[subgraph + 4:subgraph + 8] = words(graph_layout)
        return bytes(raw)


def classifier():
    """Convolutions, plain, of one channel and by channels; a branch; a mean; a matrix."""
    x = drawn(2, 9, 7, 1)
    w1, wd, w2 = drawn(4, 3, 3, 1), drawn(3, 3, 4), drawn(6, 2, 2, 4)
    wf, other = drawn(5, 5 * 4 * 10), drawn(2, 5, 4, 4)
    n = Net()
    t = n.conv(n.given(*x.shape), n.const(w1), 3, 4, activation=0)
    t = n.conv(t, n.const(wd, (4, 3, 3, 1)), 3, 4, group=4)
    t = n.conv(t, n.const(w2), 2, 6, stride=2)
    t = n.add("join", CONCAT, [t, n.const(other)], lambda f: words(3))
    t = n.add("mean", POOL, [t], lambda f: words(1, 3, 3, 1, 1, 0, 0, *SAME))
    t = n.add("flat", RESHAPE, [t], lambda f: words(0, 0, f.vector(2, -1), 0))
    t = n.add("fc", FC, [t, n.const(wf)], lambda f: words(5))
    t = n.add("softmax", SOFTMAX, [t], lambda f: words(1))

    def made(add):
        t = add("Relu", add("Conv", "x", w1.transpose(0, 3, 1, 2), auto_pad="SAME_UPPER"))
        t = add("Conv", t, wd.transpose(2, 0, 1)[:, None], auto_pad="SAME_UPPER", group=4)
        t = add("Conv", t, w2.transpose(0, 3, 1, 2), auto_pad="SAME_UPPER", strides=[2, 2])
        t = add("Concat", t, other.transpose(0, 3, 1, 2), axis=1)
        t = add("AveragePool", t, kernel_shape=[3, 3], auto_pad="SAME_UPPER")
        t = add("Reshape", add("Transpose", t, perm=[0, 2, 3, 1]), np.int64([2, -1]))
        return add("Softmax", add("MatMul", t, wf.T), axis=1)
    return n.end([0], t), made, x


def images():
    """What comes out are images again: a Reshape from four dimensions to four, an axis."""
    x, w = drawn(2, 4, 6, 2), drawn(3, 1, 1, 2)
    n = Net()
    t = n.conv(n.given(*x.shape), n.const(w), 1, 3)
    t = n.add("turn", RESHAPE, [t], lambda f: words(0, 0, f.vector(2, 6, 2, 6), 0))
    t = n.add("softmax", SOFTMAX, [t], lambda f: words(3))
    t = n.add("join", CONCAT, [t, t], lambda f: words(1))

    def made(add):
        t = add("Transpose", add("Conv", "x", w.transpose(0, 3, 1, 2)), perm=[0, 2, 3, 1])
        t = add("Transpose", add("Reshape", t, np.int64([2, 6, 2, 6])), perm=[0, 3, 1, 2])
        t = add("Softmax", t, axis=1)
        return add("Concat", t, t, axis=2)
    return n.end([0], t, graph_layout=1), made, x


def wanted(made, x):
    nodes, weights = [], []

    def add(op, *inputs, **attributes):
        names = []
        for value in inputs:
            if not isinstance(value, str):
                weights.append(numpy_helper.from_array(np.ascontiguousarray(value),
                                                       f"w{len(weights)}"))
                value = weights[-1].name
            names.append(value)
        nodes.append(helper.make_node(op, names, [f"t{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    end = made(add)
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
            for name, shape in (("x", x.shape), (end, None))]
    model = helper.make_model(helper.make_graph(nodes, "net", *ends, weights),
                              opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    if onnxruntime is None:
        from onnx.reference import ReferenceEvaluator
        return ReferenceEvaluator(model).run(None, {"x": x})[0]
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]


def answer(daemon, folder, path, x):
    daemon.ok("load", "m", path, "--replace")
    np.save(folder / "x.npy", x)
    daemon.ok("call", "m:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("make", [classifier, images])
def test_a_file_with_channels_last_gives_its_models_numbers(daemon, tmp_path, make):
    raw, made, x = make()
    x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    path = tmp_path / "net.tmfile"
    path.write_bytes(raw)
    y, want = answer(daemon, tmp_path, path, x), wanted(made, x)
    assert y.shape == want.shape and np.allclose(y, want, rtol=1e-5, atol=1e-6)
    for name in ("again.tmfile", "again.onnx"):  # as it is here: channels first
        said = daemon.modser("convert", path, "-o", tmp_path / name)
        assert said.status == 0, said
        assert np.array_equal(answer(daemon, tmp_path, tmp_path / name, x), y), name


def test_what_is_read_has_channels_first(tmp_path):
    raw, _, _ = images()
    (tmp_path / "net.tmfile").write_bytes(raw)
    said = harness.run(harness.BIN / "modser", "inspect", tmp_path / "net.tmfile")
    assert said.status == 0 and "[2, 2, 4, 6]" in said.out and "[2, 4, 6, 2]" not in said.out, said
