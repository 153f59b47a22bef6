"""Small models of many kinds for make_mxnet.py: blocks of gluon, and networks of the Symbol API."""

import cases
import mxnet as mx
import numpy as np
from make_mxnet import ORACLE, gluon
from mxnet import gluon as g
from mxnet.gluon import nn, rnn

S = mx.sym


def symbol(out, name, net, feeds, seed=3, label=None, rtol=1e-3):
    """A network of the Symbol API, saved as mx.model.save_checkpoint does it."""
    if not out.wanted(name):
        return
    rng = np.random.default_rng(seed)
    feeds = {key: value if isinstance(value, np.ndarray)
             else rng.normal(0, 1, value).astype("float32") for key, value in feeds.items()}
    given = {key: value.shape for key, value in feeds.items()}
    label = label or {}
    shapes, _, aux_shapes = net.infer_shape(**given, **label)

    def made(key, shape):
        return mx.nd.array(cases.seeded(rng, key, shape, np.prod(shape[1:])))

    args = {key: made(key, shape) for key, shape in zip(net.list_arguments(), shapes)
            if key not in feeds and key not in label}
    aux = {key: made(key, shape) for key, shape in
           zip(net.list_auxiliary_states(), aux_shapes)}
    mx.model.save_checkpoint(str(out.path / name), 1, net, args, aux)
    full = dict(args, **{key: mx.nd.array(value) for key, value in feeds.items()},
                **{key: mx.nd.zeros(shape) for key, shape in label.items()})
    got = net.bind(mx.cpu(), full, aux_states=aux, grad_req="null").forward(is_train=False)
    words = []
    for key, value in feeds.items():
        words += ["--input", f"{key}=float32[{','.join(map(str, value.shape))}]"]
    out.add(name, [f"{name}-symbol.json", f"{name}-0001.params"], feeds,
            [value.asnumpy() for value in got], rtol=rtol, oracle=ORACLE, load=words)


class Recurrent(g.HybridBlock):
    def __init__(self, layer):
        super().__init__()
        with self.name_scope():
            self.layer, self.out = layer, nn.Dense(4, flatten=False)

    def hybrid_forward(self, F, x):
        return self.out(self.layer(F.transpose(x, axes=(1, 0, 2))))


class Attention(g.HybridBlock):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads, self.width = heads, width
        with self.name_scope():
            self.qkv = nn.Dense(3 * width, flatten=False)
            self.proj = nn.Dense(width, flatten=False)
            self.norm = nn.LayerNorm()
            self.ffn = nn.Dense(4 * width, flatten=False)
            self.act = nn.GELU()
            self.back = nn.Dense(width, flatten=False)

    def split(self, F, x):
        x = F.reshape(x, (0, 0, self.heads, -1))
        return F.reshape(F.transpose(x, axes=(0, 2, 1, 3)), (-1, 0, 0), reverse=True)

    def hybrid_forward(self, F, x):
        q, k, v = [self.split(F, y) for y in F.split(self.qkv(x), 3, axis=2)]
        a = F.softmax(F.batch_dot(q, k, transpose_b=True) / np.sqrt(self.width // self.heads))
        a = F.reshape(F.batch_dot(a, v), (-1, self.heads, 0, 0), reverse=True)
        a = F.reshape(F.transpose(a, axes=(0, 2, 1, 3)), (0, 0, -1))
        x = self.norm(x + self.proj(a))
        return x + self.back(self.act(self.ffn(x)))


class Residual(g.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.a = nn.HybridSequential()
            self.a.add(nn.Conv2D(8, 3, 2, 1, use_bias=False), nn.BatchNorm(scale=False),
                       nn.Swish(), nn.Conv2D(8, 3, 1, 2, dilation=2, groups=2), nn.GroupNorm(2))
            self.b = nn.Conv2D(8, 1, 2)
            self.up = nn.Conv2DTranspose(6, 4, 2, 1)

    def hybrid_forward(self, F, x):
        y = F.LeakyReLU(self.a(x) + self.b(x), act_type="gelu")
        y = F.UpSampling(self.up(y), scale=2, sample_type="nearest")
        return F.contrib.BilinearResize2D(y, height=9, width=11), F.mean(y, axis=(2, 3))


class Words(g.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.table, self.conv = nn.Embedding(30, 8), nn.Conv1D(6, 3, padding=1)

    def hybrid_forward(self, F, x):
        y = F.relu(self.conv(F.swapaxes(self.table(x), 1, 2)))
        return F.max(y, axis=2), F.pick(F.softmax(y, axis=1), F.zeros_like(x), axis=1)


class Shapes(g.HybridBlock):
    def hybrid_forward(self, F, x):
        a = F.slice_axis(x, axis=1, begin=1, end=None)
        b = F.slice(x, begin=(None, 0, None), end=(None, 4, None), step=(None, 2, None))
        c = F.concat(F.flip(a, axis=2), F.tile(F.expand_dims(F.mean(a, axis=1), 1), (1, 2, 1)), dim=1)
        d = F.where(F.broadcast_greater(x, F.zeros((1,))), x, -x)
        e = F.broadcast_like(F.sum(x, axis=2, keepdims=True), x)
        f = F.stack(F.norm(x, axis=2), F.max(x, axis=2), axis=1)
        h = F.repeat(F.clip(x, -0.5, 0.5), repeats=2, axis=1)
        i = F.topk(x, k=2, axis=2, ret_typ="value")
        j = F.take(x, F.array([1, 0]) if hasattr(F, "array") else F.arange(0, 2), axis=1)
        return b, c, d, e, f, h, i, j


def detector():
    """SSD: anchors, and MultiBoxDetection of scores and offsets."""
    x = S.Variable("data")
    y = S.Activation(S.Convolution(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=8), act_type="relu")
    z = S.Activation(S.Convolution(y, kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=8), act_type="relu")
    locs, confs, anchors = [], [], []
    for i, t in enumerate((y, z)):
        anchors.append(S.contrib.MultiBoxPrior(t, sizes=(0.2 + 0.3 * i, 0.3 + 0.3 * i), ratios=(1, 2), clip=True))
        loc = S.Convolution(t, kernel=(3, 3), pad=(1, 1), num_filter=12)
        locs.append(S.Flatten(S.transpose(loc, axes=(0, 2, 3, 1))))
        conf = S.Convolution(t, kernel=(3, 3), pad=(1, 1), num_filter=9)
        confs.append(S.Flatten(S.transpose(conf, axes=(0, 2, 3, 1))))
    conf = S.transpose(S.Reshape(S.Concat(*confs, dim=1), shape=(0, -1, 3)), axes=(0, 2, 1))
    return S.Group([S.SoftmaxActivation(conf, mode="channel"), S.Concat(*locs, dim=1),
                    S.Concat(*anchors, dim=1)])


def found():
    d = detector()
    return S.contrib.MultiBoxDetection(d[0], d[1], d[2], nms_threshold=0.45, threshold=0.4, nms_topk=50)


def faces():
    """A network as face recognition has it: PReLU, BatchNorm with fixed gamma, L2Normalization."""
    x = (S.Variable("data") - 127.5) * 0.0078125
    x = S.BatchNorm(S.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True), fix_gamma=True, eps=2e-5)
    x = S.LeakyReLU(x, act_type="prelu")
    x = S.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full")
    s = S.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1))
    s = S.Activation(S.Convolution(s, kernel=(1, 1), num_filter=8), act_type="sigmoid")
    x = S.broadcast_mul(x, s)
    x = S.Dropout(S.BatchNorm(x, fix_gamma=False, use_global_stats=True), p=0.4)
    x = S.FullyConnected(x, num_hidden=16)
    return S.L2Normalization(S.BatchNorm(x, fix_gamma=True), mode="instance")


def segmenter():
    x = S.Variable("data")
    a = S.Activation(S.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=6), act_type="softrelu")
    b = S.Pooling(a, kernel=(2, 2), stride=(2, 2), pool_type="avg", count_include_pad=False)
    b = S.LRN(b, nsize=3, alpha=1e-3)
    c = S.Deconvolution(b, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=6, num_group=3)
    c = S.Crop(c, a, offset=(0, 0), num_args=2)
    d = S.Pad(c + a, mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 2, 2))
    e = S.SliceChannel(d, num_outputs=2, axis=1)
    f = S.InstanceNorm(S.elemwise_mul(e[0], S.tanh(e[1])), eps=1e-3)
    return S.SoftmaxOutput(f, multi_output=True, name="softmax")


