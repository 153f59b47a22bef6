"""Quantized TensorFlow Lite files, made here operator by operator, and the bytes that TensorFlow
Lite computes for them: tflite_bytes.json.

`python tflite_bytes.py` writes that file again. It needs ai_edge_litert, whose interpreter runs each
file twice: as it is ("xnnpack", whose requantization rounds once), and with the kernels of TensorFlow
Lite alone ("kernels", whose fixed point rounds twice). The tests need neither."""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fuzz"))
from make_framework_corpus import tflite  # noqa: E402

FLOAT32, INT32, UINT8, INT8 = 0, 2, 3, 9
EXPECTED = HERE / "tflite_bytes.json"
SAME, VALID = 0, 1
RELU, RELU6 = 1, 3


def noise(seed, n):
    """@n bytes of chance, the same on each machine."""
    state, out = seed * 2654435761 % (1 << 32) or 1, bytearray()
    for _ in range(n):
        for shift in (13, -17, 5):
            state ^= (state << shift if shift > 0 else state >> -shift) & 0xffffffff
        out.append(state >> 11 & 0xff)
    return bytes(out)


def count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


class Net:
    """A file: each function adds an operator and returns the number of its output."""

    def __init__(self, kind=INT8, each=True):
        self.kind, self.each = kind, each
        self.tensors, self.operators, self.outputs = [], [], []

    def zero(self, signed):
        return signed + (128 if self.kind == UINT8 else 0)

    def tensor(self, shape, scale, zero=0, data=None, kind=None, axis=0):
        scales = scale if isinstance(scale, tuple) else (scale,)
        quant = None if scale is None else (scales, (zero,) * len(scales), axis)
        kind = self.kind if kind is None else kind
        self.tensors.append((f"t{len(self.tensors)}", tuple(shape), kind, data, quant))
        return len(self.tensors) - 1

    def data(self, shape, scale, zero=0):
        return self.tensor(shape, scale, self.zero(zero))

    def ints(self, *v, shape=None):
        return self.tensor(shape or (len(v),), None, kind=INT32, data=struct.pack(f"<{len(v)}i", *v))

    def weights(self, shape, n, axis, scale, x_scale):
        """Weights of noise and a bias, with a scale for each of @n channels if the file has such."""
        seed = len(self.tensors) + 1
        scales = tuple(scale * (1 + i % 5 / 8) for i in range(n)) if self.each else (scale,)
        raw = noise(seed, count(shape))
        zero = 0
        if self.kind == UINT8:
            zero = 121
        else:
            raw = bytes(b if b != 0x80 else 0x7f for b in raw)
        w = self.tensor(shape, scales, zero, raw, axis=axis)
        values = [int.from_bytes(noise(seed + i + 1, 2), "little") % 2001 - 1000 for i in range(n)]
        b = self.tensor((n,), tuple(s * x_scale for s in scales), 0,
                        struct.pack(f"<{n}i", *values), INT32)
        return w, b

    def add(self, code, inputs, out, union=0, options=None):
        self.operators.append((code, inputs, (out,), options, union))
        self.outputs.append(out)
        return out

    def scale_of(self, t):
        return self.tensors[t][4][0][0]

    def shape_of(self, t):
        return self.tensors[t][1]

    def convolve(self, x, channels, kernel, stride, padding, activation, scale, zero=-128):
        n, h, w, c = self.shape_of(x)
        size = [-(-e // stride) if padding == SAME else (e - kernel) // stride + 1 for e in (h, w)]
        ws = self.weights((channels, kernel, kernel, c), channels, 0, 0.005, self.scale_of(x))
        y = self.data((n, *size, channels), scale, zero)
        return self.add(3, (x, *ws), y, 1, lambda f: (
            ("b", padding), ("i", stride), ("i", stride), ("b", activation), ("i", 1), ("i", 1)))

    def depthwise(self, x, kernel, stride, activation, scale, zero=-128, multiplier=1):
        n, h, w, c = self.shape_of(x)
        out = c * multiplier
        ws = self.weights((1, kernel, kernel, out), out, 3, 0.01, self.scale_of(x))
        y = self.data((n, -(-h // stride), -(-w // stride), out), scale, zero)
        return self.add(4, (x, *ws), y, 2, lambda f: (
            ("b", SAME), ("i", stride), ("i", stride), ("i", multiplier), ("b", activation),
            ("i", 1), ("i", 1)))

    def connect(self, x, units, scale, zero=0, activation=0):
        rows, columns = self.shape_of(x)
        each, self.each = self.each, False
        ws = self.weights((units, columns), units, 0, 0.004, self.scale_of(x))
        self.each = each
        y = self.data((rows, units), scale, zero)
        return self.add(9, (x, *ws), y, 8, lambda f: (("b", activation),))

    def binary(self, code, union, a, b, scale, zero=0, activation=0):
        y = self.data(self.shape_of(a), scale, zero)
        return self.add(code, (a, b), y, union, lambda f: (("b", activation),))

    def like(self, code, x, scale, zero, union=0, options=None):
        y = self.tensor(self.shape_of(x), scale, zero)
        return self.add(code, (x,), y, union, options)

    def pool(self, code, x, kernel, stride, padding=VALID):
        n, h, w, c = self.shape_of(x)
        size = [-(-e // stride) if padding == SAME else (e - kernel) // stride + 1 for e in (h, w)]
        y = self.tensor((n, *size, c), self.scale_of(x), self.tensors[x][4][1][0])
        return self.add(code, (x,), y, 5, lambda f: (
            ("b", padding), ("i", stride), ("i", stride), ("i", kernel), ("i", kernel), ("b", 0)))

    def moved(self, code, x, shape, *constants, union=0, options=None):
        y = self.tensor(shape, self.scale_of(x), self.tensors[x][4][1][0])
        return self.add(code, (x, *constants), y, union, options)

    def file(self):
        return tflite(self.tensors, self.operators, (0,), self.outputs)


def mobile(kind, each):
    """Padding, a convolution with ReLU6, a depthwise one, one of 1 by 1, a sum, a pool, a product."""
    n = Net(kind, each)
    x = n.data((1, 8, 7, 5), 0.03, -7)
    t = n.moved(34, x, (1, 10, 9, 5), n.ints(0, 0, 1, 1, 1, 1, 0, 0, shape=(4, 2)))
    t = n.convolve(t, 8, 3, 2, VALID, RELU6, 0.0235)
    d = n.depthwise(t, 3, 1, RELU6, 0.0235)
    e = n.depthwise(d, 5, 2, RELU, 0.05, multiplier=2)
    d = n.convolve(d, 8, 1, 1, SAME, 0, 0.05, 4)
    t = n.binary(0, 11, t, d, 0.06, -11, RELU)
    t = n.pool(1, t, 2, 2)
    n.pool(17, e, 3, 1, SAME)
    t = n.moved(22, t, (1, 32), n.ints(1, -1))
    n.connect(t, 7, 0.07, 3)
    return n


def operators(kind, each):
    """Functions, sums of constants, moves, and numbers that change."""
    n = Net(kind, each)
    x = n.data((1, 4, 5, 7), 0.05, 10)
    n.like(14, x, 1 / 256, n.zero(-128))
    n.like(28, x, 1 / 128, n.zero(0))
    t = n.convolve(x, 6, 3, 1, SAME, 0, 0.08, 5)
    n.like(98, t, 0.07, n.zero(-40), 75, lambda f: (("f", 0.25),))
    if kind == INT8:
        n.like(117, t, 0.07, -60, 91, lambda f: ())
    c = n.tensor((6,), 0.02, n.zero(3), noise(99, 6))
    t = n.binary(18, 21, t, c, 0.06, 0)
    t = n.binary(41, 28, t, n.tensor((1, 1, 1, 6), 0.03, n.zero(0), noise(98, 6)), 0.06, 0)
    u = n.moved(39, t, (1, 6, 4, 5), n.ints(0, 3, 1, 2))
    u = n.moved(65, u, (1, 3, 4, 4), n.ints(0, 2, 0, 1), n.ints(1, 3, 4, 4))
    v = n.moved(22, u, (3, 16), n.ints(3, 16))
    n.connect(v, 4, 0.05, 0, RELU)
    m = n.data((1, 6), 0.04, -3)
    n.add(40, (t, n.ints(1, 2)), m, 27, lambda f: (("b", 0),))
    q = n.like(114, t, 0.09, n.zero(20))
    y = n.data((1, 4, 5, 12), 0.09, 20)
    n.add(2, (q, q), y, 10, lambda f: (("i", 3), ("b", 0)))
    return n


def networks():
    for label, kind, each in (("int8", INT8, True), ("tensor", INT8, False), ("uint8", UINT8, False)):
        yield f"mobile_{label}", mobile(kind, each)
        yield f"operators_{label}", operators(kind, each)


def given(net):
    return noise(7, count(net.tensors[0][1]))


def main():
    import numpy as np
    from ai_edge_litert import interpreter as lite

    expected = {}
    for name, net in networks():
        expected[name] = {}
        for way, kind in (("xnnpack", lite.OpResolverType.AUTO),
                          ("kernels", lite.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)):
            s = lite.Interpreter(model_content=net.file(), num_threads=1,
                                 experimental_op_resolver_type=kind)
            s.allocate_tensors()
            x = s.get_input_details()[0]
            s.set_tensor(x["index"], np.frombuffer(given(net), x["dtype"]).reshape(x["shape"]))
            s.invoke()
            expected[name][way] = {d["name"]: s.get_tensor(d["index"]).tobytes().hex()
                                   for d in s.get_output_details()}
    EXPECTED.write_text(json.dumps(expected, indent=0) + "\n")


if __name__ == "__main__":
    main()
