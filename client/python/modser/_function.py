"""Functions of the blocking client, and their measurement."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Optional

from . import _requests
from ._call import OutArgument, Trace
from ._errors import Error
from ._future import Future
from ._help import Doc
from ._message import Message
from ._objects import FunctionBase
from ._options import Seconds
from ._requests import Map, Outs
from ._timing import Plan, Times, timed
from ._types import DeviceLike

if TYPE_CHECKING:
    from ._client import Client


class Function(FunctionBase):
    __doc__ = Doc(FunctionBase.__doc__ or "")

    _client: Client

    def _facts_at_hand(self) -> Map:
        with contextlib.suppress(Error):
            return self.describe()
        return {}

    def __call__(
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
        """Call the function in one round trip.

        Arguments are arrays (numpy or DLPack), ints, floats, bools, None, str, bytes, tuples,
        and modser's Tensor, out(), resident tensors, Shape, DType, Device; by position or by the
        parameter's name (``**{"input.1": x}``). Returns the single result, or a tuple: the out
        tensors in argument order, then the return value unless it is None.

        - ``out=array`` (or a tuple): filled and returned. A PrimFunc gets it as its last
          arguments; a model's outputs are copied into it, with equal dtypes and shapes.
        - ``device="cpu"``: keeps tensors on the host, for a host function of a module on a
          device.
        - ``kill_abandoned=True``: if this process exits or the future is cancelled, the worker
          of a call that still runs a second later is killed; otherwise the call continues.
        - ``background=True``: all other calls of the module run first.
        - ``trace={}``: is filled with the nanoseconds of each stage in the daemon (``run_ns``,
          ``queue_ns``, ...) and their sum, ``total_ns``.
        """
        how = (out, deadline, unordered, device, kill_abandoned, background, trace)
        message, into = self._prepared(args, named, *how)
        return Future(self, self._client._call(self.module, message), into, trace).result()

    def submit(
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
    ) -> Future:
        """Send the call without waiting; any number may be in flight.

        Arrays have been sent when this returns, and may be changed. Calls of a module run in
        order. With several workers they run at the same time, and in order only while this
        connection holds a tensor or an instance there and the calls are not ``unordered``.
        """
        how = (out, deadline, unordered, device, kill_abandoned, background, trace)
        message, into = self._prepared(args, named, *how)
        return Future(self, self._client._send(message), into, trace)

    def _prepared(
        self,
        args: tuple[Any, ...],
        named: Map,
        out: OutArgument,
        deadline: Seconds,
        unordered: bool,
        device: Optional[DeviceLike],
        kill_abandoned: bool,
        background: bool,
        trace: Optional[Trace],
    ) -> tuple[Message, Optional[Outs]]:
        into = None
        if out is not None:
            args, into = self._client._run(_requests.prepare_outs(self, args, out, deadline))
        message = self._message(
            args, named, device, deadline, unordered, kill_abandoned, background, trace is not None
        )
        return message, into

    @property
    def signature(self) -> Optional[str]:
        """The parameters, if the library declares them; requested once."""
        return self.describe().get("signature")

    def describe(self) -> Map:
        """The map of this function in ``module.functions()``, or an empty one."""
        return self._client._run(_requests.facts(self))

    def time_evaluator(
        self, number: int = 10, repeat: int = 1, min_repeat_ms: float = 0, **plan: Any
    ) -> TimeEvaluator:
        """As in TVM: ``f.time_evaluator(number=100, repeat=3)(x, y).mean`` in seconds.

        The worker measures the times around the function. It makes the runs of a repeat by itself
        if they take less than about a second and no cache is flushed. Arrays and outs are
        copied into the worker first (``resident=False``: with each call).
        ``cooldown_interval_ms`` is a pause after every ``repeats_to_cooldown`` repeats.
        The worker writes ``cache_flush_bytes`` before each repeat, to empty the processor's
        caches. ``out=array`` has the last run's result; array arguments stay
        unchanged.
        """
        return TimeEvaluator(self, Plan.checked(number, repeat, min_repeat_ms, **plan))


class TimeEvaluator:
    """Calls a function repeatedly and measures; see Function.time_evaluator."""

    def __init__(
        self, function: Function, plan: Plan, device: Optional[DeviceLike] = None
    ) -> None:
        self._function, self._plan, self._device = function, plan, device

    def __call__(
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
        return function._client._run(timed(function, self._plan, args, named, out, device))
