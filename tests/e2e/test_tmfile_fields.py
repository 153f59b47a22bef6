"""What `modser convert` writes of ONNX models as tmfiles: each field of each object, read by a
reader of its own (from Tengine's structures alone), and the numbers before and after."""
import numpy as np
import pytest

import harness
from tmfile_fields import Tmfile

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (behind what may skip)

FLOAT = TensorProto.FLOAT
RANDOM = np.random.default_rng(7)


class Net:
    def __init__(self, *shape):
        self.nodes, self.constants, self.shape, self.last = [], [], shape, "x"

    def const(self, value, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape):
        return self.const(RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) + 1))

    def add(self, op, *more, first=True, **attributes):
        name = f"t{len(self.nodes)}"
        inputs = [self.last, *more] if first else list(more)
        self.nodes.append(helper.make_node(op, inputs, [name], f"n{len(self.nodes)}", **attributes))
        self.last = name
        return name

    def model(self):
        ends = [helper.make_tensor_value_info("x", FLOAT, self.shape)], \
            [helper.make_tensor_value_info(self.last, FLOAT, None)]
        graph = helper.make_graph(self.nodes, "g", *ends, self.constants)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def convert(folder, net):
    onnx.save(net.model(), folder / "net.onnx")
    return harness.run(harness.BIN / "modser", "convert", folder / "net.onnx", "-o",
                       folder / "net.tmfile")


def convert_back(folder):
    said = harness.run(harness.BIN / "modser", "convert", folder / "net.tmfile", "-o",
                       folder / "back.onnx")
    assert said.status == 0, said
    onnx.checker.check_model(str(folder / "back.onnx"))


