"""A library that needs libtvm_ffi.so: objects that it makes, keeps and returns."""
import json

import harness
import numpy as np
import pytest
from wire import Failure, Wire

LIBRARY = harness.ZOO / "objects.so"


@pytest.fixture(scope="module")
def objects(daemon):
    daemon.load("objects", LIBRARY)
    return daemon


@pytest.fixture
def call(objects):
    with Wire(objects.host) as wire:
        yield lambda name, *args: wire.call(f"objects:{name}", *args)[1]


def test_a_tensor_that_is_kept_stays_as_it_was(call):
    x = np.arange(1000, dtype="float32")
    assert call("keep", x) == 1
    for i in range(20):  # whose bytes come where those of x were
        call("type_of", np.full(1000, i, dtype="float32"))
    assert (call("kept") == x).all()
    assert (call("kept") == x).all()


def test_tensors_have_strides_and_memory_of_the_environment(call):
    x = np.arange(12, dtype="int16").reshape(3, 4)
    assert (call("through", x) == x).all()
    assert (call("count", 5) == np.arange(5, dtype="float32")).all()


def test_arguments_have_the_types_that_typed_functions_expect(call):
    types = {"a": "ffi.SmallStr", "a longer text": "ffi.String", b"\0": "ffi.SmallBytes", 1: "int",
             2.5: "float", None: "None", (1, "x"): "ffi.Array"}
    assert {x: call("type_of", x) for x in types} == types
    assert call("type_of", np.zeros(3)) == "ffi.Tensor"


def test_bytes_are_no_text(call):
    assert call("letters") == b"abcdefghij"


def test_errors_are_told_by_kind_and_message(call):
    with pytest.raises(Failure, match="CALL_FAILED: raise: KeyError: nothing there") as caught:
        call("raise", "KeyError", "nothing there")
    assert caught.value.details == {"kind": "KeyError"}
    with pytest.raises(Failure, match="UNSUPPORTED") as caught:
        call("circle")
    assert "kind" not in caught.value.details


def test_results_that_cannot_be_sent_are_named(call):
    with pytest.raises(Failure, match=r"UNSUPPORTED: .*an object of type ffi\.Function"):
        call("adder", 3)
    with pytest.raises(Failure, match="UNSUPPORTED: .*nests deeper"):
        call("circle")
    with pytest.raises(Failure, match="TOO_LARGE: .*values in one reply"):
        call("endless")
    assert call("adders") == 0


def test_a_deleter_that_crashes_ends_only_its_call(objects, call):
    with pytest.raises(Failure) as caught:
        call("fragile")
    assert caught.value.name == "WORKER_LOST"
    harness.until(lambda: state(objects) == "READY", "the module is served again")
    with Wire(objects.host) as wire:
        assert wire.call("objects:adders")[1] == 0


def state(daemon):
    rows = json.loads(daemon.ok("--json", "ls").out)
    return next(row["state"] for row in rows if row["name"] == "objects")


def test_names_with_an_underscore_are_functions(objects, call):
    rows = json.loads(objects.ok("--json", "funcs", "objects").out)
    assert "_underscored" in [row["name"] for row in rows]
    assert call("_underscored") == 5
    assert "_underscored" in objects.ok("inspect", LIBRARY).out


def test_the_needed_library_is_found_everywhere(objects):
    said = objects.ok("inspect", "--check-daemon", objects.host, LIBRARY).out
    assert "will run it" in said


def test_a_type_with_an_unknown_parent_refuses_its_library(daemon):
    said = daemon.modser("load", "orphan", harness.ZOO / "objects_orphan.so")
    assert said.status != 0 and "type test.Orphan: its parent is unknown" in said.err
