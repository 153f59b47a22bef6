"""modserd-rpc serves one session of TVM's RPC to TVM's own, unchanged client.

The fixture stands in for the supervisor: it reads the hello and passes the socket on.
"""
import gc
import gzip
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tarfile
import threading

import numpy as np
import pytest

import harness
from rpc_wire import (CALL, COPY_FROM, EXCEPTION, GET_GLOBAL, MAGIC, RETURN, ask, function, seq,
                      tensor, text)

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
rpc = pytest.importorskip("tvm.rpc", reason="this TVM has no RPC client")

PROGRAM = harness.BIN / "modserd-rpc"
PAGE_BYTES = 4096
# The sandbox refuses a look for leaks.
WORDS = ["sandbox=trusted"] if harness.SANITIZED else []


def serve_one(listener, children, words):
    peer, _ = listener.accept()
    magic, n = struct.unpack("<ii", peer.recv(8, socket.MSG_WAITALL))
    assert magic == MAGIC
    peer.recv(n, socket.MSG_WAITALL)
    answer = b"server:"
    peer.sendall(struct.pack("<ii", MAGIC, len(answer)) + answer)
    peer.setblocking(True)
    page = os.memfd_create("page")
    os.ftruncate(page, PAGE_BYTES)
    # The program expects the shared page as descriptor 3 and its socket as 4.
    code = ("import fcntl, os, sys; "
            "page, peer = [fcntl.fcntl(int(w), fcntl.F_DUPFD, 10) for w in sys.argv[1:3]]; "
            "os.dup2(page, 3); os.dup2(peer, 4); os.execv(sys.argv[3], sys.argv[3:])")
    children.append(subprocess.Popen(
        ["python3", "-c", code, str(page), str(peer.fileno()), str(PROGRAM), "--name", "test",
         *WORDS, *words],
        pass_fds=[page, peer.fileno()],
        stderr=subprocess.PIPE, text=True, env=harness.environment()))
    os.close(page)
    peer.close()


@pytest.fixture
def start():
    children, threads, listeners = [], [], []

    def begin(*words):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        t = threading.Thread(target=serve_one, args=(listener, children, words))
        t.start()
        threads.append(t)
        return listener.getsockname()[1]

    yield begin, children
    for t in threads:
        t.join()
    gc.collect()  # a session ends with its client
    for child in children:
        try:
            _, said = child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            child.terminate()
            _, said = child.communicate()
        assert child.returncode in (0, -signal.SIGTERM), said
    for listener in listeners:
        listener.close()


@pytest.fixture
def remote(start):
    session = rpc.connect("127.0.0.1", start[0]())
    yield session
    del session


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A function that adds two arrays, and a model of Relax; both by TVM's compiler."""
    pytest.importorskip("tvm_ffi", reason="the tests' models need a compiler from 0.22 on")
    from tvm import te

    import models_relax

    folder = tmp_path_factory.mktemp("libraries")
    a, b = (te.placeholder((16,), name=name) for name in "ab")
    c = te.compute((16,), lambda i: a[i] + b[i], name="c")
    add = te.create_prim_func([a, b, c]).with_attr("global_symbol", "add")
    tvm.compile(tvm.IRModule({"add": add}), target="llvm").export_library(str(folder / "add.so"))
    model, _, _ = models_relax.bound(models_relax.Net("float32"), [4, 16], "float32")
    tvm.compile(model, target="llvm").export_library(str(folder / "mlp.so"))
    return folder


def array_on(remote, data):
    make = getattr(tvm.runtime, "tensor", None) or tvm.nd.array
    return make(data, remote.cpu(0))


def test_echoes_values(remote):
    echo = remote.get_function("testing.echo")
    for value in (None, 3, -7, 2.5, True, "text", "a longer text", ""):
        assert echo(value) == value
    assert bytes(echo(bytearray(b"bytes longer than seven"))) == b"bytes longer than seven"


def test_copies_arrays_both_ways(remote):
    data = np.arange(4099, dtype="int32").reshape(1, 4099)
    a = array_on(remote, data)
    np.testing.assert_array_equal(a.numpy(), data)
    b = array_on(remote, np.zeros_like(data))
    a.copyto(b)
    np.testing.assert_array_equal(b.numpy(), data)


def test_files_are_of_the_session(remote):
    remote.upload(bytearray(b"contents"), "folder/name")
    assert bytes(remote.download("folder/name")) == b"contents"
    remote.remove("folder/name")
    with pytest.raises(Exception, match="cannot find file"):
        remote.download("folder/name")
    remote.remove("")


