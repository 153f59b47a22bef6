"""A direct channel from a client to a module's worker, for one call at a time.

A call ends with its answer or with an error. It raises NotBegun if the worker has not run it: then
the daemon may run it.
"""
from __future__ import annotations

import contextlib
import itertools
import select
import socket
import threading
import time
from typing import Any, Optional

from ._call import check_result
from ._channel import Pending
from ._errors import DeadlineExceeded, Draining, ProtocolError, Refused, TooLarge, WorkerLost
from ._fork import register
from ._message import Message
from ._reader import Reader
from ._sockets import MAX_BUFFERS, SEND_FLAGS, poll_ms, rest

_WORKER_ENDED = "the module's worker has ended; the call may have run"


class NotBegun(Exception):
    """The call was not begun here."""


class _Late(Exception):
    pass


class Direct:
    def __init__(self, s: socket.socket, facts: dict[str, Any]) -> None:
        s.setblocking(True)
        self.pid = _number(facts, "pid")
        #: The limit of one call.
        self.most_bytes = _number(facts, "bytes")
        self.workers = _number(facts, "workers")
        self.is_closed = False
        #: No thread begins a call on the channel any more.
        self.is_retired = False
        #: The worker has ended without a reason.
        self.worker_ended = False
        self._socket = s
        self._readable = select.poll()
        self._readable.register(s, select.POLLIN)
        self._reader = Reader()
        self._ids = itertools.count(1)
        self._using = threading.Lock()
        register(self)

    def reserve(self) -> bool:
        """Reserve the channel. False: another thread has a call in it, or it is closed."""
        if not self._using.acquire(blocking=False):
            return False
        if self.is_closed or self.is_retired:  # another thread closed it meanwhile
            self.release()
            return False
        return True

    def release(self) -> None:
        self._using.release()
        if self.is_closed or self.is_retired:
            self._close_if_unused()

    def call(self, message: Message, options: bytes, limit: Optional[float]) -> Pending:
        """Run a call between reserve() and release(). `limit` is its deadline by
        time.monotonic()."""
        pending = Pending(next(self._ids), message, limit)
        buffers = message.frame(pending.id, options)
        self._reader.waiting[pending.id] = pending
        try:
            self._send(buffers, len(buffers[0]) + message.size, limit)
            while not pending.done:
                self._receive(pending)
            if pending.error is None:
                check_result(pending.outs, pending.result)
        except _Late:
            self.is_closed = True  # a worker that is still in a late call is killed soon
            late = DeadlineExceeded("the call was not done by its deadline")
            pending.finish(late, None, None)
        except ProtocolError as error:
            self._blame(pending, error.message)
        except BaseException:  # an answer without a waiting call may follow
            self.is_closed = True
            raise
        if type(pending.error) is Refused and not self.is_closed:
            raise NotBegun  # the daemon decides whether it may run
        return pending

    def _send(self, buffers: list[Any], left: int, limit: Optional[float]) -> None:
        """Send a whole frame; a call whose frame is incomplete was not begun."""
        while left > 0:
            try:
                sent = self._socket.sendmsg(buffers[:MAX_BUFFERS], (), SEND_FLAGS)
            except BlockingIOError:
                self._await_room(limit)
                continue
            except OSError:
                raise NotBegun from None
            left -= sent
            if left > 0:
                buffers = rest(buffers, sent)

    def _await_room(self, limit: Optional[float]) -> None:
        writable = select.poll()
        writable.register(self._socket, select.POLLOUT)
        _in_time(writable, limit)

    def _receive(self, pending: Pending) -> None:
        """One recv, and the replies that it completes."""
        reader = self._reader
        if pending.limit is not None:
            _in_time(self._readable, pending.limit)
        flags = socket.MSG_WAITALL if pending.limit is None and reader.in_payload() else 0
        try:
            n = self._socket.recv_into(reader.target(), 0, flags)
        except ConnectionResetError:  # the worker had not read the whole request
            raise NotBegun from None
        except OSError:
            n = 0
        if n:
            reader.received(n)
        else:
            self._end(pending)

    def _end(self, pending: Pending) -> None:
        """The channel has ended: the daemon took it back, or an error occurred."""
        self.is_closed = True
        cause = self._reader.cause
        if isinstance(cause, Draining):
            raise NotBegun
        if isinstance(cause, (ProtocolError, TooLarge)):
            self._blame(pending, cause.message)
            return
        self.worker_ended = cause is None
        pending.finish(WorkerLost(_WORKER_ENDED) if cause is None else cause, None, None)

    def _blame(self, pending: Pending, text: str) -> None:
        """The error that the daemon would report for an invalid answer."""
        self.is_closed = True
        text = f"the module's worker sent an invalid answer: {text}"
        pending.finish(WorkerLost(text), None, None)

    def abandon_in_child(self) -> None:
        """In a forked child: the socket, and perhaps the lock, belong to the parent."""
        self.is_closed = True
        self._using = threading.Lock()
        self._socket.close()

    def close(self) -> None:
        """Close the channel; a thread with a call in it closes the socket."""
        self.is_closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._close_if_unused()

    def retire(self) -> None:
        """Close the channel after the call in it, which another thread may have, has its answer."""
        self.is_retired = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._using.acquire(blocking=False):
            self._socket.close()
            self._using.release()


def _in_time(events: select.poll, limit: Optional[float]) -> None:
    left = None if limit is None else limit - time.monotonic()
    if not events.poll(None if left is None else poll_ms(left)):
        raise _Late


def _number(facts: dict[str, Any], key: str) -> int:
    value = facts.get(key)
    return value if type(value) is int and value > 0 else 0
