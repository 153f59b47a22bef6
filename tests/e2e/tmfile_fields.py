"""A reader of tmfiles that shares no code with modserd's: from Tengine's structures alone. It checks
every offset, index and length of a file as modserd writes it."""
import struct

import numpy as np

# Name and parameters of each type: i int, f float, b byte, v offset of a list of ints.
TYPES = {
    1: ("BatchNormalization", "f:rescale_factor f:eps i:caffe_flavor"), 3: ("Concat", "i:axis"),
    4: ("Const", ""), 8: ("Dropout", ""), 12: ("InputOp", ""), 21: ("ReLu6", ""), 17: ("PReLU", ""),
    5: ("Convolution", "i:kernel_h i:kernel_w i:stride_h i:stride_w i:dilation_h i:dilation_w "
        "i:input_channel i:output_channel i:group i:activation i:pad_h0 i:pad_w0 i:pad_h1 i:pad_w1"),
    6: ("Deconvolution", "i:num_output i:kernel_h i:kernel_w i:stride_h i:stride_w i:pad_w0 i:pad_h0 "
        "i:pad_w1 i:pad_h1 i:dilation_h i:dilation_w i:group i:activation i:output_pad_h0 "
        "i:output_pad_w0"),
    9: ("Eltwise", "i:type i:caffe_flavor f:shift f:power f:scale"),
    10: ("Flatten", "i:axis i:end_axis"), 11: ("FullyConnected", "i:num_output"),
    16: ("Pooling", "i:alg i:kernel_h i:kernel_w i:stride_h i:stride_w i:global i:caffe_flavor "
         "i:pad_h0 i:pad_w0 i:pad_h1 i:pad_w1"),
    41: ("StridedSlice", " ".join(f"i:{w}_{a}" for a in "nchw" for w in ("begin", "end", "stride"))),
    80: ("DepthToSpace", "i:block_size"), 89: ("ReduceL2", "i:axis i:keepdim"),
    103: ("Reciprocal", ""),
    20: ("ReLu", "f:negative_slope"), 28: ("Softmax", "i:axis"), 37: ("Sigmoid", ""),
    23: ("Reshape", "i:is_mxnet i:reverse v:re_shape i:is_onnx"), 59: ("Unary", "i:type"),
    27: ("Slice", "i:axis v:slice_points v:begins v:sizes i:iscaffe i:ismxnet i:isonnx i:begin i:end "
         "i:step"),
    29: ("Split", "i:axis i:split_dim b:is_caffe b:is_onnx v:sizes"),
    38: ("Squeeze", "i:dim_0 i:dim_1 i:dim_2 i:dim_3"), 88: ("Unsqueeze", "v:axes"),
    40: ("Pad", "i:n0 i:n1 i:c0 i:c1 i:h0 i:h1 i:w0 i:w1 i:mode f:value"),
    45: ("Reduction", "i:dim_0 i:dim_1 i:dim_2 i:dim_3 i:type i:keepdim"),
    70: ("HardSwish", "f:alpha f:beta"), 77: ("Transpose", "v:perm"), 87: ("Clip", "f:max f:min"),
    71: ("Interp", "i:resize_type f:width_scale f:height_scale i:output_width i:output_height"),
}


