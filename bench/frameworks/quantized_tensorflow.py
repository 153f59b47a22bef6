"""Quantized networks for make_tensorflow.py: TensorFlow Lite files of int8, uint8 and int8 weights alone.

Networks have the shape of those that run on small devices, and seeded weights. `int8` has a scale
for each channel, `tensor` one for each tensor, `uint8` is `tensor` with all bytes moved by 128, as
old converters wrote them; `dynamic` has float data, `float16` weights of half size."""

import numpy as np
import tensorflow as tf
from make_tensorflow import ORACLE, seed

K = tf.keras
L = K.layers
KINDS = ("int8", "tensor", "uint8", "dynamic", "float16")


def norm(x, activation=None):
    x = L.BatchNormalization()(x)
    return L.ReLU(6.0)(x) if activation == "relu6" else L.Activation(activation)(x) if activation else x


def ds_cnn():
    """Words of a second of sound: 49 by 10 features, depthwise layers."""
    given = K.Input((49, 10, 1))
    x = norm(L.Conv2D(64, (10, 4), 2, "same", use_bias=False)(given), "relu")
    for _ in range(4):
        x = norm(L.DepthwiseConv2D(3, padding="same", use_bias=False)(x), "relu")
        x = norm(L.Conv2D(64, 1, use_bias=False)(x), "relu")
    x = L.Flatten()(L.AveragePooling2D((25, 5))(x))
    return K.Model(given, L.Dense(12, activation="softmax")(x))


def person():
    """A grey picture of 96 by 96, MobileNetV1 with a quarter of its channels."""
    given = K.Input((96, 96, 1))
    x = norm(L.Conv2D(8, 3, 2, "same", use_bias=False)(given), "relu6")
    for channels, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1),
                             (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)):
        x = norm(L.DepthwiseConv2D(3, stride, "same", use_bias=False)(x), "relu6")
        x = norm(L.Conv2D(channels, 1, use_bias=False)(x), "relu6")
    x = L.Conv2D(2, 1)(L.AveragePooling2D(3)(x))
    return K.Model(given, L.Softmax()(L.Reshape((2,))(x)))


def resnet():
    """32 by 32 pixels, eight convolutions and three sums."""
    given = K.Input((32, 32, 3))
    x = norm(L.Conv2D(16, 3, padding="same")(given), "relu")
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = norm(L.Conv2D(channels, 3, stride, "same")(x), "relu")
        y = norm(L.Conv2D(channels, 3, padding="same")(y))
        if stride > 1:
            x = L.Conv2D(channels, 1, stride, "same")(x)
        x = L.Activation("relu")(L.Add()([x, y]))
    x = L.Flatten()(L.AveragePooling2D(8)(x))
    return K.Model(given, L.Dense(10, activation="softmax")(x))


