"""Means of bytes (com.microsoft): the nearest byte of the exact mean, and at a tie the even one
before the zero point is added, as ONNX Runtime's QLinearGlobalAveragePool has it. The bytes are
counted in integers here."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (behind what may skip)

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


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("finer", [1, 2])
@pytest.mark.parametrize("what", MEANS)
def test_a_mean_of_bytes_is_exact_at_a_tie(daemon, tmp_path, what, finer, engine):
    op, attributes, sum_of, count = MEANS[what]
    scale = np.float32(0.0423)
    constants = {"s": scale, "z": np.uint8(33), "t": scale / np.float32(finer),
                 "u": np.uint8(101)}
    node = helper.make_node(op, ["x", *constants], ["y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.UINT8, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]),
        tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", X)
    daemon.ok("load", "--replace", "--engine", engine, "m", tmp_path / "m.onnx")
    daemon.ok("call", "m:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    sums = finer * sum_of(X.astype(np.int64) - 33)
    assert (2 * (sums % count) == count).any(), "no tie"
    want = np.clip(nearest(sums, count) + 101, 0, 255)
    assert np.array_equal(np.load(tmp_path / "y.npy"), want)
