"""Real processes for the end-to-end tests: a daemon to talk to and the command line to do it.

Nothing here sleeps: every wait is for an event, with a deadline after which the test fails.
"""
import contextlib
import errno
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MSD_BUILD", ROOT / "build"))
BIN = BUILD / "bin"
ZOO = BUILD / "zoo"
MODELS = BUILD / "models"
PATIENCE = 120.0  # seconds until a wait is a failure; far above what anything takes
LONG_MS = int(1000 * PATIENCE)  # the same as a deadline of the protocol
FOREVER_MS = 10 * LONG_MS  # what outlasts every wait: who waited for its end would fail
LONG, FOREVER = f"{LONG_MS}ms", f"{FOREVER_MS}ms"  # as options take them
SOCKET_PATH_MAX = 107  # bytes of a unix socket's path
SANITIZED = "address" in os.environ.get("MSD_SANITIZE", "")


def fixtures():
    """The folder of real artifacts that are not part of the repository, or None."""
    named = os.environ.get("MODSERD_FIXTURES")
    folder = pathlib.Path(named) if named else ROOT.parent / "shared" / "fixtures"
    return folder if folder.is_dir() else None


def environment():
    """The caller's, without what changes how the programs behave or what they print."""
    ours = ("MODSER", "XDG_RUNTIME_DIR", "JOURNAL_STREAM")
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    env["MODSERD_STORE"] = "none"  # not the user's own: a daemon of a test begins with nothing
    env["ASAN_OPTIONS"] = ":".join(
        [
            env.get("ASAN_OPTIONS", ""),
            # a signal stays a signal: the zoo's crashes are what is tested
            "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:handle_sigill=0",
            "allocator_may_return_null=1:detect_leaks=1:use_sigaltstack=0",
        ]
    )
    return env


class Said:
    """What a command printed and how it ended."""

    def __init__(self, status, out, err):
        self.status, self.bytes, self.err = status, out, err
        self.out = out.decode(errors="replace")

    def __repr__(self):
        return f"status {self.status}\nstdout: {self.out}\nstderr: {self.err}"


