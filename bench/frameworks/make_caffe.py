"""make_caffe.py zoo|varied FOLDER [PART OF A NAME...]

Needs protobuf 3.20, opencv-python-headless < 5, and BVLC's messages as module caffe_pb2 (protoc of
SSD's caffe.proto). `zoo` gives the networks of the folder MODSERD_PROTOTXTS seeded weights; `varied`
writes small networks of many kinds. OpenCV, whose importer is its own, computes them."""

import os
import pathlib

os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"

import caffe_pb2
import cases
import cv2
import numpy as np
from google.protobuf import text_format

ORACLE = "OpenCV " + cv2.__version__


def by_class(rows):
    """Caffe writes what DetectionOutput finds by class, OpenCV 4.14 by score."""
    flat = rows.reshape(-1, 7)
    return flat[np.lexsort((-flat[:, 2], flat[:, 1], flat[:, 0]))].reshape(rows.shape)


def compute(out, name, shape, outputs=None, rtol=1e-3, feeds=None):
    files = [out.path / f"{name}.prototxt", out.path / f"{name}.caffemodel"]
    net = cv2.dnn.readNetFromCaffe(*map(str, files))
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.enableFusion(False)
    net.enableWinograd(False)
    if feeds is None:
        feeds = {"data": np.random.default_rng(5).normal(0, 1, shape).astype("float32")}
    for key, value in feeds.items():
        net.setInput(value, key)
    got = net.forward(outputs) if outputs else [net.forward()]
    got = [by_class(value) if value.ndim == 4 and value.shape[-1] == 7 else value for value in got]
    out.add(name, [file.name for file in files], feeds, [np.asarray(value) for value in got],
            rtol=rtol, oracle=ORACLE)


