"""A worker that lies to clients on channels of their own harms nobody but who calls its module: what
it says is an error of that call, and the next one goes through the daemon."""
import shutil
import site
import subprocess
import sys

import direct
import harness
import lying_host
import pytest
from test_unasked import Caller
from wire import Wire

# Of these the client waits for more.
LATE = ("silent", "half", "half_body", "unknown", "no_payload", "farewell")
LATE_MS = 500  # its deadline then


@pytest.fixture(scope="module")
def daemon():
    folder = harness.short_folder()
    worker, artifact = folder / "worker", folder / "artifact"
    script = harness.ROOT / "tests/e2e/hostile/lying_host.py"
    packages = ":".join(site.getsitepackages())
    worker.write_text(f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' -S '{script}' "
                      f"'{folder / 'record'}' \"$@\"\n")
    worker.chmod(0o755)
    artifact.write_text("1 good")
    with direct.Daemon("--load", f"liar={artifact}", env={"MODSERD_WORKER": str(worker)}) as d:
        yield d
    shutil.rmtree(folder)


def lied_to(caller, wire, lie):
    """The code of the first call that passed the daemon by, which answers as it should, though
    perhaps not in time."""
    deadline_ms = LATE_MS if lie in LATE else harness.LONG_MS

    def code():
        before = wire.ask("server.info")["calls"]
        n_well, told = caller.call(100, f"liar:{lie}", "1", deadline_ms=deadline_ms)
        if told == "OK":
            return None
        # The liar counts no calls for the daemon, which counts those that it gives to it.
        passed_by = wire.ask("server.info")["calls"] - before == n_well
        assert passed_by or (lie in LATE and told == "DEADLINE_EXCEEDED"), told
        return passed_by and told

    return harness.until(code, "it goes past the daemon")


@pytest.mark.parametrize("lie", lying_host.LIES)
def test_what_a_worker_says_is_checked_by_its_client(daemon, lie):
    with Wire(daemon.host) as wire, \
            harness.started(harness.BIN / "unasked_client", daemon.host, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE) as process:
        caller = Caller(process)
        expected = "DEADLINE_EXCEEDED" if lie in LATE else "WORKER_LOST"
        assert lied_to(caller, wire, lie) == expected
        assert caller.call(1, f"liar:{lie}", "1") == (1, "OK")
        process.stdin.close()
        assert process.wait(harness.PATIENCE) == 0
