"""What pack makes with a compiler: libraries for another machine, system libraries, objects.
TVM and modserd find what is inside.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile

import harness
import numpy as np
import pytest

EXPORT = """
import sys, tvm
from tvm.script import ir as I, tirx as T
@I.ir_module(s_tir=True)
class M:
    @T.prim_func(s_tir=True)
    def addone(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"global_symbol": "addone", "tirx.noalias": True})
        for i in range(16):
            B[i] = A[i] + T.float32(1)
module = M.with_attr("system_lib_prefix", sys.argv[2])
tvm.compile(module, target="llvm").export_library(sys.argv[1])
"""
# The library registers itself with TVM when it is opened, as it would be with a program that it
# is linked into.
SYSTEM_LIB = """
import ctypes, sys, numpy as np, tvm, tvm_ffi
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
lib = tvm_ffi.system_lib(sys.argv[2])
x = np.arange(16, dtype="float32")
y = tvm.runtime.tensor(np.zeros_like(x))
lib["addone"](tvm.runtime.tensor(x), y)
assert (y.numpy() == x + 1).all()
assert [m.kind for m in lib.imports] == ["const_loader"], lib.imports
"""
# A program without anything but libtvm_ffi, into which the library is linked.
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct array { const char *p; size_t n; };
struct any { int32_t type; uint32_t pad; union { int64_t i; const char *s; void *p; } as; };
int TVMFFIFunctionGetGlobal(const struct array *name, void **ret);
int TVMFFIFunctionCall(void *f, struct any *args, int32_t n, struct any *ret);
int main(void)
{
	struct array names[] = {{"ffi.SystemLib", 13}, {"ffi.ModuleGetFunction", 21}};
	struct any prefix = {.type = 8, .as.s = PREFIX}, lib = {0}, found = {0};
	void *f = NULL;
	if (TVMFFIFunctionGetGlobal(&names[0], &f) != 0 ||
	    TVMFFIFunctionCall(f, &prefix, 1, &lib) != 0)
		return 1;
	struct any args[] = {lib, {.type = 8, .as.s = "addone"}, {.type = 2}};
	if (TVMFFIFunctionGetGlobal(&names[1], &f) != 0 ||
	    TVMFFIFunctionCall(f, args, 3, &found) != 0)
		return 2;
	return found.type == 68 ? 0 : 3; /* a function */
}
"""
RUN = """
import sys, tvm, tvm_ffi
@tvm_ffi.register_global_func("ffi.Module.load_from_bytes.opencl", override=True)
def load(data):
    assert b"__kernel void scale" in bytes(data)
    get = tvm_ffi.get_global_func("ffi.Module.load_from_bytes.const_loader")
    return get(bytes(32))
lib = tvm.runtime.load_module(sys.argv[1])
assert lib["answer"]() == 42 and len(lib.imports) == 1
"""
# A module that needs no device and no library: constants, of which there are none.
CONSTANTS = {"kind": "const_loader", "payload": "constants.bin"}


def ok(*words):
    said = harness.run(harness.BIN / "modser", *words)
    assert said.status == 0, said
    return said


def expect_python_runs(code, *words):
    """Its assertions hold."""
    said = harness.run(sys.executable, "-c", code, *words)
    assert said.status == 0, said


def machine_of(path):
    return struct.unpack_from("<H", path.read_bytes(), 18)[0]


def write_tree(folder):
    (folder / "constants.bin").write_bytes(bytes(32))
    path = folder / "tree.json"
    modules = [{"kind": "_lib", "imports": [1]}, CONSTANTS]
    path.write_text(json.dumps({"tvm": "0.22", "modules": modules}))
    return path


@pytest.fixture(scope="module", params=["", "p_"])
def system(request, tmp_path_factory):
    """A prefix, and the objects of a system library with it."""
    folder = tmp_path_factory.mktemp("system")
    (folder / "export.py").write_text(EXPORT)  # TVM reads functions from their file
    subprocess.run([sys.executable, folder / "export.py", folder / "m.tar", request.param],
                   check=True, timeout=600)
    with tarfile.open(folder / "m.tar") as tar:
        names = [n for n in tar.getnames() if n.endswith(".o")]
        tar.extractall(folder, filter="data")
    write_tree(folder)
    return request.param, folder, [folder / n for n in names]


def link(system, out):
    prefix, folder, objects = system
    ok("pack", folder / "tree.json", *objects, "--system-lib", "--symbol-prefix", prefix, "-o", out)
    return out


def test_tvm_finds_a_system_library(system, tmp_path):
    expect_python_runs(SYSTEM_LIB, link(system, tmp_path / "s.so"), system[0])