def answer(daemon, folder, path, x):
    daemon.ok("load", "net", path, "--replace")
    np.save(folder / "x.npy", x)
    daemon.ok("call", "net:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def expect_kept(daemon, folder, net, *operators):
    """The file is whole, has these operators, and computes what the ONNX model does."""
    said = convert(folder, net)
    assert said.status == 0, said
    file = Tmfile((folder / "net.tmfile").read_bytes())
    assert file.operators() == list(operators)
    x = RANDOM.standard_normal(net.shape).astype(np.float32)
    before, after = (answer(daemon, folder, folder / f"net.{e}", x) for e in ("onnx", "tmfile"))
    assert before.shape == after.shape and np.allclose(before, after, rtol=1e-5, atol=1e-6)
    convert_back(folder)
    back = answer(daemon, folder, folder / "back.onnx", x)
    assert before.shape == back.shape and np.allclose(before, back, rtol=1e-5, atol=1e-6)
    return file


def test_a_residual_block(daemon, tmp_path):
    net = Net(1, 4, 8, 8)
    net.add("Conv", net.weight(8, 4, 3, 3), net.weight(8), pads=[1, 1, 1, 1], strides=[2, 2])
    kept = net.add("Clip", net.const(0), net.const(6))
    net.add("Conv", net.weight(8, 1, 3, 3), pads=[1, 1, 1, 1], group=8)
    net.add("PRelu", net.weight(8, 1, 1))
    net.add("Add", kept)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.add("Gemm", net.weight(5, 8), net.weight(5), transB=1)
    net.add("Softmax", axis=-1)
    file = expect_kept(daemon, tmp_path, net, "Convolution", "ReLu6", "Convolution", "PReLU",
                       "Eltwise", "Pooling", "Flatten", "FullyConnected", "Softmax")
    convolutions = [n[2] for n in file.nodes if n[1] == "Convolution"]
    assert [c["output_channel"] for c in convolutions] == [8, 8]
    assert [c["group"] for c in convolutions] == [1, 8]
    assert file.only("Eltwise")["type"] == 2 and file.only("FullyConnected")["num_output"] == 5
    assert file.only("Softmax")["axis"] == 1


@pytest.mark.parametrize("op, kind", [("Neg", 1), ("Floor", 2), ("Exp", 7), ("Sin", 9), ("Cos", 10)])
def test_functions_are_types_of_unary(daemon, tmp_path, op, kind):
    net = Net(1, 2, 3)
    net.add(op)
    assert expect_kept(daemon, tmp_path, net, "Unary").only("Unary") == {"type": kind}


EACH = [(), (4, 1, 1), (1, 4, 1, 1), (5, 6), (1, 4, 5, 6)]
# Which shapes of the second input Tengine's kernels go through.
PAIRS = [("Add", 2, EACH), ("Sub", 4, EACH[:3] + EACH[4:]), ("Mul", 0, EACH), ("Div", 10, EACH),
         ("Max", 6, EACH[4:])]


@pytest.mark.parametrize("op, kind, shape", [(o, k, s) for o, k, shapes in PAIRS for s in shapes])
def test_pairs_are_types_of_eltwise(daemon, tmp_path, op, kind, shape):
    net = Net(1, 4, 5, 6)
    net.add(op, net.const(RANDOM.uniform(1, 2, shape)))
    assert expect_kept(daemon, tmp_path, net, "Eltwise").only("Eltwise")["type"] == kind


@pytest.mark.parametrize("op, shape", [("Add", (6,)), ("Add", (5, 1)), ("Add", (2, 4, 5, 6)),
                                       ("Sub", (5, 6)), ("Max", (4, 1, 1)), ("Pow", (4, 1, 1))])
def test_what_tengine_cannot_stretch_is_refused(tmp_path, op, shape):
    net = Net(1, 4, 5, 6)
    net.add(op, net.const(RANDOM.uniform(1, 2, shape)))
    said = convert(tmp_path, net)
    assert said.status != 0 and ": its inputs are stretched" in said.err, said


@pytest.mark.parametrize("op, limits", [("Max", {"min": 0.5}), ("Min", {"max": 0.5})])
def test_a_limit_is_a_clip(daemon, tmp_path, op, limits):
    net = Net(1, 4, 5, 6)
    net.add(op, net.const(0.5))
    assert expect_kept(daemon, tmp_path, net, "Clip").only("Clip").items() >= limits.items()


def test_a_number_less_a_tensor_and_one_over_it(daemon, tmp_path):
    net = Net(1, 4, 5, 6)
    net.add("Sub", net.const(1), net.last, first=False)
    net.add("Div", net.const(1), net.last, first=False)
    net.add("Identity")
    net.add("Abs")
    file = expect_kept(daemon, tmp_path, net, "Eltwise", "Reciprocal", "Dropout", "Unary")
    assert file.only("Eltwise") == {"type": 17, "caffe_flavor": 0, "shift": 1, "power": 1,
                                    "scale": -1}
    assert file.only("Unary") == {"type": 0}


def test_lists_become_parameters(daemon, tmp_path):
    net = Net(1, 4, 6, 6)
    net.add("Pad", net.const([0, 0, 1, 2, 0, 0, 1, 0], np.int64), net.const(0.5))
    net.add("Slice", net.const([1], np.int64), net.const([-1], np.int64), net.const([2], np.int64))
    net.add("Reshape", net.const([1, 4, -1], np.int64))
    net.add("Unsqueeze", net.const([-1], np.int64))
    net.add("Squeeze", net.const([-1], np.int64))
    net.add("Transpose", perm=[0, 2, 1])
    net.add("ReduceSum", net.const([-1], np.int64), keepdims=0)
    file = expect_kept(daemon, tmp_path, net, "Pad", "Slice", "Reshape", "Unsqueeze", "Reshape",
                       "Transpose", "Reduction")
    assert file.buffers == []
    pad = file.only("Pad")
    assert (pad["h0"], pad["h1"], pad["w0"], pad["w1"], pad["value"]) == (1, 1, 2, 0, 0.5)
    cut = file.only("Slice")
    assert (cut["axis"], cut["isonnx"], cut["begin"], cut["end"], cut["step"]) == (2, 1, 1, 7, 1)
    shapes = [n[2] for n in file.nodes if n[1] == "Reshape"]
    assert shapes == [{"is_mxnet": 0, "reverse": 0, "re_shape": s, "is_onnx": 1}
                      for s in ([1, 4, -1], [1, 4, 48])]
    assert file.only("Unsqueeze") == {"axes": [3]}
    assert file.only("Reduction") == {"dim_0": 2, "dim_1": -2, "dim_2": -2, "dim_3": -2, "type": 0,
                                      "keepdim": 0}


@pytest.mark.parametrize("mode, how, kind", [("nearest", "asymmetric", 1), ("linear", "half_pixel", 2),
                                             ("linear", "align_corners", 4)])
def test_a_resize_is_an_interp(daemon, tmp_path, mode, how, kind):
    net = Net(1, 2, 3, 4)
    net.add("Resize", "", net.const([1, 1, 2, 2]), mode=mode, coordinate_transformation_mode=how,
            nearest_mode="floor")
    interp = expect_kept(daemon, tmp_path, net, "Interp").only("Interp")
    assert (interp["resize_type"], interp["output_height"], interp["output_width"]) == (kind, 6, 8)


# Attributes, and the flavor and padding of each axis that Tengine's formulas need.
POOLS = {
    "auto_pad upper": ((7, 8), {"kernel_shape": [2, 3], "auto_pad": "SAME_UPPER"}, (0, -1, -1)),
    "auto_pad lower": ((8, 8), {"kernel_shape": [2, 3], "auto_pad": "SAME_LOWER"}, (0, 0, 1)),
    "even": ((8, 8), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, (0, 1, 1)),
    "at the end": ((8, 8), {"kernel_shape": [3, 3], "pads": [0, 0, 1, 1]}, (1, 0, 0)),
    "rounds up": ((8, 8), {"kernel_shape": [3, 3], "ceil_mode": 1}, (1, 0, 0)),
    "rounds up without need": ((7, 7), {"kernel_shape": [3, 3], "ceil_mode": 1}, (0, 0, 0)),
    "Darknet's": ((8, 8), {"kernel_shape": [2, 2], "strides": [1, 1], "pads": [0, 0, 1, 1]},
                  (2, 1, 1)),
}


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("which", POOLS)
def test_a_pool_has_the_flavor_that_has_its_places(daemon, tmp_path, op, which):
    extents, attributes, (flavor, high, wide) = POOLS[which]
    net = Net(1, 2, *extents)
    net.add(op, **{"strides": [2, 2], **attributes})
    pool = expect_kept(daemon, tmp_path, net, "Pooling").only("Pooling")
    assert [pool[f"pad_{a}"] for a in ("h0", "h1", "w0", "w1")] == [high, high, wide, wide]
    assert pool["caffe_flavor"] == flavor


def test_several_axes_are_cut_with_steps(daemon, tmp_path):
    net = Net(2, 6, 6, 6)
    ints = [net.const(v, np.int64) for v in ([0, 1, -4], [6, 5, -1], [2, 3, 1], [2, 1, 2])]
    net.add("Slice", *ints)
    cut = expect_kept(daemon, tmp_path, net, "StridedSlice").only("StridedSlice")
    assert [cut[f"{w}_{a}"] for a in "nchw" for w in ("begin", "end", "stride")] == [
        0, 0, 1, 2, -1, 2, 0, 0, 2, 1, -1, 1]


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_flatten_is_tengines_at_axis_1(daemon, tmp_path, axis):
    net = Net(2, 3, 4, 5)
    net.add("Flatten", axis=axis)
    expect_kept(daemon, tmp_path, net, "Flatten" if axis == 1 else "Reshape")


def test_a_root_of_squares_and_blocks(daemon, tmp_path):
    net = Net(1, 4, 3, 4)
    net.add("DepthToSpace", blocksize=2, mode="CRD")
    net.add("ReduceL2", axes=[-1, 2])
    file = expect_kept(daemon, tmp_path, net, "DepthToSpace", "ReduceL2")
    assert file.only("ReduceL2") == {"axis": 2, "keepdim": 1}
    net = Net(1, 8, 3, 4)
    net.add("DepthToSpace", blocksize=2)
    assert "DepthToSpace: its mode is CRD" in convert(tmp_path, net).err


def test_hard_swish_and_swish(daemon, tmp_path):
    net = Net(1, 4, 5, 5)
    x = net.add("HardSwish")
    net.add("Sigmoid")
    net.add("Mul", x)
    file = expect_kept(daemon, tmp_path, net, "HardSwish", "Sigmoid", "Eltwise")
    assert file.only("HardSwish") == pytest.approx({"alpha": 1 / 6, "beta": 0.5})
