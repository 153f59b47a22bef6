"""Libraries compiled in this run, called through modserd: the same bits as in TVM's runtime."""
import collections
import json
import os
import pathlib

import harness
import numpy as np
import pytest
import releases
from wire import Wire, shape_ext


def load_cases():
    path = harness.MODELS / "cases.json"
    return json.loads(path.read_text()) if path.exists() else []


CASES = load_cases()
# Code for another machine may fuse what TVM's run here rounded in between.
IS_FOREIGN = (harness.MODELS / "machine").exists()


def outputs(library):
    """The files of what TVM computed with it."""
    wanted = [want for c in CASES if c["library"] == library for want in c["want"]]
    return [harness.MODELS / want["array"] for want in wanted if "array" in want]


@pytest.fixture(scope="module")
def ran():
    """How many calls of each library gave TVM's bits; those of which all did are recorded."""
    calls = collections.Counter()
    yield calls
    for library, n in calls.items():
        outs = outputs(library)
        if outs and n == sum(c["library"] == library for c in CASES):
            release = ".".join((harness.MODELS / "version").read_text().split(".")[:2])
            lib = harness.MODELS / f"{library}.so"
            what = releases.told(release, library, "compiled anew", lib, outs)
            releases.record(what, [0.0] * len(outs))


@pytest.fixture(scope="module")
def served(daemon, cases, models):
    for name in sorted({c["library"] for c in cases}):
        daemon.load(name, models / f"{name}.so")
    return daemon


def word(models, arg):
    """One argument as the command line writes it."""
    kind = next(iter(arg))
    if kind == "array":
        return f"@{models / arg['array']}" + (f":{arg['dtype']}" if arg["foreign"] else "")
    if kind == "out":
        return f"out:{arg['out']}[{','.join(map(str, arg['dims']))}]"
    if kind == "shape":
        return f"shape:{json.dumps(arg['shape'])}"
    return json.dumps(arg[kind])


def expect_same(got, expected):
    if IS_FOREIGN and expected.dtype.kind == "f":
        near = 64 * float(np.finfo(expected.dtype).eps)
        assert np.allclose(got, expected, rtol=near, atol=near, equal_nan=True)
    else:
        assert got.tobytes() == expected.tobytes()


def same_array(path, models, want):
    got = np.load(path)
    expected = np.load(models / want["array"])
    assert got.shape == expected.shape
    if want["foreign"]:
        assert got.dtype == np.dtype(f"V{expected.itemsize}")
    else:
        assert got.dtype == expected.dtype
    expect_same(got, expected)


def expect_over_wire(daemon, models, case):
    def value(arg):
        kind = next(iter(arg))
        if kind == "array":
            return np.load(models / arg["array"])
        if kind == "tuple":
            return [value(v) for v in arg["tuple"]]
        return shape_ext(*arg["shape"]) if kind == "shape" else arg[kind]

    def flat(given):
        return [v for g in given for v in flat(g)] if isinstance(given, list) else [given]

    with Wire(daemon.host) as wire:
        name = f"{case['library']}:{case['function']}"
        outs, returned = wire.call(name, *[value(a) for a in case["args"]])
    got = outs + flat(returned)
    assert len(got) == len(case["want"])
    for g, want in zip(got, case["want"]):
        if "array" in want:
            expected = np.load(models / want["array"])
            assert (g.dtype, g.shape) == (expected.dtype, expected.shape)
            expect_same(g, expected)
        else:
            assert g == value(want)


def name_of(case):
    return f"{case['library']}:{case['function']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_gives_the_bits_that_tvm_gives(served, models, tmp_path, case, ran):
    if any("tuple" in a for a in case["args"]):
        expect_over_wire(served, models, case)
    else:
        expect_over_command_line(served, models, tmp_path, case)
    ran[case["library"]] += 1


