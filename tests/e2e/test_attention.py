"""Transformers of two layers, as exporters write attention, in a daemon: against numpy in double,
and against ONNX Runtime where this Python has it. Batch and length are open."""
import sys

import harness
import numpy as np
import pytest
from onnx_writer import model, node, tensor, value
from wire import Wire

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
import modser  # noqa: E402

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

HEADS, SIZE = 3, 8
WIDTH = HEADS * SIZE
LOWEST = float(np.finfo(np.float32).min)


def weights(seed):
    return (np.random.default_rng(seed).normal(0, 1, (WIDTH, WIDTH)) / 4).astype("f4")


class Net:
    """Nodes, each with one output, and constants."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def add(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, [name], name, **attributes))
        return name

    def const(self, x, dtype="f4"):
        name = f"c{len(self.constants)}"
        self.constants.append(tensor(name, np.asarray(x, dtype)))
        return name

    def ints(self, *x):
        return self.const(x, "i8")

    def linear(self, x, seed):
        return self.add("MatMul", x, self.const(weights(seed)))

    def heads(self, x, perm):
        y = self.add("Reshape", x, self.ints(0, 0, HEADS, SIZE))
        return self.add("Transpose", y, perm=perm)

    def joined(self, x):
        y = self.add("Transpose", x, perm=[0, 2, 1, 3])
        return self.add("Reshape", y, self.ints(0, 0, WIDTH))


def shown(n):
    """1 for keys that the mask shows, as bool of [batch, 1, 1, length]."""
    return n.add("Cast", n.add("Unsqueeze", "mask", n.ints(1, 2)), to=9)


def bert(n, q, k, v):
    """TorchScript's exporter, of a formula: a quotient, and the mask as a large number."""
    q, k, v = n.heads(q, [0, 2, 1, 3]), n.heads(k, [0, 2, 3, 1]), n.heads(v, [0, 2, 1, 3])
    off = n.add("Sub", n.const(1), n.add("Cast", shown(n), to=1))
    s = n.add("Div", n.add("MatMul", q, k), n.const(np.sqrt(SIZE)))
    s = n.add("Add", s, n.add("Mul", off, n.const(LOWEST)))
    return n.joined(n.add("MatMul", n.add("Softmax", s, axis=3), v))


def sdpa(n, q, k, v):
    """TorchScript's exporter, of scaled_dot_product_attention: the scale follows from a shape."""
    q, k, v = (n.heads(x, [0, 2, 1, 3]) for x in (q, k, v))
    last = n.add("Slice", n.add("Shape", q), n.ints(-1), n.ints(2**63 - 1))
    scale = n.add("Div", n.const([1]), n.add("Sqrt", n.add("Cast", last, to=1)))
    turned = n.add("Transpose", k, perm=[0, 1, 3, 2])
    s = n.add("MatMul", n.add("Mul", q, n.add("Sqrt", scale)),
              n.add("Mul", turned, n.add("Sqrt", scale)))
    s = n.add("Add", s, n.add("Where", shown(n), n.const(0), n.const(-np.inf)))
    return n.joined(n.add("MatMul", n.add("Softmax", s, axis=-1), v))


def dynamo(n, q, k, v):
    """PyTorch's new exporter: constants at both ends, and a guard behind the softmax."""
    q, k, v = (n.heads(x, [0, 2, 1, 3]) for x in (q, k, v))
    root = n.const(SIZE ** -0.25)
    s = n.add("MatMul", n.add("Mul", q, root),
              n.add("Transpose", n.add("Mul", k, root), perm=[0, 1, 3, 2]))
    s = n.add("Add", s, n.add("Where", shown(n), n.const(0), n.const(-np.inf)))
    p = n.add("Softmax", s, axis=-1)
    p = n.add("Where", n.add("IsNaN", p), n.const(0), p)
    return n.joined(n.add("MatMul", p, v))


def gpt(n, q, k, v):
    """GPT-2: flags select scores."""
    q, k, v = (n.heads(x, [0, 2, 1, 3]) for x in (q, k, v))
    s = n.add("MatMul", q, n.add("Transpose", k, perm=[0, 1, 3, 2]))
    s = n.add("Where", shown(n), n.add("Div", s, n.const(np.sqrt(SIZE))), n.const(LOWEST))
    return n.joined(n.add("MatMul", n.add("Softmax", s, axis=-1), v))


def operator(n, q, k, v):
    """The operator of opset 23."""
    return n.add("Attention", q, k, v, shown(n), q_num_heads=HEADS, kv_num_heads=HEADS)


FORMS = {f.__name__: f for f in (bert, sdpa, dynamo, gpt, operator)}