def efficient_lite(side=224):
    """EfficientNet-Lite0: inverted residuals of kernels 3 and 5, no squeezing."""
    given = K.Input((side, side, 3))
    x = norm(L.Conv2D(32, 3, 2, "same", use_bias=False)(given), "relu6")
    for expand, channels, repeats, stride, kernel in (
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(repeats):
            y, wide = x, int(x.shape[-1]) * expand
            if expand > 1:
                y = norm(L.Conv2D(wide, 1, use_bias=False)(y), "relu6")
            y = norm(L.DepthwiseConv2D(kernel, stride if i == 0 else 1, "same", use_bias=False)(y),
                     "relu6")
            y = norm(L.Conv2D(channels, 1, use_bias=False)(y))
            x = L.Add()([x, y]) if i > 0 else y
    x = norm(L.Conv2D(1280, 1, use_bias=False)(x), "relu6")
    return K.Model(given, L.Dense(1000)(L.GlobalAveragePooling2D()(x)))


def mixed():
    """Many operators, and some that stay float32 in the middle."""
    given = K.Input((32, 32, 8))
    x = L.Conv2D(16, 3, padding="same", activation="relu")(given)
    s = L.Conv2D(16, 1, activation="sigmoid")(L.GlobalAveragePooling2D(keepdims=True)(x))
    x = L.Multiply()([x, s])
    y = L.LeakyReLU(0.1)(L.Conv2D(16, 3, 2, "same")(L.ZeroPadding2D(1)(x)))
    z = L.MaxPooling2D(3, 2, "same")(x)
    z = L.Concatenate()([L.Cropping2D(1)(y)[:, :16, :16], z[:, :15, :15]])
    z = L.Activation("tanh")(L.Subtract()([z, z[:, :, :, ::-1]]))
    z = L.Activation("hard_swish" if hasattr(K.activations, "hard_swish") else "swish")(z)
    z = L.UpSampling2D(2)(L.AveragePooling2D(3, 1, "same")(z))
    z = L.UpSampling2D(2, interpolation="bilinear")(L.Conv2DTranspose(8, 2, 2, "same")(z))
    z = L.Add()([K.ops.cos(z), z])  # no operator of TensorFlow Lite's integers
    z = L.Permute((3, 1, 2))(L.AveragePooling2D(4)(z))
    z = L.Dense(9, activation="relu")(L.Flatten()(z))
    return K.Model(given, L.Dense(5)(z))


def networks():
    apps = K.applications
    plain = {"weights": None, "input_shape": (224, 224, 3), "classifier_activation": None}
    return {
        "ds_cnn": ds_cnn, "person": person, "resnet8": resnet, "mixed": mixed,
        "mobilenet_v1": lambda: apps.MobileNet(**plain),
        "mobilenet_v2": lambda: apps.MobileNetV2(**plain),
        "mobilenet_v3": lambda: apps.MobileNetV3Small(include_preprocessing=False, **plain),
        "resnet50": lambda: apps.ResNet50(**plain),
        "efficient_lite": efficient_lite,
    }


def convert(model, kind):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if kind in ("int8", "tensor", "uint8"):
        rng = np.random.default_rng(9)
        shape = (1, *model.inputs[0].shape[1:])
        converter.representative_dataset = lambda: (
            [rng.normal(0, 1, shape).astype("float32")] for _ in range(8))
        converter.inference_input_type = converter.inference_output_type = tf.int8
        converter._experimental_disable_per_channel = kind != "int8"
    raw = converter.convert()
    return as_uint8(raw) if kind == "uint8" else raw


def as_uint8(raw):
    """The same numbers as bytes without a sign: old converters wrote models so."""
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_from_bytearray(bytearray(raw))
    for graph in model.subgraphs:
        done = set()
        for tensor in graph.tensors:
            if tensor.type != schema.TensorType.INT8 or tensor.quantization is None:
                continue
            tensor.type = schema.TensorType.UINT8
            tensor.quantization.zeroPoint = [int(z) + 128 for z in tensor.quantization.zeroPoint]
            buffer = model.buffers[tensor.buffer]
            if buffer.data is not None and len(buffer.data) and tensor.buffer not in done:
                done.add(tensor.buffer)
                buffer.data = (np.asarray(buffer.data, "uint8") ^ 0x80)
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def quantized(out):
    for network, make in networks().items():
        for kind in KINDS:
            label = f"{network}_{kind}"
            if not out.wanted(label):
                continue
            raw = convert(seed(make()), kind)
            (out.path / f"{label}.tflite").write_bytes(raw)
            interpreter = tf.lite.Interpreter(
                model_content=raw, num_threads=1,
                experimental_op_resolver_type=tf.lite.experimental.OpResolverType
                .BUILTIN_WITHOUT_DEFAULT_DELEGATES)
            interpreter.allocate_tensors()
            detail, = interpreter.get_input_details()
            rng = np.random.default_rng(5)
            x = rng.normal(0, 1, detail["shape"]).astype("float32")
            if detail["dtype"] != np.float32:
                scale, zero = detail["quantization"]
                limits = np.iinfo(detail["dtype"])
                x = np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(detail["dtype"])
            interpreter.set_tensor(detail["index"], x)
            interpreter.invoke()
            got = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
            rtol, atol = ((0, 3.01) if got[0].dtype != np.float32
                          else (0.1, 0) if kind == "dynamic" else (2e-3, 1e-6))
            name, = interpreter.get_signature_list()["serving_default"]["inputs"]
            out.add(label, [f"{label}.tflite"], {name: x}, got, rtol=rtol, atol=atol,
                    oracle="TensorFlow Lite of " + ORACLE)
