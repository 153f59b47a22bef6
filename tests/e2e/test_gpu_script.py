"""scripts/gpu, which proves on a machine with a GPU what no other can: here on the stand-in driver."""
import os
import subprocess
import sys

import harness
import pytest

STUB = harness.BUILD / "tests/runtime/cuda/libcuda_stub.so"


def script(*words, cwd=None):
    env = {k: v for k, v in os.environ.items()
           if k == "MODSERD_FIXTURES" or not k.startswith(("MODSER", "STUB"))}
    return subprocess.run([sys.executable, *map(str, words)], cwd=cwd, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=harness.PATIENCE * 4)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    if not STUB.exists() or not (harness.BIN / "modserd").exists():
        pytest.skip(f"no {STUB}")
    if harness.SANITIZED:
        pytest.skip("programs with sanitizers do not travel")
    out = tmp_path_factory.mktemp("gpu") / "bundle"
    said = script(harness.ROOT / "scripts/gpu", "bundle", "--build", harness.BUILD, out)
    assert said.returncode == 0, said.stdout
    return out


def rows(report):
    cells = [line.strip("| ").split(" | ") for line in report.read_text().splitlines()
             if line.startswith("| ")]
    return {c[0]: (c[2], c[3]) for c in cells[1:]}


def test_the_bundle_runs_by_itself_and_reports_every_row(bundle, tmp_path):
    report = tmp_path / "report.md"
    said = script(bundle / "gpu", "run", "--stand-in", STUB, "--report", report, cwd=tmp_path)
    assert said.returncode == 0, said.stdout
    verdicts = rows(report)
    assert len(verdicts) >= 20
    assert verdicts["driver and devices"][0] == "ok"
    if (bundle / "fixtures/tvm-0.27").is_dir():
        assert verdicts["Relax model of five kernels"][0] == "ok", verdicts
        assert "GPU_FAULT" in report.read_text()
        assert verdicts["a kernel that faults (700)"][0] == "ok", verdicts


def test_without_a_driver_the_run_fails_and_says_so(bundle, tmp_path):
    report = tmp_path / "report.md"
    said = script(bundle / "gpu", "run", "--stand-in", tmp_path / "none.so", "--report", report,
                  cwd=tmp_path)
    assert said.returncode == 1, said.stdout
    verdict, got = rows(report)["driver and devices"]
    assert verdict == "FAILED" and "cuda:0" in got, got
