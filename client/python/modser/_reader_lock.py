"""Locks for the reading thread and its waiters that survive interrupts."""
from __future__ import annotations

import contextlib
import threading
from typing import Optional


class ReaderLock:
    """The lock of the thread that reads the socket. A signal may interrupt a thread between any two
    steps: a thread that got the lock without noticing has it at the next acquire()."""

    __slots__ = ("_owner",)

    def __init__(self) -> None:
        self._owner: dict[str, int] = {}

    def acquire(self) -> bool:
        """Never waits. False: another thread has the lock."""
        me = threading.get_ident()
        return self._owner.setdefault("thread", me) == me

    def release(self) -> None:
        """Release the lock, if this thread has it."""
        if self._owner.get("thread") == threading.get_ident():
            self._owner.pop("thread", None)

    def locked(self) -> bool:
        return bool(self._owner)


class WakeEvent:
    """An event for one thread, once. If a signal interrupts threading.Event.set(), its lock stays
    held, and the next thread that sets it would wait forever."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is set already
            self._lock.release()

    def wait(self, seconds: Optional[float]) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else seconds)
