"""Whose turn it is to read: a lock that no interrupt leaves locked."""
from __future__ import annotations

import threading


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
