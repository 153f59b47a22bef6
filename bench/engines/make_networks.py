#!/usr/bin/env python3
"""make_networks.py FOLDER: more networks with seeded weights for speed.py --only NAME,...

They have what the eight of make_models.py lack: depthwise kernels of 7 x 7 and 5 x 5, squeeze and
excite, many Concats, transposed convolutions, channel shuffles, a causal mask."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_models import Net, gelu  # noqa: E402

I64 = np.int64


def norm(n, x, d):
    return n.add("LayerNormalization", x, n.const(n.r.uniform(.8, 1.2, d)), n.const(n.r.normal(0, .1, d)), axis=-1, epsilon=1e-6)


def head(n, x, channels):
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    return n.add("Gemm", x, n.weight(1000, channels), n.const(n.r.normal(0, .1, 1000)), transB=1)


def convnext_block(n, x, d):
    """As torch exports it: the linear layers see channels last."""
    y = n.conv(x, d, d, 7, g=d, bn=False, act=None, bias=True)
    y = norm(n, n.add("Transpose", y, perm=[0, 2, 3, 1]), d)
    y = n.linear(gelu(n, n.linear(y, d, 4 * d)), 4 * d, d)
    y = n.add("Mul", y, n.const(n.r.normal(0, .1, d)))
    return n.add("Add", x, n.add("Transpose", y, perm=[0, 3, 1, 2]))


def convnext(blocks=(3, 3, 9, 3), dims=(96, 192, 384, 768), size=224):
    n = Net("convnext"); x = n.given("x", 1, 3, size, size)

    def norm_channels(x, d):
        return n.add("Transpose", norm(n, n.add("Transpose", x, perm=[0, 2, 3, 1]), d), perm=[0, 3, 1, 2])
    x = norm_channels(n.conv(x, 3, dims[0], 4, 4, bn=False, act=None, bias=True, p=0), dims[0])
    for stage, count in enumerate(blocks):
        if stage:
            x = n.conv(norm_channels(x, dims[stage - 1]), dims[stage - 1], dims[stage], 2, 2, bn=False, act=None, bias=True, p=0)
        for _ in range(count):
            x = convnext_block(n, x, dims[stage])
    return n, head(n, x, dims[-1])


def efficientnet():
    """B0: SiLU, kernels of 3 and 5, squeeze and excite."""
    n = Net("efficientnet"); x = n.given("x", 1, 3, 224, 224)
    x = n.conv(x, 3, 32, 3, 2, act="Swish"); ci = 32

    def excite(x, c, few):
        y = n.add("GlobalAveragePool", x)
        y = n.conv(n.conv(y, c, few, 1, bn=False, act="Swish", bias=True), few, c, 1, bn=False, act="Sigmoid", bias=True)
        return n.add("Mul", x, y)
    for t, c, count, k, s in [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)]:
        for i in range(count):
            y, m = x, ci * t
            if t != 1:
                y = n.conv(y, ci, m, 1, act="Swish")
            y = n.conv(y, m, m, k, s if i == 0 else 1, g=m, act="Swish")
            y = n.conv(excite(y, m, max(1, ci // 4)), m, c, 1, act=None)
            x = n.add("Add", x, y) if i and ci == c else y
            ci = c
    return n, head(n, n.conv(x, 320, 1280, 1, act="Swish"), 1280)


def densenet(blocks=(6, 12, 24, 16), growth=32):
    """121: batch norm and ReLU before each convolution, and Concat."""
    n = Net("densenet"); x = n.given("x", 1, 3, 224, 224)

    def bn_relu(x, c):
        y = n.add("BatchNormalization", x, n.const(n.r.uniform(.5, 1.5, c)), n.const(n.r.normal(0, .1, c)),
                  n.const(n.r.normal(0, .1, c)), n.const(n.r.uniform(.5, 1.5, c)), epsilon=1e-5)
        return n.add("Relu", y)
    x = n.add("MaxPool", n.conv(x, 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4); c = 64
    for stage, count in enumerate(blocks):
        for _ in range(count):
            y = n.conv(bn_relu(x, c), c, 4 * growth, 1)
            y = n.conv(y, 4 * growth, growth, 3, bn=False, act=None)
            x = n.add("Concat", x, y, axis=1); c += growth
        if stage < len(blocks) - 1:
            x = n.conv(bn_relu(x, c), c, c // 2, 1, bn=False, act=None); c //= 2
            x = n.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return n, head(n, bn_relu(x, c), c)


def unet(base=16, size=192):
    """Two levels up by ConvTranspose, one by Resize; skips by Concat."""
    n = Net("unet"); x = n.given("x", 1, 3, size, size)

    def two(x, a, b):
        return n.conv(n.conv(x, a, b, 3), b, b, 3)
    skips, c = [], 3
    for i in range(3):
        x = two(x, c, base << i); c = base << i; skips.append(x)
        x = n.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = two(x, c, base << 3); c = base << 3
    for i in (2, 1, 0):
        if i:
            x = n.add("ConvTranspose", x, n.weight(c, c // 2, 2, 2, fan=c), n.const(n.r.normal(0, .1, c // 2)), kernel_shape=[2, 2], strides=[2, 2])
        else:
            x = n.add("Resize", x, "", n.const([1, 1, 2, 2]), mode="linear", coordinate_transformation_mode="half_pixel")
            x = n.conv(x, c, c // 2, 1)
        x = two(n.add("Concat", skips[i], x, axis=1), c, base << i); c = base << i
    return n, n.add("Sigmoid", n.conv(x, c, 2, 1, bn=False, act=None, bias=True))


def shufflenet(groups=3, first=240):
    """V1: convolutions of groups, a shuffle of channels by Reshape and Transpose."""
    n = Net("shufflenet"); x = n.given("x", 1, 3, 224, 224)
    x = n.add("MaxPool", n.conv(x, 3, 24, 3, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4); c, hw = 24, 56

    def shuffle(x, c, hw):
        y = n.add("Reshape", x, n.const([1, groups, c // groups, hw, hw], I64))
        return n.add("Reshape", n.add("Transpose", y, perm=[0, 2, 1, 3, 4]), n.const([1, c, hw, hw], I64))
    for stage, count in enumerate((4, 8, 4)):
        to = first << stage
        for b in range(count):
            s = 2 if b == 0 else 1; co = to - c if s == 2 else to; mid = to // 4
            g = 1 if c == 24 else groups
            y = shuffle(n.conv(x, c, mid, 1, g=g), mid, hw); hw = hw // s
            y = n.conv(n.conv(y, mid, mid, 3, s, g=mid, act=None), mid, co, 1, g=groups, act=None)
            if s == 2:
                x = n.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
                x = n.add("Relu", n.add("Concat", x, y, axis=1))
            else:
                x = n.add("Relu", n.add("Add", x, y))
            c = to
    return n, head(n, x, c)


def gpt2(layers=2, d=768, heads=12, time=64):
    """Decoder blocks as torch exports them: one product for q, k and v, a causal mask by Where,
    the gelu of tanh by Pow."""
    n = Net("gpt2"); x = n.given("x", 1, time, d)

    def new_gelu(y):
        inner = n.add("Add", y, n.add("Mul", n.add("Pow", y, n.const(3.0)), n.const(0.044715)))
        t = n.add("Tanh", n.add("Mul", inner, n.const(np.sqrt(2 / np.pi))))
        return n.add("Mul", n.add("Mul", y, n.const(.5)), n.add("Add", t, n.const(1)))

    def gemm(y, i, o):
        y = n.add("Gemm", n.add("Reshape", y, n.const([-1, i], I64)), n.const(n.r.normal(0, 1 / np.sqrt(i), (i, o))), n.const(n.r.normal(0, .1, o)))
        return n.add("Reshape", y, n.const([1, time, o], I64))
    mask = n.const(np.tril(np.ones((1, 1, time, time))), bool)
    for _ in range(layers):
        parts = n.add("Split", gemm(norm(n, x, d), d, 3 * d), n.const([d, d, d], I64), axis=2, n=3)
        q, k, v = [n.add("Transpose", n.add("Reshape", p, n.const([1, time, heads, d // heads], I64)), perm=perm)
                   for p, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))]
        s = n.add("Div", n.add("MatMul", q, k), n.const(np.sqrt(d / heads)))
        s = n.add("Softmax", n.add("Where", mask, s, n.const(-3.4e38)), axis=-1)
        y = n.add("Reshape", n.add("Transpose", n.add("MatMul", s, v), perm=[0, 2, 1, 3]), n.const([1, time, d], I64))
        x = n.add("Add", gemm(y, d, d), x)
        x = n.add("Add", x, gemm(new_gelu(gemm(norm(n, x, d), d, 4 * d)), 4 * d, d))
    return n, norm(n, x, d)


NETS = {"convnext": convnext, "efficientnet": efficientnet, "densenet": densenet, "unet": unet, "shufflenet": shufflenet, "gpt2": gpt2}


def main():
    out = pathlib.Path(sys.argv[1]); out.mkdir(exist_ok=True)
    for name, build in NETS.items():
        n, y = build(); n.save(out / f"{name}.onnx", y)


if __name__ == "__main__":
    main()
