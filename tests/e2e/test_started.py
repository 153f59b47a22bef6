"""What a daemon depends on when it starts: state that its parent has left to it, and threads."""
import json
import os
import signal
import subprocess
import sys

import harness
import onnx_writer as onnx
import pytest
import test_http
from wire import Failure, Wire

RESULTS = harness.ZOO / "results.so"
USER = 61_000 + os.getpid() % 4000  # has no process but those of this test
AS_USER = ("setpriv", f"--reuid={USER}", "--regid=65534", "--clear-groups")
MANY = 4096  # processes and threads
WIDE = 20_000  # elements: more than is read as JSON on the loop

IGNORES_AND_BLOCKS_ALL = """
import contextlib, os, signal, sys
every = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
for s in every:
    with contextlib.suppress(OSError):
        signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, every)
os.umask(0o777)
os.execv(sys.argv[1], sys.argv[1:])
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def signals(pid, field):
    status = open(f"/proc/{pid}/status").read()
    mask = int(status.partition(f"{field}:\t")[2].split()[0], 16)
    return {s for s in signal.valid_signals() if mask >> (s - 1) & 1}


def test_signals_that_the_parent_ignored_and_blocked_are_the_daemons(own_daemon):
    daemon = own_daemon(before=(sys.executable, "-c", IGNORES_AND_BLOCKS_ALL))
    heard = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1}
    assert signals(daemon.pid, "SigBlk") == heard, "these are read from a descriptor"
    assert signals(daemon.pid, "SigIgn") <= {signal.SIGPIPE, signal.SIGXFSZ}
    daemon.load("results", RESULTS)
    [worker] = daemon.workers()
    os.kill(worker, signal.SIGKILL)
    harness.until(lambda: daemon.workers() not in ([], [worker]), "its death is noticed")
    os.kill(daemon.pid, signal.SIGHUP)
    daemon.expect_logged("event=daemon_signal name=SIGHUP")
    daemon.stop()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_descriptors_that_are_closed_are_nothing_of_the_loops(folder, closed):
    (folder / "m.conf").touch()
    host = f"unix:{folder}/m.sock"
    words = ("sh", "-c", f'exec "$@" {closed}', "sh", harness.BIN / "modserd", "--config",
             folder / "m.conf", "--listen", host)
    quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    with harness.started(*words, **quiet) as daemon:
        harness.until(lambda: harness.run(harness.BIN / "modser", "-H", host, "ping").status == 0,
                      "it serves")
        for fd in range(3):
            assert os.readlink(f"/proc/{daemon.pid}/fd/{fd}") == "/dev/null"
        daemon.terminate()
        assert daemon.wait(harness.PATIENCE) == 0


def test_the_command_line_writes_into_no_socket_where_it_cannot_print(own_daemon):
    daemon = own_daemon()
    modser = f"exec {harness.BIN}/modser -H {daemon.host}"
    said = harness.run("sh", "-c", f"{modser} info <&- >&- 2>&-")
    assert said.status != 3, "the connection is not lost"
    assert harness.run("sh", "-c", f"{modser} ping <&-").status == 0
    assert "PROTOCOL" not in daemon.log()


def test_a_soft_limit_of_files_is_raised(own_daemon):
    daemon = own_daemon(before=("prlimit", "--fsize=0:unlimited"))
    daemon.load("results", RESULTS)
    assert daemon.ok("call", "results:int").out.strip() == "-42"


def test_a_limit_without_room_for_memory_is_refused(folder):
    (folder / "m.conf").touch()
    words = (harness.BIN / "modserd", "--config", folder / "m.conf", "--listen",
             f"unix:{folder}/m.sock")
    said = harness.run("prlimit", "--fsize=0:0", *words)
    assert said.status == 1
    assert "RLIMIT_FSIZE is 0 bytes" in said.err and "ulimit -Hf" in said.err
    assert harness.run("prlimit", "--fsize=0:0", harness.BIN / "modserd", "--version").status == 0


@pytest.fixture
def of_user(folder):
    """Files that a daemon of another user can read: (words of it, a socket's address)."""
    if not harness.is_open_to_all(harness.BIN / "modserd-worker"):
        pytest.skip(f"{harness.BIN} is not open to all: another user cannot run the daemon")
    relu = onnx.model([onnx.node("Relu", ["x"], ["y"])], [onnx.value("x", "float32", [WIDE])],
                      [onnx.value("y", "float32", [WIDE])])
    (folder / "m.conf").touch()
    (folder / "relu.onnx").write_bytes(relu)
    for path in (folder, *folder.iterdir()):
        os.chown(path, USER, 65534)
    folder.chmod(0o755)
    words = ("--config", folder / "m.conf", "--load", f"relu={folder}/relu.onnx")
    return words, f"unix:{folder}/m.sock"


def limit_threads(daemon, most):
    """Its user may have so many processes and threads; it has some already."""
    limit = f"--nproc={most}:{MANY}"
    assert harness.run(*AS_USER, "prlimit", f"--pid={daemon.pid}", limit).status == 0


@as_root
def test_it_serves_when_its_user_has_no_thread_left(of_user, folder):
    words, host = of_user
    module = RESULTS.read_bytes()
    with test_http.start(*words, listen=[host], may_write=str(folder),
                       before=("prlimit", f"--nproc={MANY}:{MANY}", *AS_USER)) as daemon:
        with Wire(host) as wire, test_http.Visit(daemon) as visit:
            assert wire.ask("module.wait", "relu")["state"] == "READY"
            limit_threads(daemon, 1)
            for _ in range(3):
                with pytest.raises(Failure, match="Resource temporarily unavailable.*ulimit -u"):
                    wire.load("late", module)
            tensor = {"name": "x", "datatype": "FP32", "shape": [WIDE], "data": list(range(WIDE))}
            status, said = test_http.ask_json(
                visit, "/v2/models/relu/infer", "POST", json.dumps({"inputs": [tensor]}).encode())
            assert status == 200 and said["outputs"][0]["data"] == tensor["data"]
            limit_threads(daemon, MANY)
            wire.load("later", module)
            assert wire.call("later:int")[1] == -42
        daemon.stop()


@as_root
@pytest.mark.parametrize("most", [1, 4, 12])
def test_it_does_not_start_without_its_threads(of_user, most):
    words, host = of_user
    said = harness.run("prlimit", f"--nproc={most}:{most}", *AS_USER, harness.BIN / "modserd",
                       "--listen", host, *words)
    assert said.status == 1
    assert said.err.startswith("modserd: a thread cannot be started: ") and "ulimit -u" in said.err
