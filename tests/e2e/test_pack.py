"""Libraries packed by modser, loaded and run by TVM itself: unpacked and put back, grown beyond
the room of their blob, linked anew from objects and from C sources.
"""
import json
import pathlib
import subprocess
import sys
import tarfile

import harness
import numpy as np
import pytest

# In a process of its own: a library that TVM cannot load must not end the tests.
CALL = """
import sys, numpy as np, tvm
from tvm import relax
lib = tvm.runtime.load_module(sys.argv[1])
assert len(lib.imports) == int(sys.argv[2]), lib.imports
vm = relax.VirtualMachine(lib, tvm.cpu())
case = np.load(sys.argv[3])
args = [tvm.runtime.tensor(case[f"a{i}"], tvm.cpu()) for i in range(len(case) - 1)]
np.testing.assert_array_equal(vm[sys.argv[4]](*args).numpy(), case["want"])
"""


EXPORT = """
import sys, tvm, models_relax
constant, _, _ = models_relax.bound(models_relax.Net("float32"), ["n", 16], "float32")
tvm.compile(constant, target="llvm").export_library(sys.argv[1])
"""


def modser(*words):
    subprocess.run([harness.BUILD / "bin/modser", *map(str, words)], check=True)


@pytest.fixture
def case(cases, models, tmp_path):
    """A call of a Relax program: its library, the function, the arrays in one file."""
    one = next(c for c in cases if c["library"] == "mlp")
    arrays = {f"a{i}": np.load(models / a["array"]) for i, a in enumerate(one["args"])}
    np.savez(tmp_path / "case.npz", **arrays, want=np.load(models / one["want"][0]["array"]))
    return models / "mlp.so", one["function"], tmp_path / "case.npz"


def expect_python_runs(code, *words):
    """Its assertions hold."""
    said = harness.run(sys.executable, "-c", code, *words)
    assert said.status == 0, said


def expect_tvm_runs(library, n_imports, case):
    expect_python_runs(CALL, library, n_imports, case[2], case[1])


@pytest.fixture
def unpacked(case, tmp_path):
    modser("unpack", case[0], "-C", tmp_path / "parts")
    return tmp_path / "parts"


def edit(parts, change):
    manifest = json.loads((parts / "manifest.json").read_text())
    change(manifest)
    (parts / "manifest.json").write_text(json.dumps(manifest))


def import_twice(manifest):
    """Give the root a second import, its own program: the blob outgrows its symbol."""
    root = manifest["modules"][0]
    again = {k: v for k, v in root.items() if k != "imports"}
    root["imports"].append(len(manifest["modules"]))
    manifest["modules"].append(again | {"imports": []})


def test_what_was_unpacked_packs_to_the_same_library(case, unpacked, tmp_path):
    modser("pack", unpacked, "-o", tmp_path / "new.so")
    assert (tmp_path / "new.so").read_bytes() == case[0].read_bytes()


def test_tvm_runs_a_library_that_grew(case, unpacked, tmp_path):
    edit(unpacked, import_twice)
    modser("pack", unpacked, "-o", tmp_path / "new.so")
    assert len((tmp_path / "new.so").read_bytes()) > len(case[0].read_bytes())
    expect_tvm_runs(tmp_path / "new.so", 2, case)


def test_a_library_that_grew_twice_keeps_one_segment_more(case, unpacked, tmp_path):
    edit(unpacked, import_twice)
    modser("pack", unpacked, "-o", tmp_path / "once.so")
    modser("unpack", tmp_path / "once.so", "-C", tmp_path / "again")
    edit(tmp_path / "again", import_twice)
    modser("pack", tmp_path / "again", "-o", tmp_path / "twice.so")
    expect_tvm_runs(tmp_path / "twice.so", 3, case)
    assert count_headers(tmp_path / "twice.so") == count_headers(tmp_path / "once.so")
    assert count_headers(tmp_path / "once.so") == count_headers(case[0]) + 1


def count_headers(path):
    return int.from_bytes(path.read_bytes()[56:58], "little")  # e_phnum


def test_modserd_loads_a_library_that_grew(case, unpacked, tmp_path, daemon):
    edit(unpacked, import_twice)
    modser("pack", unpacked, "-o", tmp_path / "new.so")
    daemon.load("grown", tmp_path / "new.so")
    assert case[1] in daemon.ok("funcs", "grown").out
    assert "module 2 (relax.VMExecutable)" in daemon.ok("show", "grown").out
    daemon.ok("unload", "grown")


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """The host code of the same model as TVM exports it for linking, without its blob."""
    folder = tmp_path_factory.mktemp("objects")
    subprocess.run([sys.executable, "-c", EXPORT, folder / "mlp.tar"],
                   check=True, timeout=harness.PATIENCE, cwd=pathlib.Path(__file__).parent)
    with tarfile.open(folder / "mlp.tar") as tar:
        names = [n for n in tar.getnames() if n.endswith(".o") and "devc" not in n]
        for name in names:
            (folder / name).write_bytes(tar.extractfile(name).read())
    return [folder / name for name in names]


