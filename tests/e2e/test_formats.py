"""What TVM loads by suffix besides libraries: packages of tvmc, code that was not linked, parts alone."""
import gzip
import io
import json
import subprocess
import tarfile

import harness
import numpy as np
import pytest
from wire import Failure, Wire

ADD = """
#include "tvm/ffi/extra/c_env_api.h"
#include "tvm/runtime/base.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/ffi/c_api.h"
#include "twice.h"
void* __tvm_ffi__library_ctx = NULL;
TVM_DLL int32_t __tvm_ffi_twice(void* self, void* args, int32_t n, void* result);
TVM_DLL int32_t __tvm_ffi_twice(void* self, void* args, int32_t n, void* result) {
  TVMFFIAny* all = (TVMFFIAny*)args;
  if (n != 1) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "one number");
    return -1;
  }
  ((TVMFFIAny*)result)->type_index = kTVMFFIInt;
  ((TVMFFIAny*)result)->v_int64 = TWICE * all[0].v_int64;
  return 0;
}
"""


def archive(path, files, compress=False):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    data = packed.getvalue()
    path.write_bytes(gzip.compress(data) if compress else data)
    return path


def inspect(*words):
    return harness.run(harness.BIN / "modser", "inspect", *words)


@pytest.mark.parametrize("vector, is_one", [("float4", True), ("int32_t3", True), ("floats", False),
                                            ("int32_tt", False)])
def test_vectors_of_the_c_target_are_told_from_other_errors(tmp_path, vector, is_one):
    """The C target writes what OpenCL knows; TVM's own export fails there, too."""
    source = tmp_path / "lib0.c"
    source.write_text(f"{vector} f(void);\n")
    said = harness.run(harness.BIN / "modser", "convert", source, "-o", tmp_path / "lib.so")
    assert said.status == 8 and f"{vector}" in said.err, said
    assert ("--pass-config tir.disable_vectorize=1" in said.err) == is_one, said


@pytest.fixture
def sources():
    return {"lib0.c": ADD.encode(), "twice.h": b"#define TWICE 2\n"}


@pytest.fixture
def package(fixtures, tmp_path):
    """A classic package of tvmc, of a model of 0.8: its library has no factory."""
    folder = fixtures / "tvm-0.8" / "mlp_llvm"
    files = {
        "mod.so": (folder / "mlp_llvm_nofactory.so").read_bytes(),
        "mod.json": (folder / "graph.json").read_bytes(),
        "mod.params": (folder / "model.params").read_bytes(),
    }
    return archive(tmp_path / "module.tar", files), folder


@pytest.mark.parametrize("compress", [False, True])
def test_c_sources_of_tvm_ffi_are_compiled(own_daemon, sources, tmp_path, compress):
    daemon = own_daemon()
    daemon.load("c", archive(tmp_path / "c.tar", sources, compress))
    assert daemon.ok("call", "c:twice", "21").out == "42\n"


def test_objects_are_linked(own_daemon, tmp_path):
    (tmp_path / "f.c").write_text(
        "struct any { int type, zero; long long v; };\n"
        "int __tvm_ffi_f(void *self, struct any *args, int n, struct any *ret)\n"
        "{ (void)self, (void)args, (void)n; ret->type = 1; ret->v = 7; return 0; }\n"
    )
    subprocess.run(["cc", "-fPIC", "-c", "f.c"], cwd=tmp_path, check=True)
    daemon = own_daemon()
    daemon.load("one", tmp_path / "f.o")
    daemon.load("many", archive(tmp_path / "f.tar", {"lib0.o": (tmp_path / "f.o").read_bytes()}))
    for name in ("one", "many"):
        assert daemon.ok("call", f"{name}:f").out == "7\n"