@pytest.mark.parametrize("name", ["/etc/hostname", "../x", "a/../b", "a//b", "a/", ".", ""])
def test_refuses_paths_out_of_the_session(remote, name):
    with pytest.raises(Exception, match="name of a file of this session"):
        remote.get_function("tvm.rpc.server.upload")(name, bytearray(b"x"))
    with pytest.raises(Exception, match="name of a file of this session"):
        remote.download(name)
    assert remote.get_function("testing.echo")(1) == 1


def test_bounds_its_files(start):
    remote = rpc.connect("127.0.0.1", start[0]("max-rpc-files=2"))
    remote.upload(bytearray(b"1"), "a")
    remote.upload(bytearray(b"2"), "b")
    remote.upload(bytearray(b"3"), "a")
    with pytest.raises(Exception, match="at most 2 files"):
        remote.upload(bytearray(b"4"), "c")


def test_runs_a_function_of_an_uploaded_library(remote, libraries):
    remote.upload(str(libraries / "add.so"))
    module = remote.load_module("add.so")
    a, b = (np.random.default_rng(k).random(16, dtype="float32") for k in (1, 2))
    c = array_on(remote, np.zeros(16, "float32"))
    module["add"](array_on(remote, a), array_on(remote, b), c)
    np.testing.assert_array_equal(c.numpy(), a + b)
    with pytest.raises(AttributeError):
        module["no_such_function"]
    with pytest.raises(Exception, match="float32"):
        module["add"](array_on(remote, a.astype("float64")), array_on(remote, b), c)


def test_a_relax_machine_gives_what_it_gives_locally(remote, libraries):
    from tvm import relax

    x = np.random.default_rng(3).random((4, 16), dtype="float32")
    local = relax.VirtualMachine(tvm.runtime.load_module(str(libraries / "mlp.so")), tvm.cpu())
    remote.upload(str(libraries / "mlp.so"))
    machine = relax.VirtualMachine(remote.load_module("mlp.so"), remote.cpu(0))
    expected = local["main"](tvm.runtime.tensor(x)).numpy()
    np.testing.assert_array_equal(machine["main"](array_on(remote, x)).numpy(), expected)
    machine.set_input("main", array_on(remote, x))
    machine.invoke_stateful("main")
    np.testing.assert_array_equal(machine.get_outputs("main").numpy(), expected)


def test_get_input_gives_the_memory_of_a_graph_executor(remote):
    """TVM's GraphModule.set_input writes through it."""
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("MODSERD_FIXTURES", root / "../shared/fixtures"))
    path = folder / "tvm-0.8/mlp_llvm/mlp_llvm.so"
    if not path.exists():
        pytest.skip(f"fixture {path.name} is not here")
    remote.upload(str(path))
    graph = remote.load_module(path.name)["default"](remote.cpu(0))
    x = np.random.default_rng(5).random((2, 16), dtype="float32")
    first, by_name = graph["get_input"](0), graph["get_input"](graph["get_input_name"](0))
    outputs = []
    for factor in (1, 0.5, 1):
        graph["get_input"](0).copyfrom(x * np.float32(factor))
        np.testing.assert_array_equal(graph["get_input"](0).numpy(), x * np.float32(factor))
        graph["run"]()
        outputs.append(graph["get_output"](0).numpy())
    np.testing.assert_array_equal(outputs[0], outputs[2])
    assert np.abs(outputs[0] - outputs[1]).max() > 0.01
    for again in (first, by_name):  # the same memory, however and whenever it was asked for
        again.copyfrom(x * np.float32(0.5))
        graph["run"]()
        np.testing.assert_array_equal(graph["get_output"](0).numpy(), outputs[1])
        again.copyfrom(x)
    graph["set_input"](0, array_on(remote, x))  # the executor has its own memory again
    graph["run"]()
    np.testing.assert_array_equal(graph["get_output"](0).numpy(), outputs[0])
    graph["get_input"](0).copyfrom(x * np.float32(0.5))
    graph["run"]()
    np.testing.assert_array_equal(graph["get_output"](0).numpy(), outputs[1])


def test_an_unknown_function_is_none(remote):
    with pytest.raises(AttributeError):
        remote.get_function("no.such.function")


def raw(start, *words):
    s = socket.create_connection(("127.0.0.1", start[0](*words)))
    s.sendall(struct.pack("<ii", MAGIC, 7) + b"client:")
    assert s.recv(15, socket.MSG_WAITALL) == struct.pack("<ii", MAGIC, 7) + b"server:"
    return s