# Each operator, and the kinds of its parameters in the order of Tengine's structure: i int, f
# float, b byte, I and F offsets of lists of ints and floats.
EVERY = {
    1: ("BatchNormalization", "ffi"), 3: ("Concat", "i"), 5: ("Convolution", "iiiiiiiiiiiiii"),
    6: ("Deconvolution", "iiiiiiiiiiiiiii"), 7: ("DetectionOutput", "iiiff"), 8: ("Dropout", ""),
    9: ("Eltwise", "iifff"), 10: ("Flatten", "ii"), 11: ("FullyConnected", "i"),
    13: ("LRN", "iffiffb"), 14: ("Normalize", "ii"), 15: ("Permute", "iiiii"),
    16: ("Pooling", "iiiiiiiiiii"), 17: ("PReLU", ""), 18: ("PriorBox", "FFFFiiiiifffii"),
    19: ("Region", "iiiiffF"), 20: ("ReLu", "f"), 21: ("ReLu6", ""), 22: ("Reorg", "i"),
    23: ("Reshape", "iiIi"), 26: ("Scale", "iii"), 27: ("Slice", "iIIIiiiiii"),
    28: ("Softmax", "i"), 29: ("Split", "iibbI"), 31: ("Gemm", "ffii"), 33: ("Logistic", ""),
    34: ("LSTM", "ffiiiiiiiiiiiiiiii"), 35: ("RNN", "fiiiiiiii"), 36: ("Tanh", ""),
    37: ("Sigmoid", ""), 38: ("Squeeze", "iiii"), 40: ("Pad", "iiiiiiiiif"),
    41: ("StridedSlice", "iiiiiiiiiiii"), 42: ("ArgMax", "ii"), 43: ("ArgMin", "ii"),
    44: ("TopKV2", "ii"), 45: ("Reduction", "iiiiii"), 46: ("Maximum", ""), 47: ("Minimum", ""),
    48: ("GRU", "fiiiiiiiii"), 49: ("Addn", "i"), 50: ("SwapAxis", "ii"), 51: ("Upsample", "f"),
    54: ("Resize", "ffi"), 55: ("ShuffleChannel", "i"), 56: ("Crop", "iiiiiibii"),
    59: ("Unary", "i"), 60: ("Expanddims", "i"), 61: ("Bias", "i"), 62: ("Noop", ""),
    63: ("Threshold", "f"), 64: ("Hardsigmoid", "ff"), 65: ("Embedding", "iiii"),
    66: ("InstanceNorm", "f"), 67: ("MVN", "iif"), 68: ("Absval", ""), 69: ("Cast", "ii"),
    70: ("HardSwish", "ff"), 71: ("Interp", "iffii"), 72: ("Selu", "ff"), 73: ("Elu", "f"),
    74: ("BroadMul", ""), 75: ("Logical", "i"), 76: ("Gather", "iib"), 77: ("Transpose", "I"),
    78: ("Comparison", "i"), 79: ("SpaceToDepth", "i"), 80: ("DepthToSpace", "i"),
    81: ("Reverse", ""), 83: ("Ceil", ""), 84: ("SquaredDifference", ""), 85: ("Round", ""),
    86: ("ZerosLike", ""), 87: ("Clip", "ff"), 88: ("Unsqueeze", "I"), 89: ("ReduceL2", "ii"),
    90: ("Mean", ""), 91: ("MatMul", ""), 92: ("Expand", "Ii"), 93: ("Scatter", "ib"),
    94: ("Shape", ""), 95: ("Where", ""), 96: ("Tile", "iiI"), 97: ("Mish", ""),
    99: ("LogSoftmax", "i"), 100: ("ReLU1", ""), 101: ("L2Normalization", ""),
    102: ("Softplus", ""), 103: ("Reciprocal", ""), 106: ("Gelu", ""), 107: ("LayerNorm", "f"),
}
# Those that modserd refuses by name.
MISSING = {
    0: "Accuracy", 24: "ROIPooling", 25: "RPN", 30: "DetectionPostProcess", 32: "Generic", 39:
    "Fused.BNScaleReLu", 52: "SpaceToBatchND", 53: "BatchToSpaceND", 57: "Roialign", 58:
    "Psroipooling", 82: "SparseToDense", 98: "L2Pool", 105: "SpatialTransformer"
}


def spec_of(kind):
    name, kinds = {4: ("Const", ""), 12: ("InputOp", ""), **EVERY}[kind]
    return name, " ".join(f"{k}:{i}" for i, k in enumerate(kinds))