def test_convert_makes_the_library(own_daemon, sources, tmp_path):
    said = harness.run(
        harness.BIN / "modser", "convert", archive(tmp_path / "c.tar", sources), "-o", tmp_path / "c.so"
    )
    assert said.status == 0, said
    daemon = own_daemon()
    daemon.load("c", tmp_path / "c.so")
    assert daemon.ok("call", "c:twice", "2").out == "4\n"


def test_a_package_is_served_with_its_graph_and_parameters(own_daemon, package, tmp_path):
    path, folder = package
    daemon = own_daemon()
    daemon.load("net", path)
    daemon.ok("call", "net:run", f"@{folder / 'in_data.npy'}", "-o", tmp_path / "out.npy")
    assert np.allclose(np.load(tmp_path / "out.npy"), np.load(folder / "out_0.npy"), atol=1e-5)


def test_a_package_is_shown_file_by_file(package):
    path, _ = package
    said = inspect(path)
    assert said.status == 0, said
    for name in ("==> mod.so <==", "==> mod.json <==", "==> mod.params <=="):
        assert name in said.out
    assert sorted(json.loads(inspect("--json", path).out)) == ["mod.json", "mod.params", "mod.so"]


def test_a_graph_alone_is_shown(package):
    _, folder = package
    said = inspect(folder / "graph.json")
    assert said.status == 0 and "run(data: Tensor([2, 16], float32)" in said.out
    functions = json.loads(inspect("--json", folder / "graph.json").out)["functions"]
    assert functions[0]["inputs"][0]["shape"] == [2, 16]


def test_parameters_alone_are_shown(package):
    _, folder = package
    said = inspect(folder / "model.params")
    assert said.status == 0 and said.out.startswith("parameters: 4\np0  float32[4, 16, 8]\n")
    assert json.loads(inspect("--json", folder / "model.params").out)[1]["shape"] == [1, 32]


def test_an_archive_of_other_things_is_refused(own_daemon, tmp_path):
    daemon = own_daemon()
    said = daemon.modser("load", "notes", archive(tmp_path / "notes.tar", {"notes.txt": b"hello"}))
    assert said.status == 8 and "without a library, objects" in said.err


def test_sources_of_other_languages_are_refused_by_name(own_daemon, sources, tmp_path):
    path = archive(tmp_path / "c.tar", {**sources, "lib1.cc": b"int x;"})
    said = own_daemon().modser("load", "other", path)
    assert said.status == 8 and "lib1.cc: only objects" in said.err


def test_the_daemon_refuses_what_it_cannot_link_with_what_can(own_daemon, sources, tmp_path):
    package = archive(tmp_path / "p.tar", {"mod.so": b"x", "mod.json": b"{}"})
    with Wire(own_daemon().host) as wire:
        with pytest.raises(Failure, match="a package of tvmc"):
            wire.load("net", package.read_bytes())
        with pytest.raises(Failure, match="modser convert NAME.tar"):
            wire.load("c", archive(tmp_path / "c.tar", sources).read_bytes())


def test_sources_and_objects_by_themselves_become_a_library(own_daemon, sources, tmp_path):
    for name, data in sources.items():
        (tmp_path / name).write_bytes(data)
    words = [tmp_path / name for name in sources]
    said = harness.run(harness.BIN / "modser", "convert", *words, "-o", tmp_path / "both.so")
    assert said.status == 0, said
    (tmp_path / "one.c").write_bytes(ADD.replace("TWICE", "3").replace('#include "twice.h"', "").encode())
    daemon = own_daemon()
    daemon.load("both", tmp_path / "both.so")
    daemon.load("one", tmp_path / "one.c")
    assert daemon.ok("call", "both:twice", "5").out == "10\n"
    assert daemon.ok("call", "one:twice", "5").out == "15\n"


