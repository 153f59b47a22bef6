"""Global functions of a session of TVM's RPC, beside those of TVM's own server."""
import os
import signal
import subprocess
import sys
import tarfile

import numpy as np
import pytest

from test_rpc_session import array_on, libraries, remote, start  # noqa: F401

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
rpc = pytest.importorskip("tvm.rpc", reason="this TVM has no RPC client")


@pytest.fixture
def theirs():
    """A session of TVM's server."""
    code = ("from tvm.rpc.server import Server; "
            "print(Server('127.0.0.1', port=19090, port_end=19990, silent=True).port, flush=True); "
            "input()")
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              start_new_session=True)
    try:
        yield rpc.connect("127.0.0.1", int(server.stdout.readline()))
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.communicate()


def load(remote, path):
    remote.upload(str(path))
    return remote.load_module(path.name)


def answers_of(remote, libraries):
    """The answers of the functions on modules, for a library and for a Relax model."""
    call = remote.get_function
    add, model = (load(remote, libraries / name) for name in ("add.so", "mlp.so"))
    told = []

    def look(step, module):
        told.append((step, call("ffi.ModuleGetKind")(module)))
        for name in ("add", "vm_load_executable", "multiply", "no_such_function", "default"):
            for with_imports in (True, False):
                has = call("ffi.ModuleImplementsFunction")(module, name, with_imports)
                found = call("ffi.ModuleGetFunction")(module, name, with_imports)
                told.append((step, name, with_imports, has, found is not None))

    look("library", add)
    look("model", model)
    told.append(call("ffi.ModuleImportModule")(add, model))
    look("library with a model", add)
    told.append(call("ffi.ModuleClearImports")(add))
    look("library without it", add)
    again = call("ffi.ModuleLoadFromFile")(call("tvm.rpc.server.workpath")("add.so"))
    look("library again", again)
    return told


def test_modules_tell_what_they_tell_in_tvms_server(remote, theirs, libraries):
    assert answers_of(remote, libraries) == answers_of(theirs, libraries)


def test_imported_functions_are_called(remote, libraries):
    model, add = (load(remote, libraries / name) for name in ("mlp.so", "add.so"))
    add.import_module(model)
    machine = add["vm_load_executable"]()
    machine["vm_initialization"](1, 0, 2)
    x = array_on(remote, np.ones((4, 16), "float32"))
    assert machine["main"](x).numpy().shape == (4, 10)
    assert remote.get_function("ffi.ModuleGetKind")(machine) == "relax.VirtualMachine"


def linked(remote, folder, name):
    remote.upload(str(folder / name))
    return bytes(remote.download_linked_module(name))


def test_downloads_what_was_linked(remote, theirs, libraries, tmp_path):
    add = (libraries / "add.so").read_bytes()
    assert linked(remote, libraries, "add.so") == linked(theirs, libraries, "add.so") == add
    (tmp_path / "f.txt").write_text("no object")
    for session in (remote, theirs):
        with pytest.raises(Exception, match="Do not know how to link f.txt"):
            linked(session, tmp_path, "f.txt")


def test_a_linked_archive_runs_here(remote, libraries, tmp_path):
    from tvm import te

    a, b = (te.placeholder((16,), name=name) for name in "ab")
    c = te.compute((16,), lambda i: a[i] * b[i], name="c")
    times = te.create_prim_func([a, b, c]).with_attr("global_symbol", "times")
    tvm.compile(tvm.IRModule({"times": times}), target="llvm").export_library(
        str(tmp_path / "times.tar"))
    (tmp_path / "times.so").write_bytes(linked(remote, tmp_path, "times.tar"))
    x = tvm.runtime.tensor(np.full(16, 3, "float32"))
    tvm.runtime.load_module(str(tmp_path / "times.so"))["times"](x, x, x)
    np.testing.assert_array_equal(x.numpy(), np.full(16, 9, "float32"))


def test_raises_an_error(remote):
    fail = remote.get_function("testing.test_raise_error")
    with pytest.raises(RuntimeError, match="it failed"):
        fail("ValueError", "it failed")
    assert remote.get_function("testing.echo")(1) == 1


