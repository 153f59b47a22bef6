"""Whatever a module starts is gone when it is unloaded, restarted or replaced, and nothing of another
module's. Processes are found by what they inherit whatever they do: here by /proc alone, as those
that are there now and were not before.
"""
import contextlib
import os
import pathlib
import signal
import subprocess

import harness
import pytest
from wire import Failure

LEAVES = harness.ZOO / "leaves.so"
WAYS = ("daemon", "memory", "deaf", "clean", "limits", "family", "many", "sibling", "headless")


@pytest.fixture
def arena(own_arena):
    return own_arena(modules={"bad": LEAVES, "good": LEAVES})


def parents():
    """{pid: (its parent's, is it dead)} of all that there are; the first thread may end before others."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stats = [t.read_text() for t in (entry / "stat", *entry.glob("task/*/stat"))]
            except (FileNotFoundError, ProcessLookupError):
                continue
            (_, parent), *threads = [stat.rpartition(")")[2].split()[:2] for stat in stats]
            is_dead = all(state == "Z" for state, _ in threads)
            found[int(entry.name)] = (int(parent), is_dead)
    return found


def below(pid):
    """All living descendants of @pid; orphans of its children are its children."""
    found, all = set(), parents()
    while True:
        more = {p for p, (parent, _) in all.items() if parent == pid or parent in found} - found
        if not more:
            return {p for p in found if not all[p][1]}
        found |= more


def zombies(pid):
    return [p for p, (parent, is_dead) in parents().items() if parent == pid and is_dead]


def settled(arena, number):
    """The @number of processes that there are, workers too, when those are gone that began them."""
    harness.until(lambda: len(below(arena.pid)) == number, f"{number} processes")
    return below(arena.pid)


def mappings(pid):
    """Of memory files."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [line for line in maps if "memfd:" in line]


def expect_only(arena, keep):
    """At once, not after a while: who asked has been told that it is over."""
    assert below(arena.pid) == keep
    assert not zombies(arena.pid)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_an_unloaded_module_is_left_and_all_of_the_other(arena, way):
    victim = arena.victim()
    victim.call("good:daemon")
    keep = settled(arena, 3) - set(arena.workers_of("bad"))
    victim.call(f"bad:{way}")
    assert below(arena.pid) > keep | set(arena.workers_of("bad")), "there is something to end"
    victim.ask("module.unload", "bad")
    expect_only(arena, keep)
    assert victim.call("good:daemon")[1] is None
    victim.ask("module.unload", "good")
    expect_only(arena, set())
    assert not any("left-behind" in d for d in harness.descriptors(arena.pid))
    harness.until(lambda: not mappings(arena.pid), "its segments are unmapped")


def test_who_takes_the_mark_of_another_module_is_no_part_of_it(arena):
    """Which lives on when its own is gone, and would protect it."""
    victim = arena.victim()
    victim.call("good:daemon")
    keep = settled(arena, 3) - set(arena.workers_of("bad"))
    victim.call("bad:disguise")
    victim.ask("module.unload", "bad")
    expect_only(arena, keep)


def test_who_forks_faster_than_it_is_looked_for_does_not_get_away(arena):
    victim = arena.victim()
    keep = below(arena.pid) - set(arena.workers_of("bad"))
    victim.call("bad:comet")
    victim.ask("module.unload", "bad")
    harness.until(lambda: below(arena.pid) == keep, "it is gone")


def test_a_death_takes_along_what_it_left(arena):
    victim = arena.victim()
    victim.call("good:daemon")
    with pytest.raises(Failure, match="WORKER_LOST"):
        victim.call("bad:daemon_and_die")
    victim.ask("module.wait", "bad")
    settled(arena, 3)


def test_a_replaced_module_leaves_nothing(arena):
    victim = arena.victim()
    old = set(arena.workers_of("bad"))
    victim.call("bad:many")
    with arena.connect() as wire:
        wire.load("bad", LEAVES.read_bytes(), replace=True)
    keep = set(arena.workers_of("bad")) | set(arena.workers_of("good"))
    assert not keep & old
    harness.until(lambda: below(arena.pid) == keep, "the old one drained")


def test_orphans_that_end_are_reaped_while_their_module_lives(arena):
    victim = arena.victim()
    victim.call("bad:many")
    workers = set(arena.workers_of("bad")) | set(arena.workers_of("good"))
    with contextlib.ExitStack() as stack:
        orphans = [stack.enter_context(harness.Watched(p)) for p in settled(arena, 22) - workers]
        for orphan in orphans:
            signal.pidfd_send_signal(orphan.fd, signal.SIGKILL)
        harness.until(lambda: all(o.is_reaped() for o in orphans), "they are reaped")
    assert victim.call("bad:daemon")[1] is None


def numbered(kind, key):
    """Whether something of System V's has this @key where this test runs."""
    rows = pathlib.Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
    return any(int(row.split()[0]) == key for row in rows)


def test_what_no_process_owns_ends_with_its_module_and_is_no_other_s(own_arena):
    """Without a sandbox, which refuses them altogether."""
    if subprocess.run(["unshare", "--ipc", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may make no namespaces, and then modules share the daemon's")
    arena = own_arena("--sandbox", "trusted", modules={"bad": LEAVES, "good": LEAVES})
    victim = arena.victim()
    key = 0x6d730000 | arena.pid & 0xffff
    assert victim.call("bad:numbers", key)[1] == 3
    assert victim.call("bad:numbers", key)[1] == 0, "they stay while the worker lives"
    assert victim.call("good:numbers", key)[1] == 3, "another module sees none of them"
    assert not any(numbered(kind, key) for kind in ("shm", "sem", "msg"))
    own = os.readlink(f"/proc/{arena.pid}/ns/ipc")
    assert own == os.readlink("/proc/self/ns/ipc"), "the daemon stays where it was started"
    with arena.connect() as wire:
        wire.load("bad", LEAVES.read_bytes(), replace=True)
    assert victim.call("bad:numbers", key)[1] == 3


def test_the_daemons_end_is_theirs(own_arena):
    arena = own_arena(modules={"bad": LEAVES})
    victim = arena.victim()
    for way in WAYS:
        victim.call(f"bad:{way}")
    with contextlib.ExitStack() as stack:
        there = [stack.enter_context(harness.Watched(pid)) for pid in below(arena.pid)]
        assert len(there) > len(WAYS)
        arena.daemon.process.send_signal(signal.SIGTERM)
        assert arena.daemon.process.wait(harness.PATIENCE) == 0
        harness.until(lambda: all(w.is_reaped() for w in there), "they end with it")
