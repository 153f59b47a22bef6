"""What modserd says to a service manager, and the sockets that it takes from one: a catcher of
messages and sockets of the test's own stand for systemd here."""
import pathlib
import shutil
import signal
import socket
import threading

import harness
import pytest
from wire import Wire

FAULTS = harness.ZOO / "faults.so"
# A shell that hands descriptors over as the service manager does: its own number, from 3 on.
HAND_OVER = 'n=3; for fd; do [ "$fd" = -- ] && break; eval "exec $n<&$fd"; shift; n=$((n + 1)); done; shift; '
HAND_OVER += 'LISTEN_FDS=$((n - 3)) LISTEN_PID=${FOR:-$$} exec "$@"'


@pytest.fixture
def catcher(folder):
    """A socket for messages; its name goes into NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(folder / "notify"))
        s.settimeout(harness.PATIENCE)
        yield s


def expect_told(catcher, line):
    """Wait for a message with that line; all lines on the way."""
    lines = []
    while line not in lines:
        said = catcher.recv(4096).decode()
        assert said, f"{line} was not told, only {lines}"
        lines += said.splitlines()
    return lines


def listener(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(str(path))
    s.listen(64)
    return s


def handed(*sockets):
    """Words for harness.Daemon that hand @sockets over."""
    fds = [str(s.fileno()) for s in sockets]
    return {
        "listen": [],
        "n_listening": len(sockets),
        "before": ["bash", "-c", HAND_OVER, "bash", *fds, "--"],
        "pass_fds": [s.fileno() for s in sockets],
    }


def test_ready_is_told_when_clients_are_answered(own_daemon, catcher):
    daemon = own_daemon(env={"NOTIFY_SOCKET": catcher.getsockname()})
    expect_told(catcher, "READY=1")
    expect_told(catcher, "STATUS=0 modules, 0 connections")
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None


def test_a_name_in_no_file_system_is_told_too(own_daemon):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind("")  # the kernel finds a free name
        s.settimeout(harness.PATIENCE)
        own_daemon(env={"NOTIFY_SOCKET": "@" + s.getsockname()[1:].decode()})
        expect_told(s, "READY=1")


def test_a_daemon_that_cannot_start_is_never_ready(folder, catcher):
    env = harness.environment() | {"NOTIFY_SOCKET": catcher.getsockname()}
    (folder / "m.sock").write_text("in the way")
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{folder}/m.sock", env=env)
    assert said.status == 1
    catcher.setblocking(False)
    with pytest.raises(BlockingIOError):
        catcher.recv(4096)


def test_stopping_is_told_before_the_drain_ends(own_daemon, catcher):
    daemon = own_daemon(env={"NOTIFY_SOCKET": catcher.getsockname()})
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.load("faults", FAULTS.read_bytes())
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        daemon.process.send_signal(signal.SIGTERM)
        expect_told(catcher, "STOPPING=1")
        gate.open()
        wire.finish(held)


def test_the_watchdog_is_fed_as_long_as_the_loop_runs(own_daemon, catcher):
    own_daemon(env={"NOTIFY_SOCKET": catcher.getsockname(), "WATCHDOG_USEC": "20000"})
    for _ in range(5):
        expect_told(catcher, "WATCHDOG=1")


def test_a_watchdog_of_another_process_is_not_fed(own_daemon, catcher):
    env = {"NOTIFY_SOCKET": catcher.getsockname(), "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"}
    daemon = own_daemon(env=env)
    lines = expect_told(catcher, "READY=1")
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None
    daemon.process.send_signal(signal.SIGTERM)
    assert "WATCHDOG=1" not in lines + expect_told(catcher, "STOPPING=1")


def test_workers_are_not_the_service(own_daemon, catcher):
    env = {"NOTIFY_SOCKET": catcher.getsockname(), "WATCHDOG_USEC": "1000000"}
    daemon = own_daemon(env=env)
    with Wire(daemon.host) as wire:
        wire.load("faults", FAULTS.read_bytes())
        (pid,) = daemon.workers()
        have = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert not [v for v in have if v.startswith((b"NOTIFY_", b"WATCHDOG_", b"LISTEN_"))]


def test_a_socket_that_cannot_be_accepted_from_is_told_and_the_others_serve(folder, own_daemon):
    with socket.create_server(("127.0.0.1", 0)) as tcp, listener(folder / "two") as unix:
        daemon = own_daemon(**handed(tcp, unix))
        tcp.shutdown(socket.SHUT_RDWR)  # it is readable without end, and accept fails
        harness.until(lambda: "event=listener_accept" in daemon.log(), "the fault is logged")
        assert "Invalid argument" in daemon.log()
        with Wire(f"unix:{folder}/two") as wire:
            assert wire.ask("ping") is None


def test_sockets_that_are_handed_over_serve_and_stay(folder, own_daemon):
    with listener(folder / "a.sock") as unix, socket.create_server(("127.0.0.1", 0)) as tcp:
        daemon = own_daemon(**handed(unix, tcp))
        port = tcp.getsockname()[1]
        assert daemon.hosts == [f"unix:{folder}/a.sock", f"tcp://127.0.0.1:{port}"]
        for host in daemon.hosts:
            with Wire(host) as wire:
                assert wire.ask("ping") is None
        daemon.stop()
        assert (folder / "a.sock").is_socket()


def test_clients_wait_in_the_socket_from_one_daemon_to_the_next(folder, own_daemon):
    with listener(folder / "a.sock") as unix:
        own_daemon(**handed(unix)).stop()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / "a.sock"))
            own_daemon(**handed(unix))
            with Wire(f"unix:{folder}/a.sock") as wire:
                assert wire.ask("ping") is None
            assert Wire(client).ask("ping") is None


def test_an_address_that_was_handed_over_is_not_opened_again(folder, own_daemon):
    conf = folder / "m.conf"
    conf.write_text(f'listen = {{"unix:{folder}/a.sock", "unix:{folder}/b.sock"}}\n')
    with listener(folder / "a.sock") as unix:
        words = handed(unix) | {"n_listening": 2}
        daemon = own_daemon("--config", conf, **words)
        assert daemon.hosts == [f"unix:{folder}/a.sock", f"unix:{folder}/b.sock"]


def test_what_does_not_listen_is_refused(folder):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(folder / "a.sock"))
        with pytest.raises(AssertionError, match="expected a stream socket that listens"):
            harness.Daemon(**handed(s))


def test_sockets_for_another_process_are_not_taken(folder):
    with listener(folder / "a.sock") as unix:
        with pytest.raises(AssertionError, match="no address to listen on"):
            harness.Daemon(env={"FOR": "1"}, **handed(unix))


@pytest.mark.skipif(
    not shutil.which("systemd-socket-activate"), reason="no systemd-socket-activate here"
)
def test_systemds_own_tool_hands_a_socket_over(folder, own_daemon):
    """It waits for a first client and becomes the daemon then."""
    path = folder / "a.sock"
    with socket.socket(socket.AF_UNIX) as client:

        def connect():
            harness.until(lambda: client.connect_ex(str(path)) == 0, "it listens")

        knocking = threading.Thread(target=connect)
        knocking.start()
        daemon = own_daemon(listen=[], before=["systemd-socket-activate", "-l", path])
        knocking.join()
        assert daemon.host == f"unix:{path}"
        assert Wire(client).ask("ping") is None


def test_a_drain_is_given_the_time_that_it_may_take(own_daemon, catcher):
    daemon = own_daemon("--drain", "100s", "--drain-delay", "1000s",
                        env={"NOTIFY_SOCKET": catcher.getsockname()})
    expect_told(catcher, "READY=1")
    daemon.process.send_signal(signal.SIGTERM)
    assert "STOPPING=1" in expect_told(catcher, "EXTEND_TIMEOUT_USEC=1005000000")
    daemon.process.send_signal(signal.SIGTERM)
    assert "STOPPING=1" in expect_told(catcher, "EXTEND_TIMEOUT_USEC=105000000")
    assert daemon.process.wait(harness.PATIENCE) == 0


def test_a_reload_while_it_leaves_does_not_take_the_end_back(own_daemon, catcher):
    daemon = own_daemon("--drain", "100s", "--drain-delay", "1000s",
                        env={"NOTIFY_SOCKET": catcher.getsockname()})
    expect_told(catcher, "READY=1")
    daemon.process.send_signal(signal.SIGTERM)
    expect_told(catcher, "STOPPING=1")
    with Wire(daemon.host) as wire:
        assert wire.ask("server.reload") == []
    daemon.process.send_signal(signal.SIGTERM)
    said = expect_told(catcher, "EXTEND_TIMEOUT_USEC=105000000")
    assert "STOPPING=1" in said and "READY=1" not in said and "RELOADING=1" not in said
