"""Reasons why there is no connection: a cause and a hint, with the texts of libmodser."""
from __future__ import annotations

import errno
import os
import pathlib
import socket
import ssl
import stat

from . import _address
from ._errors import ConnectionLost, ProtocolError

_GONE = "no daemon listens there: it has ended"
#: The first bytes that servers of other protocols send.
_PROTOCOLS = {b"HTTP": "an HTTP server", b"\x15\x03": "a TLS server", b"SSH-": "an SSH server"}


def unreachable(address: str, error: OSError) -> ConnectionLost:
    """The cause and hint of a failed connect() to @address."""
    text, hint = _explain(address, error)
    return ConnectionLost(f"{address}: {text}", hint=hint)


def _explain(address: str, error: OSError) -> tuple[str, str]:
    start = f"start one: modserd --listen {address}"
    if isinstance(error, ssl.SSLError):
        return _explain_tls(address, error)
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error), "check the host's name"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "nothing is there", start
    if error.errno == errno.ECONNREFUSED:
        target = _address.parse(address)
        if not isinstance(target, str):
            return "no daemon listens there", start
        if not pathlib.Path(target).is_socket():
            return "the file is not a socket", "pass the daemon's address, or set MODSER_HOST"
        return _GONE, start
    if error.errno in (errno.EACCES, errno.EPERM):
        return _explain_mode(address), "ask the owner for modserd --socket-mode 0660 and the group"
    return error.strerror or str(error), "check that modserd is running and its address"


def _explain_mode(address: str) -> str:
    target, you = _address.parse(address), os.geteuid()
    try:
        found = os.stat(target) if isinstance(target, str) else None
    except OSError:
        return f"not permitted: user {you} may not enter the folder of {target}"
    if found is None:
        return "not permitted"
    mode = stat.S_IMODE(found.st_mode)
    return (f"not permitted: {target} is of user {found.st_uid}, group {found.st_gid}, "
            f"mode {mode:04o}; you are user {you}")


def _explain_tls(address: str, error: ssl.SSLError) -> tuple[str, str]:
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        plain = address.replace("tls://", "tcp://", 1)
        return ("the server does not speak TLS: is it tcp://?",
                f"use {plain}, or start modserd with --listen {address}")
    return error.strerror or str(error), "docs/reference/tls.md explains the certificates"


def foreign_protocol(magic: bytes) -> ProtocolError:
    """The error for a peer that speaks another protocol; its first bytes are @magic."""
    for begin, server in _PROTOCOLS.items():
        if magic.startswith(begin):
            return ProtocolError(f"the peer is {server}, not modserd",
                                 hint="pass the address of modserd --listen")
    return ProtocolError(f"expected a frame of version 1, not {magic.hex(' ')}")
