"""The sessions in README.md and docs/reference/modser.md, line by line, with the files that
scripts/demo leaves for them."""
import re
import subprocess
import sys

import harness
import numpy as np
import pytest

EXAMPLES = harness.ROOT / "examples"
PAGES = ("README.md", "docs/reference/modser.md")
TEXT = "".join((harness.ROOT / page).read_text() for page in PAGES)
# These want a machine that the reader has, or go on until they are stopped.
OTHERS = ("modser pull ", "modser push ", "modser rollback ", "modser logs -f ")


def session():
    """The words of each line, without what the comment says."""
    lines = re.findall(r"^(modser .*?)(?:  +#.*)?$", TEXT, re.M)
    assert len(lines) > 20
    return lines


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pytest.importorskip("onnx", reason="no onnx in this Python: the demo's files are not made")
    folder = tmp_path_factory.mktemp("demo")
    for program in (["digits.py", "make"], ["functions.py"]):
        subprocess.run([sys.executable, EXAMPLES / program[0], *program[1:], folder],
                       check=True, capture_output=True, timeout=harness.PATIENCE)
    return folder


def test_each_line_of_the_session_does_what_it_says(own_daemon, files, tmp_path):
    daemon = own_daemon("--load", f"digits={files / 'digits.so'}", "--store", tmp_path / "store")
    for line in session():
        if line.startswith(OTHERS):
            continue
        line = line.replace("tcp://127.0.0.1:9190", daemon.host)
        said = daemon.modser(*line.split()[1:], cwd=files)
        assert said.status == 0, f"{line}: {said}"
        if line.endswith("-o y.npy"):
            assert np.allclose(np.load(files / "y.npy"), np.load(files / "tvm.npy"), atol=1e-5)


def test_the_session_is_about_files_that_are_there(files):
    named = set(re.findall(r"[\w.]+\.(?:so|npy|onnx|tmfile)\b", " ".join(
        line for line in session() if not line.startswith(OTHERS))))
    written = {"w.npy", "y.npy", "digits.tmfile"}
    assert named - written <= {path.name for path in files.iterdir()}
