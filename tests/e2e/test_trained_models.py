"""Models that scikit-learn trains and skl2onnx writes, served: their answers are ONNX Runtime's, and
scikit-learn's as far as float32 goes. Without these in this Python: a skip."""
import numpy as np
import pytest

skl2onnx = pytest.importorskip("skl2onnx", reason="no skl2onnx in this Python: nothing is exported")
runtime = pytest.importorskip("onnxruntime", reason="no ONNX Runtime in this Python")
from sklearn import (ensemble, impute, linear_model, pipeline, preprocessing,  # noqa: E402 (behind
                     svm, tree)
from sklearn.datasets import make_classification, make_regression  # noqa: E402 what may skip)

MANY = 200


def classes(n):
    x, y = make_classification(MANY, 8, n_informative=6, n_classes=n, random_state=3)
    return x.astype("f4"), y + 5


def numbers(n=1):
    x, y = make_regression(MANY, 6, n_targets=n, noise=3, random_state=4)
    return x.astype("f4"), y


def with_gaps(x, y):
    x = x.copy()
    x[::7, 2] = np.nan
    return x, y


def whole(x, y):
    return np.rint(x).astype(np.int64), y


MODELS = {
    "logistic": (linear_model.LogisticRegression(), classes(2)),
    "logistic of four": (linear_model.LogisticRegression(), classes(4)),
    "ridge": (linear_model.RidgeClassifier(), classes(2)),
    "sgd": (linear_model.SGDClassifier(loss="log_loss", random_state=1), classes(3)),
    "tree": (tree.DecisionTreeClassifier(max_depth=5, random_state=1), classes(2)),
    "tree of three": (tree.DecisionTreeClassifier(max_depth=5, random_state=1), classes(3)),
    "forest": (ensemble.RandomForestClassifier(12, max_depth=6, random_state=1), classes(2)),
    "forest of four": (ensemble.RandomForestClassifier(12, random_state=1), classes(4)),
    "boosting": (ensemble.GradientBoostingClassifier(n_estimators=15, random_state=1), classes(2)),
    "boosting of three": (ensemble.GradientBoostingClassifier(n_estimators=9, random_state=1),
                          classes(3)),
    "linear": (linear_model.LinearRegression(), numbers()),
    "linear to three": (linear_model.Ridge(), numbers(3)),
    "regression tree": (tree.DecisionTreeRegressor(max_depth=6, random_state=1), numbers(2)),
    "regression forest": (ensemble.RandomForestRegressor(10, random_state=1), numbers()),
    "regression boosting": (ensemble.GradientBoostingRegressor(n_estimators=20, random_state=1),
                            numbers()),
    "scaled": (pipeline.make_pipeline(preprocessing.StandardScaler(),
                                      linear_model.LogisticRegression()), classes(3)),
    "normalized": (pipeline.make_pipeline(preprocessing.Normalizer("l1"),
                                          preprocessing.MinMaxScaler(),
                                          linear_model.Ridge()), numbers()),
    "vectors": (svm.SVC(), classes(2)),
    "vectors of three": (svm.SVC(kernel="poly"), classes(3)),
    "probable vectors": (svm.SVC(kernel="sigmoid", probability=True, random_state=1), classes(2)),
    "probable vectors of four": (svm.SVC(probability=True, random_state=1), classes(4)),
    "regression vectors": (svm.SVR(), numbers()),
    "regression of linear vectors": (svm.NuSVR(kernel="linear"), numbers()),
    "one class": (svm.OneClassSVM(), (classes(2)[0], None)),
    "outliers": (ensemble.IsolationForest(n_estimators=7, random_state=1), (classes(2)[0], None)),
    "imputed": (pipeline.make_pipeline(impute.SimpleImputer(), linear_model.Ridge()),
                with_gaps(*numbers())),
    "binarized": (pipeline.make_pipeline(preprocessing.Binarizer(threshold=0.3),
                                         linear_model.LogisticRegression()), classes(3)),
    "bins": (pipeline.make_pipeline(preprocessing.KBinsDiscretizer(4, encode="onehot-dense"),
                                    linear_model.Ridge()), numbers()),
    "categories": (pipeline.make_pipeline(preprocessing.OneHotEncoder(sparse_output=False),
                                          linear_model.Ridge()), whole(*numbers())),
    "ordinals": (pipeline.make_pipeline(preprocessing.OrdinalEncoder(), linear_model.Ridge()),
                 whole(*numbers())),
    "largest": (pipeline.make_pipeline(preprocessing.Normalizer("l2"),
                                       linear_model.Lasso(0.1)), numbers()),
}


def exported(name, folder):
    model, (x, y) = MODELS[name]
    model.fit(x, y)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    options = {id(last): {"zipmap": False}} if hasattr(last, "classes_") else {}
    whole = skl2onnx.to_onnx(model, x[:1], options=options,
                             target_opset={"": 17, "ai.onnx.ml": 3})
    path = folder / "trained.onnx"
    path.write_bytes(whole.SerializeToString())
    return model, path, x


def call(daemon, folder, name, x, n):
    np.save(folder / "x.npy", x)
    files = [folder / f"{i}.npy" for i in range(n)]
    daemon.ok("call", f"{name}:run", f"@{folder}/x.npy", *[w for f in files for w in ("-o", f)])
    return [np.load(f) for f in files]


@pytest.mark.parametrize("name", MODELS)
def test_it_answers_as_onnx_runtime_and_scikit_learn_do(daemon, tmp_path, name):
    model, path, x = exported(name, tmp_path)
    session = runtime.InferenceSession(str(path))
    wants = session.run(None, {session.get_inputs()[0].name: x})
    daemon.load("trained", path, "--replace")
    outputs = call(daemon, tmp_path, "trained", x, len(wants))
    for y, want in zip(outputs, wants):
        assert y.dtype == want.dtype and y.shape == want.shape
        if want.dtype.kind == "f":
            assert np.allclose(y, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
        else:
            assert np.array_equal(y, want)
    said = model.predict(x)
    if outputs[0].dtype.kind == "i":
        assert np.mean(outputs[0].reshape(said.shape) == said) > 0.95  # which computes in float64
    else:
        assert np.allclose(outputs[0].reshape(said.shape), said, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("name", ["forest of four", "regression boosting", "scaled"])
def test_what_is_written_again_is_the_same(daemon, tmp_path, name):
    _, path, x = exported(name, tmp_path)
    again = tmp_path / "again.onnx"
    daemon.ok("convert", path, "-o", again)
    session = runtime.InferenceSession(str(path))
    n = len(session.get_outputs())
    runtime.InferenceSession(str(again))  # which ONNX Runtime can read
    daemon.load("first", path, "--replace")
    daemon.load("again", again, "--replace")
    for y, want in zip(call(daemon, tmp_path, "again", x, n), call(daemon, tmp_path, "first", x, n)):
        assert np.array_equal(y, want)
