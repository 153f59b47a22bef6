"""--tvm-rpc: unchanged clients of TVM's RPC get a session each from the daemon."""
import contextlib
import shutil
import socket
import struct
import threading

import numpy as np
import pytest

import harness
from rpc_wire import CALL, EXCEPTION, MAGIC, RETURN, SHUTDOWN, ask, function, seq, text
from test_service_manager import handed

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
rpc = pytest.importorskip("tvm.rpc", reason="this TVM has no RPC client")

REFUSED = 0xff273


class Place:
    """A daemon and the address at which it serves TVM's RPC."""

    def __init__(self, own_daemon, *words, value="", **more):
        self.daemon = own_daemon("--allow-load-tcp", "--tvm-rpc", f"127.0.0.1:0{value}", *words,
                                 **more)
        word, _, self.url = self.daemon._line().partition(" ")
        assert word == "listening" and self.url.startswith("tvm-rpc://127.0.0.1:"), self.url
        self.port = int(self.url.rpartition(":")[2])

    def connect(self, key="", **more):
        return rpc.connect("127.0.0.1", self.port, key, **more)

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=harness.PATIENCE)

    def clients(self):
        """Number and state of each RPC connection that `modser clients` lists."""
        lines = [line.split() for line in self.daemon.ok("clients").out.splitlines()]
        return [(x[0], " ".join(x)) for x in lines if "rpc" in x]

    def metric(self, name):
        for line in self.daemon.ok("metrics").out.splitlines():
            if line.split(" ")[0] in (name, f"{name}_total"):
                return float(line.split(" ")[1])
        raise AssertionError(f"no metric {name}")


@pytest.fixture
def place(own_daemon):
    return lambda *words, **more: Place(own_daemon, *words, **more)


def hello(key=b"client:", magic=MAGIC):
    return struct.pack("<Ii", magic, len(key)) + key


def rest_of(s):
    """All bytes until the other side ends the connection."""
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := s.recv(65536):
            got += piece
    return got


def greeted(at, key=b"client:"):
    s = at.raw()
    s.sendall(hello(key))
    (magic, n) = struct.unpack("<Ii", s.recv(8, socket.MSG_WAITALL))
    assert magic == MAGIC
    assert s.recv(n, socket.MSG_WAITALL).startswith(b"server:")
    return s


def faults(remote):
    remote.upload(str(harness.ZOO / "faults.so"))
    return remote.load_module("faults.so")


def test_serves_sessions_side_by_side(place):
    at = place()
    sessions = [at.connect() for _ in range(3)]
    for n, s in enumerate(sessions):
        s.upload(bytearray([n]), "file")
    for n, s in enumerate(sessions):
        assert bytes(s.download("file")) == bytes([n])
        assert s.get_function("testing.echo")(n) == n
    assert len(at.clients()) == 3
    assert at.metric("modserd_rpc_sessions") == 3
    del sessions, s
    harness.until(lambda: not at.clients(), "the sessions have ended")
    assert at.metric("modserd_rpc_sessions") == 0
    assert at.metric("modserd_rpc_sessions_started") == 3
    assert at.metric("modserd_rpc_sessions_died") == 0


def test_wants_the_key(place, folder):
    (folder / "key").write_text("w:0rd\n")
    for value in (",key=w:0rd", f",key=@{folder / 'key'}"):
        at = place(value=value)
        for wrong in ("", "w:0r", "w:0rd2", "x"):
            with pytest.raises(Exception, match="cannot find server that matches key"):
                at.connect(wrong)
        assert at.connect("w:0rd").get_function("testing.echo")(1) == 1
        assert at.metric("modserd_rpc_refused") == 4


@pytest.mark.parametrize("words, why", [
    (["--tvm-rpc", "127.0.0.1:0"], "--allow-load-tcp"),
    (["--allow-load-tcp", "--tvm-rpc", "0.0.0.0:0"], "--insecure-tcp"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1"], "HOST:PORT"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,sessions=0"], "from 1 to"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,sessions=x"], "from 1 to"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,key="], "word without spaces"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,key=a b"], "word without spaces"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,key=" + "k" * 257], "at most 256"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,key=@/no/such/file"], "No such file"),
    (["--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0,other=1"], "HOST:PORT[,key="),
])
def test_refuses_to_start(words, why, folder):
    (folder / "empty.conf").write_text("# nothing\n")
    said = harness.run(harness.BIN / "modserd", "--config", folder / "empty.conf", *words)
    assert said.status != 0
    assert why in said.err


@pytest.mark.parametrize("bytes_", [
    b"GET / HTTP/1.1\r\n\r\n",
    hello(magic=0xff272),
    struct.pack("<Ii", MAGIC, -1),
    struct.pack("<Ii", MAGIC, 2**31 - 1),
    struct.pack("<Ii", MAGIC, 1 << 20),
    hello(b""),
    hello(b"server:"),
    hello(b"client: -timeout=-1"),
])
def test_closes_what_is_no_hello(place, bytes_):
    at = place()
    with at.raw() as s:
        s.sendall(bytes_)
        assert rest_of(s) == b""
    at.daemon.expect_logged("event=rpc_refused")
    assert at.connect().get_function("testing.echo")(1) == 1


