"""Where modserd listens and whom it lets in."""
import errno
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import subprocess

import harness
import msgpack
import numpy as np
import pytest
from wire import Closed, Failure, Wire


def expect_no_start(*words, env=None):
    """modserd must refuse to start; its words on stderr."""
    said = harness.run(harness.BIN / "modserd", *words, env=env)
    assert said.status not in (0, None) and said.out == "", said
    assert said.err.strip()
    return said


def test_the_socket_is_the_users_own(daemon):
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600


def test_socket_mode_is_an_option(own_daemon):
    daemon = own_daemon("--socket-mode", "0660")
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o660


def test_a_second_daemon_on_a_live_socket_refuses(daemon):
    said = expect_no_start("--listen", f"unix:{daemon.socket}")
    assert str(daemon.socket) in said.err
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None


def test_a_dead_socket_is_replaced(own_daemon):
    daemon = own_daemon()
    daemon.process.kill()
    daemon.process.wait(harness.PATIENCE)
    assert daemon.socket.exists()
    again = own_daemon(listen=[f"unix:{daemon.socket}"])
    with Wire(again.host) as wire:
        assert wire.ask("ping") is None


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_another_programs_socket_is_not_removed(folder, kind):
    path = folder / "m.sock"
    with socket.socket(socket.AF_UNIX, kind) as other, \
            socket.socket(socket.AF_UNIX, kind) as sender:
        other.bind(str(path))
        if kind != socket.SOCK_DGRAM:
            other.listen()
        said = expect_no_start("--listen", f"unix:{path}")
        assert str(path) in said.err and "--listen unix:PATH" in said.err, said
        sender.connect(str(path))  # it is there as before


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_a_dead_socket_of_another_kind_is_replaced(own_daemon, folder, kind):
    path = folder / "dead.sock"
    with socket.socket(socket.AF_UNIX, kind) as other:
        other.bind(str(path))
    daemon = own_daemon(listen=[f"unix:{path}"])
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("away", path)],
                         ids=["fifo", "folder", "symlink"])
def test_what_is_no_socket_is_left_alone(folder, make):
    path = folder / "m.sock"
    make(path)
    before = os.lstat(path)
    said = expect_no_start("--listen", f"unix:{path}")
    assert str(path) in said.err
    assert os.lstat(path).st_ino == before.st_ino


def test_the_end_removes_no_socket_that_another_program_has_put_there(own_daemon):
    daemon = own_daemon()
    daemon.socket.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(daemon.socket))
        daemon.process.terminate()
        assert daemon.process.wait(harness.PATIENCE) == 0
        assert daemon.socket.exists()


def test_a_folder_that_is_not_there_is_told_with_what_to_do(folder):
    said = expect_no_start("--listen", f"unix:{folder}/none/m.sock")
    assert "create its folder" in said.err and "--listen unix:PATH" in said.err, said


def test_a_file_that_is_no_socket_is_not_replaced(folder):
    path = folder / "m.sock"
    path.write_text("mine")
    said = expect_no_start("--listen", f"unix:{path}")
    assert str(path) in said.err and path.read_text() == "mine"


@pytest.fixture
def nobody():
    """A user without rights and a folder of his with the programs in it. As root they are
    started as another user: root's own default socket, below /run, is not a test's to touch.
    """
    folder = harness.short_folder(harness.is_open_to_all)
    for name in ("modserd", "modserd-worker", "modser"):
        shutil.copy(harness.BIN / name, folder)
    is_root = os.geteuid() == 0
    user = {"user": 65534, "group": 65534, "extra_groups": []} if is_root else {}
    if is_root:
        os.chown(folder, 65534, 65534)

    def start(*words, env):
        return subprocess.Popen(
            [str(w) for w in words], env=harness.environment() | env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **user,
        )

    start.folder = folder
    start.uid = 65534 if is_root else os.geteuid()
    yield start
    shutil.rmtree(folder)


def expect_served(start, env, socket_path):
    daemon = start(start.folder / "modserd", "--listen", env=env)
    try:
        assert daemon.stdout.readline().strip() == f"listening unix:{socket_path}"
        assert stat.S_IMODE(os.stat(socket_path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(socket_path)).st_mode) == 0o700
        client = start(start.folder / "modser", "ping", env=env)
        assert client.wait(harness.PATIENCE) == 0
        client.communicate()
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(harness.PATIENCE) == 0
        daemon.communicate()


