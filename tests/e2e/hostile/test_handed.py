"""What a service manager hands over may be more than a daemon takes, and none of it: it is closed, and
the daemon serves as ever."""
import collections
import fcntl
import os
import resource
import signal

import fd_store
import harness
import pytest

RESULTS = harness.ZOO / "results.so"
KEEP = ("--keep-workers", "--load", f"m={RESULTS}")
WORKERS = 1024  # MSD_HANDOVER_MOST
SEALS = 0x0001 | 0x0002 | 0x0004 | 0x0008  # all that a memfd has
F_ADD_SEALS = 1033


@pytest.fixture
def manager(folder, own_daemon):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4 * WORKERS:
        pytest.skip(f"RLIMIT_NOFILE of {hard}: so many cannot be handed over here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * WORKERS, hard))
    m = fd_store.Manager(folder)
    yield m
    m.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def store(manager, name, fd):
    manager.stored.append([name, fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, fd_store.FIRST)])
    os.close(fd)


def kinds(daemon):
    """How many of its descriptors are what, without files of its own."""
    return collections.Counter(
        name for name in harness.descriptors(daemon.pid)
        if not name.startswith("/") or name.startswith("/memfd"))


def expect_none_kept(manager, own_daemon, before):
    daemon = manager.start(own_daemon, *KEEP)
    assert daemon.ok("call", "m:int").out == "-42\n"
    harness.until(lambda: not kinds(daemon) - before, "all are closed")
    return daemon


def descriptors_of_none(manager, own_daemon):
    """Of a daemon that was handed over nothing but its socket, and has one worker."""
    daemon = manager.start(own_daemon, *KEEP)
    assert daemon.ok("call", "m:int").out == "-42\n"
    manager.until_kept(1)
    found = kinds(daemon)
    manager.end(daemon, signal.SIGTERM)
    manager.forget()
    return found


def test_so_many_workers_are_taken_and_those_that_are_none_ended(manager, own_daemon):
    before = descriptors_of_none(manager, own_daemon)
    for i in range(WORKERS + 6):
        ours, theirs = os.pipe()
        os.close(theirs)
        store(manager, f"modserd-worker.1.0.{i:064x}", ours)
    daemon = expect_none_kept(manager, own_daemon, before)
    told = daemon.log().count("a descriptor is not one of a worker's")
    assert told == 6, "those that there was no place for"


def test_artifacts_that_no_module_takes_are_closed(manager, own_daemon):
    """Within the seconds from one look at what is left over to the next."""
    before = descriptors_of_none(manager, own_daemon)
    for i in range(WORKERS):
        fd = os.memfd_create("artifact", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(fd, b"%d" % i)
        fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
        store(manager, f"modserd-artifact.{i:064x}", fd)
    expect_none_kept(manager, own_daemon, before)