@pytest.mark.parametrize("begin", [b"", hello()[:3], hello()[:8], hello()[:-1]])
def test_closes_a_silent_client(place, begin):
    at = place("--first-frame", "100ms")
    with at.raw() as s:
        s.sendall(begin)
        assert rest_of(s) == b""
    at.daemon.expect_logged("--first-frame")


def test_reads_a_hello_in_pieces_and_no_byte_after_it(place):
    at = place()
    with at.raw() as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        init = struct.pack("<QiQ", 4 + 8 + 5 + 4, 2, 5) + b"0.8.0" + struct.pack("<i", 0)
        for byte in hello() + init:
            s.sendall(bytes([byte]))
        assert s.recv(15, socket.MSG_WAITALL) == hello(b"server:")
        assert s.recv(16, socket.MSG_WAITALL) == struct.pack("<Qii", 8, RETURN, 0)


def test_answers_packets_that_come_together(place):
    with greeted(place()) as s:
        echo = function(s, b"testing.echo")
        body = struct.pack("<Q", echo) + seq(text(b"x" * 300))
        packet = struct.pack("<Qi", 4 + len(body), CALL) + body
        s.sendall(packet * 5 + struct.pack("<Qi", 4, SHUTDOWN))
        assert rest_of(s).count(b"x" * 300) == 5


def test_a_crash_is_told_and_harms_no_other_session(place):
    at = place()
    victim, other = at.connect(), at.connect()
    crash = faults(victim)["crash"]
    with pytest.raises(Exception, match="(?s)died.*SIGSEGV.*call of crash"):
        crash()
    assert other.get_function("testing.echo")("still here") == "still here"
    assert at.connect().get_function("testing.echo")(1) == 1
    assert at.metric("modserd_rpc_sessions_died") == 1
    at.daemon.expect_logged("process died: signal SEGV")


def test_a_crash_is_told_to_classic_clients(place):
    """The exception is in the encoding of the client."""
    at = place()
    with greeted(at) as s:
        name = b"testing.echo"
        code, _ = ask(s, 9, struct.pack("<iiQ", 1, 11, len(name)) + name)
        assert code == RETURN
        at.daemon.ok("clients", "kill", at.clients()[0][0])
        (n, code, count, kind, size) = struct.unpack("<QiiiQ", s.recv(28, socket.MSG_WAITALL))
        assert (code, count, kind, size) == (EXCEPTION, 1, 11, n - 20)
        assert b"an operator ended it" in s.recv(size, socket.MSG_WAITALL)
        assert s.recv(1) == b""


def test_an_operator_ends_a_session(place):
    at = place()
    remote = at.connect()
    echo = remote.get_function("testing.echo")
    [(number, line)] = at.clients()
    assert "rpc idle" in line
    at.daemon.ok("clients", "kill", number)
    harness.until(lambda: not at.clients(), "the session has ended")
    with pytest.raises(Exception, match="an operator ended it"):
        echo(1)


def test_ends_a_running_call(place):
    at = place()
    with harness.Gate() as gate:
        hold = faults(at.connect())["gate"]
        said = []

        def call():
            try:
                hold(gate.path)
            except Exception as error:
                said.append(str(error))

        caller = threading.Thread(target=call)
        caller.start()
        gate.entered()
        [(number, line)] = at.clients()
        assert "rpc running" in line
        at.daemon.ok("clients", "kill", number)
        caller.join()
    assert "an operator ended it; in call of gate" in said[0]


def test_ends_a_call_that_runs_too_long(place):
    at = place("--max-run", "50ms")
    with harness.Gate() as gate:
        hold = faults(at.connect())["gate"]
        with pytest.raises(Exception, match="--max-run; in call of gate"):
            hold(gate.path)


def test_a_session_has_the_time_that_its_client_asks_for(place):
    echo = place().connect(session_timeout=0.5).get_function("testing.echo")
    with pytest.raises(rpc.base.RPCError if hasattr(rpc.base, "RPCError") else Exception,
                       match="Your 0.5s session has expired"):
        while True:
            echo(1)


def test_limits_its_sessions(place):
    at = place("--ready-wait", "50ms", value=",sessions=1")
    first = at.connect()
    with pytest.raises(Exception, match="cannot find server that matches key"):
        at.connect()
    at.daemon.expect_logged("sessions=1 reached")
    assert first.get_function("testing.echo")(1) == 1
    del first
    harness.until(lambda: not at.clients(), "the place is free")
    assert at.connect().get_function("testing.echo")(2) == 2


