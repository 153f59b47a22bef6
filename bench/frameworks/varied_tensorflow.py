"""Small models of many kinds for make_tensorflow.py: layers of Keras, control flow, image operators."""

import numpy as np
import tensorflow as tf
from make_tensorflow import frozen, lite, saved, seed

K = tf.keras
L = K.layers


def constant(*shape, scale=0.3, number=0):
    return tf.constant(np.random.default_rng(number).normal(0, scale, shape).astype("float32"))


def transformer(heads=2, width=16, length=8, words=0):
    x = given = K.Input((length,), dtype="int32") if words else K.Input((length, width))
    if words:
        x = L.Embedding(words, width)(given)
    for _ in range(2):
        y = L.MultiHeadAttention(heads, width // heads)(x, x)
        x = L.LayerNormalization()(L.Add()([x, y]))
        y = L.Dense(width)(L.Dense(4 * width, activation="gelu")(x))
        x = L.LayerNormalization()(L.Add()([x, y]))
    return K.Model(given, L.Dense(5, activation="softmax")(L.GlobalAveragePooling1D()(x)))


def recurrent(layer):
    given = K.Input((7, 6))
    x = L.Bidirectional(layer(8, return_sequences=True))(given)
    return K.Model(given, L.Dense(3)(layer(5)(x)))


def unet():
    given = K.Input((32, 32, 3))
    a = L.Conv2D(8, 3, padding="same", activation="elu")(given)
    b = L.Conv2D(16, 3, 2, "same", activation="selu")(a)
    c = L.SeparableConv2D(16, 3, padding="same", dilation_rate=2, activation="swish")(b)
    d = L.Conv2DTranspose(8, 3, 2, "same")(L.PReLU(shared_axes=[1, 2])(c))
    e = L.Concatenate()([d, a])
    f = L.UpSampling2D(2, interpolation="bilinear")(L.MaxPooling2D(2)(e))
    return K.Model(given, L.Conv2D(2, 1, activation="sigmoid")(L.Cropping2D(1)(f)))


def efficient():
    given = K.Input((33, 33, 3))
    x = L.Rescaling(1 / 127.5, -1)(given)
    x = L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5])(x)
    x = L.Conv2D(12, 3, 2, "same", use_bias=False)(x)
    x = L.Activation("hard_swish" if hasattr(K.activations, "hard_swish") else "swish")(
        L.BatchNormalization()(x))
    s = L.GlobalAveragePooling2D(keepdims=True)(x)
    s = L.Conv2D(12, 1, activation="hard_sigmoid")(L.Conv2D(4, 1, activation="relu")(s))
    x = L.Multiply()([x, s])
    x = L.DepthwiseConv2D(5, 2, "same", depth_multiplier=2)(x)
    x = L.GroupNormalization(4)(x)
    x = L.SpatialDropout2D(0.2)(L.AveragePooling2D(3, 2, "same")(x))
    return K.Model(given, L.Dense(7, activation="softplus")(L.Flatten()(x)))


def one_dimensional():
    given = K.Input((40, 4))
    x = L.Conv1D(8, 5, padding="causal", dilation_rate=2, activation="tanh")(given)
    x = L.ZeroPadding1D(2)(L.MaxPooling1D(2)(x))
    x = L.Conv1DTranspose(6, 4, 2)(x)
    x = L.LeakyReLU(0.1)(L.UpSampling1D(2)(x))
    return K.Model(given, [L.GlobalMaxPooling1D()(x), L.Softmax(axis=1)(x)])


def volume():
    given = K.Input((8, 10, 10, 2))
    x = L.Conv3D(4, 3, padding="same", activation="relu")(given)
    x = L.AveragePooling3D(2)(L.MaxPooling3D((1, 2, 2))(x))
    return K.Model(given, L.Dense(3)(L.Flatten()(x)))


def wide_and_deep():
    a, b = K.Input((6,), name="a"), K.Input((4,), name="b")
    deep = L.Dense(8, activation="softsign")(L.Dense(12, activation="relu6")(a))
    wide = L.Dot(1)([L.Dense(4)(b), L.Dense(4)(a)])
    x = L.Concatenate()([deep, wide, L.Maximum()([b, L.Dense(4)(deep)]), L.Subtract()([b, b])])
    return K.Model([a, b], [L.Dense(1, activation="sigmoid", name="p")(x),
                            L.UnitNormalization(name="q")(x)])


