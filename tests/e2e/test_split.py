"""--split-params: weights beside the library, shared by two builds of a model."""
import json
import pathlib
import subprocess
import sys

import harness
import numpy as np
import pytest
from test_fixtures import need, ulps

# Two builds of one model: the second computes in another order of functions and has one constant
# more. The weights are large enough to matter.
EXPORT = """
import sys, numpy as np, tvm, models_relax
from tvm import relax
from tvm.relax.frontend import nn
class Net(nn.Module):
    def __init__(self, extra):
        self.first, self.second = nn.Linear(64, 512), nn.Linear(512, 64)
        self.extra = extra
    def main(self, x):
        y = self.second(nn.op.relu(self.first(x)))
        return nn.op.relu(y) if self.extra else y
for name, extra in (("one", False), ("two", True)):
    constant, _, _ = models_relax.bound(Net(extra), ["n", 64], "float32")
    tvm.compile(constant, target="llvm").export_library(f"{sys.argv[1]}/{name}.so")
    x = np.linspace(-1, 1, 3 * 64, dtype="float32").reshape(3, 64)
    vm = relax.VirtualMachine(tvm.runtime.load_module(f"{sys.argv[1]}/{name}.so"), tvm.cpu())
    np.save(f"{sys.argv[1]}/{name}.npy", vm["main"](tvm.runtime.tensor(x)).numpy())
np.save(f"{sys.argv[1]}/x.npy", x)
"""


def modser(*words):
    return harness.run(harness.BIN / "modser", *words)


def ok(*words):
    said = modser(*words)
    assert said.status == 0, said
    return said


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("builds")
    subprocess.run([sys.executable, "-c", EXPORT, folder], check=True, timeout=600,
                   cwd=pathlib.Path(__file__).parent)
    for name in ("one", "two"):
        ok("unpack", folder / f"{name}.so", "-C", folder / name)
        ok("pack", folder / name, "--split-params", folder / "w.params",
           "-o", folder / f"{name}-slim.so")
        folder.joinpath(f"after-{name}").write_bytes((folder / "w.params").read_bytes())
    return folder


def test_the_second_build_adds_nothing_that_is_there(builds):
    first, second = ((builds / f"after-{name}").stat().st_size for name in ("one", "two"))
    assert first > 2 * 64 * 512 * 4, "two matrices"
    assert second == first


@pytest.mark.parametrize("name", ["one", "two"])
def test_the_library_is_smaller_by_its_weights(builds, name):
    sizes = [(builds / f"{name}{end}.so").stat().st_size for end in ("", "-slim")]
    assert sizes[1] < sizes[0] - 2 * 64 * 512 * 4 + 65536


@pytest.mark.parametrize("name", ["one", "two"])
def test_both_builds_compute_what_tvm_does(daemon, builds, tmp_path, name):
    daemon.ok("load", "--params", builds / "w.params", name, builds / f"{name}-slim.so")
    daemon.ok("call", f"{name}:main", f"@{builds / 'x.npy'}", "-o", tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.load(builds / f"{name}.npy"))
    daemon.ok("unload", name)


def test_a_daemon_starts_with_them(own_daemon, builds, tmp_path):
    daemon = own_daemon("--load", f"one={builds / 'one-slim.so'},params={builds / 'w.params'}")
    daemon.ok("wait", "one")
    daemon.ok("call", "one:main", f"@{builds / 'x.npy'}", "-o", tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.load(builds / "one.npy"))


def test_without_them_it_says_what_to_load(daemon, builds):
    said = daemon.modser("load", "bare", builds / "one-slim.so")
    assert said.status != 0 and "const_" in said.err and "--params" in said.err


def test_unpack_splits_too(builds, tmp_path):
    said = json.loads(ok("--json", "unpack", builds / "one.so", "-C", tmp_path / "parts",
                         "--split-params", tmp_path / "w.params").out)
    image = next(f for f in said["files"] if f["name"].endswith(".vm"))
    assert image["bytes"] < 64 * 512
    assert (tmp_path / "w.params").read_bytes() == (builds / "after-one").read_bytes()
    ok("pack", tmp_path / "parts", "-o", tmp_path / "slim.so")
    assert (tmp_path / "slim.so").read_bytes() == (builds / "one-slim.so").read_bytes()


@pytest.mark.parametrize("model, outputs", [("mlp_llvm", 1), ("convnet_llvm", 2)])
def test_a_graph_keeps_its_parameters_beside_it(daemon, fixtures, tmp_path, model, outputs):
    folder = need(fixtures, f"tvm-0.8/{model}/{model}.so").parent
    parts, params, slim = tmp_path / "parts", tmp_path / "w.params", tmp_path / "slim.so"
    ok("unpack", folder / f"{model}.so", "-C", parts)
    ok("pack", parts, "--split-params", params, "-o", slim)
    daemon.ok("load", "--replace", "--params", params, "graph", slim)
    words = [w for i in range(outputs) for w in ("-o", tmp_path / f"{i}.npy")]
    daemon.ok("call", "graph:run", f"@{folder / 'in_data.npy'}", *words)
    for i in range(outputs):
        assert ulps(np.load(tmp_path / f"{i}.npy"), np.load(folder / f"out_{i}.npy")) <= 2


def test_another_models_parameters_are_not_written_over(fixtures, builds, tmp_path):
    params = tmp_path / "w.params"
    for model in ("mlp_llvm", "convnet_llvm"):
        library = need(fixtures, f"tvm-0.8/{model}/{model}.so")
        said = modser("unpack", library, "-C", tmp_path / model, "--split-params", params)
        if model == "mlp_llvm":
            before = params.read_bytes()
    assert said.status == 2 and "another parameter p0" in said.err
    assert params.read_bytes() == before


def test_parameters_that_nobody_takes_are_refused(daemon, builds, tmp_path):
    (tmp_path / "f.c").write_text("void *__tvm_ffi__library_ctx;\nint __tvm_ffi_f(void);\n"
                                  "int __tvm_ffi_f(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "f.so", tmp_path / "f.c"],
                   check=True)
    said = daemon.modser("load", "--params", builds / "w.params", "f", tmp_path / "f.so")
    assert said.status != 0 and "none of its modules has parameters" in said.err


@pytest.mark.parametrize("words", [["pack", "m", "-o", "m.so"], ["unpack", "m.so", "-C", "m"]])
def test_names_of_weights_that_stay_are_a_usage_error(words):
    said = modser(*words, "--tvm-names")
    assert said.status == 2 and "--split-params FILE" in said.err, said
