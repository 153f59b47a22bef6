"""Resident tensors: requests that create, fill, read and move them (see _requests.py)."""
from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar

import numpy as np

from ._call import as_outs
from ._errors import ProtocolError, UnknownOption
from ._message import Message, ResultOf
from ._objects import ClientBase, RemoteObject, ResidentBase
from ._reply_tensor import ReplyTensor
from ._requests import PIECE, Each, Reply, Request, ask, message_of
from ._tensor import RESIDENT, Out, Tensor, as_shape, as_tensor, compact, to_array
from ._types import Device, DeviceLike, DType, DTypeLike, Shape

R = TypeVar("R", bound=RemoteObject)
Make = Callable[[Any, str, ReplyTensor], R]


def alloc(
    client: ClientBase,
    make: Make[R],
    module: str,
    dtype: DTypeLike,
    shape: Any,
    device: Optional[DeviceLike],
) -> Request[R]:
    reply: Reply = yield _alloc_message(module, dtype, shape, device)
    return make(client, module, _resident(reply.result))


def _alloc_message(
    module: str, dtype: DTypeLike, shape: Any, device: Optional[DeviceLike]
) -> Message:
    params: list[Any] = [module, DType.parse(dtype), Shape(as_shape(shape))]
    if device is not None:
        params.append(Device.parse(device))
    return message_of("tensor.alloc", *params)


def put(
    client: ClientBase, make: Make[R], module: str, value: Any, device: Optional[DeviceLike]
) -> Request[R]:
    value = value if isinstance(value, Tensor) else compact(to_array(value))
    if value.nbytes <= PIECE:  # a larger one is sent after its memory is allocated
        tensor = yield from _put_at_once(client, make, module, value, device)
        if tensor is not None:
            return tensor
    tensor = yield from alloc(client, make, module, value.dtype, value.shape, device)
    yield from ask("tensor.copy", value, tensor)
    return tensor


def _put_at_once(
    client: ClientBase, make: Make[R], module: str, value: Any, device: Optional[DeviceLike]
) -> Request[Optional[R]]:
    """Allocate and fill the tensor in one write. None: the daemon is older and does not support
    this."""
    first = _alloc_message(module, value.dtype, value.shape, device)
    first.promised = True
    second = message_of("tensor.copy", value, ResultOf(first))
    made, copied = yield Each([first, second])
    if isinstance(made, UnknownOption):
        return None
    if isinstance(made, Exception):
        raise made
    tensor = make(client, module, _resident(made.result))
    if isinstance(copied, Exception):
        raise copied
    return tensor


def read(tensor: ResidentBase, into: Any) -> Request[Any]:
    target = Out(tensor.dtype, tensor.shape)
    if into is not None:
        target = as_outs(repr(tensor), (into,))[0]
    return (yield from ask("tensor.copy", tensor, target))


def write(tensor: ResidentBase, value: Any) -> Request[None]:
    source = value if isinstance(value, ResidentBase) else as_tensor(value)
    yield from ask("tensor.copy", source, tensor)


def fill_random(tensor: ResidentBase, seed: int) -> Request[None]:
    numpy = tensor.dtype.numpy
    if numpy is None:
        raise TypeError(f"numpy has no dtype for {tensor.dtype}; copy_from() takes a modser.Tensor")
    rng = np.random.default_rng(seed)
    most = 1 if numpy == np.bool_ else 9
    value = (rng.integers(0, most, tensor.shape, endpoint=True) if numpy.kind in "biu"
             else rng.random(tensor.shape))
    yield from write(tensor, np.asarray(value, numpy))


def move(
    client: ClientBase, make: Make[R], tensor: ResidentBase, device: DeviceLike
) -> Request[R]:
    place = _resident((yield from ask("tensor.copy", tensor, Device.parse(device))))
    return make(client, tensor.module, place)


def _resident(place: Any) -> ReplyTensor:
    if not isinstance(place, ReplyTensor) or place.where != RESIDENT:
        raise ProtocolError("expected a resident tensor, got another value")
    return place
