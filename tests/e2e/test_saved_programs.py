"""Programs of virtual machines that TVM saved without their library, inspected."""
import json
import tarfile

import harness
import pytest
import releases

WORDS = {
    "relay-0.16.ro": ("Relay VM program", "alloc_tensor"),
    "relax-0.16.ro": ("Relax VM program", "vm.builtin.alloc_tensor"),
    "relax-0.27.ro": ("Relax VM program", "vm.builtin.alloc_tensor"),
}


def inspect(*words):
    return harness.run(harness.BIN / "modser", "inspect", *words, env=harness.environment())


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    with tarfile.open(releases.KEPT / "programs.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return folder / "programs"


@pytest.mark.parametrize("name", WORDS)
def test_it_says_what_it_is_and_lists_its_code(programs, name):
    title, instruction = WORDS[name]
    said = inspect(programs / name)
    assert said.status == 0 and said.out.startswith(title), said
    assert "function: main(x" in said.out, said
    listing = inspect("--vm", programs / name)
    assert listing.status == 0 and instruction in listing.out, listing
    facts = json.loads(inspect("--json", programs / name).out)
    assert [f["name"] for f in facts["functions"]] == ["main"]


@pytest.mark.parametrize("name", WORDS)
def test_one_that_is_cut_is_a_bad_artifact(programs, tmp_path, name):
    whole = (programs / name).read_bytes()
    cut = tmp_path / "cut.ro"
    for n in (len(whole) // 3, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:n])
        said = inspect(cut)
        assert said.status == 6 and "BAD_ARTIFACT" in said.err, said


@pytest.mark.parametrize("name", WORDS)
def test_one_is_not_loaded_and_is_told_how_it_is_exported(programs, tmp_path, name):
    """Alone or in a package beside a library, without which its functions would silently lack."""
    package = tmp_path / "package.tar"
    with tarfile.open(package, "w") as tar:
        tar.add(harness.ZOO / "results.so", "mod.so")
        tar.add(programs / name, "mod.ro")
    for file in (programs / name, package):
        said = harness.run(harness.BIN / "modser", "load", "program", file)
        assert said.status == 6 and 'EXECUTABLE.export_library("NAME.so")' in said.err, said
