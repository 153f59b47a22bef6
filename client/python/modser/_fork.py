"""Forks: a connection belongs to the parent; a child must not write to it."""
from __future__ import annotations

import os
import weakref
from typing import Protocol

from ._errors import ConnectionLost


class Inherited(Protocol):
    """A connection that a child inherited and must not use."""

    def abandon_in_child(self) -> None: ...


_channels: weakref.WeakSet[Inherited] = weakref.WeakSet()
register = _channels.add


def _abandon_all_in_child() -> None:
    for channel in list(_channels):
        channel.abandon_in_child()


os.register_at_fork(after_in_child=_abandon_all_in_child)


def forked(address: str) -> ConnectionLost:
    return ConnectionLost(
        f"{address}: the connection belongs to the process that this one was forked from",
        hint="connect again in this process",
    )
