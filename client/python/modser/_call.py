"""What both clients make of calls and other requests: messages from arguments, values from
replies."""
from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, Optional, Union

from ._errors import ProtocolError
from ._message import Message, pack
from ._tensor import Out, out
from ._types import Device, DeviceLike

CALL = pack("call")
MAX_DEADLINE = 2_000_000  # seconds; 23 days, in ms an int for poll()
PIECE = 1 << 20  # bytes of one write of an upload

OutArgument = Union[Any, Sequence[Any], None]


def call_message(
    name: str,
    packed_name: bytes,
    args: tuple[Any, ...],
    into: OutArgument,
    named: dict[str, Any],
    device: Optional[DeviceLike],
) -> Message:
    """The request of a call; `into` are more arguments, arrays to receive into."""
    message = Message(CALL)
    if device is not None:
        device = Device.parse(device)
        message.device = str(Device.from_wire(device.number, device.id))
    message.raw(packed_name)
    if into is not None:
        more = into if isinstance(into, (tuple, list)) else (into,)
        args += tuple(o if isinstance(o, Out) else out(o) for o in more)
    which: Union[int, str] = 0
    add = message.add
    try:
        for value in args:
            add(value)
            which += 1  # type: ignore[operator]
        if named:
            message.names = [None] * len(args) + list(named)
            for which in named:
                add(named[which])
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name}: argument {which}: {error}") from None
    return message


def call_value(outs: list[Out], result: Any) -> Any:
    """The one result, or a tuple: the out tensors, then the return value unless it is None."""
    if type(result) is not tuple or len(result) != 2 or type(result[0]) is not tuple:
        raise ProtocolError("a call's result that is not as the protocol has it")
    filled, value = result
    if len(filled) != len(outs):
        raise ProtocolError(f"{len(filled)} out tensors came back, expected {len(outs)}")
    if not filled:
        return value
    if value is not None:
        filled += (value,)
    return filled[0] if len(filled) == 1 else filled


def request_message(method: str, params: Sequence[Any]) -> Message:
    """Any other request; a map may stand among its params."""
    message = Message(pack(method))
    for value in params:
        if isinstance(value, dict):
            message.raw(pack(value))
        else:
            message.add(value)
    return message


def load_options(replace: bool, file: str, device: Optional[DeviceLike]) -> dict[str, Any]:
    options: dict[str, Any] = {"replace": replace}
    if file:
        options["file"] = file
    if device is not None:
        options["device"] = str(Device.parse(device))
    return options


_packed_deadlines: dict[float, bytes] = {}


def pack_options(deadline: Optional[float], unordered: bool, message: Message) -> bytes:
    """The options of a request; empty for none. `deadline` is in seconds."""
    names, device = message.names, message.device
    options: dict[str, Any] = {}
    if deadline is not None:
        if not (unordered or names or device) and deadline in _packed_deadlines:
            return _packed_deadlines[deadline]
        if not isinstance(deadline, numbers.Real):
            raise TypeError(f"a deadline is a number of seconds, not {type(deadline).__name__}")
        if not 0 <= deadline <= MAX_DEADLINE:
            raise ValueError(
                f"a deadline of {deadline} s; expected seconds from now, at least 0 "
                f"and at most {MAX_DEADLINE}; None is no deadline"
            )
        options["deadline_ms"] = math.ceil(deadline * 1000)
    if device:
        options["device"] = device
    if names:
        options["names"] = names
    if unordered:
        options["unordered"] = True
    if not options:
        return b""
    packed = pack(options)
    if len(options) == 1 and deadline is not None and len(_packed_deadlines) < 256:
        _packed_deadlines[deadline] = packed
    return packed
