"""Failover: connect to one of several equal daemons, in the order of the list."""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Generic, Optional, Protocol, TypeVar

from . import _address
from ._errors import ConnectionLost, Error
from ._options import Seconds

EACH = 3.0  # seconds for each address without a deadline, so that a silent one blocks no other


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Failover(Generic[C]):
    """The addresses of a list, each with its share of the remaining time. Errors of a single
    address are raised unchanged. A daemon that is about to end is used if no other one answers."""

    def __init__(self, address: str, deadline: Seconds) -> None:
        self._addresses = _address.split(address)
        for address in self._addresses:
            _address.parse(address)
        self.is_single = len(self._addresses) == 1
        self._until = None if deadline is None else time.monotonic() + deadline
        self._deadline = deadline
        self._draining: Optional[C] = None
        self._failures: list[Error] = []

    def __iter__(self) -> Iterator[tuple[str, Seconds]]:
        for i, address in enumerate(self._addresses):
            yield address, self._share(len(self._addresses) - i)

    def _share(self, n: int) -> Seconds:
        if self.is_single:
            return self._deadline
        if self._until is None:
            return EACH if n > 1 else None
        return max(self._until - time.monotonic(), 0.001) / n

    def failed(self, error: BaseException) -> None:
        """Record the error and continue with the next address, or raise it."""
        if self.is_single or not isinstance(error, Error):
            raise error
        self._failures.append(error)

    def keep_draining(self, client: C) -> None:
        """Keep a connection to a daemon that is about to end, in case no other one answers."""
        if self._draining is None:
            self._draining = client
        else:
            client.close()

    def use(self, client: C) -> C:
        """Return `client`, and close the connection that keep_draining() kept."""
        if self._draining is not None:
            self._draining.close()
        return client

    def fallback(self) -> C:
        """The result if no attempt succeeded."""
        if self._draining is not None:
            return self._draining
        text = "; ".join(error.message for error in self._failures)
        raise ConnectionLost(text) from self._failures[-1]
