"""Helpers for blocking sockets: sending, waiting, passing descriptors."""
from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import sys
from typing import Any, Optional, Union

from ._tls import TlsSocket

# Plain ints: arithmetic with the enum of socket costs 1 us per call.
BLOCKING = int(getattr(socket, "MSG_NOSIGNAL", 0))
SEND_FLAGS = int(socket.MSG_DONTWAIT) | BLOCKING
MAX_BUFFERS = 512  # of one sendmsg; the system's limit is 1024
_CLOSED_ON_EXEC = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))
_ROOM = socket.CMSG_SPACE(4 * array.array("i").itemsize)  # the daemon passes one


def rights(fd: int) -> Any:
    """The control message that passes a descriptor with the first byte."""
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
    """The rest of the buffers after `sent` bytes."""
    views = [memoryview(b) for b in buffers]
    for at, view in enumerate(views):
        nbytes = view.nbytes
        if sent < nbytes:
            first = view if view.format == "B" and view.ndim == 1 else view.cast("B")
            return [first[sent:], *views[at + 1 :]]
        sent -= nbytes
    return []


class ReceivedSocket:
    """Receives bytes, and keeps the socket that came with a reply. A receiver without it would make
    the kernel close the socket."""

    def __init__(self) -> None:
        self._socket: Optional[socket.socket] = None

    def receive(
        self, s: socket.socket, into: memoryview, flags: int, received: list[int]
    ) -> None:
        """Receive; `received` has the number of bytes even after an interrupt."""
        got: list[Any] = []
        try:
            got.extend(map(s.recvmsg_into, ([into],), (_ROOM,), (flags | _CLOSED_ON_EXEC,)))
        finally:
            received += [n for n, _, _, _ in got]
        for level, kind, data in got[0][1]:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._keep(data)

    def _keep(self, data: bytes) -> None:
        fds = array.array("i")
        fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        for fd in fds:
            if not _CLOSED_ON_EXEC:
                os.set_inheritable(fd, False)
            if self._socket is None:
                with contextlib.suppress(OSError):  # not a socket
                    self._socket = socket.socket(fileno=fd)
                    continue
            os.close(fd)

    def take(self) -> Optional[socket.socket]:
        """Return the socket; the caller closes it."""
        taken, self._socket = self._socket, None
        return taken

    def close(self) -> None:
        taken = self.take()
        if taken is not None:
            taken.close()

    def __del__(self) -> None:
        self.close()
