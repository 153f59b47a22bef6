"""With a user of their own (--worker-user) modules reach nothing of the daemon's, sandbox or not."""
import errno
import os
import pathlib
import pwd

import harness
import numpy as np
import pytest
from wire import Wire, out

NAME = "nobody"


@pytest.fixture
def daemon(own_daemon, models):
    if os.geteuid() != 0:
        pytest.skip("not root: no process is given another user")
    if not harness.is_open_to_all(harness.BIN / "modserd-worker"):
        pytest.skip(f"{harness.BIN} is not open to all: another user cannot run the worker")
    return own_daemon(
        "--worker-user", NAME,
        "--load", f"escape={harness.ZOO}/escape.so,sandbox=trusted",
        "--load", f"faults={harness.ZOO}/faults.so",
        "--load", f"shapes={models}/shapes.so",
    )


def users(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {key: fields[key].split() for key in ("Uid", "Gid", "Groups", "CapPrm", "CapBnd")}


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


@pytest.mark.parametrize("name, why", [("no-such-user", "no such user"), ("root", "another user")])
def test_a_user_that_cannot_be_is_refused_at_the_start(folder, name, why):
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{folder}/m.sock",
                       "--worker-user", name)
    assert said.status == 1 and why in said.err, said
