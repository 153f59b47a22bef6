#!/usr/bin/env python3
"""make_layers.py FOLDER: more single layers for table.py."""
import sys, pathlib, numpy as np
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_models import Net, T
from make_networks import convnext_block
out = pathlib.Path(sys.argv[1]); out.mkdir(exist_ok=True)
i64 = np.int64
L = {
 "avgpool3x3_64_56": (lambda n, x: n.add("AveragePool", x, kernel_shape=[3,3], strides=[1,1], pads=[1]*4), 1,64,56,56),
 "instancenorm_64_56": (lambda n, x: n.add("InstanceNormalization", x, n.const(np.ones(64)), n.const(np.zeros(64))), 1,64,56,56),
 "lrn_64_56": (lambda n, x: n.add("LRN", x, size=5), 1,64,56,56),
 "pad_64_56": (lambda n, x: n.add("Pad", x, n.const([0,0,1,1,0,0,1,1], i64)), 1,64,56,56),
 "slice_64_56": (lambda n, x: n.add("Slice", x, n.const([0,0,2,2], i64), n.const([1,64,50,50], i64)), 1,64,56,56),
 "split2_64_56": (lambda n, x: n.add("Concat", *n.add("Split", x, axis=1, n=2)[::-1], axis=1), 1,64,56,56),
 "resize_linear_64_28": (lambda n, x: n.add("Resize", x, "", n.const([1,1,2,2]), mode="linear"), 1,64,28,28),
 "reducesum_last_128_768": (lambda n, x: n.add("ReduceSum", x, n.const([-1], i64)), 1,128,768),
 "reducemax_64_56": (lambda n, x: n.add("ReduceMax", x, axes=[2,3]), 1,64,56,56),
 "argmax_1000": (lambda n, x: n.add("Cast", n.add("ArgMax", x, axis=1), to=T.FLOAT), 64,1000),
 "topk_1000": (lambda n, x: n.add("TopK", x, n.const([5], i64), n=2)[0], 64,1000),
 "where_12_128_128": (lambda n, x: n.add("Where", n.const(np.tril(np.ones((1,1,128,128))), bool), x, n.const(-1e9)), 1,12,128,128),
 "expand_128_768": (lambda n, x: n.add("Expand", x, n.const([128,768], i64)), 1,768),
 "tile_64_28": (lambda n, x: n.add("Tile", x, n.const([1,1,2,2], i64)), 1,64,28,28),
 "gru_64_128": (lambda n, x: n.add("GRU", x, n.const(n.r.normal(0,.05,(1,384,128))), n.const(n.r.normal(0,.05,(1,384,128))), n.const(np.zeros((1,768))), hidden_size=128, n=2)[0], 64,1,128),
 "conv1d_64_1000": (lambda n, x: n.add("Conv", x, n.weight(64,64,5), kernel_shape=[5], pads=[2,2]), 1,64,1000),
 "conv3d_16_16": (lambda n, x: n.add("Conv", x, n.weight(16,16,3,3,3), kernel_shape=[3,3,3], pads=[1]*6), 1,16,16,16,16),
 "conv3x3_g32_256_28": (lambda n, x: n.conv(x, 256, 256, 3, g=32, bn=False, act=None), 1,256,28,28),
 "conv3x3_dil2_64_28": (lambda n, x: n.add("Conv", x, n.weight(64,64,3,3), kernel_shape=[3,3], dilations=[2,2], pads=[2]*4), 1,64,28,28),
 "depthwise7x7_96_56": (lambda n, x: n.conv(x, 96, 96, 7, g=96, bn=False, act=None), 1,96,56,56),
 "depthwise7x7_384_14": (lambda n, x: n.conv(x, 384, 384, 7, g=384, bn=False, act=None), 1,384,14,14),
 "depthwise5x5_240_28": (lambda n, x: n.conv(x, 240, 240, 5, g=240, bn=False, act=None), 1,240,28,28),
 "depthwise5x5_s2_144_56": (lambda n, x: n.conv(x, 144, 144, 5, 2, g=144, bn=False, act=None), 1,144,56,56),
 "conv6x6_s2_3_320_silu": (lambda n, x: n.conv(x, 3, 16, 6, 2, bn=False, act="Swish", p=2), 1,3,320,320),
 "convnext_block_96_56": (lambda n, x: convnext_block(n, x, 96), 1,96,56,56),
 "depth_to_space_64_28": (lambda n, x: n.add("DepthToSpace", x, blocksize=2), 1,64,28,28),
 "space_to_depth_16_56": (lambda n, x: n.add("SpaceToDepth", x, blocksize=2), 1,16,56,56),
 "hardswish_64_56": (lambda n, x: n.add("HardSwish", x), 1,64,56,56),
 "prelu_64_56": (lambda n, x: n.add("PRelu", x, n.weight(64,1,1)), 1,64,56,56),
 "pow2_128_768": (lambda n, x: n.add("Pow", x, n.const(2.0)), 1,128,768),
 "sqrt_128_768": (lambda n, x: n.add("Sqrt", n.add("Abs", x)), 1,128,768),
 "exp_128_768": (lambda n, x: n.add("Exp", x), 1,128,768),
 "logsoftmax_64_1000": (lambda n, x: n.add("LogSoftmax", x, axis=-1), 64,1000),
 "softmax_axis1_21_64": (lambda n, x: n.add("Softmax", x, axis=1), 1,21,64,64),
 "einsum_bhqd": (lambda n, x: n.add("Einsum", x, x, equation="bhqd,bhkd->bhqk"), 1,12,64,64),
 "transpose_nchw_nhwc_64_56": (lambda n, x: n.add("Transpose", x, perm=[0,2,3,1]), 1,64,56,56),
 "cumsum_64_1000": (lambda n, x: n.add("CumSum", x, n.const(1, i64)), 64,1000),
 "scatternd_1000": (lambda n, x: n.add("ScatterND", x, n.const(np.arange(0,1000,2)[:,None], i64), n.const(np.zeros((500,64)))), 1000,64),
 "gathernd_1000": (lambda n, x: n.add("GatherND", x, n.const(np.arange(0,1000,2)[:,None], i64)), 1000,64),
 "gather_axis1": (lambda n, x: n.add("Gather", x, n.const(np.arange(0,64,2), i64), axis=1), 1,64,56,56),
 "erf_128_768": (lambda n, x: n.add("Erf", x), 1,128,768),
 "clip_64_56": (lambda n, x: n.add("Clip", x, n.const(0), n.const(6)), 1,64,56,56),
 "leaky_64_56": (lambda n, x: n.add("LeakyRelu", x), 1,64,56,56),
 "mul_same_64_56": (lambda n, x: n.add("Mul", x, x), 1,64,56,56),
 "sigmoid_64_56": (lambda n, x: n.add("Sigmoid", x), 1,64,56,56),
 "qlinearconv_64_28": (lambda n, x: n.add("DequantizeLinear", n.add("QLinearConv", n.add("QuantizeLinear", x, n.const(np.float32(.05)), n.const(128, np.uint8)), n.const(np.float32(.05)), n.const(128, np.uint8), n.const(n.r.integers(-100,100,(64,64,3,3)), np.int8), n.const(np.float32(.01)), n.const(0, np.int8), n.const(np.float32(.05)), n.const(128, np.uint8), pads=[1]*4, kernel_shape=[3,3]), n.const(np.float32(.05)), n.const(128, np.uint8)), 1,64,28,28),
 "matmulinteger_128_768": (lambda n, x: n.add("Cast", n.add("MatMulInteger", n.add("QuantizeLinear", x, n.const(np.float32(.05)), n.const(128, np.uint8)), n.const(n.r.integers(-100,100,(768,768)), np.int8), n.const(128, np.uint8)), to=T.FLOAT), 128,768),
 "groupnorm_decomposed": (lambda n, x: n.add("InstanceNormalization", n.add("Reshape", x, n.const([1,8,-1], i64)), n.const(np.ones(8)), n.const(np.zeros(8))), 1,64,56,56),
 "nms_1000": (lambda n, x: n.add("Cast", n.add("NonMaxSuppression", n.add("Abs", x), n.const(n.r.uniform(0,1,(1,4,500))), n.const([50], i64), n.const([.5]), n.const([.3])), to=T.FLOAT), 1,500,4),
}
for name, (b, *s) in L.items():
    n = Net(name); x = n.given("x", *s)
    try: n.save(out / f"layer_{name}.onnx", b(n, x))
    except Exception as e: print(name, str(e)[:200])
