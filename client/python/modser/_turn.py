"""Whose turn it is to read, and what wakes who waits for it: no interrupt leaves either locked."""
from __future__ import annotations

import contextlib
import threading
from typing import Optional


class Turn:
    """A signal may come between any two steps of a thread: what it has taken and does not know of
    is its own the next time that it asks."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[str, int] = {}

    def take(self) -> bool:
        """Never waits. False: it is another thread's."""
        me = threading.get_ident()
        return self._of.setdefault("thread", me) == me

    def leave(self) -> None:
        """It may have been left already."""
        if self._of.get("thread") == threading.get_ident():
            self._of.pop("thread", None)

    def locked(self) -> bool:
        return bool(self._of)


class Wake:
    """What one thread waits for, once. threading.Event stays locked where setting it is
    interrupted, and whoever sets it then waits for ever."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is set already
            self._lock.release()

    def wait(self, seconds: Optional[float]) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else seconds)
