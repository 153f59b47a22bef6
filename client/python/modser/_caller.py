"""Calls that are sent again, to the next of several daemons."""
from __future__ import annotations

import random
import ssl
import time
from typing import Any, Optional

from . import _address
from ._client import Client, connect
from ._errors import ConnectionLost, DeadlineExceeded, Error
from ._objects import FunctionBase, InstanceBase, ResidentBase
from ._options import Seconds, check_deadline
from ._place import Handle, Place
from ._retry import Schedule


class Caller:
    """Calls functions of equal daemons, and repeats calls that were not begun.

    ``Caller("tcp://a:9190,tcp://b:9190", retry=30)("digits:main", x)``. A call is not begun if a
    daemon is too busy, is about to end, or does not answer: the next daemon gets it at once.
    After a round, the caller waits for a random time with a growing bound, at least as long as
    the daemons request, and for ``retry`` seconds in total. ``idempotent=True`` also repeats a
    call that may have run, because its connection or worker was lost. A deadline covers all
    attempts. The other arguments are those of :func:`connect`. Use it in one thread at a time.
    """

    def __init__(
        self,
        address: Optional[str] = None,
        *,
        retry: float,
        idempotent: bool = False,
        token: Optional[str] = None,
        deadline: Seconds = None,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        check_deadline(retry)
        check_deadline(deadline)
        self._places = _address.split(_address.choose(address))
        for place in self._places:
            _address.parse(place)
        self._retry, self._idempotent, self._deadline = retry, idempotent, deadline
        self._token, self._tls = token, tls
        self._client: Optional[Client] = None

    def __call__(
        self,
        target: str,
        *args: Any,
        retry: Seconds = None,
        idempotent: Optional[bool] = None,
        deadline: Seconds = None,
        **named: Any,
    ) -> Any:
        """Call ``"module:function"``. The arguments are those of :class:`Function`; ``retry`` and
        ``idempotent`` apply to this call. Tensors, instances and handles of a connection are not
        accepted."""
        module, colon, function = target.partition(":")
        if not colon:
            raise ValueError(f'"{target}" is not "module:function"')
        _refuse_held(target, (*args, *named.values()))
        deadline = self._deadline if deadline is None else deadline
        seconds = self._retry if retry is None else retry
        if deadline is not None:
            seconds = min(seconds, deadline)
        idempotent = self._idempotent if idempotent is None else idempotent
        schedule = Schedule(seconds, len(self._places), idempotent)
        begun = time.monotonic()
        while True:
            was_sent = False
            try:
                client = self._connected(begun + seconds)
                was_sent = True
                left = None if deadline is None else max(begun + deadline - time.monotonic(), 0.001)
                return client[module][function](*args, deadline=left, **named)
            except Error as error:
                elapsed = time.monotonic() - begun
                wait = schedule.wait(error, was_sent, elapsed, random.random())
                if wait is None:
                    raise
                self._turn(error)
            time.sleep(wait)

    def _connected(self, until: float) -> Client:
        if self._client is not None:
            self._client._channel.poll()  # it may have ended while nobody called
            if not self._client.is_lost():
                return self._client
        self.close()
        left = max(until - time.monotonic(), 0.001)
        address = ",".join(self._places)
        self._client = connect(address, token=self._token, deadline=left, tls=self._tls)
        self._client._deadline = None  # that was for connecting
        if len(self._places) == 1:  # of several each was asked
            self._ask(self._client, until)
        return self._client

    def _ask(self, client: Client, until: float) -> None:
        """Send the call; an error before any answer means that it was not begun."""
        try:
            client.ping(deadline=max(until - time.monotonic(), 0.001))
        except BaseException:
            self.close()
            raise

    def _turn(self, error: Error) -> None:
        """Use the next daemon, with a new connection if it is another one."""
        self._places.append(self._places.pop(0))
        stays = len(self._places) == 1 and not _leaves(error)
        if not stays:
            self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        if self._client is not None:
            self._client.close()
        self._client = None

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _leaves(error: Error) -> bool:
    return isinstance(error, (ConnectionLost, DeadlineExceeded)) or error.name == "DRAINING"


def _refuse_held(target: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if isinstance(value, (ResidentBase, InstanceBase, FunctionBase, Handle, Place)):
            kind = type(value).__name__
            raise TypeError(f"{target}: a {kind} belongs to the connection that made it, and a "
                            "Caller's changes; call by that client")  # fmt: skip
        if isinstance(value, tuple):
            _refuse_held(target, value)
