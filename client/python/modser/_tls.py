"""TLS for a connection: Python's ssl with the interface that the channels need."""
from __future__ import annotations

import os
import select
import socket
import ssl
import threading
from collections.abc import Mapping
from typing import Any, Optional

RECORD_BYTES = 16384  # the most payload of one record


def context(env: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """The context of MODSER_TLS_CA, MODSER_TLS_CERT and MODSER_TLS_KEY; without the first, with the
    system's authorities."""
    made = ssl.create_default_context(cafile=env.get("MODSER_TLS_CA") or None)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    if env.get("MODSER_TLS_CERT"):
        made.load_cert_chain(env["MODSER_TLS_CERT"], env.get("MODSER_TLS_KEY") or None)
    return made


def wrap(s: socket.socket, host: str, tls: Optional[ssl.SSLContext]) -> TlsSocket:
    """Do the handshake on @s, within its timeout; the certificate must be for @host."""
    return TlsSocket((tls or context()).wrap_socket(s, server_hostname=host))


class TlsSocket:
    """A connected socket for any number of threads. OpenSSL allows one at a time, so no thread
    waits for the network while it holds the lock."""

    def __init__(self, s: ssl.SSLSocket) -> None:
        s.setblocking(False)
        self._s = s
        self._lock = threading.Lock()
        # Bytes that OpenSSL has encrypted but the socket has not accepted; the next send repeats
        # them.
        self._stuck: Optional[memoryview] = None
        #: recv_into() was interrupted after it may have read bytes, or has returned.
        self.may_have_read = False

    def fileno(self) -> int:
        return self._s.fileno()

    def pending(self) -> bool:
        """True if there are decrypted bytes, which poll() of the descriptor does not report."""
        with self._lock:
            return self._s.pending() > 0

    def recv_into(self, target: Any, nbytes: int = 0, flags: int = socket.MSG_DONTWAIT) -> int:
        """Receive available bytes; 0 at the end. Without MSG_DONTWAIT, wait for the first byte."""
        view = memoryview(target).cast("B")
        while True:
            self.may_have_read = True
            n, waits_for = self._receive(view)
            if n or not waits_for:
                return n
            self.may_have_read = False
            if flags & socket.MSG_DONTWAIT:
                raise BlockingIOError
            waiter = select.poll()
            waiter.register(self._s, waits_for)
            waiter.poll()

    def _receive(self, view: memoryview) -> tuple[int, int]:
        """Return the number of bytes, and the event to wait for if there are none; (0, 0) at the
        end."""
        n = 0
        with self._lock:
            try:
                while n < len(view):
                    more = self._s.recv_into(view[n:])
                    if not more:
                        break
                    n += more
            except ssl.SSLWantReadError:
                return n, select.POLLIN
            except ssl.SSLWantWriteError:
                return n, select.POLLOUT
            except OSError:
                if not n:  # otherwise the next call raises it again
                    raise
        return n, 0

    def sendmsg(self, buffers: list[Any], ancillary: Any = (), flags: int = 0) -> int:
        """The number of accepted bytes. Never waits."""
        sent = 0
        views = [memoryview(b).cast("B") for b in buffers]
        with self._lock:
            while chunk := self._stuck or _first(views):
                try:
                    n = self._s.send(chunk)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    self._stuck = chunk
                    if not sent:
                        raise BlockingIOError from None
                    break
                self._stuck = None
                sent += n
                _drop(views, n)
        return sent

    def shutdown(self, how: int) -> None:
        # SSLSocket.shutdown() would drop the TLS state that another thread reads with.
        socket.socket.shutdown(self._s, how)

    def close(self) -> None:
        self._s.close()


def _first(views: list[memoryview]) -> Optional[memoryview]:
    """Bytes for one record: of one buffer, or several small ones joined."""
    if not views or len(views[0]) >= RECORD_BYTES or len(views) == 1:
        return views[0] if views else None
    parts, n = [], 0
    for view in views:
        parts.append(view[: RECORD_BYTES - n])
        n += len(parts[-1])
        if n == RECORD_BYTES:
            break
    return memoryview(b"".join(parts))


def _drop(views: list[memoryview], n: int) -> None:
    """Remove the first @n bytes."""
    while views and n >= len(views[0]):
        n -= len(views.pop(0))
    if n:
        views[0] = views[0][n:]
