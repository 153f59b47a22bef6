"""Networks made here, with weights of chance and extents that a call brings, beside ONNX Runtime,
or, where this Python lacks that, onnx's own evaluator. MSD_SEED says which weights and inputs."""
import os
import random
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no networks are made")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (behind what may skip)

SEED = int(os.environ.get("MSD_SEED", random.SystemRandom().randrange(1 << 32)))
KINDS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL,
         "u": TensorProto.UINT8}


class Net:
    """Nodes in order; a call of add() gives the names of what the node makes."""

    def __init__(self, name):
        print(f"MSD_SEED={SEED}", file=sys.stderr)
        self.random = np.random.default_rng([SEED, *name.encode()])
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def add(self, op, *inputs, n=1, **attributes):
        made = [f"t{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(op, list(inputs), made, f"n{len(self.nodes)}",
                                           **attributes))
        return made[0] if n == 1 else made

    def const(self, value, dtype=None):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape, scale=None):
        scale = scale or 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 10)
        return self.const(self.random.normal(0, scale, shape), np.float32)

    def given(self, name, *shape, kind="f"):
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))
        return name

    def model(self, *outputs, opset=17, checked=True):
        """Outputs as (name, kind, rank); their extents are nobody's business before a run."""
        ends = [helper.make_tensor_value_info(
            name, KINDS[kind], [f"{name}_{i}" for i in range(rank)]) for name, kind, rank in outputs]
        graph = helper.make_graph(self.nodes, "made", self.inputs, ends, self.weights)
        whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        whole.ir_version = 8
        if checked:
            onnx.checker.check_model(whole, full_check=True)
        return whole


def attention():
    n = Net("attention")
    x, mask = n.given("x", "batch", "time", 16), n.given("mask", "batch", "time", kind="b")
    heads = n.const([0, 0, 4, 4], np.int64)

    def projected(perm):
        made = n.add("Add", n.add("MatMul", x, n.weight(16, 16)), n.weight(16))
        return n.add("Transpose", n.add("Reshape", made, heads), perm=perm)

    q, k, v = projected([0, 2, 1, 3]), projected([0, 2, 3, 1]), projected([0, 2, 1, 3])
    scores = n.add("Div", n.add("MatMul", q, k), n.const(2.0, np.float32))
    wide = n.add("Unsqueeze", mask, n.const([1, 2], np.int64))
    scores = n.add("Where", wide, scores, n.const(-1e9, np.float32))
    seen = n.add("MatMul", n.add("Softmax", scores, axis=-1), v)
    flat = n.add("Reshape", n.add("Transpose", seen, perm=[0, 2, 1, 3]),
                 n.const([0, 0, 16], np.int64))
    mean = n.add("ReduceMean", flat, axes=[-1])
    centred = n.add("Sub", flat, mean)
    spread = n.add("ReduceMean", n.add("Mul", centred, centred), axes=[-1])
    y = n.add("Div", centred, n.add("Sqrt", n.add("Add", spread, n.const(1e-5, np.float32))))
    gelu = n.add("Mul", y, n.add("Add", n.add("Erf", n.add("Mul", y, n.const(0.7071, np.float32))),
                                 n.const(1.0, np.float32)))

    def feed(random):
        b, t = random.integers(1, 4), random.integers(1, 9)
        return {"x": random.normal(size=(b, t, 16)).astype("f4"),
                "mask": np.concatenate([np.ones((b, 1), bool), random.random((b, t - 1)) < 0.7], 1)}
    return n.model((gelu, "f", 3)), feed


def recurrent(op, gates):
    n = Net(op)
    x, lens = n.given("x", "time", "batch", 5), n.given("first", "batch", 3)
    both = n.add("Concat", n.add("Unsqueeze", lens, n.const([0], np.int64)),
                 n.add("Unsqueeze", n.add("Neg", lens), n.const([0], np.int64)), axis=0)
    w, r = n.weight(2, gates * 3, 5), n.weight(2, gates * 3, 3)
    b = n.weight(2, 2 * gates * 3, scale=0.3)
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    made = n.add(op, x, w, r, b, "", both, n=3 if op == "LSTM" else 2, hidden_size=3,
                 direction="bidirectional", **more)
    turned = n.add("Transpose", made[0], perm=[2, 0, 1, 3])
    y = n.add("Reshape", turned, n.const([0, 0, 6], np.int64))
    last = n.add("ReduceMax", y, axes=[1], keepdims=0)

    def feed(random):
        t, b = random.integers(1, 8), random.integers(1, 5)
        return {"x": random.normal(size=(t, b, 5)).astype("f4"),
                "first": random.normal(size=(b, 3)).astype("f4")}
    return n.model((y, "f", 3), (last, "f", 2), (made[1], "f", 3)), feed


