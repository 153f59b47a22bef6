"""The exceptions: one class for each error code of the protocol, all of them an Error."""
from __future__ import annotations

import re
from typing import Any, Optional

import numpy as np

# Control characters, as in proto/base/utf8.h, except tab and newline.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """@text of another program with its control characters escaped."""
    return _CONTROL.sub(lambda c: c.group().encode("unicode_escape").decode(), text)


class Error(Exception):
    """An error of the daemon or of the connection to it.

    ``code`` and ``name`` are stable and meant for programs. ``message`` names the file, function
    or argument and the expected value; ``hint`` says what to do.
    """

    code: int = -1
    name: str = "UNKNOWN"
    hint: str = ""

    def __init_subclass__(cls) -> None:
        cls.__module__ = "modser"  # tracebacks show it

    def __init__(
        self,
        message: str,
        *,
        code: Optional[int] = None,
        name: Optional[str] = None,
        hint: Optional[str] = None,
        details: Optional[dict[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or {}
        if code is not None:
            self.code = code
        if name is not None:
            self.name = name
        if hint is not None:
            self.hint = hint

    def __str__(self) -> str:
        return shown(f"{self.message}\n  {self.hint}" if self.hint else self.message)

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.message, self.code, self.name, self.hint, self.details)


Error.__module__ = "modser"


def _restore(
    kind: type[Error], message: str, code: int, name: str, hint: str, details: dict[str, Any]
) -> Error:
    return kind(message, code=code, name=name, hint=hint, details=details)


class NoMemory(Error):
    code, name, hint = 1, "NO_MEMORY", "try later; nothing changed"


class ProtocolError(Error):
    """The other side breaks the protocol; the connection is closed."""

    code, name = 2, "PROTOCOL"
    hint = "a bug in the client or the daemon, or another protocol on this port"


class BadRequest(Error, ValueError):
    code, name, hint = 3, "BAD_REQUEST", "correct the request"


class TooLarge(Error):
    code, name, hint = 4, "TOO_LARGE", "send less, or raise the named limit"


class UnknownMethod(Error):
    code, name, hint = 5, "UNKNOWN_METHOD", "use a newer daemon"


class UnknownOption(Error):
    code, name, hint = 6, "UNKNOWN_OPTION", "leave the option out"


class NotFound(Error, LookupError):
    """No such module or function."""

    code, name = 7, "NOT_FOUND"
    hint = "list modules or functions: client.list(), module.functions()"


class Exists(Error):
    code, name, hint = 8, "EXISTS", "use another name, or pass replace=True"


class NotReady(Error):
    code, name, hint = 9, "NOT_READY", "wait for the module: client.wait(name)"


class DeadlineExceeded(Error, TimeoutError):
    """The deadline passed; the function may or may not have run."""

    code, name, hint = 10, "DEADLINE_EXCEEDED", "give it more time"


class Cancelled(Error):
    code, name, hint = 11, "CANCELLED", ""


class StaleHandle(Error):
    """The object on the server was freed, or its worker died."""

    code, name, hint = 12, "STALE_HANDLE", "create a new one"


class BadArgument(Error, ValueError):
    code, name, hint = 13, "BAD_ARGUMENT", "correct the argument"


class CallFailed(Error):
    """The function itself reported an error; the message is the function's."""

    code, name, hint = 14, "CALL_FAILED", ""


class BadArtifact(Error):
    code, name, hint = 15, "BAD_ARTIFACT", "build or send the file again"


class Unsupported(Error):
    code, name, hint = 16, "UNSUPPORTED", "build for this host"


class WorkerLost(Error):
    """The worker died during the request, which may or may not have run."""

    code, name, hint = 17, "WORKER_LOST", "retry if it may run twice"


class GpuFault(Error):
    code, name, hint = 18, "GPU_FAULT", "retry if it may run twice"


class Quarantined(Error):
    code, name, hint = 19, "QUARANTINED", "correct the module, load it again"


class Refused(Error, PermissionError):
    code, name = 20, "REFUSED"
    hint = "use the unix socket, or start the daemon with the named flag"


class NoSpace(Error):
    code, name, hint = 21, "NO_SPACE", "send less at once, or raise the limit"


class Busy(Error):
    code, name, hint = 22, "BUSY", "try later"


class Draining(Error):
    code, name, hint = 23, "DRAINING", "try again when the daemon or the module is back"


class SystemRefused(Error):
    """The operating system refused the daemon an operation."""

    code, name, hint = 24, "IO", ""


class Internal(Error):
    code, name, hint = 25, "INTERNAL", "a bug in modserd: report it"


class ModuleFailed(Error):
    code, name, hint = 26, "MODULE_FAILED", "read the module's logs"


class NotVerified(Error):
    """The received bytes do not match their hash or signature."""

    code, name = 27, "NOT_VERIFIED"
    hint = ("compare the key or digest with the publisher's; do not trust the bytes until they "
            "match")


class ConnectionLost(Error, ConnectionError):
    """There is no connection, or it broke: requests in flight may or may not have run."""

    code, name, hint = 24, "IO", "is modserd running? connect again"


class ConnectionEnded(ConnectionLost):
    """The daemon closed the connection to shut down; unanswered requests were not begun."""

    code, name, hint = Draining.code, Draining.name, "connect again when the daemon is back"


_BY_CODE: dict[int, type[Error]] = {
    kind.code: kind
    for kind in Error.__subclasses__()
    if kind is not ConnectionLost
}
_BY_NAME = {kind.name: kind for kind in _BY_CODE.values()}


def from_wire(error: Any) -> Error:
    """The exception for `[code, name, message, details?]` of a response; TypeError for another
    value."""
    if type(error) is not tuple or len(error) not in (3, 4):
        raise TypeError("not an error of the protocol")
    code, name, message = error[:3]
    if not (isinstance(code, int) and isinstance(name, str) and isinstance(message, str)):
        raise TypeError("not an error of the protocol")
    kind = _BY_CODE.get(code) or _BY_NAME.get(name) or Error
    details = error[3] if len(error) > 3 and isinstance(error[3], dict) else None
    hint = _hint_of(message) if kind is BadArgument else None
    if kind is Busy and "retry_after_ms" not in (details or {}):
        hint = "do what the text says; else try later"
    if details is not None and isinstance(details.get("hint"), str):
        hint = details["hint"]
    return kind(message, code=code, name=name, hint=hint, details=details)


_ELEMENTS = re.compile(r": expected a (\w+) tensor of rank \d+, got (\w+)( of rank \d+)?")


def _numpy_has(dtype: str) -> bool:
    try:
        np.dtype(dtype)
    except TypeError:
        return False
    return True


def _hint_of(message: str) -> Optional[str]:
    """How to make the right argument, if the dtype is wrong or a shape is a tuple."""
    if ": expected a shape, got tuple" in message:
        return "a tuple is a tuple of values; modser.Shape(2, 3) makes a shape"
    found = _ELEMENTS.search(message)
    if not found or found[1] == found[2]:
        return None
    if found[2] == "tuple":
        return f'a list is sent as a tuple of values; np.asarray(x, "{found[1]}") makes an array'
    if not found[3]:
        return f'pass an array, such as np.asarray(x, "{found[1]}")'
    if found[2] == "bfloat16":  # torch and ml_dtypes have different methods
        return f"use x.to(torch.{found[1]}) for a tensor, x.astype(\"{found[1]}\") for an array"
    if not _numpy_has(found[1]):
        return f'x.astype("{found[1]}") converts it, with ml_dtypes installed and imported'
    return f'x.astype("{found[1]}") converts it; by default numpy creates float64 and int64'
