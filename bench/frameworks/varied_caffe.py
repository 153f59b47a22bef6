"""Small networks of many kinds for make_caffe.py."""

import numpy as np
from google.protobuf import text_format
from make_caffe import Net

HEADS = """prior_box_param {{ min_size: {} max_size: {} aspect_ratio: 2 {} flip: true clip: {}
  variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 {} }}"""


def segmentation(out):
    n = Net(out, "segmentation", (1, 3, 26, 30))
    a = n.relu(n.conv("c1", "data", 3, 8))
    b = n.pool("p1", a, "pool: MAX kernel_size: 2 stride: 2")
    b = n.relu(n.conv("c2", b, 8, 12, p=2, more="dilation: 2"))
    score = n.conv("score", b, 12, 5, 1)
    up = n.conv("up", score, 5, 5, 4, 2, 0, 5, "bias_term: false", "Deconvolution")
    up = n.add("crop", "Crop", [up, "data"], "crop_param { axis: 2 offset: 1 }")
    skip = n.conv("skip", a, 8, 5, 1)
    x = n.add("sum", "Eltwise", [up, skip], "eltwise_param { operation: SUM coeff: 1 coeff: 0.5 }")
    n.add("prob", "Softmax", x)
    n.done()


def residual(out):
    n = Net(out, "residual", (2, 3, 24, 24))
    x = n.relu(n.norm(n.conv("c0", "data", 3, 8, 7, 2, more="bias_term: false"), 8))
    x = n.pool("p0", x, "pool: MAX kernel_size: 3 stride: 2")
    y = n.norm(n.conv("b", n.relu(n.norm(n.conv("a", x, 8, 8), 8)), 8, 16), 16)
    s = n.norm(n.conv("s", x, 8, 16, 1), 16)
    x = n.relu(n.add("add", "Eltwise", [y, s]))
    x = n.pool("gap", x, "pool: AVE global_pooling: true")
    n.add("prob", "Softmax", n.dense("fc", x, 16, 7))
    n.done()


def shuffle(out):
    n = Net(out, "shuffle", (1, 3, 20, 20))
    x = n.relu(n.conv("c0", "data", 3, 12, s=2))
    a, b = "left", "right"
    n.add("slice", "Slice", x, "slice_param { axis: 1 slice_point: 6 }", top=[a, b])
    b = n.relu(n.conv("g", b, 6, 6, 1, g=3))
    b = n.conv("d", b, 6, 6, g=6)
    x = n.add("cat", "Concat", [a, b], "concat_param { axis: 1 }")
    x = n.add("shuffle", "ShuffleChannel", x, "shuffle_channel_param { group: 2 }")
    x = n.pool("ave", x, "pool: AVE kernel_size: 3 stride: 2 pad: 1")
    n.add("flat", "Flatten", x)
    n.done()


def elements(out):
    n = Net(out, "elements", (2, 4, 6, 6))
    x = n.add("tanh", "TanH", "data")
    x = n.add("power", "Power", x, "power_param { power: 2 scale: 0.5 shift: 1.5 }")
    y = n.add("elu", "ELU", "data", "elu_param { alpha: 0.7 }")
    z = n.add("prelu", "PReLU", "data", blobs=[n.rng.uniform(0.1, 0.5, 4)])
    w = n.add("abs", "AbsVal", "data")
    v = n.add("sigmoid", "Sigmoid", n.relu(n.conv("c", "data", 4, 4, 1), "relu_param { negative_slope: 0.1 }"))
    a = n.add("max", "Eltwise", [x, y, z], "eltwise_param { operation: MAX }")
    b = n.add("prod", "Eltwise", [w, v], "eltwise_param { operation: PROD }")
    c = n.add("lrn", "LRN", b, "lrn_param { local_size: 3 alpha: 0.1 norm_region: WITHIN_CHANNEL }")
    x = n.add("cat", "Concat", [a, b, c])
    n.add("perm", "Permute", x, "permute_param { order: 0 order: 2 order: 3 order: 1 }")
    n.done()