def expect_over_command_line(served, models, tmp_path, case):
    words = [word(models, a) for a in case["args"]]
    written = [w for w in case["want"] if "shape" not in w]
    for i in range(len(written)):
        words += ["-o", tmp_path / f"{i}.npy"]
    said = served.ok("call", name_of(case), *words)
    for i, want in enumerate(written):
        path = tmp_path / f"{i}.npy"
        if "array" in want:
            same_array(path, models, want)
        else:
            (value,) = want.values()
            got = np.load(path)
            assert got.shape == () and got == value
            assert got.dtype == {int: "int64", float: "float64", bool: "bool"}[type(value)]
    for want in case["want"]:
        if "shape" in want:
            assert ", ".join(map(str, want["shape"])) in said.out.replace(",", ", ").replace(
                ",  ", ", "
            )


def test_the_models_were_compiled(cases):
    assert len({c["library"] for c in cases}) >= 14
    assert CASES == cases


def test_two_hundred_functions_are_listed_with_signatures(served):
    lines = [l for l in served.ok("funcs", "many").out.splitlines() if "plus_" in l]
    assert len(lines) == 200
    assert all("int32" in l for l in lines)


def test_a_missing_packed_function_is_named_when_it_is_called(served, models):
    said = served.modser("call", "missing:calls", "out:float32[8]", "3")
    assert said.status == 1
    assert "modserd.test.nobody_has_this" in said.err


@pytest.mark.parametrize(
    "words, names",
    [
        (["out:float32[16]"], ["scale"]),  # too few
        (["@A", "2.5", "3", "out:float32[16]", "1"], ["scale"]),  # too many
        (["@A", "2.5", "3", "out:float64[16]"], ["float32"]),  # dtype
        (["@A", "2.5", "3", "out:float32[17]"], ["16"]),  # shape
        (["@A", "2.5", "3", "out:float32[4,4]"], ["1", "2"]),  # rank
        (["2.5", "2.5", "3", "out:float32[16]"], ["tensor"]),  # a number for a tensor
        (["@A", "str:x", "3", "out:float32[16]"], ["float"]),  # a text for a number
        (["@A", "2.5", "none", "out:float32[16]"], ["int"]),  # nothing for a number
    ],
)
def test_wrong_arguments_are_explained(served, tmp_path, words, names):
    np.save(tmp_path / "a.npy", np.zeros(16, "float32"))
    words = [w.replace("@A", f"@{tmp_path / 'a.npy'}") for w in words]
    workers = served.workers()
    said = served.modser("call", "scalars:scale", *words)
    assert said.status == 1
    for name in names:
        assert name in said.err
    assert len(said.err.strip().splitlines()) >= 2, "a cause and what to do"
    assert served.workers() == workers, "no worker died of it"


def test_a_result_that_nobody_would_get_is_refused(served, tmp_path):
    """Both arguments are copies, and the function returns nothing."""
    np.save(tmp_path / "x.npy", np.ones(3, "float32"))
    x = f"@{tmp_path / 'x.npy'}"
    said = served.modser("call", "shapes:addone", x, x)
    assert said.status == 1 and said.out == ""
    assert "its output is lost" in said.err
    assert "argument 1" in said.err and "out:float32[3]" in said.err
    assert served.ok("call", "shapes:addone", x, "out:float32[3]").out == "[2.0, 2.0, 2.0]\n"


def test_wrong_model_input_is_explained(served, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 15), "float32"))
    said = served.modser("call", "mlp:main", f"@{tmp_path / 'x.npy'}")
    assert said.status == 1 and "16" in said.err
    np.save(tmp_path / "x.npy", np.zeros((3, 16), "float64"))
    said = served.modser("call", "mlp:main", f"@{tmp_path / 'x.npy'}")
    assert said.status == 1 and "float32" in said.err


def test_unknown_function_and_module_are_named(served):
    said = served.modser("call", "scalars:scal", "1")
    assert said.status == 4 and "scal" in said.err
    said = served.modser("call", "nothing:here")
    assert said.status == 4 and "nothing" in said.err
