"""docs/start/first-model.md as it is written: its Python and its shell lines are run, those that need
onnx or torch where the package is (scripts/first-model runs this with any Python)."""
import os
import re
import subprocess
import sys

import harness
import numpy as np
import pytest

PAGE = harness.ROOT / "docs/start/first-model.md"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.S | re.M)


def section(title):
    """The language and text of each block of one section that is to be run."""
    for part in PAGE.read_text().split("\n## ")[1:]:
        if part.startswith(title + "\n"):
            return BLOCK.findall(part)
    raise AssertionError(f"{PAGE.name} has no section {title}")


def follow(title, daemon, folder):
    """Do in @folder what the section says; what each block printed."""
    env = harness.environment()
    env["MODSER_HOST"] = daemon.host
    env["PATH"] = f"{harness.BIN}:{os.environ['PATH']}"
    env["PYTHONPATH"] = str(harness.ROOT / "client" / "python")
    blocks = section(title)
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


def test_an_onnx_file_is_compiled_loaded_and_called_as_the_page_says(own_daemon, tmp_path):
    pytest.importorskip("onnx", reason="no onnx in this Python: the ONNX half is not run")
    daemon = own_daemon()
    said = "".join(follow("From ONNX", daemon, tmp_path))
    assert "main(x: Tensor([2, 8], float32))" in said
    y = np.load(tmp_path / "y.npy")
    assert np.array_equal(y, compiled_by_tvm(tmp_path))
    assert np.allclose(np.load(tmp_path / "direct.npy"), y, atol=1e-6)
    assert f"{y}\n" in follow("From Python instead of the shell", daemon, tmp_path)


def test_a_torch_module_is_compiled_loaded_and_called_as_the_page_says(own_daemon, tmp_path):
    pytest.importorskip("torch", reason="no torch in this Python: the PyTorch half is not run")
    daemon = own_daemon()
    assert "main(" in "".join(follow("From PyTorch", daemon, tmp_path))
    assert np.allclose(np.load(tmp_path / "y.npy"), np.load(tmp_path / "torch.npy"), atol=1e-6)
