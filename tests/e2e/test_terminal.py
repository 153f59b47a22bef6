"""What `modser` shows on a terminal while it uploads, and what Ctrl-C leaves behind: a terminal of its
own (a pty), and between it and the daemon a relay that lets as much through as the test says."""
import contextlib
import fcntl
import os
import pty
import re
import selectors
import signal
import socket
import subprocess
import termios
import threading
import time

import harness
import pytest
from onnx_writer import model, node, value
from wire import Wire

PIECE = 1 << 16
LINE = re.compile(r"load big: (\d+)% of 32\.0 MiB(?:, ([\d.]+ .?i?B)/s, ([\d.]+) (ms|s|min) left)?$")


class Relay:
    """Passes the daemon's bytes on at once, and the client's after the handshake only as allowed."""

    def __init__(self, daemon, folder):
        self.path = str(folder / "relay.sock")
        self.allowed = threading.Semaphore(0)
        self.is_free = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.daemon = daemon
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            client, _ = self.listener.accept()
            with client, socket.socket(socket.AF_UNIX) as server:
                server.connect(self.daemon.host.removeprefix("unix:"))
                self.client = client
                threading.Thread(target=self.answer, args=(server, client), daemon=True).start()
                while data := client.recv(PIECE):
                    if len(data) > PIECE // 2 and not self.is_free.is_set():
                        self.allowed.acquire()
                    server.sendall(data)
                server.shutdown(socket.SHUT_RDWR)  # the other thread waits on it

    @staticmethod
    def answer(server, client):
        with contextlib.suppress(OSError):
            while data := server.recv(PIECE):
                client.sendall(data)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def free(self):
        """All that is still to come goes through."""
        self.is_free.set()
        self.allowed.release()

    def cut(self):
        """The connection is lost."""
        self.client.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.free()
        self.listener.close()


class Terminal:
    """modser with a pty as its terminal; what it has written so far is `said`."""

    def __init__(self, *words, columns=80):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, columns))
        self.said = ""
        try:
            self.process = subprocess.Popen(
                [str(harness.BIN / "modser"), *map(str, words)], stdin=slave, stdout=slave,
                stderr=slave, env=harness.environment(), start_new_session=True,
                preexec_fn=lambda: take_terminal(slave))
        finally:
            os.close(slave)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.master, selectors.EVENT_READ)

    def read(self, seconds):
        """What comes within that time; False at the end."""
        if self.selector.select(seconds):
            try:
                self.said += os.read(self.master, 4096).decode()
            except OSError:  # how a pty ends
                return False
        return True

    def lines(self):
        """What the progress line has been, one after another."""
        return [line.strip("\r\n") for line in re.split(r"\r|\x1b\[K|\n", self.said) if line.strip()]

    def press(self, key):
        os.write(self.master, key)

    def end(self):
        """Its exit status, after all that it writes."""
        end = time.monotonic() + harness.PATIENCE
        while self.read(1):
            assert time.monotonic() < end, self.said
        return self.process.wait(harness.PATIENCE)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.selector.close()
        os.close(self.master)


def take_terminal(fd):
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def big_library(folder):
    big = folder / "big.so"
    big.write_bytes((harness.ZOO / "results.so").read_bytes())
    os.truncate(big, 32 << 20)
    return big


@contextlib.contextmanager
def upload(daemon, folder, name="big", columns=80):
    """modser that loads 32 MiB, a terminal and a relay; nothing has gone through yet."""
    with contextlib.closing(Relay(daemon, folder)) as relay:
        words = ["-H", f"unix:{relay.path}", "load", name, big_library(folder)]
        with contextlib.closing(Terminal(*words, columns=columns)) as shell:
            yield relay, shell


@pytest.fixture
def uploading(daemon, folder):
    with upload(daemon, folder) as both:
        yield both


def let_through_until(relay, shell, claim):
    """Piece by piece, each after a look at the terminal: never all of them at once."""
    end = time.monotonic() + harness.PATIENCE
    while not claim():
        assert shell.read(0.003) and time.monotonic() < end, shell.said
        relay.allowed.release()


