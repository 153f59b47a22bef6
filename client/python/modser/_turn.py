"""Locks for the reading thread and its waiters that survive interrupts."""
from __future__ import annotations

import contextlib
import threading
from typing import Optional


class Turn:
    """The right to read. A signal may interrupt a thread between any two steps; a turn that it got
    without noticing is its own at the next request."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[str, int] = {}

    def take(self) -> bool:
        """Never waits. False: another thread has the turn."""
        me = threading.get_ident()
        return self._of.setdefault("thread", me) == me

    def leave(self) -> None:
        """Give the turn back, if this thread has it."""
        if self._of.get("thread") == threading.get_ident():
            self._of.pop("thread", None)

    def locked(self) -> bool:
        return bool(self._of)


class Wake:
    """An event for one thread, once. threading.Event stays locked if setting it is interrupted, and
    the next thread that sets it would wait forever."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is set already
            self._lock.release()

    def wait(self, seconds: Optional[float]) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else seconds)