def conv_lstm():
    given = K.Input((3, 8, 8, 2))
    x = L.ConvLSTM2D(4, 3, padding="same", return_sequences=True)(given)
    return K.Model(given, L.TimeDistributed(L.Conv2D(2, 1))(x))


def detector(x):
    """Boxes that NonMaxSuppression selects, as a detection graph ends."""
    boxes = tf.reshape(tf.sigmoid(x), [-1, 4])
    low, size = boxes[:, :2], boxes[:, 2:] * 0.5
    boxes = tf.concat([low, low + size], 1)
    scores = tf.reduce_max(boxes, 1)
    keep = tf.image.non_max_suppression(boxes, scores, 6, 0.4, 0.3)
    return tf.gather(boxes, keep), tf.gather(scores, keep)


def combined(x):
    boxes = tf.reshape(tf.sigmoid(x), [1, -1, 1, 4])
    boxes = tf.concat([boxes[..., :2], boxes[..., :2] + boxes[..., 2:]], -1)
    scores = tf.reshape(tf.sigmoid(x * 3), [1, -1, 4])
    found = tf.image.combined_non_max_suppression(boxes, scores, 4, 8, 0.5, 0.3)
    return list(found)


def newton(x):
    y = tf.ones_like(x)
    i = tf.constant(0)
    _, y = tf.while_loop(lambda i, y: tf.logical_and(i < 30, tf.reduce_max(tf.abs(y * y - x)) > 1e-4),
                         lambda i, y: (i + 1, (y + x / y) / 2), [i, y])
    return y


def branches(x, n):
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x) * 2, lambda: -x)
    return tf.switch_case(n, [lambda: y, lambda: y + 1, lambda: y * 3])


def cumulative(x):
    """A loop that fills a TensorArray."""
    steps = tf.TensorArray(tf.float32, 5)
    state = tf.zeros([3])
    for i in tf.range(5):
        state = tf.tanh(state + x[i])
        steps = steps.write(i, state)
    return steps.stack()


def image_ops(x):
    y = tf.image.resize(x, [20, 14], "nearest")
    z = tf.image.resize(x, [7, 9], "bilinear")
    c = tf.image.resize(x, [21, 19], "bicubic")
    g = tf.image.rgb_to_grayscale(x)
    n = tf.image.per_image_standardization(x)
    f = tf.image.flip_left_right(tf.image.central_crop(x, 0.5))
    return y, z, c, g, n, f


def crop_boxes(x):
    boxes = tf.constant([[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0], [0.5, 0.1, 0.2, 0.7]])
    return tf.image.crop_and_resize(x, boxes, [0, 1, 0], [5, 6])


def moves(x):
    y = tf.transpose(tf.nn.space_to_depth(x, 2), [0, 3, 1, 2])
    z = tf.nn.depth_to_space(x, 2)
    b = tf.batch_to_space(tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [2, 2], [[0, 0], [0, 0]])
    r = tf.roll(tf.reverse(x, [1]), [1, 2], [1, 2])
    p = tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT")
    m = tf.pad(x, [[0, 0], [1, 0], [0, 1], [0, 0]], "SYMMETRIC")
    s = x[:, ::-2, 1:-1:2, tf.newaxis, ..., 0]
    return y, z, b, r, p, m, s


def gathers(x, i):
    a = tf.gather(x, i, axis=1)
    b = tf.gather_nd(x, tf.stack([i % 2, i], 1))
    c = tf.scatter_nd(tf.expand_dims(i, 1), tf.transpose(x)[:3], [6, 2])
    d = tf.one_hot(i, 6, 2.0, -1.0)
    e, f = tf.math.top_k(x, 3)
    g = tf.tensor_scatter_nd_update(x, [[0, 1], [1, 2]], [9.0, 8.0])
    h = tf.argsort(x, direction="DESCENDING")
    j = tf.math.segment_sum(tf.transpose(x), [0, 0, 1, 1, 2, 2])
    return a, b, c, d, e, f, g, h, j


