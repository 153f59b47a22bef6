"""A store whose disk becomes read-only, as a worn one does, while the daemon serves and after.

The disk is a mount of its own, in the daemon's own namespace: it ends with that.
"""
import os
import shutil
import subprocess

import harness
import pytest
from test_store import FAULTS, RESULTS, end

BECOME = 'mount --bind "$0" "$0" && mount -o "remount,bind,$1" "$0" && shift && exec "$@"'
NSENTER = shutil.which("nsenter")


def may_mount():
    words = ["unshare", "-m", "true"]
    return os.geteuid() == 0 and NSENTER and subprocess.run(words, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not may_mount(), reason="no right to mount: no disk is read-only")


@pytest.fixture
def start(own_daemon, folder):
    """A daemon whose store is on a disk that is @how, "rw" or "ro"."""
    store = folder / "store"

    def start(how, *words):
        store.mkdir(exist_ok=True)
        before = ["unshare", "-m", "--propagation", "private", "sh", "-c", BECOME, store, how]
        return own_daemon("--store", store, *words, before=[str(w) for w in before])

    return start


def wear(daemon, folder):
    subprocess.run([NSENTER, "-t", str(daemon.pid), "-m", "mount", "-o", "remount,bind,ro",
                    folder / "store"], check=True)


def expect_refused(daemon, *words):
    said = daemon.modser(*words)
    assert said.status == 1 and "Read-only file system [IO]" in said.err, said
    assert str(daemon.store) in said.err, said


def serves(daemon):
    return daemon.ok("call", "m:int").out == "-42\n"


def test_what_serves_goes_on_when_the_disk_becomes_read_only(start, folder):
    daemon = start("rw")
    daemon.store = folder / "store"
    daemon.ok("load", "--keep", "m", FAULTS)
    daemon.ok("load", "--keep", "--replace", "m", RESULTS)
    wear(daemon, folder)
    assert serves(daemon)
    for words in (["load", "--keep", "--replace", "m", FAULTS], ["load", "--keep", "n", FAULTS],
                  ["rollback", "m"], ["unload", "m"], ["store", "pin", "m"]):
        expect_refused(daemon, *words)
        assert serves(daemon), words
    end(daemon)
    again = start("ro")
    again.ok("wait", "m")
    assert serves(again)
    end(again)
    mended = start("rw")
    mended.ok("wait", "m")
    mended.ok("load", "--keep", "n", FAULTS)


@pytest.mark.skipif(not (harness.BIN / "modserd-fetch").exists(),
                    reason="modserd-fetch is not built: libcurl was absent")
def test_a_source_is_not_asked_while_nothing_of_it_can_be_kept(start, folder):
    conf, model = folder / "source.conf", folder / "model.so"
    model.write_bytes(RESULTS.read_bytes())
    conf.write_text(f'module m {{ source = "file://{model}" poll = "5s" }}\n')
    words = ("--config", conf, "--fetch-retry", "5ms")
    daemon = start("rw", *words)
    daemon.ok("wait", "m")
    harness.until(lambda: (folder / "store/modules/m").exists(), "it is kept")
    end(daemon)
    model.write_bytes(FAULTS.read_bytes())
    again = start("ro", *words)
    harness.until(lambda: "event=source_poll name=m failures=1" in again.log(), "it is not asked")
    assert "Read-only file system" in again.log() and "event=source_poll name=m bytes" not in again.log()
    assert serves(again)