class Tmfile:
    """Nodes as (name, operator, parameters, inputs, outputs), tensors as (name, kind, extents,
    bytes); every offset is checked."""

    def __init__(self, raw, origin=0):
        """@origin: the number of the format that the model came from."""
        self.raw = raw
        main, sub, _, _, root = struct.unpack_from("<4HI", raw)
        assert (main, sub) == (2, 0)
        assert root + 16 == len(raw), "the model is the last object"
        said, _, subgraphs, _ = self.words(root, "iiII")
        (graph,) = self.vector(subgraphs)
        index, layout, model_layout, ins, outs, nodes, tensors, buffers, _, more = self.words(
            graph, "Iii7I")
        assert (said, index, layout, model_layout, more) == (origin, 0, 0, 0, 0)
        self.buffers = self.vector(buffers)
        self.tensors = [self.tensor(i, at) for i, at in enumerate(self.vector(tensors))]
        self.nodes = [self.node(i, at) for i, at in enumerate(self.vector(nodes))]
        self.inputs, self.outputs = self.vector(ins), self.vector(outs)
        self.check()
        if origin == 0:
            self.check_convolutions()

    def words(self, at, kinds):
        assert at % 4 == 0 and at + struct.calcsize("<" + kinds) <= len(self.raw)
        return struct.unpack_from("<" + kinds, self.raw, at)

    def vector(self, at, kind="I"):
        return list(self.words(at + 4, f"{self.words(at, 'I')[0]}{kind}")) if at else []

    def text(self, at):
        size, where = self.words(at, "II")
        assert self.raw[where + size - 1] == 0
        return self.raw[where:where + size - 1].decode()

    def tensor(self, number, at):
        index, buffer, dims, name, quants, layout, kind, dtype = self.words(at, "5I3i")
        extents = self.vector(dims, "i")
        assert (index, quants, layout) == (number, 0, 0) and kind in (1, 2, 3) and extents
        data = None
        if kind == 2:
            size, where = self.words(self.buffers[buffer], "II")
            width = (4, 2, 1, 1, 4, 2)[dtype]
            assert where and size == width * int(np.prod(extents)) and where + size <= len(self.raw)
            data = self.raw[where:where + size]
        return self.text(name), kind, extents, data

    def node(self, number, at):
        index, ins, outs, operator, name, attrs, dynamic = self.words(at, "7I")
        version, kind, param = self.words(operator, "3I")
        assert (index, attrs, dynamic, version) == (number, 0, 0, 1)
        op, spec = TYPES[kind] if kind in TYPES else spec_of(kind)
        return self.text(name), op, self.params(param, operator, spec), self.vector(ins), \
            self.vector(outs)

    def params(self, at, end, spec):
        said, offset = {}, 0
        for word in spec.split():
            kind, name = word.split(":")
            offset = offset if kind == "b" else (offset + 3) // 4 * 4
            if kind == "b":
                said[name] = self.raw[at + offset]
            else:
                (value,) = self.words(at + offset, {"i": "i", "f": "f"}.get(kind, "I"))
                said[name] = self.vector(value, {"v": "i", "I": "i", "F": "f"}[kind]) \
                    if kind in "vIF" else value
            offset += 1 if kind == "b" else 4
        assert (at == 0) == (not spec) and at + offset <= end
        return said

    def check(self):
        """Each tensor has one producer and, but for the outputs, a reader."""
        made = [t for n in self.nodes for t in n[4]]
        read = {t for n in self.nodes for t in n[3]}
        ends = {t for n in self.outputs for t in self.nodes[n][4]}
        assert sorted(made) == list(range(len(self.tensors)))
        assert read | ends == set(range(len(self.tensors)))
        constants = [n for n in self.nodes if n[1] == "Const"]
        assert len(constants) == len(self.buffers) == sum(t[1] == 2 for t in self.tensors)
        assert all(self.nodes[n][1] == "InputOp" for n in self.inputs)

    def check_convolutions(self):
        for _, op, params, ins, outs in self.nodes:
            if op in ("Convolution", "Deconvolution"):
                weights = self.tensors[ins[1]][2]
                assert [params["kernel_h"], params["kernel_w"]] == weights[2:]
                channels = "output_channel" if op == "Convolution" else "num_output"
                assert params[channels] == self.tensors[outs[0]][2][1]

    def only(self, op):
        (params,) = [n[2] for n in self.nodes if n[1] == op]
        return params

    def operators(self):
        return [n[1] for n in self.nodes if n[1] not in ("Const", "InputOp")]