@pytest.mark.parametrize("body, why", [
    (struct.pack("<i", -1), "values"),
    (struct.pack("<i", 4097), "values"),
    (seq(struct.pack("<iQ", 8, 1 << 40)), ""),
    (seq(struct.pack("<i", 99)), ""),
    (seq(struct.pack("<i", 7) + struct.pack("<Qiii", 1, 1, 0, 33)), ""),
    (seq(struct.pack("<i", 7) + tensor(1, [-1])), ""),
    (seq(struct.pack("<i", 7) + tensor(1, [1 << 40, 1 << 40])), ""),
    (seq(text(b"x")) + b"left over", ""),
    (seq(struct.pack("<iQ", 68, 12345)), "handle"),
    (seq(struct.pack("<i", 7) + tensor(4096, [8])), "handle"),
])
def test_a_bad_packet_is_an_exception_and_the_session_goes_on(start, body, why):
    s = raw(start)
    echo = function(s, b"testing.echo")
    code, answer = ask(s, CALL, struct.pack("<Q", echo) + body)
    assert code == EXCEPTION
    assert why.encode() in answer
    code, answer = ask(s, CALL, struct.pack("<Q", echo) + seq(text(b"still here")))
    assert code == RETURN and b"still here" in answer
    s.close()


def test_no_byte_moves_outside_an_array(start):
    s = raw(start)
    function(s, b"testing.echo")
    code, answer = ask(s, 13, seq(struct.pack("<iii", 6, 1, 0), struct.pack("<iq", 1, 64),
                                  struct.pack("<iq", 1, 64), struct.pack("<iBBHi", 5, 0, 8, 1, 0)))
    assert code == RETURN
    array = struct.unpack("<iiQ", answer)[2]
    for at, shape, offset, n in ((array, [64], 0, 65), (array, [64], 1, 64),
                                 (array, [64], 2**64 - 1, 1), (array + 1, [64], 0, 1),
                                 (0, [1], 0, 1), (id(s), [1], 0, 1), (array, [64], 0, 2**44)):
        code, answer = ask(s, COPY_FROM, tensor(at, shape, offset) + struct.pack("<Q", n))
        assert code == EXCEPTION, (at, shape, offset, n)
    code, answer = ask(s, 7, tensor(array, [64], 60) + struct.pack("<Q", 8) + b"8" * 8)
    assert code == EXCEPTION
    code, _ = ask(s, 7, tensor(array, [64]) + struct.pack("<Q", 64) + b"x" * 64)
    assert code == RETURN
    code, answer = ask(s, COPY_FROM, tensor(array, [64]) + struct.pack("<Q", 64))
    assert (code, answer) == (8, b"x" * 64)
    free = seq(struct.pack("<iii", 6, 1, 0), struct.pack("<iQ", 4, array))
    assert ask(s, 14, free)[0] == RETURN
    assert ask(s, 14, free)[0] == EXCEPTION
    s.close()


def test_handles_are_never_given_again(start):
    s = raw(start)
    seen = set()
    for _ in range(100):
        h = function(s, b"testing.echo")
        assert h not in seen and h != 0
        seen.add(h)
        assert ask(s, 10, seq(struct.pack("<iQ", 4, h)))[0] == RETURN
        assert ask(s, 10, seq(struct.pack("<iQ", 4, h)))[0] == EXCEPTION
        assert ask(s, CALL, struct.pack("<Q", h) + seq())[0] == EXCEPTION
    s.close()


def test_a_packet_over_the_limit_ends_the_session(start):
    s = raw(start, "max-payload=65536")
    s.sendall(struct.pack("<Q", 65537))
    assert s.recv(1) == b""
    s.close()


def test_classic_clients_are_told_apart(start):
    s = raw(start)
    name = b"testing.echo"
    code, answer = ask(s, GET_GLOBAL, struct.pack("<iiQ", 1, 11, len(name)) + name)
    assert code == RETURN
    n, kind, handle = struct.unpack("<iiQ", answer)
    assert (n, kind) == (1, 3) and handle != 0
    code, answer = ask(s, CALL, struct.pack("<Qiiq", handle, 1, 0, 7))
    assert (code, answer) == (RETURN, struct.pack("<iiiqq", 2, 0, 0, 0, 7))
    s.close()


