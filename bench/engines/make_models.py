#!/usr/bin/env python3
"""make_models.py FOLDER: ONNX models with seeded weights for speed.py and table.py.

Weights are random with the usual scale, so that values stay finite. Files of single layers are
called layer_*."""
import pathlib, sys
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh


class Net:
    def __init__(self, name, seed=7):
        self.r = np.random.default_rng([seed, *name.encode()])
        self.name, self.nodes, self.w, self.ins, self.outs = name, [], [], [], []

    def add(self, op, *x, n=1, **a):
        made = [f"t{len(self.nodes)}_{i}" for i in range(n)]
        dom = a.pop("domain", "")
        self.nodes.append(h.make_node(op, list(x), made, f"{op}_{len(self.nodes)}", domain=dom, **a))
        return made[0] if n == 1 else made

    def const(self, v, dt=np.float32):
        self.w.append(nh.from_array(np.asarray(v, dt), f"w{len(self.w)}"))
        return f"w{len(self.w) - 1}"

    def weight(self, *s, fan=None):
        fan = fan or int(np.prod(s[1:])) or 1
        return self.const(self.r.normal(0, np.sqrt(2 / fan), s))

    def given(self, name, *s, t=T.FLOAT):
        self.ins.append(h.make_tensor_value_info(name, t, s))
        return name

    def save(self, path, *outs, t=T.FLOAT, opset=17):
        for o in outs:
            self.outs.append(h.make_tensor_value_info(o, t, None))
        g = h.make_graph(self.nodes, self.name, self.ins, self.outs, self.w)
        m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)], producer_name="seeded")
        m.ir_version = 8
        m = onnx.shape_inference.infer_shapes(m)
        onnx.checker.check_model(m)
        onnx.save(m, path)

    # layers
    def conv(self, x, ci, co, k, s=1, g=1, bn=True, act="Relu", bias=False, p=None):
        p = k // 2 if p is None else p
        ins = [x, self.weight(co, ci // g, k, k)]
        if bias:
            ins.append(self.const(self.r.normal(0, .1, co)))
        y = self.add("Conv", *ins, kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, group=g)
        if bn:
            y = self.add("BatchNormalization", y, self.const(self.r.uniform(.5, 1.5, co)), self.const(self.r.normal(0, .1, co)),
                         self.const(self.r.normal(0, .1, co)), self.const(self.r.uniform(.5, 1.5, co)), epsilon=1e-5)
        return self.act(y, act)

    def act(self, y, act):
        if act == "Relu6":
            return self.add("Clip", y, self.const(0), self.const(6))
        if act == "Leaky":
            return self.add("LeakyRelu", y, alpha=0.1)
        if act == "Swish":
            return self.add("Mul", y, self.add("Sigmoid", y))
        return self.add(act, y) if act else y

    def linear(self, x, i, o):
        return self.add("Add", self.add("MatMul", x, self.const(self.r.normal(0, 1 / np.sqrt(i), (i, o)))), self.const(self.r.normal(0, .1, o)))


def resnet(name, blocks, bottleneck, size=224):
    n = Net(name); x = n.given("x", 1, 3, size, size)
    x = n.conv(x, 3, 64, 7, 2)
    x = n.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    ci = 64
    for stage, count in enumerate(blocks):
        w = 64 << stage; co = w * 4 if bottleneck else w
        for b in range(count):
            s = 2 if b == 0 and stage else 1
            if bottleneck:
                y = n.conv(n.conv(n.conv(x, ci, w, 1), w, w, 3, s), w, co, 1, act=None)
            else:
                y = n.conv(n.conv(x, ci, w, 3, s), w, w, 3, act=None)
            if s != 1 or ci != co:
                x = n.conv(x, ci, co, 1, s, act=None)
            x = n.add("Relu", n.add("Add", y, x)); ci = co
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    return n, n.add("Gemm", x, n.weight(1000, ci), n.const(n.r.normal(0, .1, 1000)), transB=1)


def mobilenet_v2():
    n = Net("mobilenet_v2"); x = n.given("x", 1, 3, 224, 224)
    x = n.conv(x, 3, 32, 3, 2, act="Relu6"); ci = 32
    for t, c, k, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(k):
            y, m = x, ci * t
            if t != 1:
                y = n.conv(y, ci, m, 1, act="Relu6")
            y = n.conv(y, m, m, 3, s if i == 0 else 1, g=m, act="Relu6")
            y = n.conv(y, m, c, 1, act=None)
            x = n.add("Add", x, y) if i and ci == c else y
            ci = c
    x = n.conv(x, 320, 1280, 1, act="Relu6")
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    return n, n.add("Gemm", x, n.weight(1000, 1280), n.const(n.r.normal(0, .1, 1000)), transB=1)


def yolo():
    """A YOLOv5-nano-like body with swish, concats, upsampling, three heads."""
    n = Net("yolo"); x = n.given("x", 1, 3, 320, 320)
    c = lambda x, a, b, k, s=1: n.conv(x, a, b, k, s, act="Swish")
    def c3(x, a, b, m, cut=True):
        p, q = c(x, a, b // 2, 1), c(x, a, b // 2, 1)
        for _ in range(m):
            r = c(c(p, b // 2, b // 2, 1), b // 2, b // 2, 3); p = n.add("Add", p, r) if cut else r
        return c(n.add("Concat", p, q, axis=1), b, b, 1)
    x = c(x, 3, 16, 6, 2) if False else n.conv(x, 3, 16, 6, 2, act="Swish", p=2)
    x = c3(c(x, 16, 32, 3, 2), 32, 32, 1)
    p3 = c3(c(x, 32, 64, 3, 2), 64, 64, 2)
    p4 = c3(c(p3, 64, 128, 3, 2), 128, 128, 3)
    x = c3(c(p4, 128, 256, 3, 2), 256, 256, 1)
    y = c(x, 256, 128, 1); pool = [y]
    for _ in range(3):
        pool.append(n.add("MaxPool", pool[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    x = c(n.add("Concat", *pool, axis=1), 512, 256, 1)
    up = lambda x: n.add("Resize", x, "", n.const([1, 1, 2, 2]), mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    h5 = c(x, 256, 128, 1)
    x = c3(n.add("Concat", up(h5), p4, axis=1), 256, 128, 1, False)
    h4 = c(x, 128, 64, 1)
    o3 = c3(n.add("Concat", up(h4), p3, axis=1), 128, 64, 1, False)
    o4 = c3(n.add("Concat", c(o3, 64, 64, 3, 2), h4, axis=1), 128, 128, 1, False)
    o5 = c3(n.add("Concat", c(o4, 128, 128, 3, 2), h5, axis=1), 256, 256, 1, False)
    flat = []
    for o, ch, hw in ((o3, 64, 40), (o4, 128, 20), (o5, 256, 10)):
        y = n.add("Conv", o, n.weight(255, ch, 1, 1), n.const(np.zeros(255)), kernel_shape=[1, 1])
        y = n.add("Transpose", n.add("Reshape", y, n.const([1, 3, 85, hw, hw], np.int64)), perm=[0, 1, 3, 4, 2])
        flat.append(n.add("Reshape", n.add("Sigmoid", y), n.const([1, -1, 85], np.int64)))
    return n, n.add("Concat", *flat, axis=1)


def bert(layers=2, d=768, heads=12, time=128):
    n = Net("bert"); x = n.given("x", 1, time, d)
    ln = lambda x: n.add("LayerNormalization", x, n.const(n.r.uniform(.8, 1.2, d)), n.const(n.r.normal(0, .1, d)), axis=-1, epsilon=1e-12)
    for _ in range(layers):
        def split(perm):
            y = n.add("Reshape", n.linear(x, d, d), n.const([1, time, heads, d // heads], np.int64))
            return n.add("Transpose", y, perm=perm)
        q, k, v = split([0, 2, 1, 3]), split([0, 2, 3, 1]), split([0, 2, 1, 3])
        s = n.add("Softmax", n.add("Div", n.add("MatMul", q, k), n.const(np.sqrt(d / heads))), axis=-1)
        y = n.add("Reshape", n.add("Transpose", n.add("MatMul", s, v), perm=[0, 2, 1, 3]), n.const([1, time, d], np.int64))
        x = ln(n.add("Add", x, n.linear(y, d, d)))
        y = n.linear(x, d, 4 * d)
        g = n.add("Mul", n.add("Mul", y, n.add("Add", n.add("Erf", n.add("Div", y, n.const(np.sqrt(2)))), n.const(1))), n.const(.5))
        x = ln(n.add("Add", x, n.linear(g, 4 * d, d)))
    return n, x


def lstm(time=64, i=128, hidden=256):
    n = Net("lstm"); x = n.given("x", time, 1, i)
    k = 1 / np.sqrt(hidden)
    u = lambda *s: n.const(n.r.uniform(-k, k, s))
    y, _, _ = n.add("LSTM", x, u(2, 4 * hidden, i), u(2, 4 * hidden, hidden), u(2, 8 * hidden), hidden_size=hidden, direction="bidirectional", n=3)
    y = n.add("Reshape", n.add("Transpose", y, perm=[0, 2, 1, 3]), n.const([time, 1, 2 * hidden], np.int64))
    return n, n.linear(y, 2 * hidden, 64)


def qdq():
    """A residual conv net as onnxruntime's static quantization writes it (QDQ, uint8 data, int8 weights by channel)."""
    n = Net("qdq"); x = n.given("x", 1, 3, 112, 112)
    def q(y, s, z=128):
        a = (n.const(np.float32(s)), n.const(z, np.uint8))
        return n.add("DequantizeLinear", n.add("QuantizeLinear", y, *a), *a)
    def conv(y, ci, co, k, s=1, g=1):
        w = n.r.normal(0, np.sqrt(2 / (ci // g * k * k)), (co, ci // g, k, k)).astype("float32")
        sc = np.abs(w).max((1, 2, 3)) / 127
        wq = n.const(np.clip(np.round(w / sc[:, None, None, None]), -127, 127), np.int8)
        wd = n.add("DequantizeLinear", wq, n.const(sc), n.const(np.zeros(co), np.int8), axis=0)
        b = n.const(np.round(n.r.normal(0, .1, co) / (.05 * sc)), np.int32)
        bd = n.add("DequantizeLinear", b, n.const(.05 * sc), n.const(np.zeros(co), np.int32), axis=0)
        p = k // 2
        return n.add("Conv", y, wd, bd, kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, group=g)
    relu = lambda y: n.add("Relu", y)
    x = q(x, .05)
    x = q(relu(conv(x, 3, 32, 3, 2)), .05, 0); ci = 32
    for co, s in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1)):
        y = q(relu(conv(x, ci, co, 3, s)), .05, 0)
        y = q(conv(y, co, co, 3), .05)
        if s != 1 or ci != co:
            x = q(conv(x, ci, co, 1, s), .05)
        x = q(relu(n.add("Add", x, y)), .05, 0); ci = co
    x = q(n.add("GlobalAveragePool", x), .05, 0)
    x = n.add("Flatten", x)
    return n, n.add("Gemm", x, n.weight(100, ci), n.const(np.zeros(100)), transB=1)


def mlp():
    n = Net("mlp"); x = n.given("x", 128, 768)
    return n, n.linear(n.act(n.linear(x, 768, 3072), "Relu"), 3072, 768)


def layer(name, build, *shape):
    n = Net(name); x = n.given("x", *shape)
    return n, build(n, x)


def gelu(n, x):
    return n.add("Mul", n.add("Mul", x, n.add("Add", n.add("Erf", n.add("Div", x, n.const(np.sqrt(2)))), n.const(1))), n.const(.5))


def tanhs(n, x):
    for _ in range(100):
        x = n.add("Tanh", x)
    return x


LAYERS = {
    "conv3x3_64_56": (lambda n, x: n.conv(x, 64, 64, 3, bn=False, act=None), 1, 64, 56, 56),
    "conv3x3_s2_128_28": (lambda n, x: n.conv(x, 128, 256, 3, 2, bn=False, act=None), 1, 128, 28, 28),
    "conv3x3_512_7": (lambda n, x: n.conv(x, 512, 512, 3, bn=False, act=None), 1, 512, 7, 7),
    "conv7x7_s2_3_224": (lambda n, x: n.conv(x, 3, 64, 7, 2, bn=False, act=None), 1, 3, 224, 224),
    "conv1x1_256_28": (lambda n, x: n.conv(x, 256, 128, 1, bn=False, act=None), 1, 256, 28, 28),
    "conv1x1_24_144_56": (lambda n, x: n.conv(x, 24, 144, 1, bn=False, act=None), 1, 24, 56, 56),
    "depthwise3x3_144_56": (lambda n, x: n.conv(x, 144, 144, 3, g=144, bn=False, act=None), 1, 144, 56, 56),
    "depthwise3x3_384_14": (lambda n, x: n.conv(x, 384, 384, 3, g=384, bn=False, act=None), 1, 384, 14, 14),
    "convtranspose_64_28": (lambda n, x: n.add("ConvTranspose", x, n.weight(64, 32, 2, 2), kernel_shape=[2, 2], strides=[2, 2]), 1, 64, 28, 28),
    "matmul_128_768_3072": (lambda n, x: n.add("MatMul", x, n.weight(768, 3072, fan=768)), 128, 768),
    "matmul_1_768_1000": (lambda n, x: n.add("MatMul", x, n.weight(768, 1000, fan=768)), 1, 768),
    "batchmatmul_12_128_64": (lambda n, x: n.add("MatMul", x, n.add("Transpose", x, perm=[0, 1, 3, 2])), 1, 12, 128, 64),
    "softmax_12_128_128": (lambda n, x: n.add("Softmax", x, axis=-1), 1, 12, 128, 128),
    "layernorm_128_768": (lambda n, x: n.add("LayerNormalization", x, n.const(np.ones(768)), n.const(np.zeros(768)), axis=-1), 1, 128, 768),
    "gelu_128_3072": (gelu, 1, 128, 3072),
    "sigmoid_mul_64_80": (lambda n, x: n.act(x, "Swish"), 1, 64, 80, 80),
    "relu_64_112": (lambda n, x: n.add("Relu", x), 1, 64, 112, 112),
    "add_bcast_64_56": (lambda n, x: n.add("Add", x, n.weight(1, 64, 1, 1)), 1, 64, 56, 56),
    "batchnorm_64_56": (lambda n, x: n.add("BatchNormalization", x, *[n.const(np.ones(64)) for _ in range(4)]), 1, 64, 56, 56),
    "maxpool3x3_s2_64_112": (lambda n, x: n.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 1, 64, 112, 112),
    "globalavgpool_512_7": (lambda n, x: n.add("GlobalAveragePool", x), 1, 512, 7, 7),
    "transpose_128_12_64": (lambda n, x: n.add("Transpose", x, perm=[0, 2, 1, 3]), 1, 128, 12, 64),
    "concat_2x64_40": (lambda n, x: n.add("Concat", x, x, axis=1), 1, 64, 40, 40),
    "resize_nearest_128_20": (lambda n, x: n.add("Resize", x, "", n.const([1, 1, 2, 2]), mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"), 1, 128, 20, 20),
    "reducemean_64_56": (lambda n, x: n.add("ReduceMean", x, axes=[2, 3], keepdims=1), 1, 64, 56, 56),
    "gather_emb_128": (lambda n, x: n.add("Gather", n.weight(1000, 768), n.add("Cast", x, to=T.INT64)), 1, 128),
    "tanh_x100_64": (tanhs, 64),
    "quantize_64_56": (lambda n, x: n.add("DequantizeLinear", n.add("QuantizeLinear", x, n.const(np.float32(.05)), n.const(128, np.uint8)), n.const(np.float32(.05)), n.const(128, np.uint8)), 1, 64, 56, 56),
}

NETS = {"resnet18": lambda: resnet("resnet18", (2, 2, 2, 2), False), "resnet50": lambda: resnet("resnet50", (3, 4, 6, 3), True),
        "mobilenet_v2": mobilenet_v2, "yolo": yolo, "bert": bert, "lstm": lstm, "qdq": qdq, "mlp": mlp}


def main():
    out = pathlib.Path(sys.argv[1]); out.mkdir(exist_ok=True)
    for name, build in NETS.items():
        n, y = build(); n.save(out / f"{name}.onnx", y)
    for name, (build, *shape) in LAYERS.items():
        n, y = layer(name, build, *shape); n.save(out / f"layer_{name}.onnx", y)


if __name__ == "__main__":
    main()
