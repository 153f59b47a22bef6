"""A library for arm64, of TVM 0.16's own making, in the tools of whatever machine this is."""
import lzma
import shutil

import harness
import pytest
import releases

NO_TOOLS = {"PATH": "/nonexistent"}  # neither compiler nor linker
ELF_MACHINE, ARM64 = slice(18, 20), (183).to_bytes(2, "little")


def modser(*words, env):
    said = harness.run(harness.BIN / "modser", *words, env=harness.environment() | env)
    assert said.status == 0, said
    return said.out


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "arm64.so"
    path.write_bytes(lzma.decompress((releases.KEPT / "arm64.so.xz").read_bytes()))
    return path


def test_it_is_taken_apart_and_put_together_without_a_compiler(library, tmp_path):
    shown = modser("inspect", library, env=NO_TOOLS)
    assert "aarch64" in shown and "run(a: Tensor([4, 8], float32))" in shown, shown
    modser("unpack", library, "-C", tmp_path / "m", env=NO_TOOLS)
    modser("pack", tmp_path / "m", "-o", tmp_path / "again.so", env=NO_TOOLS)
    assert (tmp_path / "again.so").read_bytes() == library.read_bytes()


def test_its_weights_move_without_a_compiler(library, tmp_path):
    modser("unpack", library, "-C", tmp_path / "m", env=NO_TOOLS)
    params, slim = tmp_path / "w.params", tmp_path / "slim.so"
    modser("pack", tmp_path / "m", "--split-params", params, "-o", slim, env=NO_TOOLS)
    assert slim.read_bytes()[ELF_MACHINE] == ARM64
    assert "p0: Tensor([4, 8], float32)" in modser("inspect", slim, env=NO_TOOLS)
    assert "p0" in modser("inspect", params, env=NO_TOOLS)


def test_an_archive_becomes_a_library_for_it(tmp_path):
    compiler = "aarch64-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    archive = next(a for a in releases.kept() if repr(a) == "0.9-mlf2_c_bool")
    library = tmp_path / "net.so"
    modser("convert", archive.lib(), "-o", library, env={"CC": compiler})
    assert library.read_bytes()[ELF_MACHINE] == ARM64
    assert "aarch64" in modser("inspect", library, env=NO_TOOLS)