def test_a_program_that_it_is_linked_into_finds_it(system, tmp_path):
    import tvm_ffi

    prefix, _, objects = system
    ffi = pathlib.Path(tvm_ffi.libinfo.find_libtvm_ffi())
    (tmp_path / "main.c").write_text(PROGRAM)
    bare = tmp_path / "bare.json"  # libtvm_ffi alone has no other kinds of modules
    bare.write_text(json.dumps({"tvm": "0.22", "blob": True, "modules": [{"kind": "_lib"}]}))
    ok("pack", bare, "--system-lib", "--symbol-prefix", prefix, "-o", tmp_path / "devc.o")
    subprocess.run(["cc", f'-DPREFIX="{prefix}"', tmp_path / "main.c", *objects,
                    tmp_path / "devc.o", ffi, f"-Wl,-rpath,{ffi.parent}", "-lm",
                    "-o", tmp_path / "program"], check=True)
    assert subprocess.run([tmp_path / "program"]).returncode == 0


def test_modserd_finds_a_system_library(daemon, system, tmp_path):
    name = f"system{system[0]}"
    daemon.load(name, link(system, tmp_path / "s.so"))
    x = np.arange(16, dtype="float32")
    np.save(tmp_path / "x.npy", x)
    daemon.ok("call", f"{name}:addone", f"@{tmp_path / 'x.npy'}", "out:float32[16]",
              "-o", tmp_path / "y.npy")
    assert (np.load(tmp_path / "y.npy") == x + 1).all()
    assert "const_loader" in daemon.ok("show", name).out


def test_a_system_library_is_unpacked_and_packed_again(system, tmp_path):
    library = link(system, tmp_path / "s.so")
    ok("unpack", library, "-C", tmp_path / "parts")
    ok("pack", tmp_path / "parts", "-o", tmp_path / "again.so")
    assert (tmp_path / "again.so").read_bytes() == library.read_bytes()


HOST_C = "void *__tvm_ffi__library_ctx;\nint __tvm_ffi_f(void);\nint __tvm_ffi_f(void) { return 0; }\n"


@pytest.mark.parametrize("form", ["so", "o"])
def test_a_cross_compiler_makes_it_for_its_machine(tmp_path, form):
    cross = "aarch64-linux-gnu-gcc"
    if shutil.which(cross) is None:
        pytest.skip(f"no {cross} here")
    tree = write_tree(tmp_path)
    (tmp_path / "f.c").write_text(HOST_C)
    ok("pack", tree, tmp_path / "f.c", "--cc", f"{cross} -O2", "-o", tmp_path / f"arm.{form}")
    ok("pack", tree, tmp_path / "f.c", "-o", tmp_path / f"here.{form}")
    assert machine_of(tmp_path / f"arm.{form}") == 183
    if form == "o":
        return
    ok("unpack", tmp_path / "arm.so", "-C", tmp_path / "arm")
    ok("pack", tmp_path / "arm", "-o", tmp_path / "arm.blob")
    ok("pack", tree, "-o", tmp_path / "here.blob")
    assert (tmp_path / "arm.blob").read_bytes() == (tmp_path / "here.blob").read_bytes()


def test_a_cross_built_library_is_edited_here(tmp_path):
    cross = "aarch64-linux-gnu-gcc"
    if shutil.which(cross) is None:
        pytest.skip(f"no {cross} here")
    (tmp_path / "f.c").write_text(HOST_C)
    ok("pack", write_tree(tmp_path), tmp_path / "f.c", "--cc", cross, "-o", tmp_path / "arm.so")
    ok("unpack", tmp_path / "arm.so", "-C", tmp_path / "parts")
    manifest = json.loads((tmp_path / "parts/manifest.json").read_text())
    (tmp_path / "parts/large.bin").write_bytes(bytes(100000))
    large = {"kind": "large", "imports": [], "payload": "large.bin"}
    manifest["modules"][0]["imports"].append(2)
    manifest["modules"].append(large)
    (tmp_path / "parts/manifest.json").write_text(json.dumps(manifest))
    ok("pack", tmp_path / "parts", "-o", tmp_path / "new.so")
    said = subprocess.run(["readelf", "-lW", tmp_path / "new.so"], capture_output=True, text=True)
    aligned = [line.split() for line in said.stdout.splitlines() if line.startswith("  LOAD")]
    for _, offset, address, *_, align in aligned:
        assert (int(offset, 16) - int(address, 16)) % int(align, 16) == 0, said.stdout
    assert "large" in ok("inspect", tmp_path / "new.so").out


def test_an_object_of_objects_is_linked_later(daemon, tmp_path):
    tree = write_tree(tmp_path)
    (tmp_path / "f.c").write_text(HOST_C)
    subprocess.run(["cc", "-c", "-fPIC", "-o", tmp_path / "f.o", tmp_path / "f.c"], check=True)
    ok("pack", tree, tmp_path / "f.o", "-o", tmp_path / "both.o")
    subprocess.run(["cc", "-shared", "-o", tmp_path / "both.so", tmp_path / "both.o"], check=True)
    daemon.load("both", tmp_path / "both.so")
    daemon.ok("call", "both:f")
    assert "const_loader" in daemon.ok("show", "both").out


def test_the_examples_library_runs_in_tvm_and_here(daemon, tmp_path):
    subprocess.run([harness.BIN / "pack_library", tmp_path / "made.so"], check=True)
    expect_python_runs(RUN, tmp_path / "made.so")
    daemon.ok("load", "--device", "cpu", "made", tmp_path / "made.so")
    assert daemon.ok("call", "made:answer").out.strip() == "42"
