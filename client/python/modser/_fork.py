"""Forks: a connection belongs to the parent; a child must not write to it."""
from __future__ import annotations

import os
import weakref
from typing import Protocol

from ._errors import ConnectionLost


class Inherited(Protocol):
    """A connection that a child inherited and must not use."""

    def leave_behind(self) -> None: ...


_channels: weakref.WeakSet[Inherited] = weakref.WeakSet()
at_home = _channels.add


def _leave_all_behind() -> None:
    for channel in list(_channels):
        channel.leave_behind()


os.register_at_fork(after_in_child=_leave_all_behind)


def forked(address: str) -> ConnectionLost:
    return ConnectionLost(
        f"{address}: the connection belongs to the process that this one was forked from",
        hint="connect again in this process",
    )
