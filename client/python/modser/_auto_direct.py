"""Automatic direct channels for blocking calls, with the rules of libmodser.

If a client calls a module often, one call after the other, over a unix socket, it gets a channel
to the module's worker. Calls that the channel supports use it; all others, and all calls after
its end, go through the daemon. The results are the same. A channel is used only while nothing
else of the connection is in flight, so that the order of requests stays the same. If another
thread uses the channel, the call goes through the daemon.

Normal path: after enough fast calls of a module in a row, the next call also requests a channel;
the daemon answers that first. Failures: the daemon gives none, and the next request follows
after twice as many calls; the channel ends, and a call that was not begun goes through the
daemon. If the worker died, the daemon reports the reason on its own connection.
"""
from __future__ import annotations

import os
import threading
import time
from typing import Callable, Optional

from ._channel import Channel, Pending, again
from ._direct import Direct, NotBegun
from ._errors import DeadlineExceeded, Draining, Error
from ._fork import register
from ._message import MAX_TENSORS, Message, pack
from ._options import MAX_DEADLINE, pack_options
from ._sockets import ReceivedSocket
from ._tensor import ALIGN

MOST_PLAIN = 1024  # functions of a module that may use its channel
MOST_CHANNELS = 4  # modules that have a channel or may get one
FIRST_CALLS = 32  # calls before the first request: a channel costs some round trips
MOST_CALLS = 1 << 20  # calls before a request after many failures
#: Mean seconds between calls. Above it a channel saves too little.
EACH = 0.001
#: Run time of a call. Above it a channel saves too little, and the daemon is the safer path: a
#: call that waits there is not lost with the worker.
LONG_NS = 500_000
#: Bytes of a call. Above it the copies take most of the time.
MOST_BYTES = 1 << 20
MOST_BODY = 32 << 10  # bytes; a channel accepts 64 KiB
REQUEST_TIMEOUT = 1.0  # seconds that the daemon has to open a channel
REPORT_TIMEOUT = 1.0  # seconds that it has to report why a worker died

_OPEN = pack("channel.open")


class ModuleCalls:
    """The state of the calls of one module."""

    __slots__ = ("module", "direct", "n_calls", "since", "after", "plain")

    def __init__(self, module: str) -> None:
        self.module = module
        self.direct: Optional[Direct] = None
        self.n_calls = 0  # calls through the daemon since `since`
        self.since = 0.0
        #: Functions, packed, that returned plain values: a channel carries no objects.
        self.plain: set[bytes] = set()
        self.after = FIRST_CALLS  # calls until the client requests a channel

    def is_time(self) -> bool:
        """Count a call; True if a channel is worth requesting."""
        if not self.n_calls:
            self.since = time.monotonic()
        self.n_calls += 1
        if self.n_calls <= self.after:
            return False
        self.n_calls = 0
        return time.monotonic() - self.since < self.after * EACH

    def detach(self) -> Optional[Direct]:
        """Remove and return its channel."""
        direct, self.direct = self.direct, None
        self.n_calls = 0
        return direct


def for_channel(channel: Channel) -> Optional[AutoDirect]:
    """None: calls of this connection always go through the daemon."""
    is_local = channel.address.startswith("unix:")
    return AutoDirect(channel) if is_local and os.environ.get("MODSER_DIRECT") != "off" else None


