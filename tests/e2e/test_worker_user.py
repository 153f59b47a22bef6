"""With a user of their own (--worker-user) modules reach nothing of the daemon's, sandbox or not."""
import errno
import pathlib
import pwd
import shutil

import harness
import numpy as np
import pytest
from wire import Wire, out

NAME = "nobody"


def users(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {key: fields[key].split() for key in ("Uid", "Gid", "Groups", "CapPrm", "CapEff")}


def may_change_users():
    """CAP_KILL, CAP_SETGID and CAP_SETUID: 5, 6 and 7."""
    return int(users("self")["CapEff"][0], 16) >> 5 & 7 == 7


@pytest.fixture
def daemon(own_daemon, models):
    if not may_change_users():
        pytest.skip("no CAP_SETUID, CAP_SETGID and CAP_KILL: no process is given another user")
    if not harness.is_open_to_all(harness.BIN / "modserd-worker"):
        pytest.skip(f"{harness.BIN} is not open to all: another user cannot run the worker")
    return own_daemon(
        "--worker-user", NAME,
        "--load", f"escape={harness.ZOO}/escape.so,sandbox=trusted",
        "--load", f"faults={harness.ZOO}/faults.so",
        "--load", f"leaves={harness.ZOO}/leaves.so,sandbox=trusted",
        "--load", f"shapes={models}/shapes.so",
    )


def test_a_worker_is_its_users_alone_and_has_no_privilege(daemon):
    account = pwd.getpwnam(NAME)
    with Wire(daemon.host) as wire:
        daemon.ok("wait", "escape")
        (pid,) = wire.ask("module.describe", "escape")["pids"]
    its = users(pid)
    assert set(its["Uid"]) == {str(account.pw_uid)} and set(its["Gid"]) == {str(account.pw_gid)}
    assert its["Groups"] == [] and int(its["CapPrm"][0], 16) == 0


def test_without_a_sandbox_it_reaches_nothing_of_the_daemons(daemon):
    secret = daemon.folder / "secret"
    secret.write_text("kept\n")
    secret.chmod(0o600)
    daemon.folder.chmod(0o711)
    ways = [(way, daemon.pid) for way in ("signal", "signal_thread", "signal_by_descriptor",
                                          "trace", "look", "take_descriptor",
                                          "limit", "renice")]
    ways += [("connect_unix", str(daemon.socket)), ("read", str(secret)), ("write", str(secret))]
    with Wire(daemon.host) as wire:
        for way, target in ways:
            _, got = wire.call(f"escape:{way}", target)
            assert got in (errno.EPERM, errno.EACCES), (way, got)


def test_calls_go_as_ever_and_a_death_is_survived(daemon):
    x = np.arange(1000, dtype="f4")
    with Wire(daemon.host) as wire:
        (y,), _ = wire.call("shapes:addone", x, out("f4", x.size))
        assert (np.asarray(y) == x + 1).all()
        daemon.ok("wait", "faults")
        assert daemon.modser("call", "faults:crash").status != 0
        daemon.ok("wait", "faults")
        daemon.ok("unload", "faults")


@pytest.mark.parametrize("way", ["daemon", "clean", "deaf"])
def test_what_it_starts_ends_with_it(daemon, way):
    """Processes of another user, in sessions of their own, whose parents are gone."""
    daemon.ok("wait", "escape", "faults", "leaves", "shapes")
    before = set(harness.children(daemon.pid))
    with Wire(daemon.host) as wire:
        wire.call(f"leaves:{way}")
        harness.until(lambda: set(harness.children(daemon.pid)) - before, "an orphan is there")
        wire.ask("module.unload", "leaves")
    assert set(harness.children(daemon.pid)) < before


def test_a_worker_that_its_user_cannot_run_is_told_with_what_to_do(own_daemon, folder):
    if not may_change_users():
        pytest.skip("no CAP_SETUID, CAP_SETGID and CAP_KILL: no process is given another user")
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    worker = shutil.copy(harness.BIN / "modserd-worker", closed)
    daemon = own_daemon("--worker-user", NAME, env={"MODSERD_WORKER": worker})
    said = daemon.modser("load", "results", harness.ZOO / "results.so")
    assert said.status != 0 and str(worker) in said.err and "chmod o+x" in said.err, said


@pytest.mark.parametrize("name, why", [("no-such-user", "no such user"), ("root", "another user")])
def test_a_user_that_cannot_be_is_refused_at_the_start(folder, name, why):
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{folder}/m.sock",
                       "--worker-user", name)
    assert said.status == 1 and why in said.err, said