def test_tvm_runs_a_library_that_modser_linked(case, unpacked, objects, tmp_path):
    modser("pack", unpacked, *objects, "-o", tmp_path / "new.so")
    expect_tvm_runs(tmp_path / "new.so", 1, case)


@pytest.mark.parametrize("form", ["devc.c", "devc.o"])
def test_tvm_runs_a_library_linked_with_a_packed_blob(case, unpacked, objects, tmp_path, form):
    modser("pack", unpacked, "-o", tmp_path / form)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "new.so", *objects,
                    tmp_path / form], check=True)
    expect_tvm_runs(tmp_path / "new.so", 1, case)


def test_modserd_and_tvm_link_an_archive_that_was_packed(case, unpacked, objects, tmp_path, daemon):
    modser("pack", unpacked, *objects, "-o", tmp_path / "new.tar")
    daemon.load("archived", tmp_path / "new.tar")
    assert case[1] in daemon.ok("funcs", "archived").out
    daemon.ok("unload", "archived")
    expect_tvm_runs(tmp_path / "new.tar", 1, case)


C_FUNCTION = """
#include <stdint.h>
struct any { int32_t type; uint32_t zero; int64_t i; };
void *__tvm_ffi__library_ctx;
int __tvm_ffi_add(void *self, const struct any *args, int32_t n, struct any *ret)
{
\t(void)self; (void)n;
\tret->type = 1; /* int */
\tret->i = args[0].i + args[1].i;
\treturn 0;
}
"""

ADD = """
import sys, tvm
lib = tvm.runtime.load_module(sys.argv[1])
assert lib["add"](40, 2) == 42
assert [m.kind for m in lib.imports] == ["relax.VMExecutable"], lib.imports
"""


def test_tvm_runs_a_c_function_packed_with_a_module(unpacked, tmp_path):
    image = json.loads((unpacked / "manifest.json").read_text())["modules"][0]["image"]
    (tmp_path / "add.c").write_text(C_FUNCTION)
    manifest = {"tvm": "0.22", "objects": ["add.c"], "modules": [
        {"kind": "_lib", "imports": [1]},
        {"kind": "relax.VMExecutable", "image": f"parts/{image}"}]}
    (tmp_path / "made.json").write_text(json.dumps(manifest))
    modser("pack", tmp_path / "made.json", "-o", tmp_path / "made.so")
    expect_python_runs(ADD, tmp_path / "made.so")


def test_the_example_builds_a_library_of_both_modules(tmp_path):
    subprocess.run([harness.BUILD / "bin/pack_library", tmp_path / "made.so"], check=True)
    made = json.loads(subprocess.run([harness.BUILD / "bin/modser", "--json", "inspect",
                                      tmp_path / "made.so"], capture_output=True).stdout)
    assert made["functions"] == ["answer"]
    assert [m["kind"] for m in made["modules"]] == ["_lib", "opencl"]


@pytest.mark.parametrize("padding, segments", [(0, 0), (100000, 1)])
def test_an_edited_kernel_runs(daemon, fixtures, tmp_path, padding, segments):
    """In place where it fits, in a segment of its own where it does not."""
    folder = fixtures / "tvm-0.8/opencl_vecadd"
    library = folder / "opencl_vecadd.so"
    if not library.exists() or "opencl:0" not in daemon.ok("devices").out:
        pytest.skip("no OpenCL device, or no library of TVM 0.8")
    modser("unpack", library, "-C", tmp_path / "parts")
    (code,) = (tmp_path / "parts").glob("*.cl")
    text = code.read_text()
    assert "] + B[" in text
    code.write_text(text.replace("] + B[", "] - B[") + "\n" * padding)
    modser("pack", tmp_path / "parts", "-o", tmp_path / "new.so")
    assert count_headers(tmp_path / "new.so") == count_headers(library) + segments
    daemon.load(f"edited{padding}", tmp_path / "new.so")
    a, b = (folder / f"vecadd_{x}.npy" for x in "ab")
    n = len(np.load(a))
    daemon.ok("call", f"edited{padding}:vecadd", f"@{a}", f"@{b}", f"out:float32[{n}]",
              "-o", tmp_path / "c.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.load(a) - np.load(b))
