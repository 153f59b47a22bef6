"""What docs/reference/sandbox.md says of each profile is what a module of it gets."""
import errno
import pathlib
import re
import socket
import sys

import harness
import pytest
from wire import Wire

REFUSALS = (errno.EPERM, errno.EACCES, errno.EFBIG)
PROFILES = ("trusted", "cpu", "opencl", "cuda")
DOCUMENT = (harness.ROOT / "docs/reference/sandbox.md").read_text()
# What each part of a kernel is needed for; all else is refused by either.
BY_LANDLOCK = {"read", "write", "cut", "remove", "create", "map_memory", "take_descriptor"}
BY_DAEMON = {"ask_unix", "ask_unix_by_child"}  # whatever the kernel is
TRUNCATE_ABI = 3
# A sanitizer's leak checker traces, so that only Landlock refuses it.
UNTOLD = ("landlock", "trace") if harness.SANITIZED else None


def rows():
    """[(function, what it reaches for, {profile: cell})]"""
    table = DOCUMENT.partition("# What a module may do\n")[2].partition("\n#")[0]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and re.fullmatch(r"`[a-z_ ]+`", cells[0]):
            function, _, target = cells[0].strip("`").partition(" ")
            found.append((function, target, dict(zip(PROFILES, cells[2:], strict=True))))
    return found


ROWS = rows()


class Arena:
    """A daemon with a module in each profile, and what they reach for."""

    def __init__(self, folder, *before):
        self.folder = folder
        cache, readable, writable = (folder / name for name in ("cache", "readable", "writable"))
        for path in (cache, readable, writable):
            path.mkdir()
        words = [w for p in PROFILES
                 for w in ("--load", f"{p}={harness.ZOO}/escape.so,sandbox={p}")]
        self.daemon = harness.Daemon(
            *words, "--may-read", readable, may_write=writable, before=before,
            env={"MODSERD_CACHE": str(cache), "POCL_CACHE_DIR": str(cache)},
        )
        self.port = socket.create_server(("127.0.0.1", 0))
        self.paths = {"foreign": folder, "readable": readable, "writable": writable,
                      "cache": cache, "system": pathlib.Path("/usr/bin/true")}
        self.wire = Wire(self.daemon.host)
        for profile in PROFILES:
            self.daemon.ok("wait", profile)

    def close(self):
        self.port.close()
        self.wire.socket.close()
        self.daemon.__exit__(None)

    def worker(self, profile):
        return self.wire.ask("module.describe", profile)["pids"][0]

    def sandbox(self, profile):
        return self.wire.ask("module.describe", profile)["sandbox"]

    def argument(self, function, target, profile):
        if target in ("supervisor", "other"):
            other = next(p for p in PROFILES if p != profile)
            return self.daemon.pid if target == "supervisor" else self.worker(other)
        if target == "daemon":
            return str(self.daemon.socket)
        if target == "port":
            return str(self.port.getsockname()[1])
        path = self.paths[target]
        if path.is_dir():
            path /= f"{function}-{profile}"
            if function not in ("create", "fill"):
                path.write_text("kept\n")
        return str(path)

    def attempt(self, function, target, profile):
        """0, or the error that the module got."""
        words = [self.argument(function, target, profile)] if target else []
        return self.wire.call(f"{profile}:{function}", *words)[1]


@pytest.fixture(scope="module")
def arena():
    folder = harness.short_folder()
    arena = Arena(folder)
    yield arena
    arena.close()
    harness.shutil.rmtree(folder)


def lacking(kernel, function):
    """Why this kernel cannot refuse it, or None."""
    if function in BY_DAEMON:
        return None
    if not kernel["seccomp"] and function not in BY_LANDLOCK and function != "fill":
        return "this kernel has no seccomp"
    if function in BY_LANDLOCK and kernel["landlock"] == 0:
        return "this kernel has no Landlock"
    if function == "cut" and kernel["landlock"] < TRUNCATE_ABI:
        return "this kernel's Landlock knows nothing of cutting off"
    return None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("function, target, cells", ROWS, ids=lambda v: v if v else None)
def test_a_module_may_what_the_table_says(arena, function, target, cells, profile):
    cell = cells[profile]
    why = lacking(arena.wire.ask("server.info")["sandbox"], function)
    if cell == "no" and why:
        pytest.skip(why)
    got = arena.attempt(function, target, profile)
    assert cell in ("may", "no", "user's", "either")
    if cell == "may":
        assert got == 0
    elif cell == "no":
        assert got in REFUSALS


def test_who_asks_out_of_a_sandbox_is_told_to_the_log(arena):
    assert arena.attempt("ask_unix", "daemon", "cuda") in REFUSALS
    harness.until(lambda: "event=connection_sandboxed" in arena.daemon.log(), "the log tells it")


def test_the_table_has_every_function_of_the_module():
    source = "".join(p.read_text() for p in (harness.ROOT / "tests/modules").glob("escape*.c"))
    names = re.findall(r"^(?:REACHES\w*|FUNCTION)\((\w+)", source, re.M)
    assert set(names) == {row[0] for row in ROWS} | {"ok", "signal_by_owner"}


def test_what_holds_is_shown(arena):
    assert [arena.sandbox(p)["profile"] for p in PROFILES] == list(PROFILES)
    assert arena.sandbox("trusted")["lacks"] == []
    assert re.search(r"^sandbox.profile\s+cpu", arena.daemon.ok("show", "cpu").out, re.M)


@pytest.fixture(params=["landlock", "seccomp"])
def poorer(request, folder):
    """An arena on a kernel that lacks something."""
    if not list(pathlib.Path("/usr/lib").glob("*/libseccomp.so.2")):
        pytest.skip("no libseccomp.so.2: a kernel without its parts is not tried")
    script = pathlib.Path(__file__).with_name("refusing.py")
    arena = Arena(folder, sys.executable, script, request.param)
    yield request.param, arena
    arena.close()


def test_what_the_kernel_lacks_is_told_and_the_rest_holds(poorer):
    lacked, arena = poorer
    info = arena.wire.ask("server.info")["sandbox"]
    lacks = {"landlock": ["files", "truncate"], "seccomp": ["calls"]}[lacked]
    if lacked == "landlock":
        assert info["landlock"] == 0
        assert arena.attempt("signal_by_owner", "supervisor", "cpu") in REFUSALS
    elif info["landlock"] < 6:
        lacks.append("signals")
    assert arena.sandbox("cpu")["lacks"] == lacks
    assert arena.sandbox("trusted")["lacks"] == []
    for function, target, cells in ROWS:
        holds = cells["cpu"] == "no" and (
            function in BY_DAEMON or (function in BY_LANDLOCK) == (lacked == "seccomp"))
        if holds and not lacking(info, function) and not (lacked, function) == UNTOLD:
            assert arena.attempt(function, target, "cpu") in REFUSALS, (function, target)
