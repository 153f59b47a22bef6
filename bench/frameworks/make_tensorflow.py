"""make_tensorflow.py zoo|varied|quantized FOLDER [PART OF A NAME...]

Needs tensorflow 2.21. `zoo` writes applications of Keras at their real size with seeded weights, as
a SavedModel, a frozen graph and a TensorFlow Lite file; `varied` writes small models of many kinds,
`quantized` networks of bytes for TensorFlow Lite."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import cases
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2 as freeze,
)

ORACLE = "TensorFlow " + tf.__version__


def seed(model, number=1):
    rng = np.random.default_rng(number)
    for weight in model.weights:
        name = weight.path if hasattr(weight, "path") else weight.name
        if "seed" in name or not str(weight.dtype).endswith("float32"):
            continue
        shape = tuple(weight.shape)
        fan_in = np.prod(shape[:-1])
        if "depthwise" in name and len(shape) == 4:
            fan_in = np.prod(shape[:2])
        weight.assign(cases.seeded(rng, name, shape, fan_in))
    return model


def feeds_of(shapes, number=5):
    """{name: shape or array} -> {name: array}."""
    rng = np.random.default_rng(number)
    return {key: value if isinstance(value, np.ndarray)
            else rng.normal(0, 1, value).astype("float32") for key, value in shapes.items()}


def values(result):
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    return [value.numpy() for value in result]


def frozen(out, name, function, shapes, rtol=1e-3, lower=True, open_axes=()):
    """A frozen graph of a function of tensors. open_axes: axes that the file leaves open."""
    if not out.wanted(name):
        return
    feeds = feeds_of(shapes)
    spec = [tf.TensorSpec([None if i in open_axes else n for i, n in enumerate(value.shape)],
                          value.dtype, name=key) for key, value in feeds.items()]
    graph = freeze(tf.function(function).get_concrete_function(*spec), lower_control_flow=lower)
    got = values(graph(*[tf.constant(value) for value in feeds.values()]))
    (out.path / f"{name}.pb").write_bytes(graph.graph.as_graph_def().SerializeToString())
    names = ",".join(tensor.op.name for tensor in graph.outputs)
    out.add(name, [f"{name}.pb"], feeds, got, rtol=rtol, load=["--outputs", names], oracle=ORACLE)


def saved(out, name, model, shapes, rtol=1e-3, function=None, open_batch=True):
    """A SavedModel with one signature; its outputs are sorted by name."""
    if not out.wanted(name):
        return
    feeds = feeds_of(shapes)
    spec = [tf.TensorSpec([None, *value.shape[1:]] if open_batch else value.shape, value.dtype,
                          name=key) for key, value in feeds.items()]

    @tf.function(input_signature=spec)
    def serve(*args):
        result = function(*args) if function else model(args[0] if len(args) == 1 else list(args))
        if isinstance(result, dict):
            return result
        result = result if isinstance(result, (list, tuple)) else [result]
        return {f"y{i}": value for i, value in enumerate(result)}

    got = serve(*[tf.constant(value) for value in feeds.values()])
    tf.saved_model.save(model, str(out.path / name), signatures={"serving_default": serve})
    out.add(name, [name], feeds, [got[key].numpy() for key in sorted(got)], rtol=rtol,
            oracle=ORACLE)


def lite(out, name, model=None, shapes=None, function=None, kind="float", rtol=1e-3, atol=1e-5):
    """A TensorFlow Lite file. kind: float, dynamic, float16, int8 (with int8 inputs), full."""
    if not out.wanted(name):
        return
    feeds = feeds_of(shapes)
    spec = [tf.TensorSpec(value.shape, value.dtype, name=key) for key, value in feeds.items()]
    run = function or (lambda *args: model(args[0] if len(args) == 1 else list(args)))
    concrete = tf.function(run).get_concrete_function(*spec)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    rng = np.random.default_rng(9)
    if kind != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if kind in ("int8", "full"):
        converter.representative_dataset = lambda: (
            [rng.normal(0, 1, value.shape).astype(value.dtype) if value.dtype == "float32" else value
             for value in feeds.values()] for _ in range(20))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if kind == "int8":
        converter.inference_input_type = converter.inference_output_type = tf.int8
    try:
        raw = converter.convert()
    except Exception as error:  # operators that TensorFlow Lite lacks
        print(f"{name}: not converted: {str(error).splitlines()[0][:100]}", flush=True)
        return
    (out.path / f"{name}.tflite").write_bytes(raw)
    interpreter = tf.lite.Interpreter(
        model_content=raw, num_threads=1,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType
        .BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    given = {}
    for detail in interpreter.get_input_details():
        key = detail["name"].removeprefix("serving_default_").split(":")[0]
        value = feeds.get(key, next(iter(feeds.values())))
        if detail["dtype"] == np.int8:
            value = rng.integers(-128, 128, value.shape).astype("int8")
        interpreter.set_tensor(detail["index"], value)
        given[detail["name"]] = value
    interpreter.invoke()
    got = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    out.add(name, [f"{name}.tflite"], given, got, rtol=rtol, atol=atol,
            oracle="TensorFlow Lite of " + ORACLE)


def zoo(out):
    apps = tf.keras.applications
    for name, make, side in (("mobilenet_v2", apps.MobileNetV2, 224),
                             ("resnet50", apps.ResNet50, 224),
                             ("inception_v3", apps.InceptionV3, 299)):
        if not out.wanted(name):
            continue
        model = seed(make(weights=None, classifier_activation=None))
        saved(out, name + "_saved", model, {"x": (1, side, side, 3)})
        frozen(out, name + "_frozen", lambda x, m=model: m(x), {"x": (1, side, side, 3)})
        lite(out, name + "_lite", model, {"x": (1, side, side, 3)})


if __name__ == "__main__":
    import quantized_tensorflow
    import varied_tensorflow

    cases.main({"zoo": zoo, "varied": varied_tensorflow.varied,
                "quantized": quantized_tensorflow.quantized}, __doc__)
