"""Programs of virtual machines that TVM saved without their library: inspected, and loaded beside it."""
import json
import re
import shlex
import shutil
import tarfile

import harness
import numpy as np
import pytest
import releases

WORDS = {
    "relay-0.16.ro": ("Relay VM program", "alloc_tensor"),
    "relay-0.19.ro": ("Relay VM program", "alloc_tensor"),
    "relax-0.16.ro": ("Relax VM program", "vm.builtin.alloc_tensor"),
    "relax-0.19.ro": ("Relax VM program", "vm.builtin.alloc_tensor"),
    "relax-0.21.ro": ("Relax VM program", "vm.builtin.alloc_tensor"),
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
        assert said.status == 8 and "BAD_ARTIFACT" in said.err, said


def part(programs, name, ending):
    return programs / f"{name.removesuffix('.ro')}.{ending}"


def expect_answers(daemon, programs, name, folder):
    """What TVM computed, by the program and not by the library alone."""
    y = folder / "y.npy"
    daemon.ok("call", "program:main", f"@{part(programs, name, 'in.npy')}", "-o", y)
    assert np.array_equal(np.load(y), np.load(part(programs, name, "out.npy")))


@pytest.mark.parametrize("name", WORDS)
def test_one_alone_is_not_loaded_and_the_advice_loads_it(daemon, programs, folder, name):
    said = daemon.modser("load", "program", programs / name)
    assert said.status == 8, said
    advice = re.search(r"modser (load NAME LIBRARY\.so --graph FILE)", said.err)[1]
    words = {"NAME": "program", "LIBRARY.so": part(programs, name, "so"), "FILE": programs / name}
    daemon.ok(*[words.get(word, word) for word in shlex.split(advice)], "--replace")
    expect_answers(daemon, programs, name, folder)


@pytest.mark.parametrize("name", WORDS)
def test_one_in_a_package_beside_its_library_is_loaded(daemon, programs, folder, name):
    package = folder / "package.tar"
    with tarfile.open(package, "w") as tar:
        tar.add(part(programs, name, "so"), "mod.so")
        tar.add(programs / name, "mod.ro")
    listed = inspect(package)
    assert listed.status == 0 and "==> mod.ro <==" in listed.out, listed
    daemon.ok("load", "--replace", "program", package)
    expect_answers(daemon, programs, name, folder)


def test_a_daemon_loads_one_at_its_start_and_keeps_one(own_daemon, programs, folder):
    name = "relay-0.19.ro"
    start = f"program={part(programs, name, 'so')},graph={programs / name}"
    daemon = own_daemon("--load", start, "--store", folder / "store")
    daemon.ok("wait", "program")
    expect_answers(daemon, programs, name, folder)
    daemon.ok("load", "--replace", "--keep", "program", part(programs, name, "so"), "--graph",
              programs / name)
    expect_answers(daemon, programs, name, folder)


@pytest.mark.parametrize("name, library, why", [
    ("relay-0.19.ro", "relax-0.19", "does this library belong to the other given files?"),
    ("relax-0.27.ro", "relay-0.19", "the library is of TVM 0.6-0.20 (classic)"),
    ("relax-0.19.ro", "relax-0.27", "the library is of TVM 0.22-0.27 (tvm-ffi)"),
])
def test_one_beside_the_library_of_another_is_refused_with_the_reason(
        daemon, programs, name, library, why):
    said = daemon.modser("load", "other", programs / f"{library}.so", "--graph", programs / name)
    assert said.status == 8 and why in said.err, said


def test_one_that_is_cut_beside_its_library_is_a_bad_artifact(daemon, programs, folder):
    cut = folder / "cut.ro"
    shutil.copy(programs / "relax-0.27.ro", cut)
    with cut.open("r+b") as file:
        file.truncate(900)
    said = daemon.modser("load", "cut", programs / "relax-0.27.so", "--graph", cut)
    assert said.status == 8 and "BAD_ARTIFACT" in said.err, said
