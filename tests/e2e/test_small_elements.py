"""Floats of 8 bits and integers of 4: casts and quantized numbers, beside those of ml_dtypes."""
import numpy as np
import pytest
from onnx_writer import model, node, tensor, value

small = pytest.importorskip("ml_dtypes", reason="no ml_dtypes in this Python: nothing to compare with")
FLOATS = {"float8_e4m3fn": (17, 448), "float8_e4m3fnuz": (18, 240), "float8_e5m2": (19, 57344),
          "float8_e5m2fnuz": (20, 57344)}
INTEGERS = {"uint4": (21, 0, 15), "int4": (22, -8, 7)}
N = 4096


def there_and_back(daemon, folder, number, x, **how):
    nodes = [node("Cast", ["x"], ["s"], to=number, **how), node("Cast", ["s"], ["y"], to=1)]
    ends = [[value(name, "float32", [len(x)])] for name in "xy"]
    (folder / "m.onnx").write_bytes(model(nodes, *ends, opset=21))
    daemon.load("small", folder / "m.onnx", "--replace")
    np.save(folder / "x.npy", x)
    daemon.ok("call", "small:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def numbers(name):
    """Each that the type has, what lies between two, and such as it has not."""
    all_ = np.arange(256, dtype="u1").view(getattr(small, name)).astype("f4")
    fine = np.sort(all_[np.isfinite(all_)])
    between = (fine[1:] + fine[:-1]) / np.float32(2)
    odd = np.float32([np.nan, np.inf, -np.inf, 1e-9, -1e-9, 0, -0.0, 1e6, -1e6, 464, 465, 61440])
    some = np.random.default_rng(5).normal(0, 40, N).astype("f4")
    return np.concatenate([all_, between, np.nextafter(between, np.float32(1e9)), odd, some])


@pytest.mark.parametrize("name", FLOATS)
def test_floats_of_8_bits_are_rounded_to_the_nearest(daemon, tmp_path, name):
    number, most = FLOATS[name]
    x = numbers(name)
    want = x.astype(getattr(small, name)).astype("f4")
    y = there_and_back(daemon, tmp_path, number, x, saturate=0)
    assert np.array_equal(y, want, equal_nan=True), (x[y != want], y[y != want], want[y != want])
    # Saturated, what would be none of its numbers is the largest.
    y = there_and_back(daemon, tmp_path, number, x)
    over = ~np.isfinite(want) & ~np.isnan(x)
    assert np.array_equal(y[~over], want[~over], equal_nan=True)
    assert np.array_equal(y[over], np.copysign(np.float32(most), x[over]))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_integers_of_4_bits_share_bytes(daemon, tmp_path, name, n):
    number, least, most = INTEGERS[name]
    x = np.float32([most, least, 1, max(least, -3), 2.5, 6, 5.4][:n])  # within the range
    want = np.trunc(x)
    assert np.array_equal(there_and_back(daemon, tmp_path, number, x), want)


def run(daemon, folder, nodes, constants, x, shape):
    ends = [[value("x", "float32", x.shape)], [value("y", "float32", shape)]]
    (folder / "m.onnx").write_bytes(model(nodes, *ends, constants, opset=21))
    daemon.load("small", folder / "m.onnx", "--replace")
    np.save(folder / "x.npy", x)
    daemon.ok("call", "small:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def test_weights_of_4_bits_have_a_scale_for_each_block(daemon, tmp_path):
    x = np.float32(np.arange(-8, 8)).reshape(8, 2)
    scale = np.float32([[0.5, 2], [0.25, 3]])
    nodes = [node("Cast", ["x"], ["w"], to=22), node("Cast", ["zeros"], ["z"], to=22),
             node("DequantizeLinear", ["w", "s", "z"], ["y"], axis=0, block_size=4)]
    constants = [tensor("s", scale), tensor("zeros", np.float32([[1, 0], [-2, 3]]))]
    want = (x - np.repeat([[1, 0], [-2, 3]], 4, 0)) * np.repeat(scale, 4, 0)
    assert np.array_equal(run(daemon, tmp_path, nodes, constants, x, [8, 2]), want)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_numbers_are_quantized_to_small_ones_and_back(daemon, tmp_path, name):
    number = (FLOATS | INTEGERS)[name][0]
    x = np.random.default_rng(6).normal(0, 3, (3, 5)).astype("f4")
    scale = np.float32([0.5, 0.25, 1])
    nodes = [node("Cast", ["zeros"], ["z"], to=number),
             node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=0),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=0)]
    constants = [tensor("s", scale), tensor("zeros", np.zeros(3, "f4"))]
    q = x / scale[:, None]
    if name in INTEGERS:
        q = np.clip(np.rint(q), *INTEGERS[name][1:])
    want = q.astype(getattr(small, name)).astype("f4") * scale[:, None]
    assert np.array_equal(run(daemon, tmp_path, nodes, constants, x, [3, 5]), want)
