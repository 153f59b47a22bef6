"""The reference engine: real networks with seeded weights against ONNX Runtime's numbers, and single
operators against numpy. The golden numbers were made once, with ONNX Runtime 1.31, of the same networks
written as ONNX; tests/graph/golden/onnxruntime.json has samples of their outputs."""
import json
import subprocess

import harness
import numpy as np
import pytest
from tmfile_writer import File, floats, words

RUN = harness.BIN / "run_graph"
SMALL = harness.ROOT / "tests" / "graph" / "golden"
GOLDEN = json.loads((SMALL / "onnxruntime.json").read_text())
SHAPES = {"mnist.tmfile": (1, 1, 28, 28), "squeezenet_v1.1_benchmark.tmfile": (1, 3, 227, 227),
          "yolov3_tiny_benchmark.tmfile": (1, 3, 416, 416),
          "retinaface_benchmark.tmfile": (1, 3, 112, 112),
          "mobilefacenets_benchmark.tmfile": (1, 3, 112, 112)}


def find(name):
    folder = harness.fixtures()
    for place in [SMALL] if folder is None else [SMALL, folder / "tengine"]:
        if (place / name).exists():
            return place / name
    pytest.skip(f"no {name} among the fixtures")


def run(path, *inputs):
    done = subprocess.run([RUN, path, "seeded"], input=b"".join(x.tobytes() for x in inputs),
                          capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, np.float32)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_real_network_gives_onnx_runtimes_numbers(name):
    path, want = find(name), GOLDEN[name]
    n = np.prod(SHAPES.get(name, (1, 3, 224, 224)))
    x = (np.arange(n) * 37 % 101 / np.float32(101)).astype(np.float32)
    y = run(path, x).astype(np.float64)
    assert len(y) == want["elements"]
    assert abs(np.sqrt((y * y).sum()) / want["norm"] - 1) < 1e-5
    for i, value in want["samples"]:
        assert abs(y[i] - value) < 1e-5 * want["largest"]


def one(folder, op, param, *tensors):
    """A network of one operator: arrays are constants, tuples the shapes of inputs."""
    f, nodes, listed, buffers, inputs = File(), [], [], [], []
    for i, t in enumerate(tensors):
        is_input = isinstance(t, tuple)
        nodes.append(f.node(i, f"t{i}", 12 if is_input else 4, [], [i]))
        shape = t if is_input else t.shape
        listed.append(f.tensor(i, f"t{i}", 3 if is_input else 2, shape, 0, len(buffers)))
        if is_input:
            inputs.append(i)
        else:
            at = f.put(t.astype("<f4").tobytes())
            buffers.append(f.put(words(t.size * 4, at)))
    n = len(tensors)
    nodes.append(f.node(n, "op", op, list(range(n)), [n], param(f) if callable(param) else param))
    listed.append(f.tensor(n, "y", 1, ()))
    path = folder / "one.tmfile"
    path.write_bytes(f.end(nodes, listed, buffers, inputs, [n]))
    return path


def some(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def window(x, kernel, stride, before, after, fill):
    """Every window of the last two axes: n, c, h, w, kernel, kernel."""
    x = np.pad(x, ((0, 0), (0, 0), (before, after), (before, after)), constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))
    return seen[:, :, ::stride, ::stride]


def conv(x, w, groups, stride, pad):
    seen = window(x, w.shape[2], stride, pad, pad, 0).astype(np.float64)
    parts = zip(np.split(seen, groups, 1), np.split(w, groups, 0))
    return np.concatenate([np.einsum("nchwij,ocij->nohw", s, v) for s, v in parts], 1)


@pytest.mark.parametrize("groups, stride, pad, activation", [
    (1, 1, 0, -1), (1, 2, 1, 0), (2, 1, 1, 6), (4, 1, 1, 1)])