class Net:
    """A network whose layers and weights are added one by one."""

    def __init__(self, out, name, shape):
        self.out, self.name, self.shape = out, name, shape
        self.rng = np.random.default_rng([11, *name.encode()])
        self.text, self.weights = caffe_pb2.NetParameter(name=name), caffe_pb2.NetParameter(name=name)
        if shape is not None:
            self.text.input.append("data")
            self.text.input_shape.add(dim=shape)

    def add(self, name, kind, bottom, text="", blobs=(), top=None, inplace=False):
        bottom = [bottom] if isinstance(bottom, str) else list(bottom)
        top = bottom if inplace else [name] if top is None else top
        for net in (self.text, self.weights):
            layer = net.layer.add(name=name, type=kind, bottom=bottom, top=top)
            text_format.Merge(text, layer)
        for blob in blobs:
            proto = self.weights.layer[-1].blobs.add()
            proto.shape.dim.extend(np.shape(blob))
            proto.data.extend(np.asarray(blob, "float32").ravel().tolist())
        return top[0] if top else None

    def normal(self, *shape):
        return self.rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)

    def conv(self, name, x, c_in, c_out, k=3, s=1, p=None, g=1, more="", kind="Convolution"):
        p = (k - 1) // 2 if p is None else p
        shape = (c_out, c_in // g, k, k) if kind == "Convolution" else (c_in, c_out // g, k, k)
        blobs = [self.normal(*shape)]
        if "bias_term: false" not in more:
            blobs.append(self.rng.normal(0, 0.1, c_out))
        return self.add(name, kind, x, f"convolution_param {{ num_output: {c_out} kernel_size: {k} "
                        f"stride: {s} pad: {p} group: {g} {more} }}", blobs)

    def relu(self, x, text=""):
        return self.add(f"relu_{len(self.text.layer)}", "ReLU", x, text, inplace=True)

    def norm(self, x, c, inplace=True, eps=1e-5):
        blobs = [self.rng.normal(0, 1, c) * 3, self.rng.uniform(0.5, 1.5, c) * 3, np.array([3.0])]
        number = len(self.text.layer)
        x = self.add(f"bn_{number}", "BatchNorm", x, f"batch_norm_param {{ eps: {eps} }}", blobs,
                     inplace=inplace)
        return self.add(f"scale_{number}", "Scale", x, "scale_param { bias_term: true }",
                        [self.rng.uniform(0.5, 1.5, c), self.rng.normal(0, 0.2, c)], inplace=True)

    def pool(self, name, x, text):
        return self.add(name, "Pooling", x, f"pooling_param {{ {text} }}")

    def dense(self, name, x, n_in, n_out, more=""):
        return self.add(name, "InnerProduct", x, f"inner_product_param {{ num_output: {n_out} {more} }}",
                        [self.normal(n_out, n_in), self.rng.normal(0, 0.1, n_out)])

    def done(self, outputs=None, rtol=1e-3, edit=None, feeds=None):
        if not self.out.wanted(self.name):
            return
        text = text_format.MessageToString(self.text)
        (self.out.path / f"{self.name}.prototxt").write_text(text)
        (self.out.path / f"{self.name}.caffemodel").write_bytes(self.weights.SerializeToString())
        compute(self.out, self.name, self.shape, outputs, rtol, feeds)
        if edit:  # OpenCV cannot read the edited text
            (self.out.path / f"{self.name}.prototxt").write_text(edit(text))


def extent(size, param, ceil):
    kernel = param.kernel_size[0] if ceil is False else param.kernel_size
    stride = (param.stride[0] if param.stride else 1) if ceil is False else param.stride
    pad = (param.pad[0] if param.pad else 0) if ceil is False else param.pad
    left = size + 2 * pad - kernel
    n = left // stride + 1 if not ceil else -(-left // stride) + 1
    return n - 1 if ceil and pad and (n - 1) * stride >= size + pad else n


def fill(out, name, file):
    """Give the network of a prototxt its weights: extents of blobs follow from the layers."""
    net = text_format.Parse(pathlib.Path(file).read_text(), caffe_pb2.NetParameter())
    rng = np.random.default_rng([7, *name.encode()])
    shape = list(net.input_shape[0].dim if net.input_shape else net.input_dim) or \
        list(net.layer[0].input_param.shape[0].dim)
    shapes = {net.input[0] if net.input else net.layer[0].top[0]: shape}
    data = next(iter(shapes))
    for layer in net.layer:
        if layer.type == "Input":
            continue
        n, c, *sides = x = shapes[layer.bottom[0]]
        blobs = []
        if layer.type == "Convolution":
            p = layer.convolution_param
            blobs = [rng.normal(0, np.sqrt(2 * p.group / c / p.kernel_size[0] ** 2),
                                (p.num_output, c // p.group, p.kernel_size[0], p.kernel_size[0]))]
            if p.bias_term:
                blobs.append(rng.normal(0, 0.1, p.num_output))
            x = [n, p.num_output, *[extent(side, p, False) for side in sides]]
        elif layer.type == "Pooling":
            p = layer.pooling_param
            x = [n, c, 1, 1] if p.global_pooling else [n, c, *[extent(s, p, True) for s in sides]]
        elif layer.type == "InnerProduct":
            p = layer.inner_product_param
            blobs = [rng.normal(0, np.sqrt(1 / np.prod(x[1:])), (p.num_output, np.prod(x[1:]))),
                     rng.normal(0, 0.1, p.num_output)]
            x = [n, p.num_output]
        elif layer.type == "Concat":
            x = [n, sum(shapes[bottom][1] for bottom in layer.bottom), *sides]
        elif layer.type == "BatchNorm":
            blobs = [rng.normal(0, 0.2, c), rng.uniform(0.5, 1.5, c), np.ones(1)]
        elif layer.type == "Scale":
            blobs = [rng.uniform(0.5, 1.5, c), rng.normal(0, 0.2, c)]
        for top in layer.top:
            shapes[top] = x
        for blob in blobs:
            proto = layer.blobs.add()
            proto.shape.dim.extend(np.shape(blob))
            proto.data.extend(np.asarray(blob, "float32").ravel().tolist())
    (out.path / f"{name}.prototxt").write_bytes(pathlib.Path(file).read_bytes())
    (out.path / f"{name}.caffemodel").write_bytes(net.SerializeToString())
    feed = rng.normal(0, 1, shape).astype("float32")
    compute(out, name, shape, feeds={data: feed})


def zoo(out):
    for file in sorted(pathlib.Path(os.environ["MODSERD_PROTOTXTS"]).glob("*.prototxt")):
        if out.wanted(file.stem):
            fill(out, file.stem, file)


if __name__ == "__main__":
    import varied_caffe

    cases.main({"zoo": zoo, "varied": varied_caffe.varied}, __doc__)
