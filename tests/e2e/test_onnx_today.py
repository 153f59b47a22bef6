"""ONNX files as others write them: operators of com.microsoft, sparse tensors, outputs without a
type, models without an ir_version. The numbers are ONNX Runtime's."""
import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
onnxruntime = pytest.importorskip("onnxruntime", reason="no ONNX Runtime in this Python")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (behind what may skip)

FLOAT, UINT8, INT32 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT32
RANDOM = np.random.default_rng(5)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def bytes_of(*shape):
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def made(nodes, feeds, outputs, constants=(), sparse=()):
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for n, x in feeds.items()]
    ends = [helper.make_tensor_value_info(n, t, None) for n, t in outputs]
    graph = helper.make_graph(nodes, "g", inputs, ends, [
        numpy_helper.from_array(np.asarray(v), n) for n, v in dict(constants).items()])
    graph.sparse_initializer.extend(sparse)
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def answers(daemon, folder, whole, feeds):
    onnx.save(whole, folder / "m.onnx")
    said = daemon.modser("load", "m", folder / "m.onnx", "--replace")
    assert said.status == 0, said
    words = []
    for name, x in feeds.items():
        np.save(folder / f"{name}.npy", x)
        words.append(f"@{folder}/{name}.npy")
    files = [folder / f"y{i}.out.npy" for i in range(len(whole.graph.output))]
    daemon.ok("call", "m:run", *words, *[w for f in files for w in ("-o", f)])
    return [np.load(f) for f in files]


def expect_alike(daemon, folder, whole, feeds):
    wanted = onnxruntime.InferenceSession(whole.SerializeToString()).run(None, feeds)
    for y, want in zip(answers(daemon, folder, whole, feeds), wanted):
        assert y.dtype == want.dtype and y.shape == want.shape, (y, want)
        step = 1 if want.dtype.kind in "iu" else 1e-5
        assert np.abs(y.astype(np.float64) - want.astype(np.float64)).max() <= step, (y, want)


def own(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain="com.microsoft", **attributes)


A, B = floats(2, 3, 8), floats(2, 3, 8)
NORM = {"g": floats(8), "e": floats(8), "c": floats(8), "k": floats(4, 3, 3, 3), "t": floats(4),
        "w": floats(8, 8), "qkv": floats(8, 24), "qkvb": floats(24), "n4": bytes_of(3, 1, 8),
        "s4": floats(3), "w8": bytes_of(8, 8), "s1": np.float32(0.02), "z1": np.uint8(120),
        "s8": np.abs(floats(8))}