def test_convolution(tmp_path, groups, stride, pad, activation):
    x, w, bias = some(2, 4, 7, 7), some(8, 4 // groups, 3, 3, seed=1), some(8, seed=2)
    param = words(3, 3, stride, stride, 1, 1, 4, 8, groups, activation, pad, pad, pad, pad)
    want = conv(x, w, groups, stride, pad) + bias[:, None, None]
    low, high = {-1: (-np.inf, np.inf), 0: (0, np.inf), 6: (0, 6), 1: (-1, 1)}[activation]
    y = run(one(tmp_path, 5, param, x.shape, w, bias), x)
    assert np.allclose(y, np.clip(want, low, high).ravel(), atol=1e-5)


@pytest.mark.parametrize("pad, want", [(-1, 0), (-2, 1)])
def test_convolution_keeps_the_extent_with_the_odd_padding_behind_or_before(tmp_path, pad, want):
    x, w = np.ones((1, 1, 3, 3), np.float32), np.array([[[[1, 0], [0, 0]]]], np.float32)
    param = words(2, 2, 1, 1, 1, 1, 1, 1, 1, -1, pad, pad, pad, pad)
    y = run(one(tmp_path, 5, param, x.shape, w), x).reshape(3, 3)
    assert (y[0, 0], y[2, 2]) == (1 - want, 1)


@pytest.mark.parametrize("mean, flavor, before, after, out", [
    (0, 0, 0, 0, 3), (0, 1, 0, 1, 4), (0, 2, 0, 1, 4), (1, 0x10, 0, 0, 3)])
def test_pooling(tmp_path, mean, flavor, before, after, out):
    x = some(1, 2, 7, 7)
    pad = 1 if flavor == 2 else 0
    param = words(mean, 2, 2, 2, 2, 0, flavor, pad, pad, pad, pad)
    seen = window(x, 2, 2, before, after, -np.inf)
    want = seen.mean((4, 5)) if mean else seen.max((4, 5))
    y = run(one(tmp_path, 16, param, x.shape), x)
    assert want.shape[2] == out
    assert np.allclose(y, want.ravel(), atol=1e-6)


def test_mean_pooling_counts_the_padding_where_the_flavor_says_so(tmp_path):
    x = np.ones((1, 1, 2, 2), np.float32)
    counted, not_counted = [run(one(tmp_path, 16, words(1, 3, 3, 1, 1, 0, flavor, 1, 1, 1, 1),
                                    x.shape), x)[0] for flavor in (0x10, 0)]
    assert abs(counted - 4 / 9) < 1e-6 and not_counted == 1


A = some(1, 3, 4, 5)
ONES = {
    "relu": (20, floats(0.25), [], np.where(A > 0, A, A * 0.25)),
    "relu6": (21, b"", [], np.clip(A, 0, 6)),
    "prelu": (17, b"", [some(3, seed=3)], np.where(A > 0, A, A * some(3, seed=3)[:, None, None])),
    "softmax": (28, words(1), [], np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    "permute": (15, words(0, 0, 2, 3, 1), [], A.transpose(0, 2, 3, 1)),
    "flatten": (10, words(1, 3), [], A),
    "dropout": (8, b"", [], A),
    "upsample": (51, floats(2), [], A.repeat(2, 2).repeat(2, 3)),
    "add_for_each_channel": (9, words(2, 0), [some(3, seed=4)], A + some(3, seed=4)[:, None, None]),
    "divide_by_one": (9, words(10, 0), [np.float32([4])], A / 4),
    "multiply_for_each_place": (9, words(0, 0), [some(4, 5, seed=5)], A * some(4, 5, seed=5)),
    "square": (9, words(15, 0), [], A * A),
    "power": (9, words(17, 0) + floats(1, 2, 3), [], (1 + 3 * A) ** 2),
    "broad_mul": (74, b"", [some(1, 3, 1, 1, seed=6)], A * some(1, 3, 1, 1, seed=6)),
    "batch_norm": (1, floats(1, 0.5) + words(0), [np.float32(v) for v in
                   ([1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 4, 9])],
                   (A - np.float32([7, 8, 9])[:, None, None])
                   / np.sqrt(np.float32([1, 4, 9]) + 0.5)[:, None, None]
                   * np.float32([1, 2, 3])[:, None, None] + np.float32([4, 5, 6])[:, None, None]),
    "nearest": (71, words(1) + floats(2, 3) + words(0, 0), [], A.repeat(3, 2).repeat(2, 3)),
}


@pytest.mark.parametrize("name", ONES)
def test_one_operator(tmp_path, name):
    op, param, constants, want = ONES[name]
    y = run(one(tmp_path, op, param, A.shape, *constants), A)
    assert np.allclose(y, want.ravel(), atol=1e-5)


def test_interp_between_corners_keeps_the_corners(tmp_path):
    x = np.float32([[[[0, 3], [6, 9]]]])
    y = run(one(tmp_path, 71, words(4) + floats(2, 2) + words(0, 0), x.shape), x)
    assert np.allclose(y, [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9], atol=1e-6)


def test_prior_boxes_are_around_their_places(tmp_path):
    def param(f):
        lists = [f.vector(*np.float32(v).view(np.uint32).tolist())
                 for v in ([4], [9], [0.1, 0.1, 0.2, 0.2], [4])]
        return words(*lists, 1, 0, 0, 0, 0) + floats(0, 0, 0.5) + words(0, 0)

    image = np.zeros((1, 3, 20, 20), np.float32)
    feature = np.zeros((1, 1, 2, 2), np.float32)
    y = run(one(tmp_path, 18, param, feature.shape, image.shape), feature, image)
    boxes, variances = y.reshape(2, -1, 4)
    assert boxes.shape[0] == 2 * 2 * 4
    assert np.allclose(boxes[0] * 20, [3, 3, 7, 7])
    assert np.allclose(boxes[1] * 20, [2, 2, 8, 8])
    assert np.allclose(boxes[2] * 20, [1, 4, 9, 6])
    assert np.allclose(boxes[3] * 20, [4, 1, 6, 9])
    assert np.allclose(boxes[4] * 20, [13, 3, 17, 7])
    assert np.allclose(variances, [0.1, 0.1, 0.2, 0.2])


@pytest.mark.parametrize("op, param, tensors, cause", [
    (5, words(3, 3, 0, 1, 1, 1, 1, 1, 1, -1, 0, 0, 0, 0), [(1, 1, 4, 4), some(1, 1, 3, 3)],
     "stride_h is 0, expected 1 to 2147483647"),
    (5, words(3, 3, 1, 1, 1, 1, 1, 1, 1, -1, 0, 0, 0, 0), [(1, 2, 4, 4), some(1, 1, 3, 3)],
     "its channels are not those of its weights"),
    (5, words(5, 5, 1, 1, 1, 1, 1, 1, 1, -1, 0, 0, 0, 0), [(1, 1, 4, 4), some(1, 1, 5, 5)],
     "its kernel is larger than its input"),
    (16, words(0, 2, 2, 1, 1, 0, 0, 2, 2, 2, 2), [(1, 1, 4, 4)], "its padding is as large"),
    (11, words(2), [(1, 4), some(2, 3)], "its input and its weights do not fit"),
    (28, words(4), [(1, 4)], "axis is 4, expected -2 to 1"),
    (55, words(2), [(1, 3, 2, 2)], "the groups are not alike"),
    (15, words(0, 0, 0, 2, 3), [(1, 3, 2, 2)], "an axis comes twice"),
    (9, words(2, 0), [(1, 3, 2, 2), some(7)], "its inputs do not go together"),
    (19, b"", [(1, 3)], "input 0 has 2 dimensions, expected 4"),
])
def test_shapes_that_do_not_fit_are_named(tmp_path, op, param, tensors, cause):
    done = subprocess.run([RUN, one(tmp_path, op, param, *tensors)], capture_output=True,
                          timeout=600, check=False)
    assert done.returncode == 1
    assert cause in done.stderr.decode()
