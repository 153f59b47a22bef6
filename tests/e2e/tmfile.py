#!/usr/bin/env python3
"""tmfile.py FILE: what `modser inspect --dump` must say of a tmfile, read from its bytes by the
format document alone. Weights that are not in the file are called stripped."""
import json
import struct
import sys

# Name and parameters by type: kind (i, f, b byte, v list of ints, w list of floats), name, default.
OPS = {
    1: ("BatchNormalization", "f:rescale_factor=1 f:eps=1e-5 i:caffe_flavor=0"),
    3: ("Concat", "i:axis=1"),
    4: ("Const", ""),
    5: ("Convolution", "i:kernel_h=1 i:kernel_w=1 i:stride_h=1 i:stride_w=1 i:dilation_h=1 i:dilation_w=1 "
        "i:input_channel=1 i:output_channel=1 i:group=1 i:activation=-1 i:pad_h0=0 i:pad_w0=0 "
        "i:pad_h1=0 i:pad_w1=0"),
    7: ("DetectionOutput", "i:num_classes=0 i:keep_top_k=100 i:nms_top_k=100 f:confidence_threshold=0 "
        "f:nms_threshold=0"),
    8: ("Dropout", ""),
    9: ("Eltwise", "i:type=2 i:caffe_flavor=0 f:shift=0 f:power=1 f:scale=1"),
    10: ("Flatten", "i:axis=1 i:end_axis=3"),
    11: ("FullyConnected", "i:num_output=1"),
    12: ("InputOp", ""),
    13: ("LRN", "i:local_size=5 f:alpha=1 f:beta=0.75 i:norm_region=0 f:k=1 f:bias=0 b:is_onnx=0"),
    15: ("Permute", "i:flag=0 i:order0=0 i:order1=1 i:order2=2 i:order3=3"),
    16: ("Pooling", "i:alg=0 i:kernel_h=2 i:kernel_w=2 i:stride_h=1 i:stride_w=1 i:global=0 "
         "i:caffe_flavor=0 i:pad_h0=0 i:pad_w0=0 i:pad_h1=0 i:pad_w1=0"),
    17: ("PReLU", ""),
    18: ("PriorBox", "w:min_size w:max_size w:variance w:aspect_ratio i:flip=0 i:clip=0 i:img_size=0 "
         "i:img_h=0 i:img_w=0 f:step_w=0 f:step_h=0 f:offset=0 i:num_priors=0 i:out_dim=0"),
    20: ("ReLu", "f:negative_slope=0"),
    21: ("ReLu6", ""),
    23: ("Reshape", "i:is_mxnet=0 i:reverse=0 v:re_shape i:is_onnx=0"),
    27: ("Slice", "i:axis=0 v:slice_points v:begins v:sizes i:iscaffe=0 i:ismxnet=0 i:isonnx=0 "
         "i:begin=0 i:end=0 i:step=1"),
    28: ("Softmax", "i:axis=1"),
    51: ("Upsample", "f:scale=1"),
    55: ("ShuffleChannel", "i:group=1"),
    56: ("Crop", "i:num_args=0 i:offset_c=0 i:offset_h=0 i:offset_w=0 i:crop_h=0 i:crop_w=0 "
         "b:center_crop=0 i:axis=0 i:flag=0"),
    71: ("Interp", "i:resize_type=1 f:width_scale=1 f:height_scale=1 i:output_width=1 i:output_height=1"),
    74: ("BroadMul", ""),
}
DTYPES = ["float32", "float16", "int8", "uint8", "int32", "int16"]
TYPES = ["unknown", "var", "const", "input", "dep"]


def number(f):
    """A float of 32 bits as C writes it with %.9g."""
    return "%.9g" % struct.unpack("<f", struct.pack("<f", f))[0]


class Reader:
    def __init__(self, raw):
        self.raw = raw

    def words(self, at, kinds):
        return struct.unpack_from("<" + kinds, self.raw, at)

    def vector(self, at, kind="I"):
        return self.words(at + 4, f"{self.words(at, 'I')[0]}{kind}") if at else ()

    def string(self, at):
        if not at:
            return '""'
        size, text = self.words(at, "II")
        return json.dumps(self.raw[text:text + size].split(b"\0")[0].decode(), ensure_ascii=False)

    def param(self, spec, at, end):
        """Behind @end is the operator: what would lie there has its default."""
        said, offset = [], 0
        for part in spec.split():
            kind, rest = part.split(":")
            name, _, default = rest.partition("=")
            width = 1 if kind == "b" else 4
            offset = offset if kind == "b" else (offset + 3) // 4 * 4
            here = at + offset if at and at + offset + width <= end else None
            said.append(f"{name}={self.value(kind, here, default)}")
            offset += width
        return ", ".join(said)

    def value(self, kind, at, default):
        if kind in "vw":
            listed = self.vector(self.words(at, "I")[0], "i" if kind == "v" else "f") if at else ()
            return "[" + ", ".join(str(v) if kind == "v" else number(v) for v in listed) + "]"
        if at is None:
            return default if kind != "f" else number(float(default))
        if kind == "f":
            return number(self.words(at, "f")[0])
        return str(int(self.raw[at] != 0) if kind == "b" else self.words(at, "i")[0])

    def node(self, at):
        index, inputs, outputs, operator, name, attrs = self.words(at, "6I")
        _, op, param = self.words(operator, "3I")
        what, spec = OPS[op]
        said = self.param(spec, param, operator)
        if self.raw[at + 24]:
            said += (", " if said else "") + '"tmfile.dynamic_shape"=1'
        assert attrs == 0
        ends = ["(" + ", ".join(map(str, self.vector(v))) + ")" for v in (inputs, outputs)]
        return f"node {index} {self.string(name)} {what}{{{said}}} {ends[0]} -> {ends[1]}"

    def tensor(self, at, buffers):
        index, buffer, dims, name, quants, _, kind, dtype = self.words(at, "5I3i")
        shape = ", ".join(map(str, self.vector(dims, "i"))) or "..."
        said = f"tensor {index} {self.string(name)} {TYPES[kind]} {DTYPES[dtype]}[{shape}]"
        assert quants == 0
        if TYPES[kind] == "const":
            said += self.constant(*self.words(buffers[buffer], "II"))
        return said

    def constant(self, size, at):
        if not at:
            return f" bytes {size} stripped"
        fnv = 0xCBF29CE484222325
        for byte in self.raw[at:at + size]:
            fnv = (fnv ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        return f" bytes {size} fnv {fnv:016x}"


def dump(raw):
    r = Reader(raw)
    origin, sub, subgraphs, name = r.words(r.words(8, "I")[0], "iiII")
    inputs, outputs, nodes, tensors, buffers = map(
        r.vector, r.words(r.vector(subgraphs)[0] + 12, "5I"))

    def ends(listed):
        made = [r.vector(r.words(nodes[n] + 8, "I")[0]) for n in listed]
        return "(" + ", ".join(str(t) for some in made for t in some) + ")"

    lines = [f'graph {r.string(name)} format "tengine"', f'attr "tmfile.orig_format" {origin}',
             f'attr "tmfile.sub_format" {sub}', f"inputs {ends(inputs)}", f"outputs {ends(outputs)}"]
    lines += [r.node(n) for n in nodes]
    lines += [r.tensor(t, r.vector(r.words(r.vector(subgraphs)[0] + 28, "I")[0])) for t in tensors]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        sys.stdout.write(dump(file.read()))
