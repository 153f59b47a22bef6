"""Connects to an address, within the caller's time."""
from __future__ import annotations

import asyncio
import socket
import ssl
import time
from typing import Optional, Union

from . import _address
from ._connect_errors import unreachable
from ._errors import DeadlineExceeded
from ._message import hello_frame
from ._tls import TlsSocket, wrap

#: A unix listener with a full queue refuses with EAGAIN, and sends no event when it has room.
AGAIN = 0.001  # seconds

#: The daemon closes a connection that sends no whole frame for a while, and the first request
#: may come much later.
FIRST_FRAME = hello_frame()


def connect(
    address: str, timeout: Optional[float], tls: Optional[ssl.SSLContext]
) -> Union[socket.socket, TlsSocket]:
    target = _address.parse(address)
    try:
        if isinstance(target, str):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                s.settimeout(timeout)
                _connect_unix(s, target, timeout)
            except BaseException:
                s.close()
                raise
        else:
            s = socket.create_connection(target, timeout)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _address.is_tls(address):
                return _encrypt(s, target[0], tls)
        try:
            s.sendall(FIRST_FRAME)
        except BaseException:
            s.close()
            raise
    except (TimeoutError, socket.timeout):  # the same class since Python 3.10
        raise DeadlineExceeded(f"{address}: no connection within {timeout} s") from None
    except OSError as error:
        raise unreachable(address, error) from error
    s.settimeout(None)
    return s


def _connect_unix(s: socket.socket, path: str, timeout: Optional[float]) -> None:
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            return s.connect(path)
        except BlockingIOError:
            if until is not None and time.monotonic() >= until:
                raise TimeoutError from None
        time.sleep(AGAIN)


async def connect_unix(s: socket.socket, path: str) -> None:
    """The same for asyncio: its sock_connect() treats EAGAIN as success."""
    while True:
        try:
            return s.connect(path)
        except BlockingIOError:
            await asyncio.sleep(AGAIN)


def _encrypt(s: socket.socket, host: str, tls: Optional[ssl.SSLContext]) -> TlsSocket:
    try:
        encrypted = wrap(s, host, tls)
    except BaseException:
        s.close()
        raise
    encrypted.sendmsg([FIRST_FRAME])  # a new connection has room for it
    return encrypted