def math(x):
    y = tf.abs(x) + 0.1
    return (tf.math.log1p(y), tf.math.expm1(x), tf.math.rsqrt(y), tf.math.erf(x), tf.math.floormod(x, y),
            tf.math.atan2(x, y), tf.math.squared_difference(x, y), tf.math.sign(x), tf.round(x * 3),
            tf.math.softplus(x), tf.math.reduce_logsumexp(x, 1), tf.math.cumsum(x, 1, exclusive=True),
            tf.clip_by_value(x, -0.5, 0.5),
            tf.where(x > 0, x, y), tf.math.reduce_std(x, 0), tf.math.xlogy(y, y),
            tf.cast(tf.math.logical_xor(x > 0, y > 1), tf.float32), tf.math.l2_normalize(x, 1))


def matrices(x, y):
    a = tf.linalg.matmul(x, y, transpose_b=True)
    b = tf.einsum("bij,bkj->bik", x, y)
    c = tf.linalg.band_part(a, 1, 0)
    d = tf.linalg.diag(x[:, 0])
    e = tf.tensordot(x, y, [[2], [2]])
    f = tf.linalg.diag_part(a)
    return a, b, c, d, e, f, tf.linalg.norm(x, axis=2), tf.linalg.trace(a)


def shapes(x):
    """Shapes that follow from an open batch."""
    n = tf.shape(x)[0]
    y = tf.tile(tf.reshape(x, [n, -1, 3]), [1, 2, 1])
    z = tf.broadcast_to(tf.reduce_mean(y, 1, keepdims=True), tf.shape(y))
    f = tf.fill([n, 2], 1.5) + tf.zeros([n, 1])
    r = tf.cast(tf.range(n), tf.float32)
    parts = tf.unstack(y, axis=2)
    return y - z, f, r, tf.stack(parts[::-1], 1), tf.split(y, [1, 2], 2)[1], tf.size(x)


def old_network():
    """A graph of TensorFlow 1 with layers of tf.nn."""
    v1 = tf.compat.v1
    p = v1.placeholder(tf.float32, [None, 12, 12, 3], name="image")
    keep = v1.placeholder_with_default(tf.constant(False), [], name="training")
    x = tf.nn.conv2d(p, constant(3, 3, 3, 8), [1, 2, 2, 1], "SAME", name="conv")
    x = v1.nn.lrn(tf.nn.relu(x), 2, 1.0, 1e-2, 0.75)
    x = tf.nn.max_pool2d(x, 3, 2, "SAME")
    x = tf.nn.depthwise_conv2d(x, constant(3, 3, 8, 2), [1, 1, 1, 1], "SAME")
    x = v1.cond(keep, lambda: x * 2, lambda: x)
    x = tf.nn.separable_conv2d(x, constant(3, 3, 16, 1), constant(1, 1, 16, 6), [1, 1, 1, 1], "VALID")
    x = v1.layers.flatten(x) if hasattr(v1, "layers") and hasattr(v1.layers, "flatten") else \
        tf.reshape(x, [-1, 6])
    tf.nn.softmax(v1.nn.xw_plus_b(x, constant(6, 4), constant(4)), name="prob")


def old_graph(out, name, build, feeds, names):
    if not out.wanted(name):
        return
    from make_tensorflow import ORACLE

    graph = tf.Graph()
    with graph.as_default():
        build()
    with tf.compat.v1.Session(graph=graph) as session:
        got = session.run([n + ":0" for n in names], {k + ":0": v for k, v in feeds.items()})
    (out.path / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString())
    out.add(name, [f"{name}.pb"], feeds, got, load=["--outputs", ",".join(names)], oracle=ORACLE)


def old_recurrent():
    """dynamic_rnn of TensorFlow 1: a while loop of Enter and Exit."""
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [5, 4], name="x")
    i, s = v1.while_loop(lambda i, s: i < 5,
                         lambda i, s: (i + 1, tf.tanh(tf.matmul(s, constant(4, 4)) + x[i])),
                         [tf.constant(0), tf.zeros([1, 4])])
    tf.identity(s, name="state")


