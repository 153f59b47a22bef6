"""--keep-workers: workers outlive a restart by a service manager that keeps descriptors (fd_store.py),
and what that hands over is believed no further than it can be."""
import os
import pathlib
import re
import signal
import site
import sys

import fd_store
import harness
import msgpack
import pytest
from wire import DTYPE, Failure, Wire, shape_ext

RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"
FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))
MODULE = ("--load", f"m={RESULTS}")
KEEP = ("--keep-workers",)


@pytest.fixture
def manager(folder, own_daemon):
    m = fd_store.Manager(folder)
    yield m
    m.close()  # all that is kept ends with it


def call(daemon, target="m:int"):
    return daemon.ok("call", target).out


def resumed(daemon):
    return {int(pid) for pid in re.findall(r"event=worker_adopt .*pid=(\d+) resumed=yes", daemon.log())}


def expect_resumed(daemon, pids):
    harness.until(lambda: resumed(daemon) == pids, f"the log tells of {pids}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_next_daemon_has_the_same_workers(own_daemon, manager, number):
    words = ("--load", f"m={RESULTS},workers=2", *KEEP)
    first = manager.start(own_daemon, *words)
    assert call(first) == "-42\n"
    pids = manager.until_kept(2)
    assert pids == set(first.workers())
    manager.end(first, number)
    second = manager.start(own_daemon, *words)
    assert call(second) == "-42\n"
    assert manager.until_kept(2) == pids
    expect_resumed(second, pids)
    assert not second.workers(), "it has started none"


def test_ten_daemons_have_the_same_worker(own_daemon, manager):
    daemon = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    for i in range(10):
        manager.end(daemon, signal.SIGKILL if i % 2 else signal.SIGTERM)
        daemon = manager.start(own_daemon, *MODULE, *KEEP)
        assert call(daemon) == "-42\n"
        assert manager.until_kept(1) == pids


def test_workers_end_when_nothing_keeps_them_any_more(own_daemon, manager):
    daemon = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    manager.end(daemon, signal.SIGTERM)
    assert not any(map(fd_store.ended, pids))
    manager.forget()
    fd_store.until_ended(pids)


def runs(pid):
    """It has used the processor for half a second."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return int(fields[11]) > os.sysconf("SC_CLK_TCK") / 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_that_never_comes_back_ends_with_the_rest(own_daemon, manager, number):
    """It is in a call that takes no notice of anything: the kernel ends it."""
    words = ("--load", f"f={FAULTS}", *KEEP, "--drain", "1ms")
    daemon = manager.start(own_daemon, *words)
    pids = manager.until_kept(1)
    with Wire(daemon.host) as wire:
        wire.start("call", "f:loop")
        harness.until(lambda: all(map(runs, pids)), "it spins")
        manager.end(daemon, number)
    manager.forget()
    fd_store.until_ended(pids)


def test_an_unloaded_module_is_not_kept(own_daemon, manager):
    daemon = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    daemon.ok("unload", "m")
    assert manager.until_kept(0) == set()
    fd_store.until_ended(pids)


def test_a_worker_that_died_is_kept_no_longer_and_the_next_one_is(own_daemon, manager):
    daemon = manager.start(own_daemon, *MODULE, *KEEP)
    (pid,) = manager.until_kept(1)
    os.kill(pid, signal.SIGKILL)
    harness.until(lambda: manager.names() and manager.until_kept(1) != {pid}, "another is kept")
    assert call(daemon) == "-42\n"


def test_the_death_of_one_that_was_taken_over_is_noticed(own_daemon, manager):
    first = manager.start(own_daemon, *MODULE, *KEEP)
    (pid,) = manager.until_kept(1)
    manager.end(first, signal.SIGTERM)
    second = manager.start(own_daemon, *MODULE, *KEEP)
    assert call(second) == "-42\n"
    os.kill(pid, signal.SIGKILL)
    harness.until(lambda: "event=worker_lost" in second.log(), "it is noticed")
    assert call(second) == "-42\n"
    assert manager.until_kept(1) == set(second.workers()) != {pid}


def test_what_the_old_clients_had_is_gone(own_daemon, manager):
    """Handles of the daemon before mean nothing to this one, and their memory is free again."""
    words = (*MODULE, *KEEP, "--max-memory", "4M")
    first = manager.start(own_daemon, *words)
    pids = manager.until_kept(1)
    with Wire(first.host) as wire:
        held = wire.ask("tensor.alloc", "m", FLOAT32, shape_ext(200_000))
        manager.end(first, signal.SIGKILL)
    second = manager.start(own_daemon, *words)
    with Wire(second.host) as wire:
        second.ok("wait", "m")
        expect_resumed(second, pids)
        with pytest.raises(Failure):
            wire.ask("tensor.fill", held, 1)
        wire.ask("tensor.alloc", "m", FLOAT32, shape_ext(200_000))


@pytest.mark.parametrize("change", [
    ["--load", f"m={FAULTS}"],
    [*MODULE, "--threads", "3"],
    [*MODULE, "--sandbox", "trusted"],
    [*MODULE, "--max-worker-files", "300"],
    ["--load", f"other={RESULTS}"],
], ids=["artifact", "threads", "sandbox", "limit", "name"])
def test_a_worker_that_was_started_for_something_else_is_not_taken(own_daemon, manager, change):
    first = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGTERM)
    second = manager.start(own_daemon, *change, *KEEP)
    harness.until(lambda: manager.names() and not (manager.until_kept(1) & pids), "a fresh one is kept")
    assert not resumed(second)
    fd_store.until_ended(pids)


def test_a_daemon_that_keeps_none_ends_those_that_were(own_daemon, manager):
    first = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGTERM)
    second = manager.start(own_daemon, *MODULE)
    assert call(second) == "-42\n"
    fd_store.until_ended(pids)
    assert manager.until_kept(0) == set()


def test_without_a_manager_workers_end_with_the_daemon(own_daemon):
    daemon = own_daemon(*MODULE, *KEEP)
    assert call(daemon) == "-42\n"
    assert "event=worker_keep kept=no" in daemon.log()
    pids = daemon.workers()
    daemon.process.kill()
    daemon.process.wait(harness.PATIENCE)
    fd_store.until_ended(pids)


def test_a_manager_that_keeps_nothing_changes_nothing(own_daemon, manager):
    first = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    manager.forget()
    assert call(first) == "-42\n"
    manager.end(first, signal.SIGTERM)
    fd_store.until_ended(pids)


def foreign(manager):
    """A file under the name of a worker that is kept."""
    (name,) = manager.names()
    manager.stored.append([name, os.memfd_create("foreign")])


def doubled(manager):
    """Another socket under its name."""
    (name,) = manager.names()
    fd = next(fd for n, fd in manager.stored if n == name)
    manager.stored.append([name, os.dup(fd)])


def lacking(manager):
    entry = next(e for e in manager.stored if e[0] in manager.names())
    manager.stored.remove(entry)
    os.close(entry[1])


def renamed(manager):
    """All of it under the number of another process."""
    for entry in manager.stored:
        entry[0] = re.sub(r"\.\d+\.", ".1.", entry[0], count=1)


@pytest.mark.parametrize("harm", [foreign, doubled, lacking, renamed])
def test_what_is_no_whole_worker_is_not_taken(own_daemon, manager, harm):
    first = manager.start(own_daemon, *MODULE, *KEEP)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGTERM)
    harm(manager)
    second = manager.start(own_daemon, *MODULE, *KEEP)
    assert call(second) == "-42\n"
    assert not resumed(second)
    assert manager.until_kept(1) == set(second.workers())
    fd_store.until_ended(pids)


def test_a_name_that_is_none_is_removed_and_all_else_serves(own_daemon, manager):
    manager.stored.append(["modserd-worker.no-such", os.memfd_create("foreign")])
    daemon = manager.start(own_daemon, *MODULE, *KEEP)
    assert call(daemon) == "-42\n"
    (pid,) = manager.until_kept(1)
    assert pid in daemon.workers()


def damage(store):
    """The one file that it has."""
    (blob,) = (p for p in (store / "sha256").rglob("*") if p.is_file())
    blob.chmod(0o600)
    blob.write_bytes(b"damaged")


def test_bytes_that_are_kept_are_not_read_again(own_daemon, manager, tmp_path):
    words = ("--store", tmp_path / "store", *KEEP)
    first = manager.start(own_daemon, *words)
    first.ok("load", "--keep", "m", RESULTS)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGKILL)
    damage(tmp_path / "store")
    second = manager.start(own_daemon, *words)
    assert call(second) == "-42\n"
    expect_resumed(second, pids)
    second.ok("unload", "m")
    manager.listen()
    assert not manager.names("modserd-artifact.")


def test_bytes_that_anybody_could_have_changed_are_read_from_the_store(own_daemon, manager, tmp_path):
    words = ("--store", tmp_path / "store", *KEEP)
    first = manager.start(own_daemon, *words)
    first.ok("load", "--keep", "m", RESULTS)
    manager.until_kept(1)
    manager.end(first, signal.SIGKILL)
    entry = next(e for e in manager.stored if e[0].startswith("modserd-artifact."))
    os.close(entry[1])
    entry[1] = os.memfd_create("unsealed")
    os.write(entry[1], FAULTS.read_bytes())
    second = manager.start(own_daemon, *words)
    assert call(second) == "-42\n"


@pytest.fixture
def keeping(tmp_path):
    """(the program for MODSERD_WORKER, the file that says how it resumes)"""
    program, fate = tmp_path / "worker", tmp_path / "fate"
    script = pathlib.Path(__file__).with_name("keeping_worker.py")
    path = ":".join(site.getsitepackages())
    command = f"exec '{sys.executable}' -S '{script}' '{tmp_path}/record' '{fate}' \"$@\""
    program.write_text(f"#!/bin/sh\nexport PYTHONPATH='{path}'\n{command}\n")
    program.chmod(0o755)
    fate.write_text("resumes")
    (tmp_path / "artifact").write_text("1 good")
    return program, fate, ("--load", f"m={tmp_path / 'artifact'}", *KEEP)


@pytest.mark.parametrize("fate", ["refuses", "lies", "silent", "dies", "babbles"])
def test_a_worker_that_does_not_resume_makes_room_for_a_fresh_one(own_daemon, manager, keeping, fate):
    program, file, words = keeping
    env = {"MODSERD_WORKER": str(program)}
    first = manager.start(own_daemon, *words, env=env)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGKILL)
    file.write_text(fate)
    second = manager.start(own_daemon, *words, env=env)
    second.ok("wait", "m")
    assert "resumed=no" in second.log()
    assert not resumed(second)
    assert manager.until_kept(1) == set(harness.children(second.pid))
    fd_store.until_ended(pids)


def test_a_worker_that_resumes_twice_is_killed_and_another_started(own_daemon, manager, keeping):
    program, file, words = keeping
    env = {"MODSERD_WORKER": str(program)}
    first = manager.start(own_daemon, *words, env=env)
    pids = manager.until_kept(1)
    manager.end(first, signal.SIGKILL)
    file.write_text("answers twice")
    second = manager.start(own_daemon, *words, env=env)
    harness.until(lambda: "it answered an unknown request" in second.log(), "it is noticed")
    second.ok("wait", "m")
    fd_store.until_ended(pids)
