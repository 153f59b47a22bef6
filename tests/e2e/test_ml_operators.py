"""Operators of ai.onnx.ml one by one, beside ONNX Runtime, or onnx's own evaluator where this
Python lacks that; and trees that lead nowhere."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="no onnx in this Python: no models are made")
from onnx import TensorProto, helper  # noqa: E402 (behind what may skip)

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
ML = "ai.onnx.ml"
NUMBERS, LABELS = TensorProto.FLOAT, TensorProto.INT64
X = np.float32([[0.5, -1, 2], [0.1, 4, np.nan], [-3, 0, 0], [1, 1, 1], [0, 0, 0]])
CLEAN = np.nan_to_num(X)


def model(op, outputs, kind=NUMBERS, **attributes):
    names = [f"y{i}" for i in range(len(outputs))]
    ends = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, outputs)]
    graph = helper.make_graph([helper.make_node(op, ["x"], names, domain=ML, **attributes)], "ml",
                              [helper.make_tensor_value_info("x", kind, ["n", 3])], ends)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    whole = helper.make_model(graph, opset_imports=opsets)
    whole.ir_version = 8
    return whole


def wanted(whole, x):
    if onnxruntime is None:
        from onnx.reference import ReferenceEvaluator
        return ReferenceEvaluator(whole).run(None, {"x": x})
    return onnxruntime.InferenceSession(whole.SerializeToString()).run(None, {"x": x})


def load(daemon, folder, whole):
    onnx.save(whole, folder / "ml.onnx")
    return daemon.modser("load", "ml", folder / "ml.onnx", "--replace")


def answers(daemon, folder, whole, x):
    said = load(daemon, folder, whole)
    assert said.status == 0, said
    np.save(folder / "x.npy", x)
    files = [folder / f"y{i}.npy" for i in range(len(whole.graph.output))]
    daemon.ok("call", "ml:run", f"@{folder}/x.npy", *[w for f in files for w in ("-o", f)])
    return [np.load(f) for f in files]


def expect_alike(daemon, folder, whole, x=CLEAN):
    for y, want in zip(answers(daemon, folder, whole, x), wanted(whole, x)):
        assert y.dtype == want.dtype and y.shape == want.shape, (y, want)
        assert np.allclose(y, want, rtol=1e-5, atol=1e-6), (y, want)


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_rows_are_normalized(daemon, tmp_path, norm):
    x = np.abs(CLEAN) if norm == "MAX" else CLEAN  # of negative ones opinions differ
    expect_alike(daemon, tmp_path, model("Normalizer", [NUMBERS], norm=norm), x)


@pytest.mark.parametrize("offset", [[0.5], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("kind", [NUMBERS, TensorProto.DOUBLE, TensorProto.INT64])
def test_features_are_scaled(daemon, tmp_path, offset, kind):
    whole = model("Scaler", [NUMBERS], kind, offset=offset, scale=[2.0] * len(offset))
    x = CLEAN.astype(helper.tensor_dtype_to_np_dtype(kind))
    (y,) = answers(daemon, tmp_path, whole, x)
    assert y.dtype == np.float32 and np.allclose(y, (x - np.float32(offset)) * 2)


@pytest.mark.parametrize("after", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_a_linear_regression_of_two_targets(daemon, tmp_path, after):
    if onnxruntime is None and after != "NONE":
        pytest.skip("no ONNX Runtime in this Python")
    expect_alike(daemon, tmp_path, model(
        "LinearRegressor", [NUMBERS], coefficients=[1.0, 2, 3, -1, 0.5, 0], targets=2,
        intercepts=[0.25, -0.5], post_transform=after))


@pytest.mark.parametrize("after", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_classifier_has_a_sum_for_each_class(daemon, tmp_path, after, classes):
    expect_alike(daemon, tmp_path, model(
        "LinearClassifier", [LABELS, NUMBERS], coefficients=[1.0, 2, 3, -1, 0.5, 0, 1, 1, 1][:3 * classes],
        intercepts=[0.25, -0.5, 0.1][:classes], post_transform=after,
        classlabels_ints=[7, -2, 5][:classes], multi_class=1))


@pytest.mark.parametrize("after", ["NONE", "LOGISTIC"])
def test_one_sum_stands_for_two_classes(daemon, tmp_path, after):
    if onnxruntime is None:
        pytest.skip("no ONNX Runtime in this Python")
    expect_alike(daemon, tmp_path, model(
        "LinearClassifier", [LABELS, NUMBERS], coefficients=[1.0, 2, 3], intercepts=[0.25],
        post_transform=after, classlabels_ints=[7, -2]))


@pytest.mark.parametrize("kind", [NUMBERS, TensorProto.DOUBLE, LABELS])
def test_what_is_above_a_threshold_is_one(daemon, tmp_path, kind):
    x = CLEAN.astype(helper.tensor_dtype_to_np_dtype(kind))
    (y,) = answers(daemon, tmp_path, model("Binarizer", [kind], kind, threshold=0.5), x)
    assert y.dtype == x.dtype and np.array_equal(y, (x > 0.5).astype(x.dtype))


@pytest.mark.parametrize("by", [[9.5], [9.5, -1.0, 4.0]])
def test_what_is_missing_is_imputed(daemon, tmp_path, by):
    nan = model("Imputer", [NUMBERS], imputed_value_floats=by, replaced_value_float=np.nan)
    expect_alike(daemon, tmp_path, nan, X)
    expect_alike(daemon, tmp_path, model("Imputer", [NUMBERS], imputed_value_floats=by,
                                         replaced_value_float=1.0))
    ints = model("Imputer", [LABELS], LABELS, imputed_value_int64s=[7], replaced_value_int64=1)
    expect_alike(daemon, tmp_path, ints, CLEAN.astype("i8"))


def test_labels_are_others(daemon, tmp_path):
    expect_alike(daemon, tmp_path, model("LabelEncoder", [NUMBERS], LABELS, keys_int64s=[1, 4, 0],
                                         values_floats=[0.5, 2, 3], default_float=-7.0),
                 CLEAN.astype("i8"))
    floats = model("LabelEncoder", [LABELS], keys_floats=[1.0, -1, np.nan], values_int64s=[5, 6, 7])
    expect_alike(daemon, tmp_path, floats)
    (y,) = answers(daemon, tmp_path, floats, X)  # ONNX Runtime has no key that is no number
    assert y[1, 2] == 7


@pytest.mark.parametrize("kind", [NUMBERS, LABELS])
def test_a_category_is_one_of_a_row(daemon, tmp_path, kind):
    x = np.floor(CLEAN).astype(helper.tensor_dtype_to_np_dtype(kind))
    hot = model("OneHotEncoder", [NUMBERS], kind, cats_int64s=[1, 0, 4])
    expect_alike(daemon, tmp_path, hot, x)
    strict = model("OneHotEncoder", [NUMBERS], kind, cats_int64s=[1, 0, 4], zeros=0)
    assert load(daemon, tmp_path, strict).status == 0
    np.save(tmp_path / "x.npy", x)
    said = daemon.modser("call", "ml:run", f"@{tmp_path}/x.npy")
    assert said.status != 0 and "is none of its categories" in said.err, said


VECTORS = {"support_vectors": [0.5, 1, -1, 2, 0, 0.25, -1, -1, 1, 0, 3, 0.5],
           "kernel_params": [0.3, 0.5, 2.0]}


@pytest.mark.parametrize("likeness", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_vectors_regress(daemon, tmp_path, likeness):
    for one in (0, 1):
        expect_alike(daemon, tmp_path, model(
            "SVMRegressor", [NUMBERS], coefficients=[1.0, -2, 0.5, 0.25], n_supports=4, rho=[0.1],
            kernel_type=likeness, one_class=one, **VECTORS))
    expect_alike(daemon, tmp_path, model("SVMRegressor", [NUMBERS], coefficients=[1.0, -2, 0.5],
                                         kernel_params=[0.0] * 3, rho=[0.1]))


@pytest.mark.parametrize("likeness", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("probable", [False, True])
@pytest.mark.parametrize("each", [[1, 3], [1, 2, 1]])
def test_vectors_vote_for_classes(daemon, tmp_path, likeness, probable, each):
    if onnxruntime is None:
        pytest.skip("no ONNX Runtime in this Python")
    pairs = len(each) * (len(each) - 1) // 2
    more = {"prob_a": [-1.5, -0.5, -1.0][:pairs], "prob_b": [0.1, 0, -0.2][:pairs]}
    expect_alike(daemon, tmp_path, model(
        "SVMClassifier", [LABELS, NUMBERS], rho=[0.1, -0.3, 0.2][:pairs], kernel_type=likeness,
        coefficients=[1.0, -2, 0.5, 0.25, 0.75, 1, -1, -0.5][:4 * (len(each) - 1)],
        vectors_per_class=each, classlabels_ints=[4, 8, 9][:len(each)], **VECTORS,
        **(more if probable else {})))


def trees(**changed):
    """Two trees of two and three leaves."""
    lists = {"nodes_treeids": [0, 0, 0, 1, 1, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 4],
             "nodes_featureids": [0, 0, 0, 2, 1, 0, 0, 0],
             "nodes_values": [0.1, 0, 0, 0.5, 1.0, 0, 0, 0],
             "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF",
                             "LEAF", "LEAF"],
             "nodes_truenodeids": [1, 0, 0, 1, 3, 0, 0, 0],
             "nodes_falsenodeids": [2, 0, 0, 2, 4, 0, 0, 0]}
    return lists | changed


def regressor(targets=1, ids=(0, 0, 0, 0, 0), **changed):
    return model("TreeEnsembleRegressor", [NUMBERS], n_targets=targets,
                 target_treeids=[1, 0, 0, 1, 1], target_nodeids=[2, 1, 2, 3, 4],
                 target_ids=list(ids), target_weights=[1.0, -2.0, 3.5, 0.25, 8.0], **trees(**changed))


@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_trees_are_joined(daemon, tmp_path, how):
    expect_alike(daemon, tmp_path, regressor(aggregate_function=how))


@pytest.mark.parametrize("mode", ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"])
def test_branches_are_of_all_modes(daemon, tmp_path, mode):
    modes = [m.replace("LEQ", mode) for m in trees()["nodes_modes"]]
    expect_alike(daemon, tmp_path, regressor(2, (0, 1, 0, 1, 1), nodes_modes=modes))


def test_a_base_value_is_added(daemon, tmp_path):
    expect_alike(daemon, tmp_path, regressor(base_values=[0.5]))


def test_what_is_missing_goes_where_the_node_says(daemon, tmp_path):
    for tracks in (0, 1):
        whole = regressor(nodes_missing_value_tracks_true=[tracks] * 8)
        expect_alike(daemon, tmp_path, whole, X)


@pytest.mark.parametrize("after", ["NONE", "SOFTMAX"])
def test_trees_vote_for_three_classes(daemon, tmp_path, after):
    expect_alike(daemon, tmp_path, model(
        "TreeEnsembleClassifier", [LABELS, NUMBERS], class_treeids=[1, 0, 0, 1, 1],
        class_nodeids=[2, 1, 2, 3, 4], class_ids=[0, 1, 2, 1, 2], post_transform=after,
        class_weights=[1.0, 0.5, 0.25, 1.0, 0.75], classlabels_int64s=[4, 8, 9], **trees()))


@pytest.mark.parametrize("weights", [[0.5, 0.1, 0.25, 0.4, 0.3], [1.0, -2.0, 0.5, 0.25, -1.0]])
@pytest.mark.parametrize("after", ["NONE", "LOGISTIC"])
def test_trees_of_one_class_stand_for_two(daemon, tmp_path, weights, after):
    if onnxruntime is None:
        pytest.skip("no ONNX Runtime in this Python")
    expect_alike(daemon, tmp_path, model(
        "TreeEnsembleClassifier", [LABELS, NUMBERS], class_treeids=[1, 0, 0, 1, 1],
        class_nodeids=[2, 1, 2, 3, 4], class_ids=[0] * 5, class_weights=weights,
        post_transform=after, classlabels_int64s=[4, 8], **trees()))


@pytest.mark.parametrize("changed, why", [
    ({"nodes_truenodeids": [1, 0, 0, 1, 9, 0, 0, 0]}, "tree 1, node 1: it points to a missing node"),
    ({"nodes_truenodeids": [1, 0, 0, 1, 1, 0, 0, 0]}, "go in a circle"),
    ({"nodes_featureids": [0, 0, 0, 2, 3, 0, 0, 0]}, "tree 1, node 1: it uses a missing feature"),
    ({"nodes_modes": ["LEAVES"] + trees()["nodes_modes"][1:]}, "tree 0, node 0: its mode"),
    ({"nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 3]}, "tree 1, node 3: it is given twice"),
])
def test_trees_that_lead_nowhere_are_named(daemon, tmp_path, changed, why):
    assert load(daemon, tmp_path, regressor(**changed)).status == 0
    np.save(tmp_path / "x.npy", CLEAN * 0)
    said = daemon.modser("call", "ml:run", f"@{tmp_path}/x.npy")
    assert said.status != 0 and why in said.err, said


def test_a_model_of_these_operators_alone_needs_no_version_of_others(daemon, tmp_path):
    whole = model("Scaler", [NUMBERS], offset=[0.5], scale=[2.0])
    del whole.opset_import[0]
    (y,) = answers(daemon, tmp_path, whole, CLEAN)
    assert np.allclose(y, (CLEAN - np.float32(0.5)) * 2)


@pytest.mark.parametrize("whole, why", [
    (regressor(post_transform="PROBIT"), 'its post_transform is "PROBIT"'),
    (regressor(nodes_values=[1.0]), "nodes_treeids and nodes_values differ in length"),
    (regressor(base_values=[1.0, 2.0]), "it has 2 base_values, expected 1"),
    (model("LinearRegressor", [NUMBERS], coefficients=[1.0, 2]), "expected 1 for each feature"),
    (model("LinearClassifier", [LABELS, NUMBERS], coefficients=[1.0, 2, 3],
           classlabels_strings=["a", "b"]), "classlabels_strings"),
    (model("Scaler", [NUMBERS], offset=[1.0, 2], scale=[1.0, 2]), "for each feature"),
    (model("Normalizer", [NUMBERS], norm="L3"), 'its norm is "L3"'),
    (model("Imputer", [NUMBERS], imputed_value_floats=[1.0, 2]), "expected one for each feature"),
    (model("LabelEncoder", [LABELS], keys_floats=[1.0], values_int64s=[1, 2]), "differ in length"),
    (model("LabelEncoder", [LABELS], keys_strings=["a"], values_int64s=[1]), "keys_strings"),
    (model("OneHotEncoder", [NUMBERS], cats_strings=["a"]), "cats_strings"),
    (model("SVMRegressor", [NUMBERS], coefficients=[1.0], n_supports=1, rho=[0.0],
           support_vectors=[1.0, 2]), "it has 2 support_vectors, expected 3"),
    (model("SVMClassifier", [LABELS, NUMBERS], coefficients=[1.0, 1], vectors_per_class=[1, 1],
           rho=[1.0, 2], support_vectors=[1.0] * 6, classlabels_ints=[1, 2]),
     "it has 2 rho, expected 1"),
    (model("SVMRegressor", [NUMBERS], coefficients=[1.0] * 3, rho=[0.0], kernel_type="COSINE"),
     'its kernel_type is "COSINE"'),
])
def test_what_cannot_be_computed_is_refused_by_its_name(daemon, tmp_path, whole, why):
    onnx.save(whole, tmp_path / "ml.onnx")
    said = daemon.modser("load", "ml", tmp_path / "ml.onnx", "--replace", "--input",
                         "x=float32[2,3]")
    assert said.status == 8 and why in said.err, said
