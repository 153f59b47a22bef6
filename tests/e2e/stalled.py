"""A file that lets wait whoever opens it, as one on a disk that does not answer."""
import contextlib
import fcntl
import os
import signal


@contextlib.contextmanager
def stalled(path):
    """By a lease, which the kernel would end after 45 s (lease-break-time)."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # that somebody waits is told by it
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield
    finally:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.close(file)
        signal.signal(signal.SIGIO, before)
