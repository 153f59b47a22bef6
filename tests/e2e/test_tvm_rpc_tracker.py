"""--tvm-rpc with tracker=: clients of a tracker of TVM get sessions from the daemon."""
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys

import pytest

import harness
from rpc_wire import MAGIC
from test_tvm_rpc import REFUSED, Place, faults, hello, rest_of

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
rpc = pytest.importorskip("tvm.rpc", reason="this TVM has no RPC client")

TRACKER_MAGIC = 0x2f271


@contextlib.contextmanager
def real_tracker(port=0):
    """A tracker of TVM in a process of its own; gives its port."""
    pytest.importorskip("tornado", reason="TVM's tracker needs tornado")
    if port == 0:
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tvm.exec.rpc_tracker", "--host", "127.0.0.1", "--port", str(port),
         "--port-end", str(port + 1)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True)
    try:
        harness.until(lambda: connects(port), "the tracker listens")
        yield port
    finally:
        end(process)


def end(process):
    """The tracker serves in a child process, which its end would leave."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(harness.PATIENCE)


def connects(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False


@pytest.fixture(scope="module")
def one_tracker():
    """Its start takes seconds."""
    with real_tracker() as port:
        yield port


@pytest.fixture
def port(one_tracker):
    """The port of a tracker without servers."""
    tracker = rpc.connect_tracker("127.0.0.1", one_tracker)
    harness.until(lambda: tracker.summary()["server_info"] == [], "earlier daemons have left")
    return one_tracker


@pytest.fixture
def place(own_daemon):
    return lambda port, *words, value="", **more: Place(
        own_daemon, *words, value=f",key=board,tracker=127.0.0.1:{port}{value}", **more)


def free_places(tracker):
    return tracker.summary()["queue_info"].get("board", {"free": 0})["free"]


def expect_free(tracker, n):
    harness.until(lambda: free_places(tracker) == n, f"{n} places are free")


def request(tracker, **more):
    return tracker.request("board", session_timeout=harness.PATIENCE, **more)


def test_a_tracker_gives_one_session_after_the_other(place, port):
    at = place(port)
    tracker = rpc.connect_tracker("127.0.0.1", port)
    for n in range(3):
        expect_free(tracker, 1)
        session = request(tracker)
        assert session.get_function("testing.echo")(n) == n
        assert free_places(tracker) == 0
        assert len(at.clients()) == 1
        del session
    [server] = tracker.summary()["server_info"]
    assert server["key"] == "server:board" and server["addr"][1] == at.port
    assert at.metric("modserd_rpc_tracker") == 1
    assert at.metric("modserd_rpc_sessions_started") == 3
    assert at.metric("modserd_rpc_refused") == 0


def test_sessions_of_one_daemon_run_side_by_side(place, port):
    at = place(port, value=",sessions=3")
    tracker = rpc.connect_tracker("127.0.0.1", port)
    expect_free(tracker, 3)
    sessions = [request(tracker) for _ in range(3)]
    assert [s.get_function("testing.echo")(n) for n, s in enumerate(sessions)] == [0, 1, 2]
    assert free_places(tracker) == 0
    assert len(at.clients()) == 3
    del sessions
    expect_free(tracker, 3)


def test_a_crash_frees_the_place(place, port):
    at = place(port)
    tracker = rpc.connect_tracker("127.0.0.1", port)
    session = request(tracker)
    crash = faults(session)["crash"]
    with pytest.raises(Exception, match="SIGSEGV"):
        crash()
    assert request(tracker).get_function("testing.echo")(1) == 1
    assert at.metric("modserd_rpc_sessions_died") == 1


def test_no_other_key_is_accepted(place, port):
    at = place(port)
    expect_free(rpc.connect_tracker("127.0.0.1", port), 1)
    for key in ("", "board", "board:", "board:0", "other:0.1"):
        with pytest.raises(Exception, match="cannot find server that matches key"):
            at.connect(key)
    at.daemon.expect_logged("no valid match key of the tracker")


def test_it_registers_again_when_the_tracker_was_restarted(place):
    with real_tracker() as port:
        at = place(port)
        tracker = rpc.connect_tracker("127.0.0.1", port)
        expect_free(tracker, 1)
        session = request(tracker)
    harness.until(lambda: at.metric("modserd_rpc_tracker") == 0, "it notices the end")
    assert session.get_function("testing.echo")("still here") == "still here"
    with real_tracker(port):
        harness.until(lambda: at.metric("modserd_rpc_tracker") == 1, "it is registered again")
        tracker = rpc.connect_tracker("127.0.0.1", port)
        assert free_places(tracker) == 0
        del session
        expect_free(tracker, 1)
        assert request(tracker).get_function("testing.echo")(1) == 1
    assert at.metric("modserd_rpc_tracker_failures") >= 1


def test_it_leaves_at_the_drain(place, port):
    at = place(port, "--drain", harness.LONG)
    tracker = rpc.connect_tracker("127.0.0.1", port)
    expect_free(tracker, 1)
    session = request(tracker)
    at.daemon.process.terminate()
    harness.until(lambda: tracker.summary()["server_info"] == [], "the tracker forgets it")
    assert session.get_function("testing.echo")(1) == 1
    del session
    assert at.daemon.process.wait(harness.PATIENCE) == 0


def test_it_leaves_before_the_delay_of_a_drain(place, port):
    at = place(port, "--drain-delay", harness.LONG)
    tracker = rpc.connect_tracker("127.0.0.1", port)
    expect_free(tracker, 1)
    at.daemon.process.terminate()
    harness.until(lambda: tracker.summary()["server_info"] == [], "the tracker forgets it")
    at.daemon.process.terminate()
    assert at.daemon.process.wait(harness.PATIENCE) == 0


def test_metaschedule_measures_candidates(place, port, folder):
    """Good ones before and after one that kills its process."""
    ms = pytest.importorskip("tvm.s_tir.meta_schedule", reason="this TVM has no MetaSchedule")
    at = place(port)
    runner = ms.runner.RPCRunner(
        ms.runner.RPCConfig("127.0.0.1", port, "board",
                            session_timeout_sec=int(harness.PATIENCE)),
        ms.runner.EvaluatorConfig(number=2, repeat=3, min_repeat_ms=0), max_workers=1)
    info = [ms.arg_info.TensorInfo("float32", (16,))] * 2
    inputs = [ms.runner.RunnerInput(str(path), "cpu", info)
              for path in candidates(folder, ("good", "crash", "good"))]
    results = [future.result() for future in runner.run(inputs)]
    for result in (results[0], results[2]):
        assert result.error_msg is None
        assert len(result.run_secs) == 3 and all(float(s) > 0 for s in result.run_secs)
    assert "signal" in str(results[1].error_msg)
    assert at.metric("modserd_rpc_sessions_started") == 3
    assert at.metric("modserd_rpc_sessions_died") == 1


def candidates(folder, names):
    """Archives as MetaSchedule's builder makes them; `crash` raises SIGSEGV."""
    from tvm.script import ir as I
    from tvm.script import tirx as T
    from tvm.support import tar

    @I.ir_module
    class Good:
        @T.prim_func(s_tir=True)
        def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32")):
            for i in range(16):
                b[i] = a[i] + T.float32(1)

    @I.ir_module
    class Crash:
        @T.prim_func(s_tir=True)
        def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32")):
            b[0] = T.Cast("float32", T.call_extern("int32", "raise", 11))

    for n, name in enumerate(names):
        path = folder / f"{name}{n}.tar"
        tvm.compile(Good if name == "good" else Crash, target="llvm").export_library(
            str(path), fcompile=tar.tar)
        yield path