def test_a_client_waits_for_a_place(place):
    at = place("--ready-wait", harness.LONG, value=",sessions=1")
    with greeted(at) as first, at.raw() as second, at.raw() as third:
        second.sendall(hello())
        harness.until(lambda: any("waiting" in line for _, line in at.clients()), "it waits")
        third.sendall(hello())
        first.sendall(struct.pack("<Qi", 4, SHUTDOWN))
        assert second.recv(15, socket.MSG_WAITALL) == hello(b"server:")
        echo = function(second, b"testing.echo")
        code, answer = ask(second, CALL, struct.pack("<Q", echo) + seq(text(b"served")))
        assert code == RETURN and b"served" in answer
        third.close()
        harness.until(lambda: len(at.clients()) == 1, "the third has given up")


def test_a_drain_refuses_those_who_wait_and_lets_sessions_end(place):
    at = place("--ready-wait", harness.LONG, "--drain", harness.LONG, value=",sessions=1")
    with greeted(at) as first, at.raw() as second:
        echo = function(first, b"testing.echo")
        second.sendall(hello())
        harness.until(lambda: any("waiting" in line for _, line in at.clients()), "it waits")
        at.daemon.process.terminate()
        assert rest_of(second) == struct.pack("<I", REFUSED)
        assert ask(first, CALL, struct.pack("<Q", echo) + seq(text(b"x")))[0] == RETURN
        first.sendall(struct.pack("<Qi", 4, SHUTDOWN))
        assert first.recv(1) == b""
    assert at.daemon.process.wait(harness.PATIENCE) == 0


def test_a_drain_ends_sessions_at_its_deadline(place):
    at = place("--drain", "50ms")
    remote = at.connect()
    echo = remote.get_function("testing.echo")
    at.daemon.process.terminate()
    with pytest.raises(Exception, match="shutting down"):
        while True:
            echo(1)
    del echo, remote
    assert at.daemon.process.wait(harness.PATIENCE) == 0


def test_runs_models_of_two_eras_and_relax_in_one_session(place, fixtures):
    old = fixtures / "tvm-0.8/mlp_llvm/mlp_llvm.so"
    if not old.exists():
        pytest.skip(f"fixture {old.name} is not here")
    remote = place().connect()
    remote.upload(str(old))
    graph = remote.load_module(old.name)["default"](remote.cpu(0))
    graph["get_input"](0).copyfrom(np.ones((2, 16), "float32"))
    graph["run"]()
    assert np.isfinite(graph["get_output"](0).numpy()).all()


def test_another_address_names_the_option_in_the_log(own_daemon):
    daemon = own_daemon(listen=["tcp://127.0.0.1:0"])
    port = int(daemon.host.rpartition(":")[2])
    with pytest.raises(Exception, match="cannot find server that matches key"):
        rpc.connect("127.0.0.1", port)
    daemon.expect_logged("modserd --tvm-rpc names")


def test_a_socket_of_the_service_manager_with_its_address_serves_rpc(own_daemon):
    with socket.create_server(("127.0.0.1", 0)) as tcp, \
            socket.create_server(("127.0.0.1", 0)) as other:
        port = tcp.getsockname()[1]
        daemon = own_daemon("--allow-load-tcp", "--tvm-rpc", f"127.0.0.1:{port},key=k",
                            **handed(other, tcp))
        assert daemon.hosts == [f"tcp://127.0.0.1:{other.getsockname()[1]}",
                                f"tvm-rpc://127.0.0.1:{port}"]
        remote = rpc.connect("127.0.0.1", port, "k")
        assert remote.get_function("testing.echo")("served") == "served"


def test_a_socket_of_the_service_manager_beyond_loopback_wants_the_same(own_daemon):
    with socket.create_server(("0.0.0.0", 0)) as tcp:
        words = ["--allow-load-tcp", "--tvm-rpc", f"0.0.0.0:{tcp.getsockname()[1]}"]
        with pytest.raises(AssertionError, match="beyond loopback"):
            own_daemon(*words, **handed(tcp))
        own_daemon(*words, "--insecure-tcp", **handed(tcp))
        assert rpc.connect("127.0.0.1", tcp.getsockname()[1]).get_function("testing.echo")(1) == 1


@pytest.mark.skipif(
    not shutil.which("systemd-socket-activate"), reason="no systemd-socket-activate here"
)
def test_systemds_own_tool_hands_the_socket_over(own_daemon):
    """It waits for a first client and becomes the daemon then."""
    with socket.socket() as kept:  # keeps its port from other programs
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port = kept.getsockname()[1]
        client = socket.socket()

        def knock():
            harness.until(lambda: client.connect_ex(("127.0.0.1", port)) == 0, "it listens")

        knocking = threading.Thread(target=knock)
        knocking.start()
        daemon = own_daemon("--allow-load-tcp", "--tvm-rpc", f"127.0.0.1:{port}", listen=[],
                            before=["systemd-socket-activate", "-l", f"127.0.0.1:{port}"])
        knocking.join()
        assert daemon.host == f"tvm-rpc://127.0.0.1:{port}"
        with client as s:
            s.sendall(hello())
            assert s.recv(15, socket.MSG_WAITALL) == hello(b"server:")