def test_evaluates_times(remote, libraries):
    remote.upload(str(libraries / "add.so"))
    module = remote.load_module("add.so")
    a, b = (array_on(remote, np.full(16, k, "float32")) for k in (1, 2))
    c = array_on(remote, np.zeros(16, "float32"))
    dev = remote.cpu(0)
    for more in ({}, {"min_repeat_ms": 2}, {"cache_flush_bytes": 1 << 16},
                 {"f_preproc": "cache_flush_cpu_non_first_arg"},
                 {"cooldown_interval_ms": 1, "repeats_to_cooldown": 2}):
        times = module.time_evaluator("add", dev, number=3, repeat=5, **more)(a, b, c)
        assert len(times.results) == 5
        assert all(0 < t < 60 for t in times.results)
    np.testing.assert_array_equal(c.numpy(), np.full(16, 3, "float32"))
    with pytest.raises(Exception, match="no_such"):
        module.time_evaluator("no_such", dev)
    with pytest.raises(Exception, match="no_preproc"):
        module.time_evaluator("add", dev, f_preproc="no_preproc")
    with pytest.raises(Exception, match="at most"):
        module.time_evaluator("add", dev, repeat=1 << 20)
    with pytest.raises(Exception, match="float32"):
        module.time_evaluator("add", dev)(array_on(remote, np.zeros(16)), b, c)


def test_fills_arrays_as_a_measurement_does(remote):
    a = array_on(remote, np.zeros(4096, "float32"))
    remote.get_function("tvm.contrib.random.random_fill_for_measure")(a)
    assert len(np.unique(a.numpy())) > 100


def test_links_an_archive_and_an_object(remote, libraries, tmp_path):
    """MetaSchedule's builder makes archives."""
    from tvm import te

    a, b = (te.placeholder((16,), name=name) for name in "ab")
    c = te.compute((16,), lambda i: a[i] + b[i], name="c")
    add = te.create_prim_func([a, b, c]).with_attr("global_symbol", "add")
    built = tvm.compile(tvm.IRModule({"add": add}), target="llvm")
    built.export_library(str(tmp_path / "add.tar"), fcompile=tvm.support.tar.tar
                         if hasattr(tvm.support, "tar") else tvm.contrib.tar.tar)
    with tarfile.open(tmp_path / "add.tar") as archive:
        objects = [m for m in archive.getmembers() if m.name.endswith(".o")]
        assert objects
        (tmp_path / "add.o").write_bytes(archive.extractfile(objects[-1]).read())
    remote.upload(str(tmp_path / "add.tar"))
    module = remote.load_module("add.tar")
    x, y = (np.random.default_rng(k).random(16, dtype="float32") for k in (1, 2))
    out = array_on(remote, np.zeros(16, "float32"))
    module["add"](array_on(remote, x), array_on(remote, y), out)
    np.testing.assert_array_equal(out.numpy(), x + y)
    assert bytes(remote.download("add.tar.so"))[:4] == b"\x7fELF"
    remote.remove("add.tar.so")
    if len(objects) == 1:
        remote.upload(str(tmp_path / "add.o"))
        remote.load_module("add.o")["add"]


@pytest.mark.parametrize("damage, why", [
    (lambda data: data[:700], "ends too early"),
    (lambda data: data[:124] + b"8" * 11 + data[135:], "damaged"),
    (lambda data: data[:512] + b"not an object" + data[525:], "no object"),
    (lambda data: data[:600] + bytes(200) + data[800:], "ld failed"),
])
def test_refuses_a_damaged_archive(remote, tmp_path, libraries, damage, why):
    source, archive = tmp_path / "a.c", tmp_path / "a.tar"
    source.write_text("int f(void) { return 1; }\n" * 1)
    subprocess.run(["cc", "-c", "-o", tmp_path / "a.o", source], check=True)
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as to:
        to.add(tmp_path / "a.o", "a.o")
    remote.upload(bytearray(damage(archive.read_bytes())), "a.tar")
    with pytest.raises(Exception, match=why):
        remote.load_module("a.tar")
    assert remote.get_function("testing.echo")(1) == 1


def test_bounds_what_a_packed_archive_becomes(remote):
    remote.upload(bytearray(gzip.compress(bytes(80 << 20))), "bomb.tar")
    with pytest.raises(Exception, match="gzip (died|failed)"):
        remote.load_module("bomb.tar")
    remote.upload(bytearray(gzip.compress(b"no archive")), "text.tar")
    with pytest.raises(Exception, match="no tar archive"):
        remote.load_module("text.tar")
    remote.upload(bytearray(gzip.compress(bytes(1024))[:20]), "cut.tar")
    with pytest.raises(Exception, match="gzip failed"):
        remote.load_module("cut.tar")
