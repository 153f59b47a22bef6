"""Calls without a socket: messages from arguments, values from replies."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np

from ._errors import ProtocolError
from ._message import Message, pack
from ._shared_memory import SharedSegment
from ._tensor import Out, Tensor, as_bytes, is_tensor, out
from ._types import BY_NUMPY, Device, DeviceLike, DType

CALL = pack("call")

OutArgument = Union[Any, Sequence[Any], None]
Trace = dict[str, int]  # nanoseconds by stage


def call_message(
    name: str,
    packed_name: bytes,
    args: tuple[Any, ...],
    named: dict[str, Any],
    device: Optional[DeviceLike] = None,
    segments: Sequence[SharedSegment] = (),
) -> Message:
    """The request of a call."""
    message = Message(CALL, segments)
    if device is not None:
        device = Device.parse(device)
        message.device = str(Device.from_wire(device.number, device.id))
    message.raw(packed_name)
    position: Union[int, str] = 0
    add = message.add
    try:
        for value in args:
            add(value)
            position += 1  # type: ignore[operator]
        if named:
            message.names = [None] * len(args) + list(named)
            for position in named:
                add(named[position])
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name}: argument {position}: {error}") from None
    return message


def as_outs(name: str, given: OutArgument) -> tuple[Out, ...]:
    """The value of out= as a tuple: arrays, modser.out() or Tensor."""
    several = given if isinstance(given, (tuple, list)) else (given,)
    made = []
    for i, one in enumerate(several):
        if isinstance(one, Out):
            made.append(one)
        elif isinstance(one, Tensor) or is_tensor(one):
            try:
                made.append(out(one))
            except (TypeError, ValueError) as error:
                text = str(error).replace("out(): ", "")
                raise type(error)(f"{name}: out {i}: {text}") from None
        else:
            kind = type(one).__name__
            raise TypeError(f"{name}: out {i} is an array or modser.out(), not {kind}")
    return tuple(made)


def check_result(outs: list[Out], result: Any) -> None:
    if type(result) is not tuple or len(result) != 2 or type(result[0]) is not tuple:
        raise ProtocolError("a call's result does not have the form that the protocol defines")
    if len(result[0]) != len(outs):
        raise ProtocolError(f"{len(result[0])} out tensors came back, expected {len(outs)}")


def call_value(outs: list[Out], result: Any) -> Any:
    """The single result, or a tuple: the out tensors, then the return value unless it is None."""
    check_result(outs, result)
    filled, value = result
    if not filled:
        return value
    if value is not None:
        filled += (value,)
    return filled[0] if len(filled) == 1 else filled


def fill_trace(trace: Optional[Trace], meta: Any) -> None:
    """Copy the times of a call into the dict that was given as trace=."""
    if trace is not None and isinstance(meta, dict):
        trace.update(meta.get("trace") or {})


def fill_outs(name: str, outs: tuple[Out, ...], value: Any) -> Any:
    """Copy a model's outputs into the caller's arrays, all of them or none."""
    results = list(_flat(value))
    if len(results) != len(outs):
        raise ValueError(
            f"{name}: {len(results)} outputs came back for {len(outs)} arrays given as out="
        )
    for i, (o, got) in enumerate(zip(outs, results)):
        have = _type_of(got)
        if have != (o.dtype, o.shape):
            kind = f"{have[0]}{list(have[1])}" if have else type(got).__name__
            raise ValueError(f"{name}: output {i} is {kind}, out= has {o.dtype}{list(o.shape)}")
    made = [_filled(o, got) for o, got in zip(outs, results)]
    return made[0] if len(made) == 1 else tuple(made)


def _flat(value: Any) -> Any:
    if type(value) is tuple:
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _type_of(value: Any) -> Optional[tuple[DType, tuple[int, ...]]]:
    if isinstance(value, Tensor):
        return value.dtype, value.shape
    if isinstance(value, np.ndarray):
        return DType(*BY_NUMPY[value.dtype]), value.shape
    return None


def _filled(o: Out, value: Any) -> Any:
    memory = o.memory()
    if memory is None:
        return value
    memory[:] = value.data if isinstance(value, Tensor) else as_bytes(value)
    return o.given
