"""Functions that C++ code exports by the macros of tvm-ffi: their types, their texts, their errors.

The library is built here with the headers of apache-tvm-ffi, which TVM itself is asked about, too.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import harness
import numpy as np
import pytest
from wire import Failure, Wire, out

SOURCE = r"""
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>
using namespace tvm::ffi;
static int64_t Add(int64_t a, int64_t b) { return a + b; }
static void Scale(TensorView x, double k, TensorView y) {
  for (int64_t i = 0; i < x.numel(); i++)
    static_cast<float*>(y.data_ptr())[i] = static_cast<float*>(x.data_ptr())[i] * k;
}
static String Greet(String who, Optional<int64_t> n, Array<int64_t> l) {
  return String("a greeting of some length, dear ") + who;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(add, "Adds two numbers.\nBoth are integers.");
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, Scale);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, Greet);
"""
ASK_TVM = """
import json, sys, tvm_ffi
module = tvm_ffi.load_module(sys.argv[1])
print(json.dumps([module.get_function_doc("add"), module.get_function_metadata("add")]))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    ffi = pytest.importorskip("tvm_ffi", reason="no apache-tvm-ffi: no headers to build with")
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler: no library is built")
    folder = tmp_path_factory.mktemp("typed")
    headers = pathlib.Path(ffi.libinfo.find_include_path())
    dlpack = pathlib.Path(ffi.libinfo.find_dlpack_include_path())
    (folder / "typed.cc").write_text(SOURCE)
    words = ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{headers}", f"-I{dlpack}"]
    built = harness.run(*words, folder / "typed.cc", "-o", folder / "typed.so")
    assert built.status == 0, built
    return folder / "typed.so"


@pytest.fixture(scope="module")
def typed(daemon, library):
    daemon.load("typed", library)
    yield daemon
    daemon.ok("unload", "typed")


def functions(daemon):
    return {f["name"]: f for f in json.loads(daemon.ok("--json", "funcs", "typed").out)}


def test_types_are_shown_as_signatures(typed):
    assert {name: f["signature"] for name, f in functions(typed).items()} == {
        "add": "add(int, int) -> int",
        "greet": "greet(str, Optional[int], Array[int]) -> str",
        "scale": "scale(Tensor, float, Tensor)",
    }


def test_docs_are_those_that_tvm_gives(typed, library):
    said = subprocess.run([sys.executable, "-c", ASK_TVM, library], capture_output=True, check=True)
    doc, metadata = json.loads(said.stdout)
    assert functions(typed)["add"]["doc"] == doc and "type_schema" in metadata


def test_funcs_prints_docs_when_asked(typed):
    row = next(l for l in typed.ok("funcs", "--doc", "typed").out.splitlines() if l.startswith("add"))
    assert row.split("\t")[2] == "Adds two numbers.\\nBoth are integers."
    assert "Adds two" not in typed.ok("funcs", "typed").out


def test_values_go_in_and_come_out(typed):
    x = np.arange(4, dtype="float32")
    with Wire(typed.host) as wire:
        assert wire.call("typed:add", 40, 2)[1] == 42
        assert wire.call("typed:greet", "you", None, [1, 2])[1] == "a greeting of some length, dear you"
        (y,), _ = wire.call("typed:scale", x, 2.5, out("f4", 4))
    assert (y == x * np.float32(2.5)).all()


def test_its_own_errors_are_told_whole(typed):
    with Wire(typed.host) as wire:
        with pytest.raises(Failure, match="TypeError: .*Array<int>"):
            wire.call("typed:greet", "you", None, ["a"])
    said = typed.modser("call", "typed:add", "1", "str:x")
    assert said.status == 1 and "expected an int, got str" in said.err
