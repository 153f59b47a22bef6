"""One connection for any number of threads, without a thread of its own.

One of the waiting threads reads for all, and hands each reply to its request. The others sleep
until their reply has arrived, or until the reader stops and another thread must read. So a call
of a single thread is one sendmsg and one recv.

While the socket accepts no bytes, a sending thread reads replies, because a daemon with 1024
requests in flight stops reading.
"""
from __future__ import annotations

import collections
import contextlib
import itertools
import select
import socket
import ssl
import threading
import time
from typing import Any, Callable, Optional

from ._dial import connect
from ._errors import ConnectionLost, DeadlineExceeded, Error, ProtocolError
from ._fork import forked, register
from ._message import Message, cancel_frame
from ._objects import Unreferenced, pop_unreferenced
from ._options import GRACE
from ._reader import Reader, without_memory
from ._reader_lock import ReaderLock, WakeEvent
from ._sockets import (
    BLOCKING,
    MAX_BUFFERS,
    SEND_FLAGS,
    ReceivedSocket,
    poll_ms,
    readable,
    rest,
    rights,
)
from ._tls import TlsSocket


MakeObject = Callable[[bytes, str], Any]


class Pending:
    """A request in flight, then its reply."""

    __slots__ = ("id", "outs", "lent", "done", "error", "result", "meta", "limit", "is_plain")

    def __init__(self, id: int, message: Message, limit: Optional[float]) -> None:
        self.id = id
        self.outs = message.outs
        self.lent = message.lent
        self.done = False
        self.is_plain = True
        self.error: Optional[Error] = None
        self.result: Any = None
        self.meta: Any = None
        #: The end of deadline and grace, by time.monotonic(): the caller stops waiting.
        self.limit = limit

    def finish(self, error: Optional[Error], result: Any, meta: Any) -> None:
        self.error, self.result, self.meta = error, result, meta
        self.done = True


