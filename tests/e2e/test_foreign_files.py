"""Files of other programs: the command that the error names is run as it stands, the file that it
makes is served, and its numbers are the program's own.

A test needs the program that writes its file, and is skipped where this Python lacks it. None but
numpy is among what scripts/setup installs; with another Python:
    MSD_BUILD=$PWD/build PYTHON -m pytest -rs tests/e2e/test_foreign_files.py
"""
import collections
import importlib
import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from onnx_writer import model, node, value

X = np.random.default_rng(0).normal(size=(40, 4)).astype("float32")
CLASSES = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype("int64")
NUMBERS = 2 * X[:, 0] + np.abs(X[:, 3])
# statements of Python up to the last bracket, and the file that they make
COMMAND = re.compile(r"[;:] ([a-z]\w*(?:\.| = ).*?\))(?: in Python)?, then modser load NAME ([\w.]+)")


def packages(*names):
    """Modules of packages, or a skip that names the first that is missing."""
    return [pytest.importorskip(n, reason=f"no {n} in this Python: its files are not made")
            for n in names]


@pytest.fixture
def refusal(daemon, tmp_path, monkeypatch):
    """The error text of a load, without the title. Files are made in the current folder."""
    monkeypatch.chdir(tmp_path)

    def refused(file, title):
        said = daemon.modser("load", "m", file)
        assert said.status != 0 and f"{file}: {title}" in said.err, said
        return said.err.partition(title)[2]

    return refused


def follow_in_shell(text, program, module, **words):
    """The same with a command of a shell, whose @program the @module is."""
    arguments, made = re.search(
        program + r" (.*?)(?: does [^,]*)?, then modser load NAME (\S+)", text).groups()
    arguments = [words.get(word, word) for word in shlex.split(arguments)]
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)
    return made


def follow(text, **words):
    """Run the Python in @text with @words, which stand for what the user has. Returns the path of
    the file to load."""
    code, made = COMMAND.search(text).groups()
    assigned = re.findall(r"(\w+) = ", code)
    for name in re.findall(r'(?<![\w."])([a-z]\w*)\.', code):
        if name not in assigned:
            words.setdefault(name, importlib.import_module(name))
    exec(code, words)
    return made


def expect_served(daemon, path, x, *want):
    """@want: the outputs in order, None for one that is not compared."""
    daemon.load("m", path, "--replace")
    np.save("x.npy", x)
    files = [f"y{i}.npy" for i in range(len(want))]
    daemon.ok("call", "m:run", "@x.npy", *[word for f in files for word in ("-o", f)])
    for file, numbers in zip(files, want):
        got = np.load(file)
        if numbers is not None:
            assert got.shape == numbers.shape, (got.shape, numbers.shape)
            assert np.allclose(got, numbers, rtol=1e-4, atol=1e-5), np.abs(got - numbers).max()


@pytest.mark.parametrize("compress", [0, 3])
def test_a_pickle_of_scikit_learn(daemon, refusal, compress):
    packages("sklearn", "onnx", "skl2onnx")
    import joblib
    from sklearn.ensemble import GradientBoostingClassifier

    trained = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, CLASSES)
    joblib.dump(trained, "f.pkl", compress=compress)
    text = refusal("f.pkl", "compressed by zlib" if compress else "a Python pickle")
    expect_served(daemon, follow(text, FILE="f.pkl", inputs=X[:1]), X, trained.predict(X),
                  trained.predict_proba(X))


@pytest.mark.parametrize("file", ["f.json", "f.ubj"])
def test_an_xgboost_model(daemon, refusal, file):
    xgboost, _ = packages("xgboost", "onnxmltools")
    trained = xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(X, NUMBERS)
    trained.get_booster().feature_names = ["age", "size", "rooms", "floor"]
    trained.save_model(file)
    made = follow(refusal(file, "an XGBoost model"), FILE=file, FEATURES=4)
    expect_served(daemon, made, X, trained.predict(X)[:, None])
    trained = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(X, CLASSES)
    trained.save_model(file)
    made = follow(refusal(file, "an XGBoost model"), FILE=file, FEATURES=4)
    expect_served(daemon, made, X, trained.predict(X), trained.predict_proba(X))


def test_a_lightgbm_model(daemon, refusal):
    lightgbm, _ = packages("lightgbm", "onnxmltools")
    trained = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, CLASSES)
    trained.booster_.save_model("f.txt")
    made = follow(refusal("f.txt", "a LightGBM model"), FILE="f.txt", FEATURES=4)
    expect_served(daemon, made, X, trained.predict(X), trained.predict_proba(X))


