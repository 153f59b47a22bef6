"""The part of a service manager that keeps descriptors over a restart (sd_pid_notify_with_fds(3)), and
hands them over with a listening socket (sd_listen_fds(3)), as systemd does it; without a system."""
import fcntl
import os
import socket
import threading

import harness

# A shell that hands descriptors over: its own number, from 3 on.
HAND_OVER = 'n=3; for fd; do [ "$fd" = -- ] && break; eval "exec $n<&$fd $fd<&-"; shift; n=$((n + 1)); done; shift; '
HAND_OVER += 'LISTEN_FDS=$((n - 3)) LISTEN_PID=$$ exec "$@"'
FIRST = 200  # numbers that no descriptor has there before it is handed over


class Manager:
    """@folder: where its socket for messages is, and the one that clients connect to."""

    def __init__(self, folder):
        self.stored = []  # [name, descriptor], in the order of their coming
        self.lock = threading.Lock()
        self.marks = threading.Semaphore(0)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(folder / "notify"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "m.sock"))
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        """Take in what is told, until an empty message comes."""
        while True:
            text, fds, *_ = socket.recv_fds(self.notify, 4096, 16)
            if not text:
                return
            lines = dict(line.partition("=")[::2] for line in text.decode().splitlines())
            with self.lock:
                self.take(lines, fds)

    def take(self, lines, fds):
        if "MARK" in lines:
            self.marks.release()
        elif "FDSTORE" in lines:
            self.stored += [[lines["FDNAME"], fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST)]
                            for fd in fds]
        elif "FDSTOREREMOVE" in lines:
            self.forget(lines["FDNAME"])
        for fd in fds:
            os.close(fd)

    def tell(self, text):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(text, self.notify.getsockname())

    def listen(self):
        """All that has been told is taken in."""
        self.tell(b"MARK=1")
        assert self.marks.acquire(timeout=harness.PATIENCE), "it hears nothing"

    def forget(self, name=None):
        """Close those of that name, or all."""
        for entry in [e for e in self.stored if name in (None, e[0])]:
            os.close(entry[1])
            self.stored.remove(entry)

    def names(self, prefix="modserd-worker."):
        with self.lock:
            return {name for name, _ in self.stored if name.startswith(prefix)}

    def until_kept(self, n):
        harness.until(lambda: len(self.names()) == n, f"{n} workers are kept")
        return {int(name.split(".")[1]) for name in self.names()}

    def start(self, own_daemon, *words, env=None):
        """A daemon that is handed over all that there is."""
        self.listen()
        socket_fd = fcntl.fcntl(self.listener.fileno(), fcntl.F_DUPFD_CLOEXEC, FIRST)
        fds = [socket_fd] + [fd for _, fd in self.stored]
        names = ["modserd.socket"] + [name for name, _ in self.stored]
        before = ["bash", "-c", HAND_OVER, "bash", *map(str, fds), "--"]
        env = {"NOTIFY_SOCKET": self.notify.getsockname(), "LISTEN_FDNAMES": ":".join(names)} | (env or {})
        try:
            return own_daemon(*words, listen=[], before=before, pass_fds=fds, env=env)
        finally:
            os.close(socket_fd)

    def end(self, daemon, number):
        """Send it the signal @number, and wait until it has ended."""
        daemon.process.send_signal(number)
        daemon.process.wait(harness.PATIENCE)
        self.listen()

    def close(self):
        self.tell(b"")
        self.thread.join(harness.PATIENCE)
        self.forget()
        self.notify.close()
        self.listener.close()


def ended(pid):
    """No process of that number runs any more."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return f.read().rpartition(b")")[2].split()[0] == b"Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until_ended(pids):
    harness.until(lambda: all(map(ended, pids)), f"{pids} have ended")