class Liar:
    """A tracker that answers what a test wants."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(harness.PATIENCE)
        self.port = self.listener.getsockname()[1]

    def accept(self, greets=True):
        s, _ = self.listener.accept()
        s.settimeout(harness.PATIENCE)
        assert struct.unpack("<I", s.recv(4, socket.MSG_WAITALL))[0] == TRACKER_MAGIC
        if greets:
            s.sendall(struct.pack("<I", TRACKER_MAGIC))
        return s

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def message(s):
    (n,) = struct.unpack("<I", s.recv(4, socket.MSG_WAITALL))
    return json.loads(s.recv(n, socket.MSG_WAITALL))


def say(s, value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    s.sendall(struct.pack("<I", len(text)) + text)


def registered(liar):
    """Connection, match key and name of the server that has registered."""
    s = liar.accept()
    announced = message(s)
    say(s, 0)
    code, key, (port, match_key), host = message(s)
    assert announced == [5, {"key": "server:board", "addr": [host, port]}]
    assert (code, key) == (3, "board") and match_key.startswith("board:")
    assert ":" not in match_key.removeprefix("board:")
    say(s, 0)
    return s, match_key, host


@pytest.mark.parametrize("answer, why", [
    (struct.pack("<I", (1 << 20) + 1), "a text of 1048577 bytes"),
    (struct.pack("<i", -1), "a text of -1 bytes"),
    (struct.pack("<I", 9) + b"Traceback", "expected the match keys"),
    (struct.pack("<I", 11) + b'["other:1"]', "expected the match keys"),
    (struct.pack("<I", 2) + b"[]more", "more than the answer"),
])
def test_a_tracker_that_lies_is_left(place, answer, why):
    with Liar() as liar:
        at = place(liar.port)
        for _ in range(3):
            s, _, _ = registered(liar)
            with s:
                assert message(s) == [7]
                s.sendall(answer)
                assert rest_of(s) == b""
        at.daemon.expect_logged(why)


@pytest.mark.parametrize("answer", [b"1", b"[0]", b"null", b""])
def test_a_tracker_that_refuses_the_server_is_left(place, answer):
    with Liar() as liar:
        at = place(liar.port)
        with liar.accept() as s:
            message(s)
            say(s, answer)
            assert rest_of(s) == b""
        at.daemon.expect_logged("expected the answer 0")


def test_another_service_is_no_tracker(place):
    with Liar() as liar:
        at = place(liar.port)
        with liar.accept(greets=False) as s:
            s.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            assert rest_of(s) == b""
        at.daemon.expect_logged("no tracker of TVM's RPC: its first word is 0x50545448")


@pytest.mark.parametrize("greets", [False, True])
def test_a_silent_tracker_is_left(place, greets):
    with Liar() as liar:
        at = place(liar.port, "--first-frame", "100ms")
        with liar.accept(greets) as s:
            assert greets == (rest_of(s) != b"")
        at.daemon.expect_logged("did not answer in time")
        with liar.accept():
            pass


def test_a_message_without_a_question_is_a_lie(place):
    with Liar() as liar:
        at = place(liar.port)
        s, _, _ = registered(liar)
        with s:
            harness.until(lambda: at.metric("modserd_rpc_tracker") == 1, "it is registered")
            say(s, 0)
            rest_of(s)
        at.daemon.expect_logged("event=rpc_tracker_lost")


def test_a_key_is_good_for_one_session(place):
    with Liar() as liar:
        at = place(liar.port, value=",as=board.example")
        s, key, host = registered(liar)
        assert host == "board.example"
        with s:
            first = at.connect(key)
            with at.raw() as second:
                second.sendall(hello(b"client:" + key.encode()))
                assert rest_of(second) == struct.pack("<I", REFUSED)
            assert first.get_function("testing.echo")(1) == 1
            del first
            asked = message(s)
            if asked == [7]:
                say(s, [])
                asked = message(s)
            assert asked[:2] == [3, "board"] and asked[2][1] != key


def test_a_key_that_no_client_uses_is_replaced(place):
    with Liar() as liar:
        at = place(liar.port)
        s, key, _ = registered(liar)
        with s:
            asked = message(s)
            while asked == [7]:
                say(s, [])
                asked = message(s)
            say(s, 0)
            assert asked[0] == 3 and asked[2][1] != key
            with pytest.raises(Exception, match="cannot find server that matches key"):
                at.connect(key)
            assert at.connect(asked[2][1]).get_function("testing.echo")(1) == 1


def test_a_tracker_that_is_not_there_is_looked_for_again(place):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    at = place(port)
    at.daemon.expect_logged("event=rpc_tracker_lost")
    assert at.metric("modserd_rpc_tracker") == 0
    with real_tracker(port):
        tracker = rpc.connect_tracker("127.0.0.1", port)
        expect_free(tracker, 1)


@pytest.mark.parametrize("value, why", [
    ("tracker=h:1", "needs key="), ("key=k,tracker=h", "tracker=: expected HOST:PORT"),
    ("key=k,tracker=h:0", "tracker=: expected HOST:PORT"), ("key=k,as=h", "needs tracker="),
    ("key=k,tracker=h:1,as=", "as=: expected"),
])
def test_refuses_to_start(value, why, folder):
    (folder / "empty.conf").write_text("# nothing\n")
    said = harness.run(harness.BIN / "modserd", "--config", folder / "empty.conf",
                       "--allow-load-tcp", "--tvm-rpc", f"127.0.0.1:0,{value}")
    assert said.status != 0
    assert why in said.err