def test_the_default_socket_is_in_the_runtime_directory(nobody):
    runtime = f"{nobody.folder}/run"
    os.mkdir(runtime)
    os.chown(runtime, nobody.uid, -1)
    expect_served(
        nobody, {"XDG_RUNTIME_DIR": runtime}, f"{runtime}/modserd/modserd.sock"
    )


@pytest.fixture
def folder_below_tmp(nobody):
    """The user's folder below /tmp, of which the machine has one: no other run of these tests
    uses it at the same time."""
    folder = f"/tmp/modserd-{nobody.uid}"
    with socket.socket(socket.AF_UNIX) as lock:
        harness.until(lambda: binds(lock, f"\0modserd-e2e-{nobody.uid}"), "the folder's turn")
        if os.path.exists(folder):
            pytest.skip(f"{folder} is in use on this machine")
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


def binds(lock, name):
    try:
        lock.bind(name)
        return True
    except OSError as error:
        assert error.errno == errno.EADDRINUSE, error
        return False


def test_without_a_runtime_directory_it_is_in_one_of_the_users_own_below_tmp(
    nobody, folder_below_tmp
):
    expect_served(nobody, {}, f"{folder_below_tmp}/modserd.sock")


def test_a_directory_below_tmp_that_is_another_users_is_refused(nobody, folder_below_tmp):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    os.mkdir(folder_below_tmp, 0o777)
    for program in ("modserd", "modser"):
        words = ["--listen"] if program == "modserd" else ["ping"]
        process = nobody(nobody.folder / program, *words, env={})
        _, err = process.communicate(timeout=harness.PATIENCE)
        assert process.returncode not in (0, None) and folder_below_tmp in err


def test_tcp_on_loopback_resolves_port_0_and_serves(own_daemon):
    daemon = own_daemon(
        "--load", f"good={harness.ZOO / 'results.so'}", listen=["tcp://127.0.0.1:0"]
    )
    assert not daemon.host.endswith(":0")
    with Wire(daemon.host) as wire:
        assert wire.call("good:int", deadline_ms=harness.LONG_MS)[1] == -42
        with pytest.raises(Failure) as failure:
            wire.load("more", (harness.ZOO / "results.so").read_bytes())
        assert failure.value.name == "REFUSED" and "--allow-load-tcp" in failure.value.message


def test_an_upload_over_tcp_is_refused_before_its_payload_has_room(own_daemon):
    daemon = own_daemon(listen=["tcp://127.0.0.1:0"])
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            no_upload = msgpack.ExtType(5, bytes(8))
            wire.ask("module.upload", "write", no_upload, 0, np.zeros(1 << 20, "u1"))
        assert failure.value.name == "REFUSED"
        assert wire.ask("ping") is None, "what was sent all the same was read and dropped"


def test_a_peer_that_vanished_is_asked_for(own_daemon):
    """The daemon's end of a connection has the kernel's keepalive timer."""
    daemon = own_daemon(listen=["tcp://127.0.0.1:0"])
    ours = f":{int(daemon.host.rsplit(':', 1)[1]):04X}"

    def timers():
        with open("/proc/net/tcp") as table:
            rows = [row.split() for row in table]
        connected = [r for r in rows if r[1].endswith(ours) and r[3] == "01"]
        return [r[5].split(":")[0] for r in connected]

    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None
        harness.until(lambda: timers() == ["02"], "the keepalive timer runs")


def test_loading_over_tcp_is_an_option(own_daemon):
    daemon = own_daemon("--allow-load-tcp", listen=["tcp://127.0.0.1:0"])
    with Wire(daemon.host) as wire:
        wire.load("more", (harness.ZOO / "results.so").read_bytes())
        assert wire.call("more:int")[1] == -42


