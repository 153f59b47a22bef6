"""Holds a process where it has left its code and the kernel has yet to take it apart."""
import ctypes
import os
import threading

import harness

PTRACE_CONT, PTRACE_SEIZE, PTRACE_O_TRACEEXIT = 7, 0x4206, 0x40
AT_EXIT = 5 | (6 << 8)  # SIGTRAP and PTRACE_EVENT_EXIT, as wait's status has them
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class AtExit:
    """with AtExit(pid) as held: what ends it; held.wait(): it has; and it goes on behind."""

    def __init__(self, pid):
        self.pid = pid
        self.ready, self.has_come, self.may_go = (threading.Event() for _ in range(3))
        self.errno = 0
        self.thread = threading.Thread(target=self.trace)

    def trace(self):
        if libc.ptrace(PTRACE_SEIZE, self.pid, None, PTRACE_O_TRACEEXIT) != 0:
            self.errno = ctypes.get_errno()
        self.ready.set()
        while self.errno == 0:
            _, status = os.waitpid(self.pid, WALL)
            if not os.WIFSTOPPED(status):
                return
            if status >> 8 == AT_EXIT:
                self.has_come.set()
                self.may_go.wait(harness.PATIENCE)
            libc.ptrace(PTRACE_CONT, self.pid, None, None)

    def __enter__(self):
        self.thread.start()
        self.ready.wait(harness.PATIENCE)
        if self.errno != 0:
            raise PermissionError(self.errno, "nobody may trace it here")
        return self

    def wait(self):
        assert self.has_come.wait(harness.PATIENCE), "it does not end"

    def __exit__(self, *_):
        self.may_go.set()
        self.thread.join(harness.PATIENCE)
