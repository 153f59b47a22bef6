"""Attempts to connect to one of several equal daemons, in turn."""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Generic, Optional, Protocol, TypeVar

from . import _address
from ._errors import ConnectionLost, Error
from ._options import Seconds

EACH = 3.0  # seconds; nobody who is silent keeps the others from those who set no bound


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Attempts(Generic[C]):
    """The addresses of a list, each with its share of the remaining time. Errors of a single
    address are raised unchanged. A daemon that is about to end is used if no other one answers."""

    def __init__(self, address: str, deadline: Seconds) -> None:
        self._places = _address.split(address)
        for place in self._places:
            _address.parse(place)
        self.is_one = len(self._places) == 1
        self._until = None if deadline is None else time.monotonic() + deadline
        self._deadline = deadline
        self._spare: Optional[C] = None
        self._failures: list[Error] = []

    def __iter__(self) -> Iterator[tuple[str, Seconds]]:
        for i, place in enumerate(self._places):
            yield place, self._share(len(self._places) - i)

    def _share(self, n: int) -> Seconds:
        if self.is_one:
            return self._deadline
        if self._until is None:
            return EACH if n > 1 else None
        return max(self._until - time.monotonic(), 0.001) / n

    def failed(self, error: BaseException) -> None:
        """Record the error and continue with the next address, or raise it."""
        if self.is_one or not isinstance(error, Error):
            raise error
        self._failures.append(error)

    def leaves(self, client: C) -> None:
        if self._spare is None:
            self._spare = client
        else:
            client.close()

    def stays(self, client: C) -> C:
        if self._spare is not None:
            self._spare.close()
        return client

    def rest(self) -> C:
        """The result if no attempt succeeded."""
        if self._spare is not None:
            return self._spare
        text = "; ".join(error.message for error in self._failures)
        raise ConnectionLost(text) from self._failures[-1]