class AutoDirect:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._modules: dict[str, ModuleCalls] = {}
        self._lock = threading.Lock()  # protects the table; no thread waits while it holds this
        self._is_requesting = False
        #: The module for which a channel was requested, and that request.
        self._requested: Optional[tuple[ModuleCalls, Pending]] = None
        self._is_closed = False
        register(self)

    def call(
        self,
        module: str,
        message: Message,
        deadline: Optional[float],
        through: Callable[[Message], Pending],
    ) -> Pending:
        """Run a call: on a direct channel if possible, else `through` the daemon."""
        self._receive_channel()
        entry = self._entry(module)
        direct = None if entry is None else entry.direct
        most = MOST_BYTES if direct is None else direct.most_bytes
        if not is_supported(message, deadline, most):
            entry = None
        target = b"".join(message.pieces[2:3])
        if entry is not None and direct is not None and target in entry.plain:
            pending = self._call_direct(entry, direct, message, deadline)
            if pending is not None:
                return pending
        elif entry is not None and direct is None:
            self._count(entry)
        pending = through(message)
        self._channel.wait_once(pending)
        self._receive_channel()
        if entry is not None and pending.error is None:
            _learn(entry, target, pending.is_plain)
        if entry is not None and direct is None and _ran_long(pending):
            self._retire(entry)
        return pending

    def _entry(self, module: str) -> Optional[ModuleCalls]:
        """The state of the module, or a free one; None: all have a channel, or the connection is in
        use."""
        if not self._channel.is_idle():
            if self._channel.lost is not None:
                self.close()
            return None
        entry = self._modules.get(module)
        if entry is not None:
            return entry
        with self._lock:
            if len(self._modules) >= MOST_CHANNELS:
                spare = [w for w in self._modules.values() if w.direct is None]
                if not spare:
                    return None
                del self._modules[min(spare, key=lambda w: w.n_calls).module]
            return self._modules.setdefault(module, ModuleCalls(module))

    def _count(self, entry: ModuleCalls) -> None:
        """Count a call through the daemon, and perhaps request a channel with it."""
        with self._lock:
            if not entry.is_time() or self._is_requesting or self._is_closed:
                return
            self._is_requesting = True
        message = Message(_OPEN)
        message.add(entry.module)
        self._channel.passed = ReceivedSocket()
        try:
            options = pack_options(message, REQUEST_TIMEOUT)
            self._requested = entry, self._channel.start(message, options)
        except Error:  # the call itself reports it
            self._is_requesting = False
        except BaseException:
            self._is_requesting = False
            raise

    def _receive_channel(self) -> None:
        """Handle the answer to that request, which arrives before the answer to the call."""
        if self._requested is None:
            return
        with self._lock:
            if self._requested is None or not self._requested[1].done:
                return
            (entry, pending), self._requested, self._is_requesting = self._requested, None, False
            passed, self._channel.passed = self._channel.passed, None
            direct = _direct(pending, passed)
            is_known = self._modules.get(entry.module) is entry and not self._is_closed
            # With several workers, only the daemon knows which one is idle.
            if direct is not None and direct.workers == 1 and is_known:
                entry.direct, entry.after = direct, FIRST_CALLS
                return
            entry.after = min(2 * entry.after, MOST_CALLS)
        if direct is not None:
            direct.close()

    def _call_direct(
        self, entry: ModuleCalls, direct: Direct, message: Message, deadline: Optional[float]
    ) -> Optional[Pending]:
        """Run the call on the channel; None: it was not begun there, the daemon must run it."""
        if not direct.reserve():
            return None
        began = time.monotonic()
        pending = None
        try:
            limit = None if deadline is None else began + deadline
            pending = direct.call(message, pack_options(message, deadline), limit)
        except NotBegun:
            if deadline is not None:  # the remaining time
                message.deadline = max(deadline - (time.monotonic() - began), 0.001)
        finally:
            direct.release()
            is_over = direct.is_closed or _ran_long(pending)
            if is_over or (pending is not None and isinstance(pending.error, _ENDS)):
                self._retire(entry, direct)
        if pending is not None and direct.worker_ended:
            cause = self._channel.cause_of(direct.pid, REPORT_TIMEOUT)
            if cause is None and self._channel.lost is not None:  # the worker ends with its daemon
                cause = again(self._channel.lost)
            pending.error = cause or pending.error
        return pending

    def _retire(self, entry: ModuleCalls, direct: Optional[Direct] = None) -> None:
        """Close the channel; a call of another thread in it still gets its answer."""
        with self._lock:
            gone = entry.detach() if direct is None or entry.direct is direct else None
        if gone is not None:
            gone.retire()

    def abandon_in_child(self) -> None:
        """In a forked child: the lock may belong to the parent; the connection is lost."""
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close all channels."""
        with self._lock:
            self._is_closed = True
            gone = [entry.detach() for entry in self._modules.values()]
        for direct in gone:
            if direct is not None:
                direct.close()


#: Errors after which the client closes the channel.
_ENDS = (DeadlineExceeded, Draining)


def _direct(pending: Pending, passed: Optional[ReceivedSocket]) -> Optional[Direct]:
    s = None if passed is None else passed.take()
    if s is None:
        return None
    if pending.error is not None or not isinstance(pending.result, dict):
        s.close()
        return None
    return Direct(s, pending.result)


def _learn(entry: ModuleCalls, target: bytes, is_plain: bool) -> None:
    if not is_plain:
        entry.plain.discard(target)
    elif len(entry.plain) < MOST_PLAIN:
        entry.plain.add(target)


def _ran_long(pending: Optional[Pending]) -> bool:
    meta = None if pending is None else pending.meta
    ran_ns = meta.get("exec_ns") if isinstance(meta, dict) else None
    return isinstance(ran_ns, int) and ran_ns > LONG_NS


def is_supported(message: Message, deadline: Optional[float], most: int) -> bool:
    """True if a channel supports the call: inline tensors on the host and plain values, up to a
    size, with no other options than deadline_ms and names."""
    m = message
    if m.has_remote_objects or m.segments or m.device or m.instance is not None or m.fd is not None:
        return False
    if m.unordered or m.kill_abandoned or m.background or m.trace or m.repeat or m.promised:
        return False
    if deadline is not None and not (
        isinstance(deadline, (int, float)) and 0 < deadline <= MAX_DEADLINE
    ):
        return False  # pack_options() reports an invalid deadline
    size = m.size + sum([o.nbytes + ALIGN for o in m.outs])
    if size > min(most, MOST_BYTES) or len(m.pieces) > MAX_TENSORS:
        return False
    names = sum([9 + 4 * len(n) for n in m.names if n]) if m.names else 0
    return names + sum(map(len, m.pieces)) <= MOST_BODY
