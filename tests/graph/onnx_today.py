#!/usr/bin/env python3
"""onnx_today.py RUN_GRAPH: run the node tests of the installed onnx (1.23: opsets up to 28), which
that package generates, and compare what comes out. Prints each model that fails with its reason,
and the failures of each operator. Strings, sequences, optionals and training are counted apart."""
import collections
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import warnings

from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import onnx_suite  # noqa: E402 (after the path)

WANTED = 0.95
WRITERS = {"tensor_type": numpy_helper.from_array, "sequence_type": numpy_helper.from_list,
           "optional_type": numpy_helper.from_optional}
TRAINING = ("training", "_train_", "adam", "adagrad", "momentum")


def write(folder, what, arrays, infos):
    for i, (x, info) in enumerate(zip(arrays, infos)):
        if not isinstance(x, TensorProto):
            x = WRITERS[info.type.WhichOneof("value")](x, info.name)
        (folder / f"{what}_{i}.pb").write_bytes(x.SerializeToString())


def write_case(root, case):
    folder = root / case.name
    for i, (inputs, outputs) in enumerate(case.data_sets):
        where = folder / f"test_data_set_{i}"
        where.mkdir(parents=True)
        write(where, "input", inputs, case.model.graph.input)
        write(where, "output", outputs, case.model.graph.output)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    return folder


def values(graph):
    yield from graph.input
    yield from graph.output
    yield from graph.value_info


def left_out(case):
    """Why a case is not counted; "" if it is."""
    kinds = {v.type.WhichOneof("value") for v in values(case.model.graph)}
    if kinds & {"sequence_type", "optional_type"}:
        return "sequences and optionals"
    if any(v.type.tensor_type.elem_type == TensorProto.STRING for v in values(case.model.graph)):
        return "strings"
    if any(n.op_type.startswith(("Sequence", "Optional", "String", "Regex", "SplitToSequence",
                                 "ConcatFromSequence")) for n in case.model.graph.node):
        return "sequences and optionals"
    if any(word in case.name for word in TRAINING) or any(
            o.domain == "ai.onnx.preview.training" for o in case.model.opset_import):
        return "training"
    return ""


def main():
    run = sys.argv[1]
    warnings.filterwarnings("ignore")
    cases = load_model_tests(kind="node")
    apart = collections.Counter(left_out(c) for c in cases)
    counted = [c for c in cases if not left_out(c)]
    with tempfile.TemporaryDirectory() as where:
        folders = [write_case(pathlib.Path(where), c) for c in counted]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(
                lambda f, c: onnx_suite.check(run, f, f / "model.onnx", None, c.rtol, c.atol),
                folders, counted))
    failed = collections.Counter()
    for case, reason in zip(counted, results):
        if reason:
            print(f"{case.name}: {reason.splitlines()[0]}")
            failed[case.model.graph.node[0].op_type if len(case.model.graph.node) == 1
                   else "several"] += 1
    for op, n in failed.most_common():
        print(f"{n:5} of {op}")
    for reason, n in apart.most_common():
        if reason:
            print(f"left out: {n} with {reason}")
    passed = results.count("")
    print(f"node: {passed} of {len(counted)} ({100 * passed / len(counted):.1f} %)")
    sys.exit(passed < WANTED * len(counted))


if __name__ == "__main__":
    main()