class Channel:
    def __init__(
        self, address: str, timeout: Optional[float], tls: Optional[ssl.SSLContext] = None
    ) -> None:
        self.address = address
        self.lost: Optional[Error] = None
        self.forgotten: Unreferenced = collections.deque()
        self._reader = Reader()
        self._waiting = self._reader.waiting
        self._ids = itertools.count(1)
        self._sending = threading.Lock()
        self._reading = ReaderLock()
        self._is_receiving = False
        #: Threads that wait while another one reads, each with the event that wakes it.
        self._sleepers: dict[int, tuple[Pending, WakeEvent]] = {}
        #: Receives the socket of an answer that is outstanding; else None.
        self.passed: Optional[ReceivedSocket] = None
        self._socket = connect(address, timeout, tls)
        register(self)

    def use_objects(self, make: MakeObject) -> None:
        """Replies may have objects, made by `make` of their handles and types."""
        self._reader.make_object = make

    def is_idle(self) -> bool:
        """True if nothing is in flight, and no object waits to be freed."""
        return not self._waiting and not self.forgotten and self.lost is None

    # -- sending

    def start(
        self, message: Message, options: bytes = b"", limit: Optional[float] = None
    ) -> Pending:
        """Send a request; wait() returns its reply."""
        for free in pop_unreferenced(self.forgotten):
            try:
                self.start(free, b"", limit)
            except DeadlineExceeded:  # a later request frees them
                self.forgotten.extend([(free.pieces[0], packed) for packed in free.pieces[2:]])
        id = next(self._ids)
        pending = Pending(id, message, limit)
        buffers = message.frame(id, options)
        if limit is None:
            with self._sending:
                self._start(pending, buffers, message)
            return pending
        is_mine: list[bool] = []  # survives an interrupt; see _receive_some()
        try:
            left = float(max(limit - time.monotonic(), 0))
            is_mine.extend(map(self._sending.acquire, (True,), (left,)))
            if not is_mine[0]:  # another thread holds the lock
                raise self._unsent()
            self._start(pending, buffers, message)
        finally:
            if is_mine == [True]:
                self._sending.release()
        return pending

    def _start(self, pending: Pending, buffers: list[Any], message: Message) -> None:
        if self.lost is not None:
            raise again(self.lost)
        # A daemon that owes this connection no reply reads: then one sendmsg() may block.
        flags = SEND_FLAGS if self._waiting or pending.limit is not None else BLOCKING
        self._waiting[pending.id] = pending
        try:
            size = len(buffers[0]) + message.size
            self._send(buffers, size, flags, message.fd, pending.limit)
        except DeadlineExceeded:
            self._waiting.pop(pending.id, None)
            raise

    def _unsent(self) -> DeadlineExceeded:
        text = f"{self.address}: the daemon does not read: a request was not sent by its deadline"
        return DeadlineExceeded(text)

    def cancel(self, id: int) -> None:
        """Ask the daemon to drop a request that has not begun."""
        frame = cancel_frame(id)
        with self._sending:
            if self.lost is None and id in self._waiting:
                self._send(frame, len(frame[0]), SEND_FLAGS)

    def _send(
        self, buffers: list[Any], left: int, flags: int, fd: Optional[int] = None,
        limit: Optional[float] = None,
    ) -> None:
        """Send a whole frame, or lose the connection. Raises DeadlineExceeded if no byte was sent
        in time. The caller holds the sending lock."""
        size = left
        ancillary = rights(fd) if fd is not None and self.address.startswith("unix:") else ()
        try:
            while left > 0:
                try:
                    sent = self._socket.sendmsg(buffers[:MAX_BUFFERS], ancillary, flags)
                except BlockingIOError:
                    if self._read_until_writable(limit):
                        continue
                    if left < size or isinstance(self._socket, TlsSocket):  # may hold a part
                        raise again(self._lose(ConnectionLost(self._unsent().message))) from None
                    raise self._unsent() from None
                left, ancillary = left - sent, ()
                if left > 0:
                    buffers = rest(buffers, sent)
        except (ConnectionLost, DeadlineExceeded):  # both are OSErrors
            raise
        except OSError as error:
            self.poll()  # the daemon may have sent the reason
            text = f"{self.address}: {error.strerror or error}"
            raise again(self._lose(ConnectionLost(text))) from None
        except BaseException as error:  # half of the frame may have been sent
            self._lose(error)
            raise

    def _read_until_writable(self, limit: Optional[float] = None) -> bool:
        """Read until the socket accepts bytes; False after the limit."""
        both = select.poll()
        both.register(self._socket, select.POLLIN | select.POLLOUT)
        out = select.poll()
        out.register(self._socket, select.POLLOUT)
        while True:
            events = both.poll(None if limit is None else poll_ms(limit - time.monotonic()))
            if not events:
                return False
            if events[0][1] & ~select.POLLIN:
                return True
            if self._reading.acquire():
                try:
                    self._receive(socket.MSG_DONTWAIT)
                finally:
                    self._stop_reading()
            elif out.poll(10):  # another thread reads; it may stop before the socket accepts bytes
                return True

    # -- receiving

    def wait(self, pending: Pending, timeout: Optional[float] = None) -> None:
        """Wait for the reply. Raises TimeoutError after `timeout` seconds, and DeadlineExceeded if
        the daemon does not answer after the request's own deadline."""
        if pending.done:
            return
        until = None if timeout is None else time.monotonic() + timeout
        if pending.limit is not None and (until is None or pending.limit < until):
            until = pending.limit
        while not pending.done:
            try:
                is_mine = self._reading.acquire()
                in_time = (self._read_for if is_mine else self._sleep)(pending, until)
            finally:
                try:
                    self._stop_reading()
                except BaseException:  # a signal interrupted it before it began
                    self._stop_reading()
                    raise
            if not in_time and not pending.done:
                self._late(pending)

    def wait_once(self, pending: Pending) -> None:
        """wait() for a caller that does not wait again."""
        try:
            self.wait(pending)
        except BaseException:
            self._give_up(pending)
            raise

    def _give_up(self, pending: Pending) -> None:
        """Stop waiting; the rest of the reply is not written into memory of the caller."""
        pending.outs = without_memory(pending)
        if self._reading.acquire():  # else another thread reads it now, or no thread has begun
            try:
                self._reader.discard_rest(pending.id)
            finally:
                self._stop_reading()

    def poll(self) -> None:
        """Read available bytes, without waiting."""
        if self._reading.acquire():
            try:
                while self.lost is None and readable(self._socket, 0):
                    self._receive(socket.MSG_DONTWAIT)
            finally:
                self._stop_reading()

    def cause_of(self, pid: int, seconds: float) -> Optional[Error]:
        """The daemon's report why its worker `pid`, which had a direct channel, was lost; None: no
        report in time."""
        report = Pending(0, Message(b""), time.monotonic() + seconds)
        with self._reader.lost_workers.expected(pid, report), contextlib.suppress(DeadlineExceeded):
            self.wait(report)
        return self._reader.lost_workers.pop(pid)

    def _late(self, pending: Pending) -> None:
        if pending.limit is not None and time.monotonic() >= pending.limit:
            raise DeadlineExceeded(
                f"{self.address}: no answer within the deadline and {GRACE:g} s of grace"
            )
        raise TimeoutError("the result has not arrived yet")

    def _read_for(self, pending: Pending, until: Optional[float]) -> bool:
        """Read until the reply has arrived; False after the limit."""
        reader = self._reader
        while not pending.done:
            if self.lost is not None:  # the loss finished all waiting requests
                pending.finish(again(self.lost), None, None)
            elif until is None:
                self._receive(socket.MSG_WAITALL if reader.in_payload() else 0)
            elif readable(self._socket, until - time.monotonic()):
                self._receive(socket.MSG_DONTWAIT)
            else:
                return False
        return True

    def _receive(self, flags: int) -> None:
        """One recv, and the replies that it completes. This thread is the reader."""
        if self._is_receiving:  # this call would overwrite the bytes that the other one reads
            raise RuntimeError(
                f"{self.address}: this call began within another call of "
                "the same connection, in a finalizer or by a signal; use a connection of its own"
            )
        self._is_receiving = True
        try:
            self._receive_some(flags)
        finally:
            self._is_receiving = False

    def _receive_some(self, flags: int) -> None:
        # A signal's handler may raise an exception after a system call, before the next line
        # begins. map() stores the result in this list without a step of Python in between.
        received: list[int] = []
        try:
            passed, target = self.passed, self._reader.target()
            if passed is None:
                received.extend(map(self._socket.recv_into, (target,), (0,), (flags,)))
            else:
                assert isinstance(self._socket, socket.socket)
                passed.receive(self._socket, target, flags, received)
            if not received[0]:
                self._lose(self._reader.end(self.address))
                return
            self._reader.received(received[0])
            if self._sleepers:
                self._wake_done()
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(self._reader.end(self.address, error))
        except ProtocolError as error:
            self._lose(ProtocolError(f"{self.address}: {error.message}"))
        except BaseException as error:
            if received or (isinstance(self._socket, TlsSocket) and self._socket.may_have_read):
                self._lose(error)  # the received bytes are lost
            raise

    def _sleep(self, pending: Pending, until: Optional[float]) -> bool:
        """Sleep until the reply has arrived or there may be no reader; False after the limit."""
        event, me = WakeEvent(), threading.get_ident()
        self._sleepers[me] = pending, event
        try:
            # A reader that finished before the line above did not wake this thread.
            if pending.done or not self._reading.locked():
                return True
            left = None if until is None else until - time.monotonic()
            return event.wait(left) if left is None or left > 0 else False
        finally:
            self._sleepers.pop(me, None)
            if not self._reading.locked():  # _wake_one() may have chosen this thread to read
                self._wake_one()

    def _stop_reading(self) -> None:
        """Stop reading, if this thread is the reader."""
        self._reading.release()
        if self._sleepers and not self._reading.locked():
            self._wake_one()

    def _wake_one(self) -> None:
        for pending, event in list(self._sleepers.values()):
            if not pending.done:
                event.set()
                return

    def _wake_done(self) -> None:
        for pending, event in list(self._sleepers.values()):
            if pending.done:
                event.set()

    # -- losing and closing

    def _lose(self, error: BaseException) -> Error:
        """The connection is lost: all waiting requests get the cause."""
        if not isinstance(error, Error):
            error = ConnectionLost(f"{self.address}: a request was interrupted ({error!r})")
        if self.lost is None:
            self.lost = error
        self._finish_all(self.lost)
        return self.lost

    def _finish_all(self, error: Error) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes a reader in another thread
        while self._waiting:
            try:
                _, pending = self._waiting.popitem()
            except KeyError:  # another thread was faster
                break
            pending.finish(again(error), None, None)
        self._wake_done()

    def abandon_in_child(self) -> None:
        """In a forked child: the socket, and perhaps the locks, belong to the parent."""
        self._sending, self._reading = threading.Lock(), ReaderLock()
        self._is_receiving = False
        self._sleepers.clear()
        self.lost = forked(self.address)
        self._close_sockets()
        while self._waiting:
            self._waiting.popitem()[1].finish(again(self.lost), None, None)

    def close(self) -> None:
        if self.lost is None:
            self.lost = ConnectionLost(
                f"{self.address}: the connection has been closed here", hint="connect again"
            )
        self._finish_all(self.lost)
        gone = Pending(0, Message(b""), None)
        while not self._reading.acquire():  # the shutdown wakes a reader, which then stops
            self._sleep(gone, None)
        try:
            self._close_sockets()
        finally:
            self._stop_reading()

    def _close_sockets(self) -> None:
        self._socket.close()
        if self.passed is not None:
            self.passed.close()


def again(error: Error) -> Error:
    """A copy: an exception that is raised twice would collect both tracebacks."""
    return type(error)(error.message, hint=error.hint)