FUSED = {
    "FusedMatMul": (own("FusedMatMul", ["a", "b"], ["y"], transB=1, alpha=0.25), {"a": A, "b": B}),
    "FusedMatMul of columns": (own("FusedMatMul", ["a", "b"], ["y"], transA=1),
                               {"a": A, "b": floats(2, 3, 4)}),
    "Gelu": (own("Gelu", ["a"], ["y"]), {"a": A}),
    "FastGelu": (own("FastGelu", ["a", "b"], ["y"]), {"a": A, "b": floats(8)}),
    "BiasGelu": (own("BiasGelu", ["a", "b"], ["y"]), {"a": A, "b": floats(8)}),
    "QuickGelu": (own("QuickGelu", ["a"], ["y"]), {"a": A}),
    "SkipLayerNormalization": (own("SkipLayerNormalization", ["a", "b", "g", "e", "c"],
                                   ["y", "", "", "s"]), {"a": A, "b": B}),
    "SkipLayerNormalization of gamma alone": (
        own("SkipLayerNormalization", ["a", "b", "g"], ["y"]), {"a": A, "b": B}),
    "FusedConv": (own("FusedConv", ["p", "k", "t"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2],
                      activation="LeakyRelu", activation_params=[0.1]), {"p": floats(1, 3, 6, 6)}),
    "FusedConv of Clip": (own("FusedConv", ["p", "k"], ["y"], activation="Clip",
                              activation_params=[-0.5, 0.5]), {"p": floats(1, 3, 6, 6)}),
    "FusedGemm": (own("FusedGemm", ["m", "w", "c"], ["y"], transB=1, alpha=0.5,
                      activation="Relu"), {"m": floats(2, 8)}),
    "MatMulNBits": (own("MatMulNBits", ["a", "n4", "s4"], ["y"], K=8, N=3, bits=4, block_size=16),
                    {"a": A}),
    "DynamicQuantizeMatMul": (own("DynamicQuantizeMatMul", ["a", "w8", "s1", "z1", "c"], ["y"]),
                              {"a": A}),
    "MatMulIntegerToFloat": (own("MatMulIntegerToFloat", ["u", "w8", "s1", "s8", "z1", "", "c"],
                                 ["y"]), {"u": bytes_of(2, 8)}),
    "Attention": (own("Attention", ["a", "qkv", "qkvb", "keep"], ["y"], num_heads=2),
                  {"a": A, "keep": np.int32([[1, 1, 0], [1, 1, 1]])}),
    "Attention of what was before": (
        own("Attention", ["a", "qkv", "qkvb"], ["y"], num_heads=2, unidirectional=1), {"a": A}),
    "MultiHeadAttention": (own("MultiHeadAttention", ["a", "b", "v", "qkvb", "keep"], ["y"],
                               num_heads=4),
                           {"a": A, "b": B, "v": floats(2, 3, 8),
                            "keep": np.int32([[1, 1, 1], [1, 0, 0]])}),
    "MultiHeadAttention with a past": (
        own("MultiHeadAttention", ["a", "b", "v", "", "", "", "past", "was"], ["y", "pk", "pv"],
            num_heads=2), {"a": A, "b": B, "v": floats(2, 3, 8), "past": floats(2, 2, 5, 4),
                           "was": floats(2, 2, 5, 4)}),
    "Attention of lengths": (own("Attention", ["a", "qkv", "qkvb", "ends"], ["y"], num_heads=2),
                             {"a": A, "ends": np.int32([1, 3])}),
    "MultiHeadAttention of lengths": (
        own("MultiHeadAttention", ["a", "b", "v", "", "ends"], ["y"], num_heads=2),
        {"a": A, "b": floats(2, 5, 8), "v": floats(2, 5, 8), "ends": np.int32([4, 2])}),
    "SkipSimplifiedLayerNormalization": (
        own("SkipSimplifiedLayerNormalization", ["a", "b", "g", "c"], ["y"]), {"a": A, "b": B}),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_operator_is_what_it_was_made_of(daemon, tmp_path, name):
    node, feeds = FUSED[name]
    outputs = [(o, FLOAT) for o in node.output if o]
    constants = {k: v for k, v in NORM.items() if k in node.input}
    expect_alike(daemon, tmp_path, made([node], feeds, outputs, constants), feeds)


@pytest.mark.parametrize("is_length", [False, True])
def test_a_mask_of_open_extents_may_be_computed(daemon, tmp_path, is_length):
    feeds = {"a": A, "m": np.array([[1, 1, 0], [1, 1, 1]])}
    nodes = [helper.make_node("Cast", ["m"], ["flags"], to=INT32)]
    if is_length:
        nodes.append(helper.make_node("ReduceSum", ["flags", "keys"], ["ends"], keepdims=0))
    nodes.append(own("Attention", ["a", "qkv", "qkvb", nodes[-1].output[0]], ["y"], num_heads=2))
    constants = {"qkv": NORM["qkv"], "qkvb": NORM["qkvb"], "keys": np.array([1])}
    whole = made(nodes, feeds, [("y", FLOAT)], constants)
    for i in (0, 1):
        whole.graph.input[i].type.tensor_type.shape.dim[1].dim_param = "length"
    expect_alike(daemon, tmp_path, whole, feeds)


ANGLES = np.outer(np.arange(16), 1 / np.arange(1, 9)).astype(np.float32)
CACHED = ["a", "b", "v", "past", "was", "last", "all", "cos", "sin"]
GROUPS = {
    "a prompt": (["a", "", "", "", "", "last", "all", "cos", "sin"],
                 {"a": floats(2, 3, 128)}, [2, 2], 3, {"do_rotary": 1}),
    "a token": (CACHED, {"a": floats(2, 1, 64), "b": floats(2, 1, 32), "v": floats(2, 1, 32),
                         "past": floats(2, 2, 5, 16), "was": floats(2, 2, 5, 16)},
                [5, 5], 6, {"do_rotary": 1, "rotary_interleaved": 1, "scale": 0.3}),
    "a window": ([*CACHED[:7], "", "", "", "bias"],
                 {"a": floats(1, 3, 64), "b": floats(1, 3, 32), "v": floats(1, 3, 32),
                  "past": floats(1, 2, 5, 16), "was": floats(1, 2, 5, 16),
                  "bias": floats(1, 4, 3, 8)}, [7], 8, {"local_window_size": 3, "softcap": 2.0}),
    "a long cache": (CACHED, {"a": floats(2, 1, 64), "b": floats(2, 1, 32), "v": floats(2, 1, 32),
                              "past": floats(2, 2, 9, 16), "was": floats(2, 2, 9, 16)},
                     [3, 5], 6, {"do_rotary": 1}),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_queries_share_a_cache(daemon, tmp_path, name):
    inputs, feeds, last, total, attributes = GROUPS[name]
    for b, end in enumerate(last):  # ONNX Runtime writes zeros behind the last key
        for past in (feeds[k] for k in ("past", "was") if k in feeds):
            past[b, :, end:] = 0
    feeds = {**feeds, "last": np.int32(last), "all": np.array(total, np.int32)}
    constants = {k: v for k, v in (("cos", np.cos(ANGLES)), ("sin", np.sin(ANGLES))) if k in inputs}
    node = own("GroupQueryAttention", inputs, ["y", "k", "w"], num_heads=4, kv_num_heads=2,
               **attributes)
    outputs = [(o, FLOAT) for o in node.output]
    expect_alike(daemon, tmp_path, made([node], feeds, outputs, constants), feeds)


def test_the_cache_tells_the_size_of_packed_heads(daemon, tmp_path):
    feeds = {"x": floats(2, 1, 8), "past": floats(2, 2, 4, 16), "was": floats(2, 2, 4, 16),
             "last": np.int32([4, 4]), "all": np.array(5, np.int32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]),
             own("GroupQueryAttention", ["a", "", "", "past", "was", "last", "all"],
                 ["y", "k", "v"], num_heads=4, kv_num_heads=2)]
    outputs = [(o, FLOAT) for o in nodes[1].output]
    whole = made(nodes, feeds, outputs, {"w": floats(8, 128)})
    whole.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    expect_alike(daemon, tmp_path, whole, feeds)


REFUSED_GROUPS = {
    "its heads do not fill its input": (["a", "", "", "past", "was", "last", "all"],
                                        {"num_heads": 2, "kv_num_heads": 2}, None),
    "its update does not fit axis 3": (["a", "", "", "past", "was", "last", "all"],
                                       {"num_heads": 2, "kv_num_heads": 2}, "width"),
    "it has a cache of keys or values alone": (["a", "", "", "past", "", "last", "all"], {}, None),
    "its window has no keys": (["a", "", "", "past", "was", "last", "all"],
                               {"local_window_size": 0}, None),
}


@pytest.mark.parametrize("text", REFUSED_GROUPS)
def test_groups_that_do_not_fit_are_refused(daemon, tmp_path, text):
    names, attributes, open_width = REFUSED_GROUPS[text]
    feeds = {"a": floats(2, 1, 128), "past": floats(2, 2, 5, 16), "was": floats(2, 2, 5, 16),
             "last": np.int32([5, 5]), "all": np.array(6, np.int32)}
    node = own("GroupQueryAttention", names, ["y", "k", "w"],
               **{"num_heads": 4, "kv_num_heads": 2, **attributes})
    whole = made([node], {k: v for k, v in feeds.items() if k in names},
                 [(o, FLOAT) for o in node.output])
    if open_width:
        whole.graph.input[0].type.tensor_type.shape.dim[2].dim_param = open_width
    onnx.save(whole, tmp_path / "m.onnx")
    said = daemon.modser("load", "m", tmp_path / "m.onnx", "--replace")
    if open_width:  # known at the first call
        for name, x in feeds.items():
            np.save(tmp_path / f"{name}.npy", x)
        said = daemon.modser("call", "m:run", *(f"@{tmp_path}/{n}.npy" for n in feeds))
    assert said.status != 0 and text in said.err, said


@pytest.mark.parametrize("with_mask", [False, True])
def test_an_embedding_is_looked_up_added_and_normalized(daemon, tmp_path, with_mask):
    feeds = {"i": RANDOM.integers(0, 9, (2, 5)).astype(np.int32),
             "s": RANDOM.integers(0, 2, (2, 5)).astype(np.int32)}
    names = ["i", "s", "w", "p", "t", "g", "e"]
    if with_mask:
        feeds["k"] = np.int32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
        names.append("k")
    tables = {"w": floats(10, 8), "p": floats(16, 8), "t": floats(2, 8), "g": NORM["g"],
              "e": NORM["e"]}
    node = own("EmbedLayerNormalization", names, ["y", "m"])
    expect_alike(daemon, tmp_path, made([node], feeds, [("y", FLOAT), ("m", INT32)], tables), feeds)


SCALES = {"as": np.float32(.02), "az": np.uint8(120), "bs": np.float32(.03), "bz": np.uint8(130),
          "cs": np.float32(.05), "cz": np.uint8(100)}
PAIR = ["a", "as", "az", "b", "bs", "bz", "cs", "cz"]
ONE = ["a", "as", "az", "cs", "cz"]
QUANTIZED = {
    "QLinearAdd": (PAIR, {"a": bytes_of(2, 3, 4), "b": bytes_of(4)}, {}),
    "QLinearMul": (PAIR, {"a": bytes_of(2, 3, 4), "b": bytes_of(4)}, {}),
    "QLinearSigmoid": (ONE, {"a": bytes_of(2, 3)}, {}),
    "QLinearLeakyRelu": (ONE, {"a": bytes_of(2, 3)}, {"alpha": 0.2}),
    "QLinearSoftmax": (ONE, {"a": bytes_of(2, 6)}, {"axis": -1, "opset": 13}),
    "QLinearGlobalAveragePool": (ONE, {"a": bytes_of(2, 3, 4, 4)}, {"channels_last": 0}),
    "QLinearAveragePool": (ONE, {"a": bytes_of(2, 3, 5, 6)}, {
        "kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "channels_last": 0}),
    "QLinearAveragePool of all places": (ONE, {"a": bytes_of(1, 2, 6, 6)}, {
        "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1],
        "count_include_pad": 1}),
    "QLinearAveragePool rounded up": (ONE, {"a": bytes_of(1, 2, 6, 6)}, {
        "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    "QLinearConcat": (["cs", "cz", "a", "as", "az", "b", "bs", "bz"],
                      {"a": bytes_of(2, 3), "b": bytes_of(2, 2)}, {"axis": 1}),
    "QLinearWhere": (["if", *PAIR], {"if": np.array([[True, False, True]]), "a": bytes_of(2, 3),
                                     "b": bytes_of(2, 3)}, {}),
    "QGemm": (PAIR[:6] + ["n", "cs", "cz"], {"a": bytes_of(2, 4), "b": bytes_of(4, 3)},
              {"alpha": 1.0}),
}


@pytest.mark.parametrize("op", QUANTIZED)
def test_a_quantized_operator_gives_the_same_bytes(daemon, tmp_path, op):
    inputs, feeds, attributes = QUANTIZED[op]
    constants = dict(SCALES, n=np.int32([100, -50, 2000]))
    constants = {k: v for k, v in constants.items() if k in inputs}
    whole = made([own(op.split()[0], inputs, ["y"], **attributes)], feeds, [("y", UINT8)], constants)
    expect_alike(daemon, tmp_path, whole, feeds)


@pytest.mark.parametrize("attributes, text", [
    ({"channels_last": 1}, "channels_last cannot be read"),
    ({"ceil_mode": 1, "count_include_pad": 1}, "ceil_mode with count_include_pad")])
def test_a_pool_that_is_not_read_is_refused_by_its_attribute(daemon, tmp_path, attributes, text):
    pool = own("QLinearAveragePool", ONE, ["y"], kernel_shape=[2, 2], **attributes)
    constants = {k: v for k, v in SCALES.items() if k in ONE}
    onnx.save(made([pool], {"a": bytes_of(1, 2, 4, 4)}, [("y", UINT8)], constants),
              tmp_path / "m.onnx")
    said = daemon.modser("load", "m", tmp_path / "m.onnx", "--replace")
    assert said.status != 0 and text in said.err, said


def sparse(indices, shape=(2, 3)):
    return helper.make_sparse_tensor(
        helper.make_tensor("w", FLOAT, [2], [5.0, 7.0]),
        helper.make_tensor("wi", TensorProto.INT64, np.shape(indices), np.ravel(indices)), shape)


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
@pytest.mark.parametrize("where", ["initializer", "attribute"])
def test_a_sparse_tensor_is_a_constant(daemon, tmp_path, indices, where):
    feeds, tensor = {"x": floats(2, 3)}, sparse(indices)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    constant = helper.make_node("Constant", [], ["w"], sparse_value=tensor)
    whole = (made([add], feeds, [("y", FLOAT)], sparse=[tensor]) if where == "initializer"
             else made([constant, add], feeds, [("y", FLOAT)]))
    (y,) = answers(daemon, tmp_path, whole, feeds)
    assert np.array_equal(y, feeds["x"] + np.float32([[0, 5, 0], [0, 0, 7]]))


@pytest.mark.parametrize("tensor, text", [
    (sparse([1, 6]), "an index is outside of its shape"),
    (sparse([1, -1]), "an index is outside of its shape"),
    (sparse([[0, 1], [1, 3]]), "an index is outside of its shape"),
    (sparse([1, 5], (1 << 20, 1 << 20)), "more than 256 MiB together")])
def test_a_bad_sparse_tensor_is_refused(daemon, tmp_path, tensor, text):
    add = helper.make_node("Add", ["x", "w"], ["y"])
    onnx.save(made([add], {"x": floats(2, 3)}, [("y", FLOAT)], sparse=[tensor]),
              tmp_path / "m.onnx")
    said = daemon.modser("load", "m", tmp_path / "m.onnx", "--replace")
    assert said.status != 0 and 'sparse tensor "w": ' in said.err and text in said.err, said


def test_an_output_without_a_type_has_that_of_its_node(daemon, tmp_path):
    feeds = {"x": floats(2, 3)}
    whole = made([helper.make_node("Relu", ["x"], ["y"])], feeds, [("y", FLOAT)])
    whole.graph.output[0].ClearField("type")
    (y,) = answers(daemon, tmp_path, whole, feeds)
    assert np.array_equal(y, np.maximum(feeds["x"], 0))


def test_a_zip_map_gives_the_table_of_probabilities(daemon, tmp_path):
    feeds = {"x": floats(2, 3)}
    zip_map = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml",
                               classlabels_int64s=[0, 1, 2])
    whole = made([zip_map], feeds, [("z", FLOAT)])
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(FLOAT, []))
    whole.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(kind))
    whole.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    (z,) = answers(daemon, tmp_path, whole, feeds)
    assert np.array_equal(z, feeds["x"])


def test_a_model_without_an_ir_version_is_named(daemon, tmp_path):
    whole = made([helper.make_node("Relu", ["x"], ["y"])], {"x": floats(2, 3)}, [("y", FLOAT)])
    whole.ClearField("ir_version")
    onnx.save(whole, tmp_path / "m.onnx")
    said = daemon.modser("load", "m", tmp_path / "m.onnx", "--replace")
    assert said.status != 0 and "an ONNX model without an ir_version" in said.err, said


def test_inspect_counts_operators_by_the_names_of_the_file(daemon, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["u"]),
             own("BiasGelu", ["u", "b"], ["y"])]
    onnx.save(made(nodes, {"x": floats(2, 3)}, [("y", FLOAT)], {"b": floats(3)}),
              tmp_path / "m.onnx")
    said = daemon.modser("--json", "inspect", tmp_path / "m.onnx")
    assert said.status == 0, said
    found = json.loads(said.out)
    assert found["source_operators"] == {"Relu": 2, "com.microsoft.BiasGelu": 1}
    assert found["operators"] == {"ReLu": 2, "Add": 1, "Gelu": 1}
