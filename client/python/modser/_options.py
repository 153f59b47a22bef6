"""Options of requests, and deadlines."""
from __future__ import annotations

import math
import numbers
from typing import Any, Optional

import msgpack

from ._message import Message, pack
from ._reply_tensor import INSTANCE

MAX_DEADLINE = 2_000_000  # seconds; 23 days, in ms an int for poll()
GRACE = 2.0  # seconds that a reply may come after its deadline

Seconds = Optional[float]

_packed_deadlines: dict[float, bytes] = {}


def check_deadline(deadline: Seconds) -> None:
    if deadline is None:
        return
    if not isinstance(deadline, numbers.Real):
        raise TypeError(f"a deadline is a number of seconds, not {type(deadline).__name__}")
    if not 0 <= deadline <= MAX_DEADLINE:
        raise ValueError(
            f"a deadline of {deadline} s; expected seconds from now, at least 0 "
            f"and at most {MAX_DEADLINE}; None is no deadline"
        )


def pack_options(message: Message, deadline: Seconds) -> bytes:
    """The options of a request; empty for none. `deadline` is in seconds."""
    options: dict[str, Any] = {}
    if message.device:
        options["device"] = message.device
    if message.names:
        options["names"] = message.names
    if message.unordered:
        options["unordered"] = True
    if message.kill_abandoned:
        options["abandon"] = "kill"
    if message.background:
        options["priority"] = "background"
    if message.trace:
        options["trace"] = True
    if message.repeat is not None:
        options["repeat"] = message.repeat
    if message.promised:
        options["promised"] = True
    if message.instance is not None:
        options["instance"] = msgpack.ExtType(INSTANCE, message.instance)
    if deadline is None:
        return pack(options) if options else b""
    if not options and deadline in _packed_deadlines:
        return _packed_deadlines[deadline]
    check_deadline(deadline)
    packed = pack({"deadline_ms": math.ceil(deadline * 1000), **options})
    if not options and len(_packed_deadlines) < 256:
        _packed_deadlines[deadline] = packed
    return packed
