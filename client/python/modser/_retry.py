"""The retry policy, as a state machine without a clock and random numbers."""
from __future__ import annotations

from typing import Optional

from ._errors import (
    Busy,
    ConnectionEnded,
    ConnectionLost,
    DeadlineExceeded,
    Draining,
    Error,
    GpuFault,
    WorkerLost,
)

FIRST, MOST = 0.05, 5.0  # seconds: the bound of the first wait, which doubles up to MOST


class Schedule:
    """One call that is sent to each of `daemons` in turn until it is answered."""

    def __init__(self, seconds: float, daemons: int = 1, idempotent: bool = False) -> None:
        self._seconds, self._daemons, self._idempotent = seconds, daemons, idempotent
        self._sent = 0
        self._after = 0.0  # the least retry_after of this round's daemons

    def wait(self, error: Error, was_sent: bool, elapsed: float, chance: float) -> Optional[float]:
        """Seconds until the next attempt; None if `error` is final. `chance` is in [0, 1)."""
        if not (_not_begun(error, was_sent) or (self._idempotent and may_have_run(error))):
            return None
        after = _retry_after(error)
        self._after = after if self._sent % self._daemons == 0 else min(self._after, after)
        self._sent += 1
        wait = 0.0
        if self._sent % self._daemons == 0:
            doubled = min(self._sent // self._daemons - 1, 7)
            wait = self._after + chance * min(FIRST * 2**doubled, MOST)
        return wait if elapsed + wait < self._seconds else None


def _not_begun(error: Error, was_sent: bool) -> bool:
    if isinstance(error, (Busy, Draining, ConnectionEnded)):
        return True
    return not was_sent and isinstance(error, (ConnectionLost, DeadlineExceeded))


def may_have_run(error: Error) -> bool:
    lost = isinstance(error, ConnectionLost) and not isinstance(error, ConnectionEnded)
    return lost or isinstance(error, (WorkerLost, GpuFault))


def _retry_after(error: Error) -> float:
    after_ms = error.details.get("retry_after_ms")
    return after_ms / 1000 if isinstance(after_ms, int) and after_ms > 0 else 0.0
