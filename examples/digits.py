#!/usr/bin/env python3
"""A small classifier of handwritten digits, from scikit-learn's data to a deploy.so.

digits.py make DIR    train, compile with apache-tvm, write DIR/digits.so, the same network as
                      DIR/digits.onnx, and the test data
digits.py score DIR   compare DIR/y.npy, what the daemon answered, with the labels and TVM
"""
import pathlib
import sys

import numpy as np


def train():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    x, label = load_digits(return_X_y=True)
    x = x.astype("float32")
    x, held_x, label, held_label = train_test_split(
        x, label, test_size=0.25, random_state=0, stratify=label
    )
    model = MLPClassifier((64,), max_iter=1000, tol=1e-3, random_state=0)
    return model.fit(x / 16, label), held_x, held_label


def compile_model(model, path):
    """Rebuild the trained network in Relax, its weights as constants, any batch size."""
    import tvm
    from tvm import relax
    from tvm.relax.frontend import nn

    class Digits(nn.Module):
        def __init__(self):
            self.hidden = nn.Linear(64, 64)
            self.out = nn.Linear(64, 10)

        def main(self, x):
            hidden = nn.op.relu(self.hidden(x * (1 / 16)))
            return nn.op.softmax(self.out(hidden), axis=-1)

    x = nn.spec.Tensor(["n", 64], "float32")
    module, names = Digits().export_tvm({"main": {"x": x}})
    weights = [
        value for w, b in zip(model.coefs_, model.intercepts_) for value in (w.T, b)
    ]
    bound = {
        name: tvm.runtime.tensor(np.ascontiguousarray(value, "float32"))
        for (name, _), value in zip(names, weights)
    }
    module = relax.transform.BindParams("main", bound)(module)
    tvm.compile(module, target="llvm").export_library(str(path))
    machine = relax.VirtualMachine(tvm.runtime.load_module(str(path)), tvm.cpu())
    return lambda rows: machine["main"](tvm.runtime.tensor(rows)).numpy()


def save_onnx(model, path):
    """The same network as an ONNX file, which needs no compiler."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    values = {}
    for i, (w, b) in enumerate(zip(model.coefs_, model.intercepts_)):
        values |= {f"w{i}": w.astype("float32"), f"b{i}": b.astype("float32")}
    nodes = [
        helper.make_node("Gemm", ["x", "w0", "b0"], ["hidden"], alpha=1 / 16),
        helper.make_node("Relu", ["hidden"], ["positive"]),
        helper.make_node("Gemm", ["positive", "w1", "b1"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"]),
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])]
        for name, size in (("x", 64), ("y", 10))
    ]
    constants = [numpy_helper.from_array(np.asarray(v), name) for name, v in values.items()]
    graph = helper.make_graph(nodes, "digits", *ends, constants)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), str(path))


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    model, x, label = train()
    run = compile_model(model, folder / "digits.so")
    save_onnx(model, folder / "digits.onnx")
    np.save(folder / "x.npy", x)
    np.save(folder / "one.npy", x[:1])
    np.save(folder / "label.npy", label)
    np.save(folder / "tvm.npy", run(x))
    print(f"trained on 1347 digits; scikit-learn's own accuracy on the {len(x)} held out: "
          f"{model.score(x / 16, label):.2%}")


def score(folder):
    y = np.load(folder / "y.npy")
    label = np.load(folder / "label.npy")
    right = int((y.argmax(axis=1) == label).sum())
    print(f"accuracy through modserd: {right / len(label):.2%} ({right} of {len(label)})")
    tvm_y = np.load(folder / "tvm.npy")
    same = y.tobytes() == tvm_y.tobytes()
    print("outputs: the same bits as in TVM's own runtime" if same else
          f"outputs: at most {np.abs(y - tvm_y).max():.2g} from TVM's own runtime")
    if right / len(label) < 0.95 or not np.allclose(y, tvm_y, rtol=1e-5, atol=1e-6):
        sys.exit("the daemon's answers are not the model's")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "score"):
        sys.exit(__doc__)
    {"make": make, "score": score}[sys.argv[1]](pathlib.Path(sys.argv[2]))
