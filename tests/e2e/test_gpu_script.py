"""scripts/gpu, which proves on a machine with a GPU what no other can: here on the stand-in driver."""
import os
import shutil
import subprocess
import sys

import harness
import pytest

STUB = harness.BUILD / "tests/runtime/cuda/libcuda_stub.so"
HAS_NVCC = shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")
# What needs kernels of our own, and so nvcc.
OWN = ["clusters of 2", "clusters of 16", "a cooperative launch, TVM's barrier",
       "a programmatic dependent launch", "100 KiB of shared memory", "227 KiB of shared memory",
       "1 KiB more than the device has", "a tensor map", "an assertion on the device (710)"]


def script(*words, cwd=None, timeout=harness.PATIENCE * 8):
    env = {k: v for k, v in os.environ.items()
           if k == "MODSERD_FIXTURES" or not k.startswith(("MODSER", "STUB"))}
    return subprocess.run([sys.executable, *map(str, words)], cwd=cwd, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)


def make(out, models):
    if not STUB.exists() or not (harness.BIN / "modserd").exists():
        pytest.skip(f"no {STUB}")
    if harness.SANITIZED:
        pytest.skip("programs with sanitizers do not travel")
    said = script(harness.ROOT / "scripts/gpu", "bundle", "--build", harness.BUILD, "--models", models,
                  out, timeout=1500)
    assert said.returncode == 0, said.stdout
    return out


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make(tmp_path_factory.mktemp("gpu") / "bundle", "none")


def rows(report):
    cells = [line.strip("| ").split(" | ") for line in report.read_text().splitlines()
             if line.startswith("| ")]
    return {c[0]: (c[2], c[3]) for c in cells[1:]}


def run(bundle, folder, stub=STUB):
    report = folder / "report.md"
    return script(bundle / "gpu", "run", "--stand-in", stub, "--report", report, cwd=folder), report


def test_the_bundle_runs_by_itself_and_reports_every_row(bundle, tmp_path):
    said, report = run(bundle, tmp_path)
    assert said.returncode == 0, said.stdout
    verdicts = rows(report)
    assert len(verdicts) >= 50
    assert verdicts["driver and devices"][0] == "ok"
    assert verdicts["calls that a driver would not take"] == ("ok", "none")
    if (bundle / "fixtures/tvm-0.27").is_dir():
        for row in ("Relax model of five kernels", "pinned segments", "two workers over one pool",
                    "workers spread over devices", "PTX compiled by the driver",
                    "a store to an address that nobody has (700)"):
            assert verdicts[row][0] == "ok", verdicts[row]
    for row in OWN if HAS_NVCC else ():
        assert verdicts[row][0] == "ok", verdicts[row]


def test_without_a_driver_the_run_fails_and_says_so(bundle, tmp_path):
    said, report = run(bundle, tmp_path, tmp_path / "none.so")
    assert said.returncode == 1, said.stdout
    verdict, got = rows(report)["driver and devices"]
    assert verdict == "FAILED" and "cuda:0" in got, got


def test_a_row_that_gets_other_values_fails(bundle, tmp_path):
    """The run is judged by what comes back: here from a library with another kernel."""
    fixtures = bundle / "fixtures/tvm-0.8/cuda_ops"
    if not fixtures.is_dir():
        pytest.skip("no fixtures")
    other = tmp_path / "bundle"
    shutil.copytree(bundle, other)
    right = other / "fixtures/tvm-0.8/cuda_ops/addone_y.npy"
    shutil.copyfile(other / "fixtures/tvm-0.8/cuda_ops/addone_x.npy", right)
    said, report = run(other, tmp_path)
    assert said.returncode == 1, said.stdout
    verdict, got = rows(report)["TVM 0.8 addone, ptx"]
    assert verdict == "FAILED" and "off by" in got, got
