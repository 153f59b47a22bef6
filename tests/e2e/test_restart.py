"""A restart loses no call: whose connection was accepted, or waits for that, is answered, or told
that the daemon ends, which says that nothing of it was begun."""
import collections
import signal
import socket
import subprocess
import sys
import threading

import harness
import msgpack
import pytest
from test_service_manager import handed, listener
from wire import Wire, frame

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
import modser  # noqa: E402

RESULTS = harness.ZOO / "results.so"
DRAINING = 23
CALL = frame([0, 1, "call", ["results:int"]])
LOOPS, RESTARTS, CALLS = 4, 6, 8  # CALLS: of each loop between two restarts, at least


def ended(daemon):
    """Let it end, and wait for that: the next one has its socket."""
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(harness.PATIENCE) == 0


def said(s):
    """All frames until the connection's end: "answered", "farewell", or "nothing"."""
    s.settimeout(harness.PATIENCE)
    data = b""
    while more := s.recv(1 << 16):
        data += more
    words = []
    while data:
        n = int.from_bytes(data[4:8], "little")
        body = msgpack.unpackb(data[16 : 16 + n], strict_map_key=False)
        data = data[16 + n :]
        if body[0] == 1:
            words.append("answered" if body[2] is None else body[2][1])
        else:
            assert body[1] == "session.close" and body[2][0] == DRAINING, body
            words.append("farewell")
    return words or ["nothing"]


def stopped(daemon):
    daemon.process.send_signal(signal.SIGSTOP)
    harness.until(lambda: harness.is_stopped(daemon.pid), "it is stopped")


@pytest.fixture(params=["unix", "tcp"])
def daemon(request, own_daemon):
    listen = None if request.param == "unix" else ["tcp://127.0.0.1:0"]
    return own_daemon("--load", f"results={RESULTS}", listen=listen)


def connected(daemon):
    kind, _, at = daemon.host.partition(":")
    s = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
    s.connect(at if kind == "unix" else ("127.0.0.1", int(at.rpartition(":")[2])))
    return s


@pytest.mark.parametrize("sent, words", [
    (b"", [["farewell"]]),
    (CALL[:20], [["farewell"]]),
    (CALL, [["answered", "farewell"], ["DRAINING", "farewell"]]),
], ids=["nothing", "half a call", "a call"])
def test_who_waits_to_be_accepted_is_told(daemon, sent, words):
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "results")
    stopped(daemon)
    waiting = [connected(daemon) for _ in range(40)]
    for s in waiting:
        s.sendall(sent)
    daemon.process.send_signal(signal.SIGTERM)
    daemon.process.send_signal(signal.SIGCONT)
    for s in waiting:
        with s:
            assert said(s) in words
    assert daemon.process.wait(harness.PATIENCE) == 0


def test_who_is_between_two_calls_is_told(daemon):
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "results")
        s = wire.socket
        daemon.process.send_signal(signal.SIGTERM)
        assert said(s) == ["farewell"]


def test_who_comes_through_a_proxy_is_told(own_daemon):
    """Its header is not read when the daemon is told to end."""
    daemon = own_daemon("--load", f"results={RESULTS}", "--proxy-from", "127.0.0.1",
                        listen=["tcp://127.0.0.1:0"])
    head = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes([10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 5, 0])
    stopped(daemon)
    with connected(daemon) as s:
        s.sendall(head + CALL)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.send_signal(signal.SIGCONT)
        assert said(s)[-1] == "farewell"


def test_a_request_by_http_that_waits_is_answered(own_daemon):
    daemon = own_daemon("--http", "127.0.0.1:0", listen=[], n_listening=1)
    port = int(daemon.host.rpartition(":")[2])
    stopped(daemon)
    waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for s in waiting:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    daemon.process.send_signal(signal.SIGTERM)
    daemon.process.send_signal(signal.SIGCONT)
    for s in waiting:
        with s:
            assert s.recv(9) == b"HTTP/1.1 "


class Loops:
    """Threads that do @once again and again; what each came to is counted by text."""

    def __init__(self, once):
        self.said, self.n = collections.Counter(), [0] * LOOPS
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(once, i)) for i in range(LOOPS)]

    def _run(self, once, i):
        while not self._is_over.is_set():
            self.said[once()] += 1
            self.n[i] += 1

    def go_on(self):
        """Until each has called some times more."""
        until = [n + CALLS for n in self.n]
        harness.until(lambda: all(n >= u for n, u in zip(self.n, until)), "each calls")

    def __enter__(self):
        for t in self._threads:
            t.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for t in self._threads:
            t.join()


@pytest.fixture
def restarting(folder, own_daemon):
    """(address, restarted): restarted() ends the daemon and starts the next on the same socket."""
    with listener(folder / "s") as s:

        def start():
            return own_daemon("--load", f"results={RESULTS}", **handed(s))

        now = [start()]

        def restarted():
            ended(now[0])
            now[0] = start()

        yield f"unix:{folder}/s", restarted


@pytest.mark.parametrize("words", [[], ["--retry", "60s"]], ids=["plain", "retry"])
def test_calls_of_the_command_line_over_restarts(restarting, words):
    address, restarted = restarting

    def once():
        said = subprocess.run([harness.BIN / "modser", "-H", address, "call", *words, "results:int"],
                              capture_output=True, text=True)
        return said.stderr if said.returncode else "ok"

    with Loops(once) as loops:
        for _ in range(RESTARTS):
            loops.go_on()
            restarted()
        loops.go_on()
    assert set(loops.said) == {"ok"}, loops.said


def test_calls_of_python_over_restarts(restarting):
    address, restarted = restarting
    mine = threading.local()

    def once():
        if not hasattr(mine, "caller"):
            mine.caller = modser.Caller(address, retry=60)
        mine.caller("results:int")
        return "ok"

    with Loops(once) as loops:
        for _ in range(RESTARTS):
            loops.go_on()
            restarted()
        loops.go_on()
    assert set(loops.said) == {"ok"}, loops.said
