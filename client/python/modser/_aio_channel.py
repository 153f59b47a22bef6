"""The asyncio client's socket, driven by the event loop."""
from __future__ import annotations

import asyncio
import collections
import itertools
import socket
import ssl
from typing import Any, Optional, Union

from . import _address, _dial
from ._channel import MakeObject, again
from ._connect_errors import unreachable
from ._errors import ConnectionLost, DeadlineExceeded, Error, ProtocolError
from ._fork import forked, register
from ._message import Message, cancel_frame
from ._objects import Unreferenced, pop_unreferenced
from ._reader import Reader, without_memory
from ._sockets import MAX_BUFFERS, SEND_FLAGS, rest
from ._tls import TlsSocket

_READS = 16  # of one iteration of the loop, so that other tasks run, too


async def connect(
    address: str, timeout: Optional[float], tls: Optional[ssl.SSLContext]
) -> Channel:
    target = _address.parse(address)
    if _address.is_tls(address):  # a thread resolves names, connects and does the handshake
        loop = asyncio.get_running_loop()
        return Channel(
            address, await loop.run_in_executor(None, _dial.connect, address, timeout, tls)
        )
    try:
        s = await asyncio.wait_for(_open(target), timeout)
    except asyncio.TimeoutError:
        raise DeadlineExceeded(f"{address}: no connection within {timeout} s") from None
    except OSError as error:
        raise unreachable(address, error) from error
    return Channel(address, s)


async def _open(target: _address.Target) -> socket.socket:
    loop = asyncio.get_running_loop()
    if isinstance(target, str):
        addresses: list[Any] = [(socket.AF_UNIX, socket.SOCK_STREAM, 0, "", target)]
    else:
        addresses = await loop.getaddrinfo(*target, type=socket.SOCK_STREAM)
    failure: Optional[OSError] = None
    for kind, style, number, _, address in addresses:
        s = socket.socket(kind, style, number)
        s.setblocking(False)
        try:
            if kind == socket.AF_UNIX:
                await _dial.connect_unix(s, address)
            else:
                await loop.sock_connect(s, address)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_sendall(s, _dial.FIRST_FRAME)
        except OSError as error:
            s.close()
            failure = error
        except BaseException:
            s.close()
            raise
        else:
            return s
    raise failure or OSError("the host has no address")


class Pending:
    """A request in flight; its future gets (result, meta)."""

    __slots__ = ("id", "outs", "lent", "future", "is_plain")

    def __init__(self, id: int, message: Message, future: asyncio.Future[Any]) -> None:
        self.id, self.outs, self.lent = id, message.outs, message.lent
        self.future = future
        self.is_plain = True

    def finish(self, error: Optional[Error], result: Any, meta: Any) -> None:
        if self.future.done():  # cancelled
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result((result, meta))


class Channel:
    """The socket in the event loop."""

    def __init__(self, address: str, s: Union[socket.socket, TlsSocket]) -> None:
        self.address = address
        self.lost: Optional[Error] = None
        self.forgotten: Unreferenced = collections.deque()
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._reader = Reader()
        self._waiting = self._reader.waiting
        self._unsent: list[Any] = []  # buffers
        self._collecting = False
        self._writing = False  # whether the loop watches for room in the socket
        self._socket = s
        self._loop.add_reader(s, self._on_readable)
        register(self)

    def use_objects(self, make: MakeObject) -> None:
        """Replies may have objects, made by `make` of their handles and types."""
        self._reader.make_object = make

    def start(self, message: Message, options: bytes = b"") -> Pending:
        for free in pop_unreferenced(self.forgotten):
            self.start_and_forget(free)
        if self.lost is not None:
            raise again(self.lost)
        id = next(self._ids)
        frame = message.frame(id, options)
        pending = Pending(id, message, self._loop.create_future())
        self._waiting[id] = pending
        self._write(frame)
        return pending

    def start_and_forget(self, message: Message) -> None:
        """Send a request and ignore its reply."""
        future = self.start(message).future
        future.add_done_callback(lambda f: f.cancelled() or f.exception())

    def give_up(self, pending: Pending) -> None:
        """Stop waiting; the rest of the reply is not written into memory of the caller."""
        pending.outs = without_memory(pending)
        self._reader.discard_rest(pending.id)

    def cancel(self, id: int) -> None:
        if self.lost is None and id in self._waiting:
            self._write(cancel_frame(id))

    def _write(self, frame: list[Any]) -> None:
        """Send at once if nothing else was sent in this loop iteration, else with the others."""
        self._unsent += frame
        if not self._collecting:
            self._collecting = True
            self._loop.call_soon(self._send_collected)
            self._flush()

    def _send_collected(self) -> None:
        self._collecting = False
        self._flush()

    def _flush(self) -> None:
        """Send what the socket accepts, and the rest when it accepts more."""
        while self._unsent:
            try:
                sent = self._socket.sendmsg(self._unsent[:MAX_BUFFERS], (), SEND_FLAGS)
            except (BlockingIOError, InterruptedError):
                if not self._writing:
                    self._writing = True
                    self._loop.add_writer(self._socket, self._flush)
                return
            except OSError as error:
                self._on_readable()  # the daemon may have sent the reason
                return self._lose(ConnectionLost(f"{self.address}: {error.strerror or error}"))
            at = 0
            while at < len(self._unsent) and sent >= _nbytes(self._unsent[at]):
                sent -= _nbytes(self._unsent[at])
                at += 1
            self._unsent = rest(self._unsent[at : at + 1], sent) + self._unsent[at + 1 :]
        if self._writing and self.lost is None:
            self._writing = False
            self._loop.remove_writer(self._socket)

    def _on_readable(self) -> None:
        for _ in range(_READS):
            if self.lost is not None:
                return
            target = self._reader.target()
            try:
                n = self._socket.recv_into(target)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                return self._lose(self._reader.end(self.address, error))
            if not n:
                return self._lose(self._reader.end(self.address))
            try:
                self._reader.received(n)
            except ProtocolError as error:
                return self._lose(ProtocolError(f"{self.address}: {error.message}"))
            except BaseException as error:  # the received bytes are lost
                text = f"{self.address}: an answer could not be processed ({error!r})"
                self._lose(ConnectionLost(text))
                if not isinstance(error, Exception):
                    raise
                return
            if n < len(target):
                return
        if isinstance(self._socket, TlsSocket) and self._socket.pending():
            self._loop.call_soon(self._on_readable)

    def _lose(self, error: Error) -> None:
        if self.lost is not None:
            return
        self.lost = error
        self._unsent.clear()
        if not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        self._socket.close()
        while self._waiting:
            self._waiting.popitem()[1].finish(again(error), None, None)

    def abandon_in_child(self) -> None:
        """In a forked child: drop the socket, and leave the parent's event loop alone."""
        self.lost = forked(self.address)
        self._unsent.clear()
        self._waiting.clear()
        self._socket.close()

    def close(self) -> None:
        self._lose(ConnectionLost(f"{self.address}: the connection has been closed here"))


def _nbytes(buffer: Any) -> int:
    return len(buffer) if type(buffer) is bytes else int(buffer.nbytes)
