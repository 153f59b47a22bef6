"""modser: call models that a modserd daemon serves.

    import modser
    with modser.connect() as client:
        y = client["digits"].main(x)

``modser.aio`` is the same for asyncio. docs/how-to/from-tvm-rpc.md is for users of tvm.rpc.
"""
import sys

from ._client import Client, Module, connect
from ._errors import (
    BadArgument,
    BadArtifact,
    BadRequest,
    Busy,
    CallFailed,
    Cancelled,
    ConnectionEnded,
    ConnectionLost,
    DeadlineExceeded,
    Draining,
    Error,
    Exists,
    GpuFault,
    Internal,
    ModuleFailed,
    NoMemory,
    NoSpace,
    NotFound,
    NotReady,
    NotVerified,
    ProtocolError,
    Quarantined,
    Refused,
    StaleHandle,
    SystemRefused,
    TooLarge,
    UnknownMethod,
    UnknownOption,
    Unsupported,
    WorkerLost,
)
from ._function import Function, TimeEvaluator
from ._future import Future
from ._remote_objects import Instance, Object, Resident
from ._retrying_caller import Caller
from ._segment import Segment
from ._tensor import Out, Tensor, out
from ._timing import Times
from ._types import Device, DType, Shape

if sys.byteorder != "little":
    raise ImportError("modser needs a little-endian machine: the protocol sends memory unchanged")

__version__ = "0.1.0"
__all__ = [
    "BadArgument", "BadArtifact", "BadRequest", "Busy", "CallFailed", "Caller", "Cancelled",
    "Client", "ConnectionEnded",
    "ConnectionLost", "DType", "DeadlineExceeded", "Device", "Draining", "Error", "Exists",
    "Function", "Future", "GpuFault", "Instance", "Internal", "Module", "ModuleFailed", "NoMemory",
    "NoSpace", "NotFound", "NotReady", "NotVerified", "Object", "Out", "ProtocolError",
    "Quarantined",
    "Refused", "Resident", "Segment", "Shape", "StaleHandle", "SystemRefused", "Tensor",
    "TimeEvaluator", "Times",
    "TooLarge", "UnknownMethod", "UnknownOption", "Unsupported", "WorkerLost", "connect", "out",
]  # fmt: skip