def net(form):
    n, x = Net(), "x"
    for layer in range(2):
        q, k, v = (n.linear(x, 10 * layer + i) for i in range(3))
        x = n.add("Add", x, n.linear(FORMS[form](n, q, k, v), 10 * layer + 3))
    y = n.add("Identity", x)
    return model(n.nodes, [value("x", "float32", ["batch", "length", WIDTH]),
                           value("mask", "int64", ["batch", "length"])],
                 [value(y, "float32", ["batch", "length", WIDTH])], n.constants,
                 opset=23 if form == "operator" else 17, ir=10)


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def split(x):
    return x.reshape(*x.shape[:2], HEADS, SIZE).transpose(0, 2, 1, 3)


def wanted(x, mask):
    x = x.astype("f8")
    for layer in range(2):
        q, k, v = (split(x @ weights(10 * layer + i).astype("f8")) for i in range(3))
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(SIZE)
        s = np.where(mask[:, None, None, :] != 0, s, -np.inf)
        y = (softmax(s) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + y @ weights(10 * layer + 3).astype("f8")
    return x


def inputs(batch, length):
    random = np.random.default_rng([batch, length])
    mask = random.integers(0, 2, (batch, length))
    mask[:, 0] = 1  # each query sees a key
    return random.normal(0, 1, (batch, length, WIDTH)).astype("f4"), mask


def expect_close(y, want):
    assert y.shape == want.shape
    assert np.abs(y - want).max() <= 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("form", FORMS)
def test_a_transformer_gives_the_numbers_of_its_formula(daemon, tmp_path, form):
    (tmp_path / "m.onnx").write_bytes(net(form))
    with modser.connect(daemon.host) as client:
        served = client.load(form, tmp_path / "m.onnx", replace=True)
        for batch, length in ((1, 7), (3, 40), (1, 1), (2, 7), (3, 40)):
            x, mask = inputs(batch, length)
            expect_close(served.run(x=x, mask=mask), wanted(x, mask))
    if form != "operator":
        with Wire(daemon.host) as wire:
            text = wire.ask("module.describe", form)["inspect"]["text"]
        assert "attention made of its formula 2" in text
    if onnxruntime is not None and form != "operator":
        session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
        x, mask = inputs(2, 9)
        expect_close(session.run(None, {"x": x, "mask": mask})[0], wanted(x, mask))


def step():
    """A decoder's attention, which joins the past; keys and values are outputs, too."""
    n = Net()
    q, k, v = (n.heads(n.linear("x", i), [0, 2, 1, 3]) for i in range(3))
    k, v = (n.add("Concat", p, t, axis=2) for p, t in (("past_k", k), ("past_v", v)))
    s = n.add("MatMul", q, n.add("Transpose", k, perm=[0, 1, 3, 2]))
    s = n.add("Add", n.add("Mul", s, n.const(SIZE ** -0.5)), "mask")
    y = n.joined(n.add("MatMul", n.add("Softmax", s, axis=-1), v))
    cache = [value(t, "float32", ["batch", HEADS, "past", SIZE]) for t in ("past_k", "past_v")]
    return model(n.nodes, [value("x", "float32", ["batch", "length", WIDTH]), *cache,
                           value("mask", "float32", ["length", "all"])],
                 [value(t, "float32", None) for t in (y, k, v)], n.constants)


def test_a_decoder_joins_its_past(daemon, tmp_path):
    """Step by step, each token gives the numbers that the whole sequence gives at once."""
    (tmp_path / "m.onnx").write_bytes(step())
    x, _ = inputs(2, 11)
    whole = np.where(np.tri(11), 0, -np.inf).astype("f4")
    empty = np.zeros((2, HEADS, 0, SIZE), "f4")
    with modser.connect(daemon.host) as client:
        m = client.load("step", tmp_path / "m.onnx", replace=True)
        want = m.run(x=x, past_k=empty, past_v=empty, mask=whole)[0]
        k = v = empty
        for at, n in ((0, 4), (4, 1), (5, 1), (6, 5)):
            y, k, v = m.run(x=x[:, at:at + n], past_k=k, past_v=v,
                            mask=np.ascontiguousarray(whole[at:at + n, :at + n]))
            expect_close(y, want[:, at:at + n])
    q, keys, values = (split(x.astype("f8") @ weights(i).astype("f8")) for i in range(3))
    y = softmax(q @ keys.transpose(0, 1, 3, 2) / np.sqrt(SIZE) + whole) @ values
    expect_close(want, y.transpose(0, 2, 1, 3).reshape(x.shape))
