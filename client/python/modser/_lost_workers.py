"""Reports of the daemon about lost workers with direct channels; the last ones."""
from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from typing import Any, Optional, Protocol

from ._errors import Error, from_wire

MOST = 4  # as many modules may have a channel unasked


class Waiting(Protocol):
    def finish(self, error: Optional[Error], result: Any, meta: Any) -> None: ...


class LostWorkers:
    def __init__(self) -> None:
        self._last: collections.deque[tuple[int, Error]] = collections.deque(maxlen=MOST)
        self._expected: dict[int, Waiting] = {}

    def told(self, params: Any) -> None:
        """Record `channel.lost` with `[pid, [code, name, message]]`; ignore other values."""
        if type(params) is not tuple or len(params) != 2 or type(params[0]) is not int:
            return
        with contextlib.suppress(TypeError):
            self._last.appendleft((params[0], from_wire(params[1])))
            waiting = self._expected.get(params[0])
            if waiting is not None:
                waiting.finish(None, None, None)

    @contextlib.contextmanager
    def expected(self, pid: int, waiting: Waiting) -> Iterator[None]:
        """`waiting` is finished when `pid` is reported, or has been."""
        self._expected[pid] = waiting
        try:
            if any(lost == pid for lost, _ in list(self._last)):  # before it was expected
                waiting.finish(None, None, None)
            yield
        finally:
            self._expected.pop(pid, None)

    def take(self, pid: int) -> Optional[Error]:
        """Why `pid` was lost; removes the report, because the number may be reused."""
        for told in list(self._last):
            if told[0] == pid:
                with contextlib.suppress(ValueError):  # another thread was quicker
                    self._last.remove(told)
                return told[1]
        return None