@pytest.fixture
def network():
    """A module of PyTorch, its inputs and what it computes."""
    torch, _ = packages("torch", "onnxscript")
    torch.manual_seed(0)
    module = torch.nn.Sequential(collections.OrderedDict(
        linear=torch.nn.Linear(4, 3), relu=torch.nn.ReLU(), softmax=torch.nn.Softmax(-1)))
    x = torch.from_numpy(X)
    return torch, module.eval(), (x,), module(x).detach().numpy()


@pytest.mark.parametrize("way", ["script", "trace"])
def test_a_torchscript_model(daemon, refusal, network, way):
    torch, module, inputs, want = network
    saved = torch.jit.script(module) if way == "script" else torch.jit.trace(module, inputs)
    saved.save("f.pt")
    text = refusal("f.pt", "a TorchScript model")
    expect_served(daemon, follow(text, FILE="f.pt", inputs=inputs), X, want)


def test_a_program_of_torch_export(daemon, refusal, network):
    torch, module, inputs, want = network
    torch.export.save(torch.export.export(module, inputs), "f.pt2")
    text = refusal("f.pt2", "a program of torch.export")
    expect_served(daemon, follow(text, FILE="f.pt2"), X, want)


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_of_torch(daemon, refusal, network, zipped):
    torch, module, inputs, want = network
    torch.save(module.state_dict(), "f.pt", _use_new_zipfile_serialization=zipped)
    text = refusal("f.pt", "a file of torch.save")
    expect_served(daemon, follow(text, model=module, inputs=inputs), X, want)


def test_a_package_of_aotinductor(daemon, refusal, network):
    torch, module, inputs, want = network
    program = torch.export.export(module, inputs)
    torch._inductor.aoti_compile_and_package(program, package_path="f.pt2")
    text = refusal("f.pt2", "a package of AOTInductor")
    expect_served(daemon, follow(text, model=module, inputs=inputs), X, want)


def test_a_program_of_executorch(daemon, refusal, network):
    _, module, inputs, want = network
    torch, exir = packages("torch", "executorch.exir")
    program = exir.to_edge(torch.export.export(module, inputs)).to_executorch()
    pathlib.Path("f.pte").write_bytes(program.buffer)
    text = refusal("f.pte", "an ExecuTorch program")
    expect_served(daemon, follow(text, model=module, inputs=inputs), X, want)


def test_a_model_of_ncnn(daemon, refusal, network):
    _, module, inputs, want = network
    (pnnx,) = packages("pnnx")
    pnnx.export(module, "f.pt", inputs)
    for file in ("f.ncnn.param", "f.ncnn.bin"):
        text = refusal(file, "a model of ncnn")
    code = re.search(r"torch\.onnx\.export\(.*?\)", text).group()
    made = follow(f": {code}, then modser load NAME model.onnx", model=module, inputs=inputs)
    expect_served(daemon, made, X, want)


@pytest.mark.parametrize("file, title", [("f.keras", "a Keras model"), ("f.h5", "an HDF5 file")])
def test_a_keras_model(daemon, refusal, file, title):
    _, keras = packages("tensorflow", "keras")
    keras.utils.set_random_seed(0)
    layers = [keras.Input((4,)), keras.layers.Dense(3, activation="softmax")]
    network = keras.Sequential(layers)
    network.save(file)
    made = follow(refusal(file, title), FILE=file)
    expect_served(daemon, made, X, network(X).numpy())


PADDLE = """import numpy as np, paddle
paddle.seed(0)
network = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Softmax())
network.eval()
paddle.jit.save(network, "f", [paddle.static.InputSpec([None, 4], "float32", "x")])
np.save("want.npy", network(paddle.to_tensor(np.load("x.npy"))).numpy())
"""


@pytest.mark.parametrize("program, named", [("f.json", "f.json"), ("f.json", "f.pdiparams"),
                                            ("f.pdmodel", "f.pdmodel")])
def test_a_paddle_model(daemon, refusal, program, named):
    """A program is JSON since 3.0, and a protobuf before."""
    packages("paddle", "paddle2onnx")
    np.save("x.npy", X)
    newer = "1" if program == "f.json" else "0"  # read where paddle is imported
    subprocess.run([sys.executable, "-c", PADDLE], check=True,
                   env=os.environ | {"FLAGS_enable_pir_api": newer})
    made = follow_in_shell(refusal(named, "a PaddlePaddle model"), "paddle2onnx",
                           "paddle2onnx.command", FOLDER=".", MODEL=program,
                           PARAMS="f.pdiparams")
    expect_served(daemon, made, X, np.load("want.npy"))


