"""A module's parameters from a folder of shards; results are compared with those of TVM's VM."""
import subprocess
import sys

import harness
import numpy as np
import pytest

LIBRARIES = ("packed_bytecode", "packed_compiled", "plain_bytecode", "plain_compiled")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    script = harness.ROOT / "tests" / "e2e" / "models_folder.py"
    subprocess.run([sys.executable, script, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def expect_bits(daemon, made, name, params, tmp_path, functions=("main", "lift")):
    for function in functions:
        out = tmp_path / "out.npy"
        daemon.ok("call", f"{name}:{function}", f"@{made}/x.npy", "-o", out)
        want = np.load(made / f"{params}.{function}.npy")
        assert np.array_equal(np.load(out).view("uint32"), want.view("uint32"))


@pytest.mark.parametrize("params", ["raw", "half", "shards"])
def test_parameters_of_a_folder_give_the_bits_of_tvm(daemon, made, tmp_path, params):
    for library in LIBRARIES:
        daemon.ok("load", "--params", made / params, library, made / f"{library}.so")
        expect_bits(daemon, made, library, params, tmp_path)
        daemon.ok("unload", library)


def test_bound_parameters_are_not_in_the_signature(daemon, made):
    daemon.ok("load", "--params", made / "raw", "short", made / "packed_bytecode.so")
    assert "packed_params" not in daemon.ok("funcs", "short").out
    said = daemon.modser("call", "short:main")
    assert said.status == 1 and "expected 1 argument, got 0" in said.err
    daemon.ok("unload", "short")


def test_a_library_without_metadata_takes_one_shard_only(daemon, made, tmp_path):
    daemon.ok("load", "--params", made / "raw", "bare", made / "bare.so")
    expect_bits(daemon, made, "bare", "raw", tmp_path)
    daemon.ok("unload", "bare")
    said = daemon.modser("load", "--params", made / "shards", "bare", made / "bare.so")
    assert said.status == 8 and "no function _metadata" in said.err
