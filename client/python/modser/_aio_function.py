"""Functions of the asyncio client, and their measurement."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _requests
from ._call import OutArgument, Trace, call_value, fill_outs, fill_trace
from ._errors import BadArgument, NotFound
from ._help import Doc
from ._objects import FunctionBase
from ._options import Seconds
from ._requests import Map
from ._timing import Plan, Times, timed
from ._types import DeviceLike

if TYPE_CHECKING:
    from .aio import Client


class Function(FunctionBase):
    __doc__ = Doc("A function of a module; see modser.Function.")

    _client: Client

    async def __call__(
        self,
        /,
        *args: Any,
        out: OutArgument = None,
        deadline: Seconds = None,
        unordered: bool = False,
        device: Optional[DeviceLike] = None,
        kill_abandoned: bool = False,
        background: bool = False,
        trace: Optional[Trace] = None,
        **named: Any,
    ) -> Any:
        client, into = self._client, None
        if out is not None:
            args, into = await client._run(_requests.prepare_outs(self, args, out, deadline))
        message = self._message(
            args, named, device, deadline, unordered, kill_abandoned, background, trace is not None
        )
        try:
            reply = await client._settle(message)
            fill_trace(trace, reply.meta)
            value = call_value(message.outs, reply.result)
        except (BadArgument, NotFound):
            client._known.clear()  # the cached facts of functions may be out of date
            raise
        return value if into is None else fill_outs(self._full, into, value)

    async def signature(self) -> Optional[str]:
        """The parameters, if the library declares them."""
        return (await self.describe()).get("signature")

    async def describe(self) -> Map:
        return await self._client._run(_requests.facts(self))

    def time_evaluator(
        self, number: int = 10, repeat: int = 1, min_repeat_ms: float = 0, **plan: Any
    ) -> TimeEvaluator:
        return TimeEvaluator(self, Plan.checked(number, repeat, min_repeat_ms, **plan))


class TimeEvaluator:
    """``await f.time_evaluator(number=100)(x, y)``; see modser.Function.time_evaluator."""

    def __init__(
        self, function: Function, plan: Plan, device: Optional[DeviceLike] = None
    ) -> None:
        self._function, self._plan, self._device = function, plan, device

    async def __call__(
        self,
        /,
        *args: Any,
        out: OutArgument = None,
        device: Optional[DeviceLike] = None,
        kill_abandoned: bool = False,
        **named: Any,
    ) -> Times:
        device = self._device if device is None else device
        function = self._function
        return await function._client._run(timed(function, self._plan, args, named, out, device))
