"""The token that identifies the user, for a daemon with an access file."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Optional

from . import _address
from ._errors import BadRequest


def choose(
    address: str, token: Optional[str], env: Mapping[str, str] = os.environ
) -> Optional[str]:
    """The given token, else MODSER_TOKEN. Over plain TCP, where others could read it, MODSER_TOKEN
    is not sent, and a given one is an error."""
    # One tcp:// address in the list is enough: it may be the one that answers.
    is_readable = any(place.startswith("tcp://") for place in _address.split(address))
    if token is None:
        return None if is_readable else env.get("MODSER_TOKEN") or None
    if not isinstance(token, str):
        raise TypeError(f"a token is a str, not {type(token).__name__}")
    if is_readable:
        raise BadRequest(f"a token is not sent to {address}: others can read plain TCP")
    return token