def loopback_of_6():
    """Its address; a machine may have no IPv6."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    return "tcp://[::1]:0"


@pytest.mark.parametrize("loopback", [lambda: "tcp://127.0.0.1:0", loopback_of_6])
def test_loading_on_the_unix_socket_of_a_daemon_with_tcp_is_allowed(own_daemon, folder, loopback):
    daemon = own_daemon(listen=[f"unix:{folder}/m.sock", loopback()])
    with Wire(daemon.host) as wire:
        wire.load("more", (harness.ZOO / "results.so").read_bytes())
    for host in daemon.hosts[1:]:
        with Wire(host) as wire:
            assert wire.call("more:int")[1] == -42


@pytest.mark.parametrize("address", ["tcp://0.0.0.0:0", "tcp://[::]:0"])
def test_tcp_beyond_loopback_needs_an_option(own_daemon, address):
    if "[" in address:
        loopback_of_6()
    assert "--insecure-tcp" in expect_no_start("--listen", address).err
    daemon = own_daemon("--insecure-tcp", listen=[address])
    port = daemon.host.rsplit(":", 1)[1]
    with Wire(f"tcp://{'[::1]' if '[' in address else '127.0.0.1'}:{port}") as wire:
        assert wire.ask("ping") is None


@pytest.mark.parametrize(
    "words",
    [
        ["--listen", "tcp://127.0.0.1:99999"],
        ["--listen", "tcp://"],
        ["--listen", "unix:"],
        ["--listen", "unix:/" + "x" * 120],
        ["--listen", "unix:/no/such/directory/m.sock"],
        ["--no-such-option"],
        ["--listen", "unix:/tmp/never", "--max-upload-size", "lots"],
        ["--listen", "unix:/tmp/never", "--max-upload-size", "-1"],
        ["--listen", "unix:/tmp/never", "--drain", "5"],
        ["--listen", "unix:/tmp/never", "--threads", "x"],
        ["--listen", "unix:/tmp/never", "--load", "nameonly"],
        ["--listen", "unix:/tmp/never", "--load", "-bad=x.so"],
        ["--listen", "unix:/tmp/never", "--socket-mode", "9"],
        ["quatsch"],
    ],
)
def test_wrong_words_end_the_start_with_a_text(words):
    expect_no_start(*words)


def test_more_connections_than_the_limit_are_refused_and_later_welcome(own_daemon):
    daemon = own_daemon("--max-connections", "4")
    wires = [Wire(daemon.host) for _ in range(4)]
    assert all(w.ask("ping") is None for w in wires)
    with Wire(daemon.host) as fifth:
        said = fifth.receive()
        assert said[:2] == [2, "session.close"] and said[2][:2] == [22, "BUSY"]
        assert "--max-connections 4" in said[2][2]
        with pytest.raises(Closed):
            fifth.receive()
    said = daemon.modser("ls")
    assert said.status != 0 and "--max-connections 4" in said.err and "BUSY" in said.err
    wires.pop().socket.close()

    def welcome():
        try:
            with Wire(daemon.host) as wire:
                return wire.ask("ping") is None
        except Exception:
            return False

    harness.until(welcome, "a free place")
    for wire in wires:
        wire.socket.close()


@pytest.fixture
def thousand_descriptors():
    """For this process; the daemon raises its own limit as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1000:
        pytest.skip(f"no process may have more than {hard} descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_idle_connections_are_served(own_daemon, thousand_descriptors):
    daemon = own_daemon()
    wires = [Wire(daemon.host) for _ in range(900)]
    assert all(w.ask("ping") is None for w in wires[::50])
    for wire in wires:
        wire.socket.close()


def test_the_worker_is_found_through_the_environment(own_daemon, tmp_path):
    worker = tmp_path / "worker"
    worker.symlink_to(harness.BIN / "modserd-worker")
    daemon = own_daemon(env={"MODSERD_WORKER": str(worker)})
    with Wire(daemon.host) as wire:
        wire.load("good", (harness.ZOO / "results.so").read_bytes())
        [pid] = daemon.workers()
    command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    assert command.startswith(os.fsencode(worker) + b"\0")


def test_an_absent_worker_is_named(own_daemon):
    daemon = own_daemon(env={"MODSERD_WORKER": "/no/such/worker"})
    with Wire(daemon.host) as wire, pytest.raises(Failure) as failure:
        wire.load("good", (harness.ZOO / "results.so").read_bytes())
    assert "/no/such/worker" in failure.value.message