def detector(out):
    n = Net(out, "detector", (1, 3, 48, 48))
    x = n.relu(n.norm(n.conv("c1", "data", 3, 12, s=2), 12))
    y = n.relu(n.conv("c2", x, 12, 16, s=2))
    z = n.relu(n.conv("c3", y, 16, 16, s=2))
    locs, confs, priors = [], [], []
    for i, (t, c, low, high, more, per) in enumerate((
            (y, 16, 8, 16, "", 4), (z, 16, 16, 30, "aspect_ratio: 3", 6))):
        for kind, width, into in (("loc", 4, locs), ("conf", 4, confs)):
            u = n.conv(f"{kind}{i}", t, c, width * per)
            u = n.add(f"{kind}{i}_perm", "Permute", u, "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            into.append(n.add(f"{kind}{i}_flat", "Flatten", u))
        priors.append(n.add(f"prior{i}", "PriorBox", [t, "data"],
                            HEADS.format(low, high, more, "true", "step: 12" if i == 0 else "")))
    loc = n.add("loc", "Concat", locs)
    conf = n.add("conf", "Concat", confs)
    n.add("priors", "Concat", priors, "concat_param { axis: 2 }")
    conf = n.add("conf3", "Reshape", conf, "reshape_param { shape { dim: 0 dim: -1 dim: 4 } }")
    conf = n.add("soft", "Softmax", conf, "softmax_param { axis: 2 }")
    conf = n.add("conf2", "Flatten", conf)
    n.add("found", "DetectionOutput", [loc, conf, "priors"], """detection_output_param {
        num_classes: 4 share_location: true background_label_id: 0 code_type: CENTER_SIZE
        nms_param { nms_threshold: 0.4 top_k: 60 } keep_top_k: 15 confidence_threshold: 0.35 }""")
    n.done(rtol=2e-3)


def pyramid(out):
    n = Net(out, "pyramid", (1, 3, 17, 21))
    x = n.relu(n.conv("c", "data", 3, 8, more="dilation: 1"))
    a = n.pool("a", x, "pool: AVE kernel_size: 5 stride: 4")
    a = n.add("interp", "Interp", n.conv("ac", a, 8, 4, 1), "interp_param { height: 17 width: 21 }")
    b = n.add("mvn", "MVN", n.conv("bc", x, 8, 4), "mvn_param { normalize_variance: true }")
    x = n.add("cat", "Concat", [a, b])
    n.add("scaled", "Scale", x, "scale_param { axis: 1 bias_term: true }",
          [n.rng.uniform(0.5, 1.5, 8), n.rng.normal(0, 0.2, 8)])
    n.done()


def training(out):
    """A file of training, whose loss, accuracy and data are of its phases."""
    n = Net(out, "training", (3, 1, 14, 14))
    x = n.relu(n.conv("c", "data", 1, 6, 5, p=0, more="weight_filler { type: 'xavier' }"))
    x = n.pool("p", x, "pool: MAX kernel_size: 2 stride: 2")
    x = n.relu(n.dense("ip1", x, 150, 20, "weight_filler { type: 'gaussian' std: 0.1 }"))
    n.add("drop", "Dropout", x, "dropout_param { dropout_ratio: 0.5 }", inplace=True)
    n.add("prob", "Softmax", n.dense("ip2", x, 20, 5))

    def edit(text):
        return text + """
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" include { phase: TRAIN } }
layer { name: "acc" type: "Accuracy" bottom: "ip2" bottom: "label" top: "acc" include: { phase: TRAIN } }
"""
    n.done(edit=edit)


def old(out):
    """Layers of version 1 in both files."""
    n = Net(out, "old", (1, 2, 12, 12))
    for net in (n.text, n.weights):
        def layer(kind, name, bottom, top, text=""):
            one = net.layers.add(type=kind, name=name, bottom=bottom, top=top)
            text_format.Merge(text, one)
            return one
        kinds = type(net.layers.add())
        del net.layers[:]
        rng = np.random.default_rng(9)
        for kind, name, bottom, top, text, blobs in (
                ("CONVOLUTION", "c", ["data"], ["c"], "convolution_param { num_output: 6 kernel_size: 3 pad: 1 stride: 2 }",
                 [rng.normal(0, 0.3, (6, 2, 3, 3)), rng.normal(0, 0.1, (1, 1, 1, 6))]),
                ("RELU", "r", ["c"], ["c"], "", []),
                ("LRN", "n", ["c"], ["n"], "lrn_param { local_size: 3 alpha: 0.01 }", []),
                ("POOLING", "p", ["n"], ["p"], "pooling_param { pool: AVE kernel_size: 3 stride: 2 }", []),
                ("INNER_PRODUCT", "ip", ["p"], ["ip"], "inner_product_param { num_output: 4 }",
                 [rng.normal(0, 0.3, (1, 1, 4, 54)), rng.normal(0, 0.1, (1, 1, 1, 4))]),
                ("SOFTMAX", "prob", ["ip"], ["prob"], "", [])):
            one = layer(kinds.LayerType.Value(kind), name, bottom, top, text)
            for blob in blobs if net is n.weights else []:
                proto = one.blobs.add(num=blob.shape[0], channels=blob.shape[1],
                                      height=blob.shape[2], width=blob.shape[3])
                proto.data.extend(blob.astype("float32").ravel().tolist())
    n.done()


def varied(out):
    for make in (segmentation, residual, shuffle, elements, detector, pyramid, training, old):
        if out.wanted(make.__name__):
            make(out)