def unet():
    n = Net("unet")
    x = n.given("x", "batch", 3, "height", "width")

    def block(t, from_, to):
        t = n.add("Conv", t, n.weight(to, from_, 3, 3), n.weight(to), pads=[1] * 4)
        t = n.add("BatchNormalization", t, n.const(np.ones(to), "f4"), n.weight(to),
                  n.weight(to), n.const(n.random.random(to) + 0.5, "f4"))
        return n.add("LeakyRelu", t, alpha=0.1)

    one = block(x, 3, 4)
    two = block(n.add("MaxPool", one, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), 4, 8)
    low = block(n.add("AveragePool", two, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 8, 8)

    def up(t, like, mode, **how):
        size = n.add("Concat", n.add("Slice", n.add("Shape", t), n.const([0], np.int64),
                                     n.const([2], np.int64)),
                     n.add("Slice", n.add("Shape", like), n.const([2], np.int64),
                           n.const([4], np.int64)), axis=0)
        return n.add("Concat", n.add("Resize", t, "", "", size, mode=mode, **how), like, axis=1)

    t = block(up(low, two, "linear", coordinate_transformation_mode="align_corners"), 16, 4)
    t = block(up(t, one, "nearest", nearest_mode="floor",
                 coordinate_transformation_mode="asymmetric"), 8, 4)
    up4 = n.add("ConvTranspose", t, n.weight(4, 2, 2, 2), strides=[2, 2])
    y = n.add("Softmax", up4, axis=1)

    def feed(random):
        h, w = random.integers(7, 30, 2)
        return {"x": random.normal(size=(random.integers(1, 3), 3, h, w)).astype("f4")}
    return n.model((y, "f", 4)), feed


def depthwise():
    n = Net("depthwise")
    x = n.given("x", "batch", 3, "height", "width")
    t = n.add("Conv", x, n.weight(8, 3, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER")
    for dilation in (1, 2, 3):
        wide = n.add("HardSwish", n.add("Conv", t, n.weight(16, 8, 1, 1)))
        deep = n.add("Conv", wide, n.weight(16, 1, 3, 3), group=16, dilations=[dilation] * 2,
                     pads=[dilation] * 4)
        squeezed = n.add("Conv", n.add("GlobalAveragePool", deep), n.weight(16, 16, 1, 1))
        gated = n.add("Mul", n.add("Clip", deep, n.const(0, "f4"), n.const(6, "f4")),
                      n.add("HardSigmoid", squeezed, alpha=0.1666667))
        t = n.add("Add", t, n.add("Conv", gated, n.weight(8, 16, 1, 1)))
    t = n.add("InstanceNormalization", t, n.weight(8), n.weight(8))
    shape = n.add("Shape", t)
    batch = n.add("Gather", shape, n.const(0, np.int64))
    flat = n.add("Reshape", t, n.add("Concat", n.add("Unsqueeze", batch, n.const([0], np.int64)),
                                     n.const([8, -1], np.int64), axis=0))
    y = n.add("ReduceL2", flat, axes=[2], keepdims=0)

    def feed(random):
        return {"x": random.normal(size=(2, 3, *random.integers(16, 40, 2))).astype("f4")}
    return n.model((y, "f", 2), (flat, "f", 3)), feed


def detection():
    n = Net("detection")
    x = n.given("x", 1, 4, "height", "width")
    heat = n.add("Sigmoid", n.add("Conv", x, n.weight(2, 4, 3, 3, scale=0.3), pads=[1] * 4))
    size = n.add("Exp", n.add("Conv", x, n.weight(4, 4, 1, 1, scale=0.3)))
    scores = n.add("Reshape", heat, n.const([1, 2, -1], np.int64))
    boxes = n.add("Transpose", n.add("Reshape", size, n.const([1, 4, -1], np.int64)),
                  perm=[0, 2, 1])
    kept = n.add("NonMaxSuppression", boxes, scores, n.const([5], np.int64),
                 n.const([0.4], "f4"), n.const([0.3], "f4"), center_point_box=1)
    place = n.add("Squeeze", n.add("Slice", kept, n.const([2], np.int64), n.const([3], np.int64),
                                   n.const([1], np.int64)), n.const([1], np.int64))
    found = n.add("Gather", n.add("Squeeze", boxes, n.const([0], np.int64)), place)
    all_ = n.add("Reshape", scores, n.const([-1], np.int64))
    k = n.add("Min", n.add("Shape", all_), n.const([7], np.int64))
    best, where = n.add("TopK", all_, k, n=2)
    count = n.add("Shape", kept)
    mask = n.add("NonZero", n.add("Greater", all_, n.const(0.8, "f4")))

    def feed(random):
        return {"x": random.normal(size=(1, 4, *random.integers(3, 12, 2))).astype("f4")}
    return n.model((kept, "i", 2), (found, "f", 2), (best, "f", 1), (where, "i", 1),
                   (count, "i", 1), (mask, "i", 2)), feed


def quantized():
    n = Net("quantized")
    x = n.given("x", "batch", 3, "height", "width")
    zero, scale = n.const(120, np.uint8), n.const(0.05, "f4")
    nil = n.const(np.zeros(8), np.int8)

    def again(t, low=zero, step=scale):
        return n.add("DequantizeLinear", n.add("QuantizeLinear", t, step, low), step, low)

    w = n.const(n.random.integers(-127, 128, (8, 3, 3, 3)), np.int8)
    steps = n.const(n.random.random(8) / 100 + 0.002, "f4")
    kernel = n.add("DequantizeLinear", w, steps, nil, axis=0)
    t = again(n.add("Relu", n.add("Conv", again(x), kernel, n.weight(8), pads=[1] * 4)))
    t = n.add("GlobalAveragePool", t)
    t = n.add("Flatten", t)
    dense = n.const(n.random.integers(-127, 128, (8, 5)), np.int8)
    low, step, bottom = n.add("DynamicQuantizeLinear", t, n=3)
    whole = n.add("MatMulInteger", low, dense, bottom)
    y = n.add("Mul", n.add("Cast", whole, to=TensorProto.FLOAT),
              n.add("Mul", step, n.const(0.01, "f4")))

    def feed(random):
        return {"x": random.normal(size=(2, 3, *random.integers(4, 20, 2))).astype("f4")}
    return n.model((y, "f", 2)), feed


def branches():
    """If with graphs that capture, a Loop that gathers, a Scan."""
    n = Net("branches")
    x, k = n.given("x", "batch", 4), n.given("k", kind="i")
    total = n.add("ReduceSum", x, keepdims=0)
    w = n.weight(4, 4)

    def body(name, nodes, inputs, outputs):
        return helper.make_graph(nodes, name, inputs, outputs)

    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, KINDS[kind], shape)

    yes = body("yes", [helper.make_node("MatMul", [x, w], ["yes_"])], [], [value("yes_", "f", None)])
    no = body("no", [helper.make_node("Tanh", [x], ["no_"])], [], [value("no_", "f", None)])
    chosen = n.add("If", n.add("Greater", total, n.const(0, "f4")), then_branch=yes, else_branch=no)
    turn = body("turn", [helper.make_node("Add", ["a", chosen], ["b"]),
                         helper.make_node("ReduceMax", ["b"], ["top"], keepdims=0),
                         helper.make_node("Less", ["top", limit := n.const(9, "f4")], ["on"]),
                         helper.make_node("Identity", ["b"], ["seen"])],
                [value("i", "i", []), value("c", "b", []), value("a", "f", ["p", 4])],
                [value("on", "b", []), value("b", "f", ["p", 4]), value("seen", "f", ["p", 4])])
    end, all_ = n.add("Loop", k, n.const(True), x, n=2, body=turn)
    step = body("step", [helper.make_node("Add", ["s", "e"], ["u"]),
                         helper.make_node("Mul", ["u", "e"], ["m"])],
                [value("s", "f", [4]), value("e", "f", [4])],
                [value("u", "f", [4]), value("m", "f", [4])])
    sums, products = n.add("Scan", n.weight(4), end, n=2, body=step, num_scan_inputs=1)
    del limit

    def feed(random):
        return {"x": random.normal(size=(random.integers(1, 5), 4)).astype("f4"),
                "k": np.array(random.integers(1, 6))}
    return n.model((chosen, "f", 2), (all_, "f", 3), (sums, "f", 1), (products, "f", 2)), feed


def tokens():
    """Embedding, positions by Range, a causal mask by Trilu, CumSum, ScatterND, Einsum."""
    n = Net("tokens")
    ids = n.given("ids", "batch", "time", kind="i")
    shape = n.add("Shape", ids)
    time = n.add("Gather", shape, n.const(1, np.int64))
    where = n.add("Range", n.const(0, np.int64), time, n.const(1, np.int64))
    t = n.add("Add", n.add("Gather", n.weight(11, 6, scale=1), ids),
              n.add("Gather", n.weight(20, 6, scale=1), where))
    scores = n.add("Einsum", t, t, equation="bid,bjd->bij")
    square = n.add("Concat", n.add("Unsqueeze", time, n.const([0], np.int64)),
                   n.add("Unsqueeze", time, n.const([0], np.int64)), axis=0)
    ones = n.add("ConstantOfShape", square, value=numpy_helper.from_array(np.ones(1, "f4")))
    causal = n.add("Trilu", ones, upper=0)
    masked = n.add("Where", n.add("Cast", causal, to=TensorProto.BOOL), scores,
                   n.const(-np.inf, "f4"))
    y = n.add("MatMul", n.add("Softmax", masked, axis=-1), t)
    run = n.add("CumSum", y, n.const(1, np.int64))
    last = n.add("Gather", run, n.const(-1, np.int64), axis=1)
    one_hot = n.add("OneHot", ids, n.const(11, np.int64), n.const([0, 1], "f4"))
    counts = n.add("ReduceSum", one_hot, n.const([1], np.int64), keepdims=0)
    logits = n.add("LogSoftmax", n.add("Gemm", last, n.weight(11, 6), n.weight(11), transB=1))
    word = n.add("ArgMax", n.add("Add", logits, counts), axis=1, keepdims=0)
    padded = n.add("Pad", last, n.const([0, 1, 0, 2], np.int64), mode="reflect")

    def feed(random):
        return {"ids": random.integers(0, 11, (random.integers(1, 4), random.integers(1, 12)))}
    return n.model((run, "f", 3), (logits, "f", 2), (word, "i", 1), (padded, "f", 2)), feed


def sequence():
    """Convolutions over time, split, PRelu, GatherElements, a padding of the edge."""
    n = Net("sequence")
    x = n.given("x", "batch", 2, "time")
    t = n.add("Pad", x, n.const([0, 0, 2, 0, 0, 0], np.int64), mode="edge")
    t = n.add("Conv", t, n.weight(6, 2, 3), n.weight(6), kernel_shape=[3])
    a, b = n.add("Split", t, n=2, axis=1)
    t = n.add("Mul", n.add("Tanh", a), n.add("Sigmoid", b))
    t = n.add("PRelu", t, n.weight(3, 1))
    t = n.add("Add", t, n.add("Expand", n.add("ReduceMean", t, axes=[2]), n.add("Shape", t)))
    pooled = n.add("LpPool", t, kernel_shape=[2], strides=[2], pads=[1, 1], p=2)
    order, at = n.add("TopK", pooled, n.const([1], np.int64), n=2, axis=2, largest=0)
    same = n.add("GatherElements", pooled, at, axis=2)
    tiled = n.add("Tile", same, n.const([1, 1, 3], np.int64))
    y = n.add("Concat", tiled, pooled, axis=2)

    def feed(random):
        return {"x": random.normal(size=(2, 2, random.integers(3, 20))).astype("f4")}
    return n.model((y, "f", 3), (order, "f", 3)), feed


def functions():
    """Layers as functions of the model, as exporters write them: attributes of a call or their
    defaults, a function in a function, an input that a call leaves out, a branch in a body."""
    n = Net("functions")
    x = n.given("x", "batch", 6)
    own = helper.make_opsetid("", 17), helper.make_opsetid("local", 1)

    def call(name, inputs, output, **attributes):
        n.nodes.append(helper.make_node(name, inputs, [output], domain="local", **attributes))
        return output

    def reference(op, inputs, output, key, to):
        made = helper.make_node(op, inputs, [output])
        made.attribute.append(onnx.AttributeProto(name=key, type=onnx.AttributeProto.FLOAT,
                                                  ref_attr_name=to))
        return made

    act = helper.make_function(
        "local", "act", ["x", "least"], ["y"],
        [helper.make_node("Clip", ["x", "least"], ["t"]),
         reference("LeakyRelu", ["t"], "y", "alpha", "slope")], own[:1],
        attribute_protos=[helper.make_attribute("slope", 0.25)])
    kept = helper.make_tensor_value_info("e", TensorProto.FLOAT, None)
    branches = {
        "then_branch": helper.make_graph(
            [helper.make_node("act", ["t"], ["e"], domain="local")], "then", [], [kept]),
        "else_branch": helper.make_graph([helper.make_node("Neg", ["t"], ["e"])], "else", [], [kept])}
    layer = helper.make_function(
        "local", "layer", ["x", "w", "b"], ["y"],
        [helper.make_node("Gemm", ["x", "w", "b"], ["g"]),
         helper.make_node("act", ["g"], ["t"], domain="local"),
         helper.make_node("ReduceSum", ["t"], ["s"], keepdims=0),
         helper.make_node("Sub", ["s", "s"], ["zero"]),
         helper.make_node("Greater", ["s", "zero"], ["c"]),
         helper.make_node("If", ["c"], ["y"], **branches)], own)
    one = call("layer", [x, n.weight(6, 8), n.weight(8)], "one")
    two = call("layer", [one, n.weight(8, 4), n.weight(4)], "two")
    y = call("act", [two, n.const(-0.5, "f4")], "y", slope=0.75)
    model = n.model((y, "f", 2), (one, "f", 2), checked=False)
    model.opset_import.append(own[1])
    model.functions.extend([act, layer])
    onnx.checker.check_model(model)

    def feed(random):
        return {"x": random.normal(size=(random.integers(1, 5), 6)).astype("f4")}
    return model, feed


NETWORKS = {"attention": attention, "lstm": lambda: recurrent("LSTM", 4),
            "gru": lambda: recurrent("GRU", 3), "rnn": lambda: recurrent("RNN", 1), "unet": unet,
            "depthwise": depthwise, "detection": detection, "quantized": quantized,
            "branches": branches, "tokens": tokens, "sequence": sequence, "functions": functions}


# onnx's own evaluator has no DequantizeLinear before opset 19, joins what a Loop stacks, and takes no
# call that leaves out an input of a function.
RUNTIME_ALONE = {"quantized", "branches", "functions"}


def evaluator(name, model):
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator
        if name in RUNTIME_ALONE:
            pytest.skip("no ONNX Runtime in this Python")
        return ReferenceEvaluator(model)
    options = onnxruntime.SessionOptions()  # each operator by itself: quantized ones are not joined
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


# Of what is quantized, a sum that lies between two steps may be rounded to the other one.
TOLERANCE = {"quantized": 1e-2}


def expect_alike(y, want, name, tolerance):
    assert y.shape == want.shape and y.dtype == want.dtype, (name, y.shape, want.shape)
    if want.dtype.kind != "f":
        assert np.array_equal(y, want), name
        return
    size = np.abs(want[np.isfinite(want)]).max(initial=1e-6)
    assert np.allclose(y, want, rtol=1e-4, atol=tolerance * size, equal_nan=True), (
        name, np.abs(y - want).max() / size)


@pytest.mark.parametrize("name", NETWORKS)
def test_it_gives_the_numbers_of_onnx_runtime(daemon, tmp_path, name):
    model, feed = NETWORKS[name]()
    onnx.save(model, tmp_path / "made.onnx")
    daemon.load("made", tmp_path / "made.onnx", "--replace")
    want_of = evaluator(name, model)
    random = np.random.default_rng(SEED)
    for _ in range(3):
        inputs = feed(random)
        words = []
        for key, x in inputs.items():
            np.save(tmp_path / f"{key}.npy", x)
            words.append(f"{key}=@{tmp_path}/{key}.npy")
        files = [tmp_path / f"{i}.npy" for i in range(len(model.graph.output))]
        daemon.ok("call", "made:run", *words, *[w for f in files for w in ("-o", f)])
        for end, file, want in zip(model.graph.output, files, want_of.run(None, inputs)):
            expect_alike(np.load(file), np.asarray(want), end.name, TOLERANCE.get(name, 1e-5))
