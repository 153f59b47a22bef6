"""What modser says when no daemon answers: the cause, and what to do about it; exit 3."""
import contextlib
import http.server
import os
import socket
import subprocess
import threading
from pathlib import Path

import harness
import pytest

NOBODY = 65534
HANGS_UP = b""


def expect_no_connection(said, *texts):
    """Two lines, cause and advice, with these texts among them."""
    assert said.status == 3, said
    assert len(said.err.strip().splitlines()) == 2, said
    for text in texts:
        assert text in said.err, said


@contextlib.contextmanager
def server(says):
    """The address of one that answers what comes with @says, or not at all when that is None."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError), listener.accept()[0] as peer:
                peer.recv(4096)
                if says == HANGS_UP:
                    return
                if says is not None:
                    peer.sendall(says)
                while peer.recv(4096):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(harness.PATIENCE)
        assert not thread.is_alive()


def modser(host, *words):
    return harness.run(harness.BIN / "modser", "-H", host, *words)


def test_a_socket_that_is_not_there(folder):
    expect_no_connection(
        modser(f"unix:{folder}/m.sock", "ls"),
        "the socket does not exist",
        f"modserd --listen unix:{folder}/m.sock",
    )


def test_a_port_that_nobody_listens_on():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        expect_no_connection(
            modser(address, "ls"), "no daemon listens there", f"modserd --listen {address}"
        )


def test_a_file_that_is_no_socket(folder):
    (folder / "m.sock").touch()
    expect_no_connection(modser(f"unix:{folder}/m.sock", "ls"), "the file is not a socket")


def test_a_socket_whose_daemon_has_ended(folder):
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(folder / "m.sock"))
    expect_no_connection(
        modser(f"unix:{folder}/m.sock", "ls"), "it has ended", "start one: modserd"
    )


def test_a_socket_of_another_user(own_daemon):
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    folder = harness.short_folder(harness.is_open_to_all)
    try:
        os.chmod(folder, 0o755)
        daemon = own_daemon(listen=[f"unix:{folder}/m.sock"])
        done = subprocess.run(
            [harness.BIN / "modser", "-H", daemon.host, "ls"],
            capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[],
            env={}, timeout=harness.PATIENCE,
        )
    except PermissionError:
        pytest.skip("nobody may not run what was built here")
    said = harness.Said(done.returncode, done.stdout.encode(), done.stderr)
    expect_no_connection(said, "not permitted", "mode 0600; you are nobody", "--socket-mode 0660")


def test_a_folder_of_a_group_names_the_group():
    if os.geteuid() != 0:
        pytest.skip("only root can start modser as another user")
    folder = harness.short_folder(harness.is_open_to_all)
    os.chmod(folder, 0o755)
    inner = Path(folder) / "run"
    inner.mkdir()
    inner.chmod(0o750)
    try:
        done = subprocess.run(
            [harness.BIN / "modser", "-H", f"unix:{inner}/m.sock", "ls"],
            capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[],
            env={}, timeout=harness.PATIENCE,
        )
    except PermissionError:
        pytest.skip("the other user may not run the built modser")
    said = harness.Said(done.returncode, done.stdout.encode(), done.stderr)
    expect_no_connection(said, "may not enter the folder", "ask to be put into the group root",
                         "usermod -aG root nobody")


@pytest.mark.parametrize(
    "says, who",
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "an HTTP server"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "a TLS server"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "an SSH server"),
        (b"-ERR unknown command\r\n", "begins with 2d 45 52"),
    ],
)
@pytest.mark.parametrize("words", [["ls"], ["call", "m:f"]])
def test_a_server_of_another_kind_is_named(says, who, words):
    with server(says) as host:
        expect_no_connection(modser(host, *words), f"modser: {host}: the peer is", who, "not modserd")


def test_a_peer_that_hangs_up_is_named():
    with server(HANGS_UP) as host:
        expect_no_connection(modser(host, "ls"), f"modser: {host}: the daemon closed the connection")


def test_a_server_that_waits_for_a_line_is_named():
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as peer:
        thread = threading.Thread(target=peer.serve_forever)
        thread.start()
        said = modser(f"tcp://127.0.0.1:{peer.server_port}", "--connect-timeout", "100ms", "ls")
        peer.shutdown()
        thread.join()
    expect_no_connection(said, "the peer is an HTTP server, not modserd")


@pytest.mark.parametrize("words", [["ls"], ["ping"], ["call", "m:f"], ["wait", "m"]])
def test_who_says_nothing_is_given_up(words):
    with server(None) as host:
        said = modser(host, "--connect-timeout", "100ms", *words)
        expect_no_connection(said, host, "has sent nothing for 100 ms", "--connect-timeout")


def test_a_deadline_that_comes_before_is_a_deadline():
    with server(None) as host:
        said = modser(host, "--deadline", "100ms", "ls")
        assert said.status == 9 and "has sent nothing for 100 ms" in said.err, said


def test_a_stopped_daemon_is_given_up_and_serves_again(own_daemon):
    daemon = own_daemon()
    with daemon.standstill():
        said = daemon.modser("--connect-timeout", "100ms", "info")
    expect_no_connection(said, "a stopped daemon")
    daemon.ok("info")
    assert "event=connection_sandboxed" not in daemon.log(), "who gave up is no module that reaches out"
