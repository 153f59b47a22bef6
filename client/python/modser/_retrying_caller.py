"""A caller that repeats calls, on the next of several daemons."""
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
from ._reply_tensor import Handle, ReplyTensor
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
        self._addresses = _address.split(_address.choose(address))
        for one in self._addresses:
            _address.parse(one)
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
        ``idempotent`` apply to this call. Tensors, instances and handles of a connection raise
        TypeError."""
        module, colon, function = target.partition(":")
        if not colon:
            raise ValueError(f'"{target}" is not "module:function"')
        _refuse_remote_objects(target, (*args, *named.values()))
        deadline = self._deadline if deadline is None else deadline
        seconds = self._retry if retry is None else retry
        if deadline is not None:
            seconds = min(seconds, deadline)
        idempotent = self._idempotent if idempotent is None else idempotent
        schedule = Schedule(seconds, len(self._addresses), idempotent)
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
                self._use_next(error)
            time.sleep(wait)

    def _connected(self, until: float) -> Client:
        if self._client is not None:
            self._client._channel.poll()  # the daemon may have closed it between two calls
            if not self._client.is_lost():
                return self._client
        self.close()
        left = max(until - time.monotonic(), 0.001)
        address = ",".join(self._addresses)
        self._client = connect(address, token=self._token, deadline=left, tls=self._tls)
        self._client._deadline = None  # the deadline was for connecting
        if len(self._addresses) == 1:  # connect() pings each of several
            self._ping(self._client, until)
        return self._client

    def _ping(self, client: Client, until: float) -> None:
        """Ping the daemon; an error means that no call was begun."""
        try:
            client.ping(deadline=max(until - time.monotonic(), 0.001))
        except BaseException:
            self.close()
            raise

    def _use_next(self, error: Error) -> None:
        """Use the next daemon, with a new connection if it is another one."""
        self._addresses.append(self._addresses.pop(0))
        keeps = len(self._addresses) == 1 and not _ends_connection(error)
        if not keeps:
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


def _ends_connection(error: Error) -> bool:
    return isinstance(error, (ConnectionLost, DeadlineExceeded)) or error.name == "DRAINING"


def _refuse_remote_objects(target: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if isinstance(value, (ResidentBase, InstanceBase, FunctionBase, Handle, ReplyTensor)):
            kind = type(value).__name__
            raise TypeError(f"{target}: a {kind} belongs to the connection that made it, and a "
                            "Caller changes connections; call with that client")  # fmt: skip
        if isinstance(value, tuple):
            _refuse_remote_objects(target, value)
