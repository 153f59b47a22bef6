"""What a worker may take is bounded from its start; and where the daemon itself has too few descriptors,
it says so, with their number and what to do."""
import contextlib
import fcntl
import os
import re
import resource
import subprocess

import harness
import lender
import pytest
from wire import SEGMENT, Failure, Wire

FAULTS = harness.ZOO / "faults.so"


def limits_of(arena, what):
    (pid,) = arena.workers_of("faults")
    return resource.prlimit(pid, what)


def test_a_worker_has_limits_that_it_cannot_raise(arena):
    assert limits_of(arena, resource.RLIMIT_NOFILE) == (1024, 1024)
    assert limits_of(arena, resource.RLIMIT_CORE) == (0, 0)
    told = arena.victim().ask("server.info")["limits"]
    assert told["max-worker-files"] == 1024 and told["max-worker-core"] == 0
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < told["max-worker-memory"] <= machine // 4 * 3
    soft, hard = limits_of(arena, resource.RLIMIT_DATA)
    assert soft >= told["max-worker-memory"]
    assert hard == soft + told["max-segment-memory"], "what clients lend comes beside it"


def test_the_operator_may_set_them(own_arena):
    arena = own_arena("--max-worker-files", 300, "--max-worker-core", "1M", modules={"faults": FAULTS})
    assert limits_of(arena, resource.RLIMIT_NOFILE) == (300, 300)
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    most = 1 << 20 if hard == resource.RLIM_INFINITY else min(hard, 1 << 20)
    assert limits_of(arena, resource.RLIMIT_CORE)[1] == most, "a sanitizer lowers the soft one"


def test_what_is_lent_to_be_read_is_no_memory_of_the_workers(own_arena):
    """It is mapped so that what is written to it stays there, which the kernel counts as data."""
    lent = 96 << 20
    arena = own_arena("--max-worker-memory", "64M", "--max-peer-segment-memory", lent, modules={"faults": FAULTS})
    before, wire = limits_of(arena, resource.RLIMIT_DATA), arena.connect()
    fd = lender.memfd(lent, 0)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, lender.SIZE | lender.WRITE)
    number = lender.add(wire, fd, lent)
    os.close(fd)
    wire.call("faults:scribble", lender.tensor_at(SEGMENT, number, 0, "f4", (64,), 256), 256)
    soft, hard = limits_of(arena, resource.RLIMIT_DATA)
    assert (soft - before[0], hard) == (lent, before[1])
    assert arena.victim().call("faults:alloc_bomb", 16)[1] == 16, "there is as much as before"
    wire.ask("segment.remove", number)
    harness.until(lambda: limits_of(arena, resource.RLIMIT_DATA) == before, "it is given back")


def test_fewer_descriptors_than_a_worker_needs_are_raised_to_that(own_arena):
    arena = own_arena("--max-worker-files", 1, modules={"faults": FAULTS})
    assert limits_of(arena, resource.RLIMIT_NOFILE) == (128, 128)
    assert arena.victim().call("faults:ok")[1] is None


@contextlib.contextmanager
def start_with(number, folder):
    """The daemon with @number descriptors, as `ulimit -n` sets them for good; its log."""
    (folder / "empty.conf").touch()
    with open(folder / "log", "wb") as log, harness.started(
        "/bin/sh", "-c", f'ulimit -n {number} && exec "$0" "$@"', harness.BIN / "modserd",
        "--config", folder / "empty.conf", "--listen", f"unix:{folder}/m.sock",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
    ) as process:
        assert process.stdout.readline().startswith(b"listening"), "it ended"
        yield folder / "log"


@pytest.mark.parametrize("number, what", [
    (64, "RLIMIT_NOFILE is 64, but a worker needs 128, so no module can be loaded"),
    (200, "RLIMIT_NOFILE is 200, and --max-connections 1024 with"),
])
def test_too_few_descriptors_are_named_at_the_start(folder, number, what):
    said = re.compile(re.escape(what) + ".*LimitNOFILE=")
    with start_with(number, folder) as log:
        harness.until(lambda: said.search(log.read_text()), "it is logged")


def test_a_load_names_them_too(folder):
    with start_with(64, folder):
        with Wire(f"unix:{folder}/m.sock") as wire, pytest.raises(Failure) as said:
            wire.load("faults", FAULTS.read_bytes())
    assert "RLIMIT_NOFILE is 64, and it needs 128: raise it (ulimit -n" in said.value.message


def test_an_accept_without_a_descriptor_names_them(own_arena):
    arena = own_arena()
    old = resource.prlimit(arena.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(arena.pid, resource.RLIMIT_NOFILE, (1, old[1]))
    wire = arena.connect()
    harness.until(lambda: "RLIMIT_NOFILE is 1; raise it" in arena.daemon.log(), "it is said")
    resource.prlimit(arena.pid, resource.RLIMIT_NOFILE, old)
    assert wire.ask("ping") is None