def old_recurrent():
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(6, prefix="l0_"))
    cell.add(mx.rnn.GRUCell(5, prefix="l1_"))
    outputs, _ = cell.unroll(4, S.Variable("data"), layout="NTC", merge_outputs=True,
                             begin_state=cell.begin_state(func=S.zeros, shape=(0, 0)))
    return S.LinearRegressionOutput(S.FullyConnected(outputs, num_hidden=2), name="lro")


def varied(out):
    gluon(out, "lstm", Recurrent(rnn.LSTM(6, 2, bidirectional=True)), [(2, 5, 4)])
    gluon(out, "gru", Recurrent(rnn.GRU(6)), [(2, 5, 4)])
    gluon(out, "rnn_relu", Recurrent(rnn.RNN(6, activation="relu")), [(2, 5, 4)])
    gluon(out, "attention", Attention(), [(2, 6, 16)], shape_words=True)
    gluon(out, "residual", Residual(), [(1, 3, 16, 16)])
    gluon(out, "words", Words(), None, feeds=[np.arange(10, dtype="float32").reshape(2, 5)])
    gluon(out, "shapes", Shapes(), [(2, 6, 3)], shape_words=True)
    volume = nn.HybridSequential()
    volume.add(nn.Conv3D(4, 3, padding=1, activation="relu"), nn.MaxPool3D(), nn.Flatten(), nn.Dense(3))
    gluon(out, "volume", volume, [(1, 2, 6, 8, 8)])
    dense = nn.HybridSequential()
    dense.add(nn.Dense(8), nn.LeakyReLU(0.1), nn.LayerNorm(), nn.ELU(), nn.Dense(8, "tanh"), nn.SELU(),
              nn.HybridLambda("log_softmax"))
    gluon(out, "dense", dense, [(3, 7)])
    symbol(out, "detector", detector(), {"data": (1, 3, 16, 16)})
    symbol(out, "found", found(), {"data": (1, 3, 16, 16)})
    symbol(out, "faces", faces(), {"data": (2, 3, 12, 12)})
    symbol(out, "segmenter", segmenter(), {"data": (1, 3, 12, 14)})
    symbol(out, "old_recurrent", old_recurrent(), {"data": (2, 4, 3)}, label={"lro_label": (2, 2)})
