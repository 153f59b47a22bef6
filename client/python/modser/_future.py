"""A call of the blocking client in flight."""
from __future__ import annotations

from typing import Any, Optional

from ._call import Trace, call_value, fill_outs, fill_trace
from ._channel import Channel, Pending
from ._errors import BadArgument, NotFound
from ._objects import FunctionBase
from ._options import Seconds
from ._requests import Outs


class Future:
    """A call in flight."""

    __slots__ = ("_function", "_channel", "_pending", "_into", "_trace")

    def __init__(
        self,
        function: FunctionBase,
        pending: Pending,
        into: Optional[Outs],
        trace: Optional[Trace] = None,
    ) -> None:
        self._function, self._pending, self._into = function, pending, into
        self._trace = trace
        self._channel: Channel = function._client._channel

    def done(self) -> bool:
        """True if result() would return at once."""
        if not self._pending.done:
            self._channel.poll()
        return self._pending.done or self._channel.lost is not None

    def result(self, timeout: Seconds = None) -> Any:
        """Return the result, or raise the call's error. Raises TimeoutError if there is none in
        time; the call continues."""
        pending = self._pending
        self._channel.wait(pending, timeout)
        if pending.error is not None:
            if isinstance(pending.error, (BadArgument, NotFound)):  # cached facts may be old
                self._function._client._known.clear()
            raise pending.error
        fill_trace(self._trace, pending.meta)
        value = call_value(pending.outs, pending.result)
        return value if self._into is None else fill_outs(self._function._full, self._into, value)

    def exception(self, timeout: Seconds = None) -> Optional[Exception]:
        """The exception that result() would raise, or None."""
        self._channel.wait(self._pending, timeout)
        return self._pending.error

    def cancel(self) -> None:
        """Drop the call if it has not begun; its result is then Cancelled."""
        if not self._pending.done:
            self._channel.cancel(self._pending.id)

    @property
    def exec_ns(self) -> Optional[int]:
        """The run time of the function, when the call is done."""
        meta = self._pending.meta
        return meta.get("exec_ns") if isinstance(meta, dict) else None
