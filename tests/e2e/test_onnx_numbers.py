"""Operators of ONNX files whose numbers are computed here. A mean of bytes (com.microsoft) is the
byte nearest to the exact mean, at a tie the even one before the zero point is added, as ONNX
Runtime's QLinearGlobalAveragePool has it."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
from onnx import helper, numpy_helper  # noqa: E402 (behind what may skip)

RANDOM = np.random.default_rng(3)
X = RANDOM.integers(0, 256, (3, 40, 6, 4)).astype(np.uint8)
MEANS = {
    "a window": ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]},
                 lambda x: x.reshape(3, 40, 3, 2, 2, 2).sum((3, 5)), 4),
    "a plane": ("QLinearGlobalAveragePool", {"channels_last": 0},
                lambda x: x.sum((2, 3), keepdims=True), 24),
    "the last axis": ("QLinearReduceMean", {"axes": [3], "keepdims": 0},
                      lambda x: x.sum(3), 4),
}


def nearest(sums, count):
    """@sums / @count as integers, a tie to the even one."""
    below, rest = np.divmod(sums, count)
    return below + ((2 * rest > count) | ((2 * rest == count) & (below % 2 == 1)))


def save(path, node, x, constants, opset):
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(x.dtype), None)],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]), path)


def answer(daemon, folder, path, x, *words):
    np.save(folder / "x.npy", x)
    daemon.ok("load", "--replace", *words, "m", path)
    daemon.ok("call", "m:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("finer", [1, 2])
@pytest.mark.parametrize("what", MEANS)
def test_a_mean_of_bytes_is_exact_at_a_tie(daemon, tmp_path, what, finer, engine):
    op, attributes, sum_of, count = MEANS[what]
    scale = np.float32(0.0423)
    constants = {"s": scale, "z": np.uint8(33), "t": scale / np.float32(finer),
                 "u": np.uint8(101)}
    node = helper.make_node(op, ["x", *constants], ["y"], domain="com.microsoft", **attributes)
    save(tmp_path / "m.onnx", node, X, constants, 17)
    y = answer(daemon, tmp_path, tmp_path / "m.onnx", X, "--engine", engine)
    sums = finer * sum_of(X.astype(np.int64) - 33)
    assert (2 * (sums % count) == count).any(), "no tie"
    want = np.clip(nearest(sums, count) + 101, 0, 255)
    assert np.array_equal(y, want)


@pytest.mark.parametrize("opset, parts", [(18, 4), (21, 8)])
def test_a_group_norm_is_stored_in_opset_17(daemon, tmp_path, opset, parts):
    x = RANDOM.normal(2, 3, (3, 8, 5, 2)).astype(np.float32)
    constants = {n: RANDOM.normal(1, 1, parts).astype(np.float32) for n in "sb"}
    node = helper.make_node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=4,
                            epsilon=1e-3)
    save(tmp_path / "m.onnx", node, x, constants, opset)
    daemon.ok("convert", tmp_path / "m.onnx", "-o", tmp_path / "stored.onnx")
    stored = onnx.load(tmp_path / "stored.onnx")
    assert stored.opset_import[0].version == 17
    assert "InstanceNormalization" in [n.op_type for n in stored.graph.node]
    rows = x.reshape(3, 4, -1).astype(np.float64)
    rows -= rows.mean(2, keepdims=True)
    rows /= np.sqrt((rows ** 2).mean(2, keepdims=True) + 1e-3)
    s, b = (np.repeat(constants[n], 8 // parts)[:, None, None] for n in "sb")
    want = rows.reshape(x.shape) * s + b
    for name in "m", "stored":
        y = answer(daemon, tmp_path, tmp_path / f"{name}.onnx", x)
        assert np.abs(y - want).max() < 1e-5, name


@pytest.mark.parametrize("given", [{}, {"activation_alpha": 0.3, "activation_beta": 0.4}])
def test_a_hard_sigmoid_of_a_fused_gemm_has_both_numbers(daemon, tmp_path, given):
    x = RANDOM.normal(0, 3, (4, 5)).astype(np.float32)
    w = RANDOM.normal(0, 1, (5, 3)).astype(np.float32)
    node = helper.make_node("FusedGemm", ["x", "w"], ["y"], domain="com.microsoft",
                            activation="HardSigmoid", **given)
    save(tmp_path / "m.onnx", node, x, {"w": w}, 17)
    y = answer(daemon, tmp_path, tmp_path / "m.onnx", x)
    alpha, beta = given.get("activation_alpha", 0.2), given.get("activation_beta", 0.5)
    np.testing.assert_allclose(y, np.clip(alpha * (x @ w) + beta, 0, 1), rtol=1e-5, atol=1e-6)
