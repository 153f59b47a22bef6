"""Pieces of blocking sockets: what is sent, waited for, and passed with a message."""
from __future__ import annotations

import select
import socket
import sys
from typing import Any, Union

from ._tls import TlsSocket

# Ints: to compute with the names' enum costs each call 1 us.
BLOCKING = int(getattr(socket, "MSG_NOSIGNAL", 0))
SEND_FLAGS = int(socket.MSG_DONTWAIT) | BLOCKING
MAX_BUFFERS = 512  # of one sendmsg; the system's limit is 1024


def rights(fd: int) -> Any:
    """What passes a descriptor with the first byte."""
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fd.to_bytes(4, sys.byteorder))]


def readable(s: Union[socket.socket, TlsSocket], seconds: float) -> bool:
    if isinstance(s, TlsSocket) and s.pending():
        return True
    waiter = select.poll()
    waiter.register(s, select.POLLIN)
    return bool(waiter.poll(poll_ms(seconds)))


def poll_ms(seconds: float) -> int:
    return max(0, int(seconds * 1000) + (seconds > 0))


def rest(buffers: list[Any], sent: int) -> list[Any]:
    """What is left of the buffers when `sent` bytes of them have gone."""
    views = [memoryview(b) for b in buffers]
    for at, view in enumerate(views):
        nbytes = view.nbytes
        if sent < nbytes:
            first = view if view.format == "B" and view.ndim == 1 else view.cast("B")
            return [first[sent:], *views[at + 1 :]]
        sent -= nbytes
    return []
