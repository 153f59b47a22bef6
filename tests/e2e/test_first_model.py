"""The pages of docs/start as they are written: their Python and their shell lines are run, those
that need onnx, torch or skl2onnx where the package is (scripts/first-model runs this with any
Python)."""
import os
import re
import subprocess
import sys

import harness
import numpy as np
import pytest

PAGES = harness.ROOT / "docs/start"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.S | re.M)


def section(page, title):
    """The language and text of each block of one section that is to be run."""
    for part in (PAGES / page).read_text().split("\n## ")[1:]:
        if part.startswith(title + "\n"):
            return BLOCK.findall(part)
    raise AssertionError(f"{page} has no section {title}")


def follow(page, title, daemon, folder):
    """Do in @folder what the section says; what each block printed."""
    env = harness.environment()
    env["MODSER_HOST"] = daemon.host
    env["PATH"] = f"{harness.BIN}:{os.environ['PATH']}"
    env["PYTHONPATH"] = str(harness.ROOT / "client" / "python")
    blocks = section(page, title)
    assert blocks, f"{title}: nothing to run"
    for language, text in blocks:
        words = [sys.executable, "-c"] if language == "python" else ["bash", "-euc"]
        done = subprocess.run([*words, text], cwd=folder, env=env, capture_output=True,
                              text=True, timeout=harness.PATIENCE, check=False)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        yield done.stdout


def compiled_by_tvm(folder):
    """What TVM's own virtual machine answers."""
    import tvm
    from tvm import relax

    library = tvm.runtime.load_module(str(folder / "model.so"))
    main = relax.VirtualMachine(library, tvm.cpu())["main"]
    return main(tvm.runtime.tensor(np.load(folder / "x.npy"))).numpy()


def test_an_onnx_file_is_loaded_called_and_compiled_as_the_pages_say(own_daemon, tmp_path):
    pytest.importorskip("onnx", reason="no onnx in this Python: the ONNX pages are not run")
    daemon = own_daemon()
    said = "".join(follow("first-model.md", "From ONNX", daemon, tmp_path))
    assert "run(x: Tensor([2, 8], float32)) -> (y: Tensor([2, 3], float32))" in said
    y = np.load(tmp_path / "y.npy")
    assert f"{y}\n" in follow("first-model.md", "From Python", daemon, tmp_path)
    pytest.importorskip("tvm", reason="no apache-tvm in this Python: from-tvm.md is not run")
    said = "".join(follow("from-tvm.md", "From ONNX", daemon, tmp_path))
    assert "main(x: Tensor([2, 8], float32))" in said
    compiled = np.load(tmp_path / "compiled.npy")
    assert np.array_equal(compiled, compiled_by_tvm(tmp_path))
    assert np.allclose(compiled, y, atol=1e-6)


def test_a_torch_module_is_compiled_loaded_and_called_as_the_page_says(own_daemon, tmp_path):
    pytest.importorskip("torch", reason="no torch in this Python: the PyTorch half is not run")
    pytest.importorskip("tvm", reason="no apache-tvm in this Python: from-tvm.md is not run")
    daemon = own_daemon()
    assert "main(" in "".join(follow("from-tvm.md", "From PyTorch", daemon, tmp_path))
    assert np.allclose(np.load(tmp_path / "compiled.npy"), np.load(tmp_path / "torch.npy"),
                       atol=1e-6)


def test_a_torch_module_is_exported_to_onnx_as_the_page_says(own_daemon, tmp_path):
    pytest.importorskip("torch", reason="no torch in this Python: the PyTorch half is not run")
    pytest.importorskip("onnxscript", reason="no onnxscript in this Python: torch cannot export")
    said = "".join(follow("from-frameworks.md", "From PyTorch", own_daemon(), tmp_path))
    assert "run(x: Tensor([n, 8], float32)) -> (y: Tensor([n, 3], float32))" in said
    assert np.allclose(np.load(tmp_path / "torch-y.npy"), np.load(tmp_path / "torch.npy"),
                       atol=1e-6)


def test_a_scikit_learn_model_is_exported_as_the_page_says(own_daemon, tmp_path):
    pytest.importorskip("skl2onnx", reason="no skl2onnx in this Python: nothing is exported")
    for _ in follow("from-frameworks.md", "From scikit-learn", own_daemon(), tmp_path):
        pass
    assert np.array_equal(np.load(tmp_path / "label.npy"), np.load(tmp_path / "classes.npy"))
    assert np.load(tmp_path / "probabilities.npy").shape == (150, 3)
