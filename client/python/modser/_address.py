"""Addresses: `unix:PATH`, `tcp://HOST:PORT`, `tls://HOST:PORT`, lists, and the default one."""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import Optional, Union

from ._errors import BadRequest, Refused

SYSTEM_SOCKET = "/run/modserd/modserd.sock"
Target = Union[str, tuple[str, int]]  # the path of a unix socket, or host and port


def parse(text: str) -> Target:
    if text.startswith("unix:"):
        path = text[5:]
        if not 0 < len(os.fsencode(path)) <= 107:
            raise _bad(text, "the path of a socket has 1 to 107 bytes")
        return path
    if not text.startswith(("tcp://", "tls://")):
        raise _bad(text, _form(text))
    host, colon, port = text[6:].rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise _bad(text, "write an IPv6 number in brackets")
    if not (colon and host):
        raise _bad(text, "the host or the port is missing")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise _bad(text, "the port is not a number up to 65535")
    return host, int(port)


#: A comma separates addresses only if an address follows; otherwise it is part of a path.
_BETWEEN = re.compile(",(?=unix:|tcp://|tls://)")


def split(text: str) -> list[str]:
    """The addresses of a list."""
    return _BETWEEN.split(text)


def is_tls(text: str) -> bool:
    return text.startswith("tls://")


def _bad(text: str, why: str) -> BadRequest:
    forms = "unix:PATH, tcp://HOST:PORT or tls://HOST:PORT"
    return BadRequest(f'address "{text}": {why}; expected {forms}')


def _form(text: str) -> str:
    """The reason and advice for an unknown form, such as the addresses of browsers and shells."""
    if text.startswith(("http://", "https://")):
        return "modser does not use HTTP; use curl there"
    if text.startswith(("/", "./")):
        return f"perhaps unix:{text}"
    if ":" in text and "//" not in text:
        return f"perhaps tcp://{text}"
    return "unknown form"


def choose(address: Optional[str]) -> str:
    """The given address, else the default one."""
    if address is not None and not isinstance(address, str):
        kind = type(address).__name__
        raise TypeError(f"an address is a str, unix:PATH or tcp://HOST:PORT, not {kind}")
    return address or default()


def default(env: Mapping[str, str] = os.environ, uid: Optional[int] = None) -> str:
    """MODSER_HOST, else the user's own socket, else the system's."""
    if env.get("MODSER_HOST"):
        return env["MODSER_HOST"]
    uid = os.geteuid() if uid is None else uid
    if uid == 0:
        return f"unix:{SYSTEM_SOCKET}"
    runtime = env.get("XDG_RUNTIME_DIR", "")
    folder = f"{runtime}/modserd" if runtime.startswith("/") else f"/tmp/modserd-{uid}"
    _check_folder(folder, uid)
    path = f"{folder}/modserd.sock"
    if not os.path.lexists(path) and os.path.lexists(SYSTEM_SOCKET):
        path = SYSTEM_SOCKET
    return f"unix:{path}"


def _check_folder(folder: str, uid: int) -> None:
    """Refuse a folder of another user: a daemon there would be that user's."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{folder} is not a directory")
    if found.st_uid != uid:
        raise Refused(f"{folder} belongs to user {found.st_uid}, expected {uid}")
    if found.st_mode & 0o077:
        raise Refused(f"{folder} has mode {stat.S_IMODE(found.st_mode):04o}, expected 0700")