def run(*words, stdin=None, env=None, cwd=None, timeout=PATIENCE):
    done = subprocess.run(
        [str(w) for w in words],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=env or environment(),
        cwd=cwd,
        timeout=timeout,
    )
    return Said(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


@contextlib.contextmanager
def started(*words, **more):
    """A process that is killed at the end at the latest: Popen's own end would wait for it, and
    hide for ever why a test has failed meanwhile."""
    env = more.pop("env", None) or environment()
    with subprocess.Popen([str(w) for w in words], env=env, **more) as process:
        try:
            yield process
        finally:
            process.kill()


def until(claim, what, patience=PATIENCE):
    """Wait until claim() gives something true, looking often; returns it."""
    end = time.monotonic() + patience
    while True:
        value = claim()
        if value:
            return value
        assert time.monotonic() < end, f"not within {patience} s: {what}"
        select.select([], [], [], 0.003)  # /proc gives no events to wait for


def short_folder(wanted=lambda parent: True):
    """A new folder whose path leaves room for a socket's name, wherever TMPDIR is."""
    for parent in map(pathlib.Path, (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")):
        is_short = len(os.fsencode(parent)) + 40 < SOCKET_PATH_MAX
        if is_short and os.access(parent, os.W_OK) and wanted(parent):
            return pathlib.Path(tempfile.mkdtemp(prefix="modserd-e2e.", dir=parent))
    raise AssertionError("no folder for sockets: TMPDIR is too long, /tmp cannot be written")


def is_open_to_all(path):
    return all(p.stat().st_mode & 0o001 for p in (path, *path.parents))


class Watched:
    """A process by a descriptor of it: a number may be another's by the time it is asked."""

    def __init__(self, pid):
        self.fd = os.pidfd_open(pid)

    def has_ended(self):
        return bool(select.select([self.fd], [], [], 0)[0])

    def is_reaped(self):
        try:
            signal.pidfd_send_signal(self.fd, 0)
        except ProcessLookupError:
            return True
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


class Gate:
    """Holds a call as long as a test needs it: `gate` of faults.so reads the FIFO at `path`
    to its end. entered() returns when the call runs, open() lets it end.
    """

    def __init__(self):
        self.folder = short_folder()
        self.path, self.fd = str(self.folder / "gate"), None
        os.mkfifo(self.path)

    def is_entered(self):
        try:
            self.fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            assert error.errno == errno.ENXIO, error  # nobody reads yet
        return self.fd is not None

    def entered(self):
        until(self.is_entered, "the call has begun")

    def open(self):
        os.close(self.fd)
        self.fd = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.fd is not None:
            self.open()
        shutil.rmtree(self.folder)


def is_worker(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return words[1:2] == [b"--name"]


def children(pid):
    """Of all its threads, some of which may end meanwhile."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += [int(c) for c in (task / "children").read_text().split()]
    return found


def is_stopped(pid):
    return "T (stopped)" in pathlib.Path(f"/proc/{pid}/status").read_text()


def descriptors(pid):
    """What the process's descriptors refer to, sockets and pipes without their numbers."""
    found = []
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(fd).split(":[")[0])
    return sorted(found)


def marked(mark):
    """Processes that have @mark in their environment: what a daemon that got it has started,
    and what that has, whatever became of their parents, groups and sessions."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


class Daemon:
    """A modserd of its own in a directory of its own. @n_listening: with listen=[], how many
    addresses it is to find by itself; @before: a program that becomes it, with @pass_fds;
    @may_write: all that modules may, and not where gates, logs and libraries of tests are."""

    def __init__(self, *words, listen=None, n_listening=1, env=None, stderr=None, before=(),
                 pass_fds=(), may_write=None):
        self.folder = short_folder()
        self.socket = self.folder / "m.sock"
        listen = [f"unix:{self.socket}"] if listen is None else listen
        self.log_path = self.folder / "log"
        if "--config" not in words:  # not the machine's own, where one is
            (self.folder / "empty.conf").write_text("# nothing\n")
            words = ("--config", self.folder / "empty.conf", *words)
        words = ("--may-write", may_write or tempfile.gettempdir(), *words)
        self.mark = f"E2E_DAEMON={self.folder}"
        self.env = environment() | {"E2E_DAEMON": str(self.folder)} | (env or {})
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*before, BIN / "modserd"]
                + [w for a in listen for w in ("--listen", a)]
                + [str(w) for w in words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log if stderr is None else stderr,
                env=self.env,
                start_new_session=True,
                pass_fds=pass_fds,
            )
        self.pid = self.process.pid
        self.said = b""
        try:
            self.listening = [self._line().partition(" ") for _ in listen or range(n_listening)]
        except AssertionError:
            self.kill()
            raise
        assert all(word == "listening" for word, _, _ in self.listening), self.listening
        self.hosts = [address for _, _, address in self.listening]
        self.host = self.hosts[0]

    def _line(self):
        while b"\n" not in self.said:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            assert ready, "modserd said nothing"
            more = os.read(self.process.stdout.fileno(), 4096)
            assert more, f"modserd ended: {self.log()}"
            self.said += more
        line, _, self.said = self.said.partition(b"\n")
        return line.decode()

    def log(self):
        return self.log_path.read_text(errors="replace")

    def expect_logged(self, text, times=1):
        """Its line comes, mostly before who hears of the event is told: not on a busy machine."""
        until(lambda: self.log().count(text) >= times, f"{text!r} is logged")
        assert self.log().count(text) == times, self.log()

    def restarts(self, name):
        """How many ms each restart of the module's worker was put off, as the log has it."""
        return [int(ms) for ms in re.findall(rf"event=worker_restart name={name} in_ms=(\d+)", self.log())]

    def modser(self, *words, host=None, **more):
        return run(BIN / "modser", "-H", host or self.host, *words, **more)

    def ok(self, *words, **more):
        said = self.modser(*words, **more)
        assert said.status == 0, f"modser {' '.join(map(str, words))}: {said}"
        return said

    def load(self, name, path, *words, **more):
        return self.ok("load", name, path, *words, **more)

    def workers(self):
        """Not what looks for devices or fetches, not what a module left behind."""
        return [pid for pid in children(self.pid) if is_worker(pid)]

    @contextlib.contextmanager
    def standstill(self):
        """The supervisor is stopped meanwhile: all that is sent is there at once when it goes
        on, as far as the sockets hold it."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            until(lambda: is_stopped(self.pid), "the supervisor stands still")
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def processes(self):
        """Itself and all that it has started, and that is still there."""
        return marked(os.fsencode(self.mark))

    def stop(self, status=0):
        """SIGTERM; it must drain, end with @status and leave nothing behind."""
        self.process.send_signal(signal.SIGTERM)
        got = self.process.wait(PATIENCE)
        log = self.log()
        try:
            until(lambda: not self.processes(), f"nothing is left behind\n{log}")
        finally:
            self.kill()
        assert got == status, f"modserd ended with {got}\n{log}"
        assert "Sanitizer" not in log and "runtime error:" not in log, log

    def kill(self):
        """End it and all that it has started; when this returns none of them writes a file."""
        until(self._killed, "all have died")
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _killed(self):
        left = self.processes()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.returncode is None:
            if kind is None:
                self.stop()
            else:
                self.kill()
        else:
            self.kill()
