"""The blocking client's functions: what calls one, and what measures it."""
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
        """Call it in one round trip.

        Arguments are arrays (of numpy or by DLPack), ints, floats, bools, None, str, bytes,
        tuples, and modser's Tensor, out(), resident tensors, Shape, DType, Device; by position
        or by the name of their parameter (``**{"input.1": x}``). Returns the single result, or
        a tuple: the out tensors in argument order, then the function's return value unless it
        is None. ``out=array`` (or a tuple of them) is filled and returned: of a PrimFunc as its
        last positional arguments, of a model with copies of its outputs, whose dtypes and shapes
        it must have. ``device="cpu"`` keeps tensors on the host, for a function of the host in
        a module that is on a device. ``kill_abandoned=True``: when nobody waits for it any more
        (this process ends, a future is cancelled) and it is not done a second later, its worker
        is ended with it; without, it runs on. ``background=True``: all other calls of the module
        come first. ``trace={}``, a dict, is filled with the
        nanoseconds that the call was in each stage in the daemon, ``run_ns``, ``queue_ns``, ...,
        and with their sum, ``total_ns``.
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
        """Send the call and go on; any number may be in flight.

        Arrays have been sent when this returns and may be written to. Calls of one module
        run in order, each after the one before; of a module with several workers they run
        at the same time, in order only while this connection holds a tensor or an instance
        there and they are not ``unordered``.
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
            args, into = self._client._run(_requests.place_outs(self, args, out, deadline))
        message = self._message(
            args, named, device, deadline, unordered, kill_abandoned, background, trace is not None
        )
        return message, into

    @property
    def signature(self) -> Optional[str]:
        """What the function takes, where that can be known; asked for once."""
        return self.describe().get("signature")

    def describe(self) -> Map:
        """The map of this function in ``module.functions()``; empty where there is none."""
        return self._client._run(_requests.facts(self))

    def time_evaluator(
        self, number: int = 10, repeat: int = 1, min_repeat_ms: float = 0, **plan: Any
    ) -> TimeEvaluator:
        """As TVM's: ``f.time_evaluator(number=100, repeat=3)(x, y).mean`` in seconds.

        The daemon's own measurement of each call counts, not the way there and back. Arrays
        and outs are put into the worker first, so that they do not travel with each call
        (``resident=False``: they do). ``cooldown_interval_ms`` is a rest after every
        ``repeats_to_cooldown`` repeats, ``cache_flush_bytes`` what the worker writes before each
        repeat, so that the processor's caches hold nothing of the arguments. ``out=array`` has
        what the last run wrote; an array among the arguments is a copy in the worker, and stays
        as it is here.
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