def test_weights_of_hugging_face(daemon, refusal):
    """The exporter needs the words of a tokenizer beside the weights."""
    torch, transformers, *_ = packages("torch", "transformers", "safetensors",
                                       "optimum.exporters.onnx")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=16, num_labels=3)
    network = transformers.BertForSequenceClassification(config).eval()
    network.save_pretrained("bert")
    words = pathlib.Path("bert/vocab.txt")
    words.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]))
    transformers.BertTokenizer(words).save_pretrained("bert")
    text = refusal("bert/model.safetensors", "a safetensors file: weights without operators")
    made = follow_in_shell(text, "optimum-cli", "optimum.commands.optimum_cli", FOLDER="bert",
                           TASK="text-classification")
    daemon.load("m", made, "--replace")
    rows = {"ids": [[2, 5, 6, 7, 3]], "mask": [[1] * 5], "types": [[0] * 5]}
    for name, row in rows.items():
        np.save(f"{name}.npy", np.int64(row))
    daemon.ok("call", "m:run", *[f"@{name}.npy" for name in rows], "-o", "y.npy")
    want = network(torch.tensor(rows["ids"])).logits.detach().numpy()
    assert np.allclose(np.load("y.npy"), want, rtol=1e-4, atol=1e-5)


@pytest.fixture
def source(refusal):
    """A file of ONNX that programs convert into their own kind, and that is served."""
    shape = [40, 4]
    pathlib.Path("relu.onnx").write_bytes(model([node("Relu", ["x"], ["y"])],
                                                [value("x", "float32", shape)],
                                                [value("y", "float32", shape)]))
    return "relu.onnx"


def write_openvino(source):
    (openvino,) = packages("openvino")
    openvino.save_model(openvino.convert_model(source), "f.xml")
    return "f.xml", "an OpenVINO model"


def write_ort(source):
    (onnxruntime,) = packages("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = "f.ort"
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(source, options)
    return "f.ort", "an ONNX Runtime file"


@pytest.mark.parametrize("write", [write_openvino, write_ort])
def test_a_file_that_is_made_from_onnx(daemon, refusal, source, write):
    """The text names the file that it was made from."""
    file, title = write(source)
    assert re.search(r"load the ONNX\b.*(made|converted) from", refusal(file, title))
    expect_served(daemon, source, X, np.maximum(X, 0))


def test_a_gguf_file_has_no_way(refusal):
    (gguf,) = packages("gguf")
    writer = gguf.GGUFWriter("f.gguf", "llama")
    writer.add_tensor("weight", X)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert "modserd cannot run it" in refusal("f.gguf", "a GGUF file")


@pytest.mark.parametrize("file", ["f.mlir", "f.mlirbc"])
def test_a_module_of_mlir(refusal, file):
    (tf,) = packages("tensorflow")
    function = tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([2, 4]))
    text = tf.mlir.experimental.convert_function(function)
    if file == "f.mlir":
        pathlib.Path(file).write_text(text)
    else:
        tf.mlir.experimental.write_bytecode(file, text)
    assert "load the model that it was made from" in refusal(file, "an MLIR module")


def test_a_core_ml_model_is_recognised(refusal):
    (coremltools,) = packages("coremltools")
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec(shape=(1, 4))])
    def program(x):
        return Builder.relu(x=x)

    coremltools.convert(program, convert_to="neuralnetwork").save("f.mlmodel")
    assert "load the model that it was converted from" in refusal("f.mlmodel", "a Core ML model")


def test_arrays_of_numpy(daemon, refusal, source):
    """They are arguments: .npy as it is, and what numpy.save makes of .npz."""
    np.savez("f.npz", x=X)
    np.save("f.npy", X)
    text = refusal("f.npz", "arrays of numpy")
    assert "save each with numpy.save, then modser call NAME:FUNC @FILE" in text
    np.save("saved.npy", np.load("f.npz")["x"])
    assert "modser call NAME:FUNC @FILE" in refusal("f.npy", "an array of numpy")
    daemon.load("relu", source, "--replace")
    for file in ("saved.npy", "f.npy"):
        daemon.ok("call", "relu:run", f"@{file}", "-o", "y.npy")
        assert np.array_equal(np.load("y.npy"), np.maximum(X, 0))
