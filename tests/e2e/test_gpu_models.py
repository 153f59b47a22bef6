"""What apache-tvm's CUDA back end makes of models, as scripts/gpu takes it to a GPU: compiled by
nvcc for four architectures and by NVRTC, loaded, checked and launched on the stand-in driver."""
import importlib.util

import pytest
from test_gpu_script import HAS_NVCC, make, rows, run

MODELS = ["elementwise", "dynamic", "by_hand", "networks", "small_floats", "tensor_maps",
          "transformer"]


def test_every_model_is_launched_in_both_forms(tmp_path):
    if not HAS_NVCC or importlib.util.find_spec("tvm") is None:
        pytest.skip("no nvcc, or no apache-tvm")
    said, report = run(make(tmp_path / "bundle", "all"), tmp_path)
    assert said.returncode == 0, said.stdout
    verdicts = rows(report)
    for model in MODELS:
        for form in ("four cubins and PTX", "source"):
            verdict, got = verdicts[f"TVM 0.27 {model}, {form}"]
            assert verdict == "ok" or (form == "source" and "no NVRTC" in got), got
    assert verdicts["latency of a transformer's block"][0] == "ok"
    assert verdicts["calls that a driver would not take"] == ("ok", "none")