def shown(shell):
    return [m for m in map(LINE.match, shell.lines()) if m]


def test_the_upload_shows_percent_rate_and_time_left_and_then_that_it_starts(uploading, daemon):
    relay, shell = uploading
    let_through_until(relay, shell, lambda: any(m[2] for m in shown(shell)))
    relay.free()
    assert shell.end() == 0, shell.said
    percents = [int(m[1]) for m in shown(shell)]
    assert percents == sorted(percents) and percents[0] < 100, percents
    assert any(line.endswith(", starting") for line in shell.lines()), shell.lines()
    assert "READY" in shell.said
    daemon.ok("unload", "big")


def test_the_progress_stays_on_one_line_of_a_narrow_terminal(daemon, folder):
    """What is wrapped cannot be taken back, and each look would leave a line behind."""
    name = "a-module-with-a-name-of-its-own"
    with upload(daemon, folder, name, columns=40) as (relay, shell):
        let_through_until(relay, shell, lambda: any("/s" in line for line in shell.lines()))
        relay.free()
        assert shell.end() == 0, shell.said
    said, _, result = shell.said.rpartition("\x1b[K")
    shown_lines = [line.removesuffix("\x1b[K") for line in said.split("\r")[1:]]
    assert all(len(line) < 40 and "\n" not in line for line in shown_lines), shown_lines
    assert result.startswith("\r\n") and "READY" in result, "what is printed has lines of its own"
    daemon.ok("unload", name)


def test_an_error_begins_a_line_of_its_own(uploading):
    relay, shell = uploading
    let_through_until(relay, shell, lambda: shown(shell))
    relay.cut()
    assert shell.end() == 3, shell.said
    assert "\x1b[K\r\nmodser: " in shell.said


def test_there_is_no_progress_where_nobody_looks(daemon, folder):
    """Neither in a pipe nor in a file, and no escape sequence."""
    said = daemon.ok("load", "quiet", big_library(folder))
    assert said.err == "" and "\x1b" not in said.out and "%" not in said.out
    daemon.ok("unload", "quiet")


def test_ctrl_c_ends_the_upload_at_once_and_leaves_nothing(uploading, daemon):
    relay, shell = uploading
    let_through_until(relay, shell, lambda: shown(shell))
    shell.press(b"\x03")
    assert shell.end() == 130, shell.said
    assert shell.said.endswith("\n"), "the shell's prompt begins a line of its own"
    relay.close()
    with Wire(daemon.host) as wire:
        assert "big" not in [m["name"] for m in wire.ask("module.list")]
        harness.until(lambda: wire.ask("server.info")["held"]["upload_bytes"] == 0,
                      "its bytes are given back")


@pytest.mark.parametrize("columns, first", [(12, "NAME   narrow"), (80, "NAME    STATE")])
def test_a_table_that_has_no_room_is_lines_of_its_own(own_daemon, columns, first):
    daemon = own_daemon()
    daemon.load("narrow", harness.ZOO / "results.so")
    with contextlib.closing(Terminal("-H", daemon.host, "ls", columns=columns)) as shell:
        assert shell.end() == 0, shell.said
    lines = shell.said.splitlines()
    assert lines[0].startswith(first), shell.said
    assert all(word in shell.said for word in ("STATE", "READY", "P99")), shell.said


def test_a_load_says_what_to_call_next(daemon, tmp_path):
    ends = [value(name, "float32", [3]) for name in "xy"]
    relu = tmp_path / "relu.onnx"
    relu.write_bytes(model([node("Relu", ["x"], ["y"])], ends[:1], ends[1:]))
    for name, file, said in (
        ("one", relu, "`modser call one ARGUMENT...` calls its model, run"),
        ("many", harness.ZOO / "results.so", "`modser call many:FUNC ARGUMENT...` calls one"),
    ):
        with contextlib.closing(Terminal("-H", daemon.host, "load", name, file)) as shell:
            assert shell.end() == 0 and said in shell.said