def test_lists_files(remote):
    for name in ("a", "folder/b", "folder/c", "folder/deep/d", "folders"):
        remote.upload(bytearray(b"x"), name)
    assert remote.listdir("") == remote.listdir(".") == "a,folder,folders,"
    assert remote.listdir("folder") == "b,c,deep,"
    assert remote.listdir("folder/deep") == "d,"
    assert remote.listdir("a") == remote.listdir("none") == ""
    for bad in ("/", "..", "folder/..", "/tmp", "folder//deep", "folder/"):
        with pytest.raises(Exception, match="name of a file of this session"):
            remote.listdir(bad)
        with pytest.raises(Exception, match="name of a file of this session"):
            remote.get_function("tvm.rpc.server.workpath")(bad)


def test_configures_its_threads(start):
    remote = rpc.connect("127.0.0.1", start[0]("threads=3"))
    configure, count = (remote.get_function(f"runtime.{name}")
                        for name in ("config_threadpool", "NumThreads"))
    assert count() == 3
    for wanted, expected in ((1, 1), (2, 2), (0, 3), (100, 3)):
        configure(1, wanted)
        assert count() == expected
    with pytest.raises(Exception, match="number of threads"):
        configure(1, -1)


@pytest.mark.parametrize("name", ["tvm.graph_executor.create", "tvm.graph_runtime.create"])
def test_makes_an_executor_of_a_graph_and_a_library(remote, fixtures, name):
    """Without a factory in the library, as clients up to 0.19 do."""
    folder = fixtures / "tvm-0.8/mlp_llvm"
    if not folder.exists():
        pytest.skip(f"fixture {folder.name} is not here")
    library = load(remote, folder / "mlp_llvm_nofactory.so")
    create = remote.get_function(name)
    graph = create((folder / "graph.json").read_text(), library, 1, 0)
    graph["load_params"](bytearray((folder / "model.params").read_bytes()))
    given = array_on(remote, np.load(folder / "in_data.npy"))
    graph["set_input"]("data", given)
    graph["run"]()
    expected = np.load(folder / "out_0.npy")
    np.testing.assert_allclose(graph["get_output"](0).numpy(), expected, rtol=1e-5, atol=1e-6)
    out = array_on(remote, np.zeros_like(expected))
    graph["set_output_zero_copy"](0, out)
    graph["run"]()
    np.testing.assert_array_equal(out.numpy(), graph["get_output"](0).numpy())
    for bad in ("{", "[]", ""):
        with pytest.raises(Exception, match="graph"):
            create(bad, library, 1, 0)
    with pytest.raises(Exception, match="graph"):
        create("{}", remote.system_lib(), 1, 0)
    assert remote.get_function("testing.echo")(1) == 1


def test_an_executor_lives_as_long_as_what_it_gave(remote, libraries):
    from tvm import relax

    machine = relax.VirtualMachine(load(remote, libraries / "mlp.so"), remote.cpu(0))
    main = machine["main"]
    x = array_on(remote, np.ones((4, 16), "float32"))
    first = main(x)
    expected = first.numpy()
    del machine
    np.testing.assert_array_equal(main(x).numpy(), expected)
    del main
    np.testing.assert_array_equal(first.numpy(), expected)


HELPED = """
#include <stdint.h>
typedef struct { int32_t type; uint32_t pad; union { int64_t i; double f; } as; } any;
int __tvm_ffi_divide(void *self, const any *args, int32_t n, any *ret)
{
    const __int128 a = (__int128)args[0].as.i << 64;
    *ret = (any){.type = 1, .as.i = (int64_t)(a / (__int128)args[1].as.i)};
    return 0;
}
"""


@pytest.mark.parametrize("form", ["o", "tar"])
def test_links_an_object_that_needs_its_compilers_functions(remote, tmp_path, form):
    """ld alone does not add them."""
    (tmp_path / "helped.c").write_text(HELPED)
    made = tmp_path / "helped.o"
    subprocess.run(["cc", "-O1", "-fPIC", "-c", "-o", made, tmp_path / "helped.c"], check=True)
    names = subprocess.run(["nm", "-u", made], check=True, capture_output=True, text=True).stdout
    if "__divti3" not in names:
        pytest.skip("this compiler divides 128 bits by itself")
    if form == "tar":
        with tarfile.open(tmp_path / "helped.tar", "w", format=tarfile.USTAR_FORMAT) as to:
            to.add(made, "helped.o")
    divide = load(remote, tmp_path / f"helped.{form}")["divide"]
    for a, b in ((7, 3), (-7, 1 << 40), (1 << 62, -5)):
        expected = int((abs(a) << 64) // abs(b)) * (1 if a * b > 0 else -1)
        assert divide(a, b) == (expected + 2**63) % 2**64 - 2**63
