"""Where a control group is delegated to the daemon, each worker has one of its own: what a module
starts is bounded in number, and gone with it at once. The group is made here, as root, in the
kernel's real hierarchy; test_systemd.py has systemd delegate one.
"""
import errno
import os
import pathlib
import signal

import harness
import pytest
from wire import Failure

LEAVES = harness.ZOO / "leaves.so"
MOUNTS = [pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/unified")]
WAYS = ("daemon", "memory", "deaf", "clean", "limits", "family", "many", "comet")
# Becomes the daemon, alone in the group: one that hands down controllers takes no process.
ENTER = 'echo "-pids -memory" 2>&- >"$0/cgroup.subtree_control"; echo 0 >"$0/cgroup.procs" && exec "$@"'


@pytest.fixture
def group():
    """A new control group with no process in it, and with the controllers that there are."""
    mount = next((m for m in MOUNTS if (m / "cgroup.controllers").exists()), None)
    if mount is None:
        pytest.skip("no unified hierarchy (cgroup v2) here: no group is delegated")
    path = mount / f"modserd-e2e.{os.getpid()}"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    for name in {"pids", "memory"} & set((mount / "cgroup.controllers").read_text().split()):
        try:
            (mount / "cgroup.subtree_control").write_text(f"+{name}")
        except OSError:  # others are in the root of a container's groups
            pass
    if not (path / "cgroup.kill").exists():
        path.rmdir()
        pytest.skip("no cgroup.kill here (Linux 5.14)")
    yield path
    (path / "cgroup.kill").write_text("1")
    harness.until(lambda: is_removed(path), "what was in the group is gone")


def is_removed(group):
    """A group can be removed when the last of its processes is gone."""
    try:
        for path in (*group.glob("*/"), group):
            path.rmdir()
    except OSError as error:
        assert error.errno == errno.EBUSY, error
    return not group.exists()


@pytest.fixture
def start(group, own_arena):
    def start(*words, **more):
        return own_arena(*words, before=("/bin/sh", "-c", ENTER, group), **more)

    return start


def has(group, controller):
    return controller in (group / "cgroup.controllers").read_text().split()


def leaf_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line for line in lines if line.startswith("0::")).rpartition("/")[2]


def expect_leaves(group, *names):
    """Some kernels need a moment until a group is empty whose processes are gone."""
    def leaves():
        return sorted(p.name for p in group.iterdir() if p.is_dir())

    harness.until(lambda: leaves() == sorted(names), f"{names} are left")


def processes(leaf):
    return [int(p) for p in (leaf / "cgroup.procs").read_text().split()]


def test_each_worker_has_a_group_of_its_own(group, start):
    arena = start(modules={"one": LEAVES, "two": LEAVES})
    assert leaf_of(arena.pid) == "supervisor"
    found = {leaf_of(*arena.workers_of(name)) for name in ("one", "two")}
    assert found == {"worker-1", "worker-2"}
    told = arena.victim().ask("server.info")["control_group"]
    assert told == {"path": str(group), "processes": has(group, "pids"),
                    "memory": has(group, "memory")}


def test_without_one_it_says_so(own_arena):
    assert own_arena().victim().ask("server.info")["control_group"] is None


@pytest.mark.parametrize("way", WAYS)
def test_an_unload_ends_all_at_once_and_removes_the_group(group, start, way):
    arena = start(modules={"bad": LEAVES, "good": LEAVES})
    victim = arena.victim()
    victim.call("good:daemon")
    (bad,), (good,) = (arena.workers_of(name) for name in ("bad", "good"))
    bad, good = group / leaf_of(bad), group / leaf_of(good)
    victim.call(f"bad:{way}")
    victim.ask("module.unload", "bad")
    expect_leaves(group, "supervisor", good.name)
    assert len(processes(good)) == 2
    victim.ask("module.unload", "good")
    expect_leaves(group, "supervisor")
    assert processes(group / "supervisor") == [arena.pid]


def test_a_death_takes_its_group_along(group, start):
    arena = start(modules={"bad": LEAVES})
    victim = arena.victim()
    with pytest.raises(Failure, match="WORKER_LOST"):
        victim.call("bad:daemon_and_die")
    victim.ask("module.wait", "bad")
    expect_leaves(group, "supervisor", "worker-2")


def test_the_daemons_end_leaves_its_own_leaf_empty(group, start):
    arena = start(modules={"bad": LEAVES})
    for way in WAYS:
        arena.victim().call(f"bad:{way}")
    arena.daemon.stop()
    expect_leaves(group, "supervisor")
    assert processes(group / "supervisor") == []


def test_a_daemon_after_one_that_was_killed_empties_its_groups(group, start):
    first = start(modules={"bad": LEAVES})
    first.victim().call("bad:many")
    os.kill(first.pid, signal.SIGKILL)
    first.daemon.process.wait(harness.PATIENCE)
    harness.until(lambda: not processes(group / "supervisor"), "what asked for devices is gone")
    assert processes(group / "worker-1")
    second = start(modules={"bad": LEAVES})
    expect_leaves(group, "supervisor", "worker-2")
    assert processes(group / "worker-2") == second.workers_of("bad")


def test_a_fork_bomb_ends_at_its_worker(group, start):
    if not has(group, "pids"):
        pytest.skip("the pids controller is in an old hierarchy here: no number is bounded")
    words = ("--threads", 1, "--max-worker-processes", 64)  # threads count, too
    arena = start(*words, modules={"bad": LEAVES, "good": LEAVES})
    victim = arena.victim()
    assert 0 < victim.call("bad:bomb")[1] < 64
    assert 0 < victim.call("good:bomb")[1] < 64
    victim.ask("module.unload", "bad")
    expect_leaves(group, "supervisor", "worker-2")


def kills_of(group):
    """How many groups below ran out of memory and were killed as a whole."""
    words = (group / "memory.events").read_text().split()
    return int(words[words.index("oom_group_kill") + 1])


def test_what_takes_too_much_memory_together_ends_alone(group, start):
    if not has(group, "memory"):
        pytest.skip("the memory controller is in an old hierarchy here: no sum is bounded")
    words = ("--max-worker-memory", "64M", "--max-memory", "64M", "--max-segment-memory", "64M",
             "--max-worker-processes", 64)
    arena = start(*words, modules={"bad": LEAVES, "good": LEAVES})
    victim, good = arena.victim(), arena.workers_of("good")
    with pytest.raises(Failure, match="WORKER_LOST"):
        victim.call("bad:feast")
    victim.ask("module.wait", "bad")
    assert kills_of(group) == 1
    assert arena.workers_of("good") == good
    expect_leaves(group, "supervisor", "worker-2", "worker-3")
