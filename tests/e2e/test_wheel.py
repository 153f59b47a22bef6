"""The wheel of the programs: made, installed in a fresh environment, and run on two Debians."""
import os
import shutil
import subprocess
import sys

import harness
import numpy
import onnx
import pytest
from onnx import TensorProto, helper

USE = r"""
set -e
python3 -m venv /tmp/wheel-env && /tmp/wheel-env/bin/pip install -q --no-index "$1"/*.whl
cd "$1" && export MODSER_HOST=unix:$1/wheel.sock PATH=/tmp/wheel-env/bin:$PATH
exec 3< <(exec modserd --listen $MODSER_HOST --http 127.0.0.1:0 --store none --load r=relu.onnx 2>log)
read -ru 3 _
read -ru 3 _
modser wait r >/dev/null
modser call r x=@x.npy -o y.npy
modser inspect relu.onnx >inspected
echo "served by $(modser --version)"
kill $!
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with the wheel and a model."""
    folder = tmp_path_factory.mktemp("given")
    build = tmp_path_factory.mktemp("build")
    said = harness.run(harness.ROOT / "scripts" / "package", "wheel", build, folder, timeout=1500)
    assert said.status == 0, said
    a, b = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [a], [b])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]),
              folder / "relu.onnx")
    numpy.save(folder / "x.npy", numpy.float32([[-1, 2, -3, 4]]))
    return folder


def served(folder, *command):
    """Run the command; return its first words, the model's output, and whether inspect names Relu."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=harness.PATIENCE * 10)
    assert done.returncode == 0, done
    return (done.stdout.split()[:3], numpy.load(folder / "y.npy").tolist(),
            "Relu" in (folder / "inspected").read_text())


SERVED = (["served", "by", "modser"], [[0, 2, 0, 4]], True)


def test_it_runs_in_a_fresh_environment(given, tmp_path):
    folder = tmp_path / "given"
    shutil.copytree(given, folder)
    script = USE.replace("/tmp/wheel-env", str(tmp_path / "env")).replace("python3", sys.executable)
    assert served(folder, "bash", "-c", script, "-", folder) == SERVED


def test_it_runs_on_the_next_debian(given, tmp_path):
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("making a root of Debian 13 needs root and debootstrap")
    root = tmp_path / "root"
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"],
                          capture_output=True, text=True, check=True)
    mirrors = [line for line in said.stdout.split() if "security" not in line]
    subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", "trixie",
                    root, mirrors[0]], check=True, capture_output=True, timeout=1500)
    shutil.copytree(given, root / "given")
    enter = (f"mount -t proc proc {root}/proc && mount --bind /dev {root}/dev && "
             f'exec chroot {root} bash -c "$1" - /given')
    assert served(root / "given", "unshare", "-m", "bash", "-c", enter, "-", USE) == SERVED
