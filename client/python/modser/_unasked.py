"""Automatic direct channels for blocking calls, with the rules of libmodser.

If a client calls a module often, one call after the other, over a unix socket, it gets a channel
to the module's worker. Calls that the channel supports use it; all others, and all calls after
its end, go through the daemon. The results are the same. A channel is used only while nothing
else of the connection is in flight, so that the order of requests stays the same. A thread whose
channel is in use by another thread goes through the daemon.

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
from ._fork import at_home
from ._message import MAX_TENSORS, Message, pack
from ._options import MAX_DEADLINE, pack_options
from ._sockets import Passed
from ._tensor import ALIGN

WAYS = 4  # modules that are called by turns
FIRST_CALLS = 32  # a channel costs some round trips
MOST_CALLS = 1 << 20
#: Seconds. Who calls less often gains nothing by it, nor who calls what takes longer; and what
#: takes longer waits better where it is not lost with the worker.
EACH = 0.001
LONG_NS = 500_000
#: More is not worth it: what a call costs is its bytes then.
MOST_BYTES = 1 << 20
MOST_BODY = 32 << 10  # a channel takes 64 KiB
ASK = 1.0  # seconds
TELL = 1.0

_OPEN = pack("channel.open")


class Way:
    """The state of the calls of one module."""

    __slots__ = ("module", "direct", "calls", "since", "after")

    def __init__(self, module: str) -> None:
        self.module = module
        self.direct: Optional[Direct] = None
        self.calls = 0  # through the daemon, since...
        self.since = 0.0
        self.after = FIRST_CALLS  # of these a channel is asked for

    def is_time(self) -> bool:
        """Count a call; True if a channel is worth requesting."""
        if not self.calls:
            self.since = time.monotonic()
        self.calls += 1
        if self.calls <= self.after:
            return False
        self.calls = 0
        return time.monotonic() - self.since < self.after * EACH

    def take(self) -> Optional[Direct]:
        """Remove and return its channel."""
        direct, self.direct = self.direct, None
        self.calls = 0
        return direct


def for_channel(channel: Channel) -> Optional[Unasked]:
    """None: calls of this connection always go through the daemon."""
    is_local = channel.address.startswith("unix:")
    return Unasked(channel) if is_local and os.environ.get("MODSER_DIRECT") != "off" else None


class Unasked:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._ways: dict[str, Way] = {}
        self._lock = threading.Lock()  # of the table; held while nothing is waited for
        self._is_asking = False
        #: A channel was asked for, of this way, by this request.
        self._asked: Optional[tuple[Way, Pending]] = None
        self._is_closed = False
        at_home(self)

    def call(
        self,
        module: str,
        message: Message,
        deadline: Optional[float],
        through: Callable[[Message], Pending],
    ) -> Pending:
        """Run a call: on a direct channel if possible, else `through` the daemon."""
        self._take_answer()
        way = self._way(module)
        direct = None if way is None else way.direct
        if not may_go(message, deadline, direct.most_bytes if direct is not None else MOST_BYTES):
            way = None
        if way is not None and direct is not None:
            pending = self._past(way, direct, message, deadline)
            if pending is not None:
                return pending
        elif way is not None:
            self._count(way)
        pending = through(message)
        self._channel.wait_once(pending)
        self._take_answer()
        if way is not None and direct is None and _ran_long(pending):
            self._retire(way)
        return pending

    def _way(self, module: str) -> Optional[Way]:
        """The state of the module, or a free one; None: all have a channel, or the connection is in
        use."""
        if not self._channel.is_idle():
            if self._channel.lost is not None:
                self.close()
            return None
        way = self._ways.get(module)
        if way is not None:
            return way
        with self._lock:
            if len(self._ways) >= WAYS:
                spare = [w for w in self._ways.values() if w.direct is None]
                if not spare:
                    return None
                del self._ways[min(spare, key=lambda w: w.calls).module]
            return self._ways.setdefault(module, Way(module))

    def _count(self, way: Way) -> None:
        """Count a call through the daemon, and perhaps request a channel with it."""
        with self._lock:
            if not way.is_time() or self._is_asking or self._is_closed:
                return
            self._is_asking = True
        message = Message(_OPEN)
        message.add(way.module)
        self._channel.passed = Passed()
        try:
            self._asked = way, self._channel.start(message, pack_options(message, ASK))
        except Error:  # the call will say so
            self._is_asking = False
        except BaseException:
            self._is_asking = False
            raise

    def _take_answer(self) -> None:
        """The answer to that request, which arrives before that of the call."""
        if self._asked is None:
            return
        with self._lock:
            if self._asked is None or not self._asked[1].done:
                return
            (way, pending), self._asked, self._is_asking = self._asked, None, False
            passed, self._channel.passed = self._channel.passed, None
            direct = _direct(pending, passed)
            is_known = self._ways.get(way.module) is way and not self._is_closed
            # Of several workers the daemon knows who has nothing to do.
            if direct is not None and direct.workers == 1 and is_known:
                way.direct, way.after = direct, FIRST_CALLS
                return
            way.after = min(2 * way.after, MOST_CALLS)
        if direct is not None:
            direct.close()

    def _past(
        self, way: Way, direct: Direct, message: Message, deadline: Optional[float]
    ) -> Optional[Pending]:
        """Run the call on the channel; None: it was not begun there, the daemon must run it."""
        if not direct.enter():
            return None
        began = time.monotonic()
        pending = None
        try:
            limit = None if deadline is None else began + deadline
            pending = direct.call(message, pack_options(message, deadline), limit)
        except NotBegun:
            if deadline is not None:  # what is left of it
                message.deadline = max(deadline - (time.monotonic() - began), 0.001)
        finally:
            direct.leave()
            is_over = direct.is_closed or _ran_long(pending)
            if is_over or (pending is not None and isinstance(pending.error, _ENDS)):
                self._retire(way, direct)
        if pending is not None and direct.has_died:
            told = self._channel.cause_of(direct.pid, TELL)
            if told is None and self._channel.lost is not None:  # the worker ends with its daemon
                told = again(self._channel.lost)
            pending.error = told or pending.error
        return pending

    def _retire(self, way: Way, direct: Optional[Direct] = None) -> None:
        """Close the channel; a call of another thread in it still gets its answer."""
        with self._lock:
            gone = way.take() if direct is None or way.direct is direct else None
        if gone is not None:
            gone.retire()

    def leave_behind(self) -> None:
        """In a forked child: the lock may belong to the parent; the connection is lost."""
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            self._is_closed = True
            gone = [way.take() for way in self._ways.values()]
        for direct in gone:
            if direct is not None:
                direct.close()


#: Errors after which a channel is of no use any more.
_ENDS = (DeadlineExceeded, Draining)


def _direct(pending: Pending, passed: Optional[Passed]) -> Optional[Direct]:
    s = None if passed is None else passed.take()
    if s is None:
        return None
    if pending.error is not None or not isinstance(pending.result, dict):
        s.close()
        return None
    return Direct(s, pending.result)


def _ran_long(pending: Optional[Pending]) -> bool:
    meta = None if pending is None else pending.meta
    ran_ns = meta.get("exec_ns") if isinstance(meta, dict) else None
    return isinstance(ran_ns, int) and ran_ns > LONG_NS


def may_go(message: Message, deadline: Optional[float], most: int) -> bool:
    """True if a channel supports the call: inline tensors on the host and plain values, up to a
    size, with no other options than deadline_ms and names."""
    m = message
    if m.names_held or m.segments or m.device or m.instance is not None or m.fd is not None:
        return False
    if m.unordered or m.kill_abandoned or m.background or m.trace or m.promised:
        return False
    if deadline is not None:
        if not isinstance(deadline, (int, float)) or not 0 < deadline <= MAX_DEADLINE:
            return False  # nor what is none
    size = m.size + sum([o.nbytes + ALIGN for o in m.outs])
    if size > min(most, MOST_BYTES) or len(m.pieces) > MAX_TENSORS:
        return False
    names = sum([9 + 4 * len(n) for n in m.names if n]) if m.names else 0
    return names + sum(map(len, m.pieces)) <= MOST_BODY