def test_pack_compiles_what_tvm_generates(own_daemon, tmp_path):
    source = ADD.replace("TWICE", "(int64_t)floor(4.5)").replace('"twice.h"', "<math.h>")
    (tmp_path / "code.c").write_text(source)
    manifest = {"tvm": "0.22", "modules": [{"kind": "_lib"}]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    words = ["pack", tmp_path / "manifest.json", tmp_path / "code.c", "-o", tmp_path / "code.so"]
    said = harness.run(harness.BIN / "modser", *words)
    assert said.status == 0, said
    daemon = own_daemon()
    daemon.load("code", tmp_path / "code.so")
    assert daemon.ok("call", "code:twice", "5").out == "20\n"


WITH_ARCHIVE = ADD.replace("TWICE", "(int64_t)(archive_version_number() > 0)").replace(
    '#include "twice.h"', "int archive_version_number(void);")


def test_code_is_linked_with_libraries_that_are_named(own_daemon, tmp_path):
    """As `cc` takes them: by convert, by load and by pack."""
    (tmp_path / "z.c").write_text(WITH_ARCHIVE)
    manifest = {"tvm": "0.22", "modules": [{"kind": "_lib"}]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    daemon = own_daemon()
    assert "archive_version_number" in daemon.modser("load", "z", tmp_path / "z.c").err
    daemon.load("z", tmp_path / "z.c", "-larchive")
    for name, words in (("a", ["convert", tmp_path / "z.c", "-l", "archive", "-lm"]),
                        ("b", ["pack", tmp_path / "manifest.json", tmp_path / "z.c", "--library", "archive"])):
        said = harness.run(harness.BIN / "modser", *words, "-o", tmp_path / f"{name}.so")
        assert said.status == 0, said
        daemon.load(name, tmp_path / f"{name}.so")
    for name in ("z", "a", "b"):
        assert daemon.ok("call", f"{name}:twice", "5").out == "5\n"


@pytest.mark.parametrize("words, text", [
    (["convert", "z.c", "-l", "../z", "-o", "z.so"], "is not a library name"),
    (["convert", "z.c", "-l", "", "-o", "z.so"], "is not a library name"),
    (["convert", "z.c", "-larchive", "-o", "z.tar"], "-l works only for a library (.so)"),
    (["pack", "manifest.json", "z.c", "-larchive", "-o", "z.o"], "-l works only for a library (.so)"),
    (["call", "-larchive", "m:f"], "call does not have the option -larchive"),
    (["--long", "convert", "z.c"], "convert does not have the option --long"),
])
def test_libraries_are_named_where_something_is_linked(tmp_path, words, text):
    (tmp_path / "z.c").write_text(WITH_ARCHIVE)
    (tmp_path / "manifest.json").write_text('{"tvm": "0.22", "modules": [{"kind": "_lib"}]}')
    said = harness.run(harness.BIN / "modser", *words, cwd=tmp_path)
    assert said.status == 2 and text in said.err, said
    assert not (tmp_path / "z.so").exists() and not (tmp_path / "z.tar").exists()


def test_convert_puts_objects_and_sources_into_an_archive(own_daemon, tmp_path):
    (tmp_path / "a.c").write_text(ADD.replace("TWICE", "2").replace('#include "twice.h"', ""))
    (tmp_path / "b.c").write_text("int b;\n")
    subprocess.run(["cc", "-c", "-fPIC", "-o", tmp_path / "b.o", tmp_path / "b.c"], check=True)
    words = ["convert", tmp_path / "a.c", tmp_path / "b.o", "-o", tmp_path / "both.tar"]
    said = harness.run(harness.BIN / "modser", *words)
    assert said.status == 0, said
    with tarfile.open(tmp_path / "both.tar") as tar:
        assert tar.getnames() == ["a.c", "b.o"]
    daemon = own_daemon()
    daemon.load("both", tmp_path / "both.tar")
    assert daemon.ok("call", "both:twice", "5").out == "10\n"
    (tmp_path / "b.o").write_bytes((tmp_path / "b.o").read_bytes()[:-100])
    said = harness.run(harness.BIN / "modser", *words)
    assert said.status == 8 and "b.o: an object file that is damaged or cut off" in said.err
