"""What an installation of the folder holds."""
import importlib.metadata
import shutil
import sys

import harness
import pytest
from conftest import HERE


def test_the_build_holds_the_package(tmp_path):
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    if int(version.split(".")[0]) < 61:
        pytest.skip("no setuptools of 61 or later in this environment: the package is not built")
    source = tmp_path / "source"  # a build leaves files beside the sources
    shutil.copytree(HERE.parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    setup = [sys.executable, "-c", "import setuptools; setuptools.setup()"]
    done = harness.run(*setup, "-q", "build_py", "-d", tmp_path / "out", cwd=source)
    assert done.status == 0, done
    built = {p.relative_to(tmp_path / "out") for p in (tmp_path / "out").rglob("*") if p.is_file()}
    wanted = [p for p in (HERE.parent / "modser").iterdir() if p.suffix in (".py", ".typed")]
    assert built == {p.relative_to(HERE.parent) for p in wanted}


def test_type_hints_are_complete():
    pytest.importorskip("mypy", reason="no mypy in this environment: type hints are not checked")
    done = harness.run(sys.executable, "-m", "mypy", "--cache-dir", "/dev/null", "modser",
                       cwd=HERE.parent)  # fmt: skip
    assert done.status == 0, done
