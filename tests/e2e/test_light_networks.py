"""ONNX's nine light networks, served: real architectures whose weights are made of constants, with
the outputs that ONNX ships; and with random weights, beside ONNX Runtime where this Python has it.
They lie in Python's onnx."""
import pathlib

import numpy as np
import onnxfile
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: its networks are not run")
LIGHT = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NAMES = ["bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512"]


@pytest.fixture(params=NAMES)
def network(request):
    path = LIGHT / f"light_{request.param}.onnx"
    if not path.exists():
        pytest.skip(f"no {path.name} in Python's onnx")
    return path


def given(model):
    """The input that is no constant, as ONNX's own runner makes it."""
    made = {t.name for t in model.graph.initializer}
    (x,) = [i for i in model.graph.input if i.name not in made]
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    n = np.prod(shape)
    return x.name, (np.arange(n).reshape(shape) / n).astype(np.float32)


def serve(daemon, folder, path, x):
    np.save(folder / "x.npy", x)
    daemon.load("light", path, "--replace")
    daemon.ok("call", "light:run", f"@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def test_it_gives_the_outputs_that_come_with_it(daemon, tmp_path, network):
    model = onnx.load(network)
    want = onnxfile.tensor(network.with_name(f"{network.stem}_output_0.pb").read_bytes())
    y = serve(daemon, tmp_path, network, given(model)[1])
    assert y.shape == want.shape and np.allclose(y, want, rtol=1e-3, atol=1e-6)


def with_random_weights(model):
    """Each constant that ConstantOfShape makes becomes an initializer of numbers that keep the
    activations' size, so that no layer can hide behind a softmax of equals."""
    random = np.random.default_rng(20)
    numbers = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = [int(n) for n in numbers[node.input[0]]]
        fan = np.prod(shape[1:]) if len(shape) > 1 else 1
        scale = np.sqrt(2 / fan) if len(shape) > 1 else 0.1
        w = random.normal(0, scale, shape).astype(np.float32)
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(w if len(shape) > 1 else np.abs(w) + 0.5, node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def test_with_random_weights_it_gives_onnx_runtimes_numbers(daemon, tmp_path, network):
    runtime = pytest.importorskip("onnxruntime", reason="no ONNX Runtime in this Python")
    model = with_random_weights(onnx.load(network))
    onnx.save(model, tmp_path / "light.onnx")
    name, x = given(model)
    (want,) = runtime.InferenceSession(str(tmp_path / "light.onnx")).run(None, {name: x})
    y = serve(daemon, tmp_path, tmp_path / "light.onnx", x)
    assert np.abs(y - want).max() <= 1e-4 * np.abs(want).max()