class TwoSignatures(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(constant(5, 3))
        self.table = tf.Variable(tf.range(10, dtype=tf.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 5], tf.float32, name="x")])
    def score(self, x):
        return {"logits": x @ self.w, "best": tf.argmax(x @ self.w, 1)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
    def look(self, ids):
        return {"rows": tf.nn.embedding_lookup(self.table, ids)}


def signatures(out, name):
    if not out.wanted(name):
        return
    from make_tensorflow import ORACLE

    module = TwoSignatures()
    tf.saved_model.save(module, str(out.path / name),
                        signatures={"score": module.score, "look": module.look})
    x = np.random.default_rng(5).normal(0, 1, (3, 5)).astype("float32")
    got = module.score(tf.constant(x))
    out.add(name, [name], {"x": x}, [got["best"].numpy(), got["logits"].numpy()],
            load=["--signature", "score"], oracle=ORACLE)


def varied(out):
    keras = {
        "lstm": (recurrent(L.LSTM), {"x": (2, 7, 6)}), "gru": (recurrent(L.GRU), {"x": (2, 7, 6)}),
        "simple_rnn": (recurrent(L.SimpleRNN), {"x": (2, 7, 6)}),
        "transformer": (transformer(), {"x": (2, 8, 16)}), "unet": (unet(), {"x": (1, 32, 32, 3)}),
        "efficient": (efficient(), {"x": (1, 33, 33, 3)}),
        "one_dimensional": (one_dimensional(), {"x": (2, 40, 4)}),
        "volume": (volume(), {"x": (1, 8, 10, 10, 2)}),
        "wide_and_deep": (wide_and_deep(), {"a": (3, 6), "b": (3, 4)}),
        "conv_lstm": (conv_lstm(), {"x": (1, 3, 8, 8, 2)}),
        "words": (transformer(words=50), {"x": np.arange(16, dtype="int32").reshape(2, 8)}),
    }
    for name, (model, feeds) in keras.items():
        seed(model)
        saved(out, name + "_saved", model, feeds)

        def run(*args, m=model):
            return m(args[0] if len(args) == 1 else list(args))
        frozen(out, name + "_frozen", run, feeds)
        frozen(out, name + "_open", run, feeds, open_axes=(0,))
        lite(out, name + "_lite", model, feeds, kind="float")
        if name not in ("lstm", "gru", "simple_rnn", "conv_lstm", "volume"):
            lite(out, name + "_float16", model, feeds, kind="float16", rtol=2e-3)
            lite(out, name + "_dynamic", model, feeds, kind="dynamic", rtol=5e-2, atol=2e-2)
        if name in ("unet", "efficient", "transformer", "one_dimensional"):
            # a step of the last layers is several of the output behind its sigmoid
            steps = 8.01 if name in ("unet", "efficient") else 2.01
            lite(out, name + "_int8", model, feeds, kind="int8", rtol=0, atol=steps)
            lite(out, name + "_full", model, feeds, kind="full", rtol=2e-2, atol=1e-2)
    picture = {"x": (2, 12, 10, 3)}
    functions = {
        "detector": (detector, {"x": (8, 16)}), "combined": (combined, {"x": (10, 4)}),
        "newton": (newton, {"x": np.float32([2, 9, 0.5])}),
        "branches": (branches, {"x": (2, 3), "n": np.array(1, "int32")}),
        "cumulative": (cumulative, {"x": (5, 3)}), "image_ops": (image_ops, picture),
        "crop_boxes": (crop_boxes, picture), "moves": (moves, {"x": (1, 4, 6, 8)}),
        "gathers": (gathers, {"x": (2, 6), "i": np.int32([0, 5, 2])}),
        "math": (math, {"x": (3, 5)}), "matrices": (matrices, {"x": (2, 3, 4), "y": (2, 3, 4)}),
        "shapes": (shapes, {"x": (2, 4, 3)}),
    }
    for name, (function, feeds) in functions.items():
        frozen(out, name, function, feeds)
        if name in ("shapes", "moves", "image_ops"):
            frozen(out, name + "_open", function, feeds, open_axes=(0,))
        saved(out, name + "_saved", tf.Module(), feeds, function=function, open_batch=False)
        lite(out, name + "_lite", None, feeds, function=function)
    frozen(out, "newton_functional", newton, functions["newton"][1], lower=False)
    frozen(out, "branches_functional", branches, functions["branches"][1], lower=False)
    signatures(out, "two_signatures")
    rng = np.random.default_rng(5)
    old_graph(out, "old_network", old_network,
              {"image": rng.normal(0, 1, (2, 12, 12, 3)).astype("float32")}, ["prob"])
    old_graph(out, "old_recurrent", old_recurrent,
              {"x": rng.normal(0, 1, (5, 4)).astype("float32")}, ["state"])
