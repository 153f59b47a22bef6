"""The sessions in README.md and docs/reference/modser.md, line by line, with the files that
scripts/demo leaves for them."""
import os
import re
import shlex
import shutil
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


# These have examples for the same files.
DOCUMENTS = ("../README", "explanation/module-life", "explanation/queueing", "how-to/batch", "how-to/http",
             "how-to/inspect", "how-to/keep-models", "how-to/monitor", "how-to/pack",
             "how-to/slow-calls", "how-to/workers", "reference/models", "reference/sandbox",
             "reference/static-graph", "reference/tmfile", "reference/tvm")
COMMAND = re.compile(r"^(?: {4}|\$ )?((?:modserd|modser|curl) .*)", re.S)
# These name what the reader has, or draw pictures.
LEFT = re.compile(r"\b(HOST|HEX|NAME|MODULE|FILE)\b|…|dot -T|/var/lib|/srv/|avx")


def commands(page):
    """Each command of the page's examples; a text in quotes may span lines."""
    text = (harness.ROOT / f"docs/{page}.md").read_text()
    code = [m[1] or m[2] for m in
            re.finditer(r"^```(?:sh|console)?\n(.*?)^```$|^( {4}\S.*)$", text, re.S | re.M)]
    lines = [re.sub(r" +#.*", "", line) for line in "\n".join(code).split("\n")]
    while lines:
        line = lines.pop(0)
        if COMMAND.match(line):
            while line.count("'") % 2:
                line += "\n" + lines.pop(0)
            yield COMMAND.match(line)[1]


def options(line, files, tmp_path):
    """Those of a daemon at addresses and a store of this test."""
    words = shlex.split(line.removesuffix(" &"))[1:]
    for i, word in enumerate(words):
        if word == "--listen":
            words[i] = ""
            if i + 1 < len(words) and not words[i + 1].startswith("--"):
                words[i + 1] = ""
        elif word == "--http":
            words[i + 1] = "127.0.0.1:0"
        elif word == "--store":
            words[i + 1] = tmp_path / "store"
        elif word == "--load":
            words[i + 1] = re.sub(r"=([\w.]+\.(?:so|onnx))", rf"={files}/\1", words[i + 1])
    return [word for word in words if word]


@pytest.mark.parametrize("page", DOCUMENTS)
def test_each_command_of_the_page_works(page, own_daemon, files, tmp_path):
    lines = list(commands(page))
    starts = [line for line in lines if line.startswith("modserd --listen")]
    words = options(starts[0], files, tmp_path) if starts else []
    daemon = own_daemon(*words, n_listening=1)
    http = daemon._line().removeprefix("listening http://") if "--http" in words else ""
    folder = shutil.copytree(files, tmp_path / "here")
    env = harness.environment() | {"PATH": f"{harness.BIN}:{os.environ['PATH']}",
                                   "MODSER_HOST": daemon.host}
    tried = [line for line in lines if not line.startswith("modserd ") and not LEFT.search(line)]
    assert tried, "no example"
    for line in tried:
        line = line.replace("127.0.0.1:8000", http).replace("tcp://host:9190", daemon.host)
        said = harness.run("bash", "-euc", line.replace("curl ", "curl -sf ", 1), cwd=folder, env=env)
        assert said.status == 0, f"{line}: {said}"


def test_the_python_of_the_readme_works(own_daemon, files):
    code = re.search(r"^```python\n(.*?)^```", (harness.ROOT / "README.md").read_text(),
                     re.S | re.M)[1]
    daemon = own_daemon("--load", f"net={files / 'digits.onnx'}")
    assert "unix:/tmp/m.sock" in code
    code = code.replace("unix:/tmp/m.sock", daemon.host) + "print(scores.shape)"
    env = harness.environment() | {"PYTHONPATH": str(harness.ROOT / "client/python")}
    said = harness.run(sys.executable, "-c", code, cwd=files, env=env)
    assert said.status == 0 and said.out == "(450, 10)\n", said
