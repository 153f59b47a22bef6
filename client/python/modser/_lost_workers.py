"""Reports of the daemon about lost workers with direct channels; the last ones."""
from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from typing import Any, Optional, Protocol

from ._errors import Error, from_wire

MOST = 4  # reports; as many modules may have an automatic direct channel


class Waiting(Protocol):
    def finish(self, error: Optional[Error], result: Any, meta: Any) -> None: ...


class LostWorkers:
    def __init__(self) -> None:
        self._last: collections.deque[tuple[int, Error]] = collections.deque(maxlen=MOST)
        self._expected: dict[int, Waiting] = {}

    def add(self, params: Any) -> None:
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
        """Finish `waiting` when the daemon reports `pid`, or at once if it already has."""
        self._expected[pid] = waiting
        try:
            if any(lost == pid for lost, _ in list(self._last)):  # reported before this call
                waiting.finish(None, None, None)
            yield
        finally:
            self._expected.pop(pid, None)

    def pop(self, pid: int) -> Optional[Error]:
        """Remove and return the report about `pid`: the system may reuse the number."""
        for report in list(self._last):
            if report[0] == pid:
                with contextlib.suppress(ValueError):  # another thread was faster
                    self._last.remove(report)
                return report[1]
        return None
