"""Texts for help(), inspect.signature() and IPython's `?`."""
from __future__ import annotations

import inspect
import keyword
from typing import Any, Optional

# Keywords of every call.
OWN = ("out", "deadline", "unordered", "device", "kill_abandoned", "background", "trace")


class _Type(str):
    """An annotation that help() prints without quotes."""

    def __repr__(self) -> str:
        return str(self)


class Doc:
    """A docstring: the class's text, after the signature for a function that has one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, function: Any, owner: Any = None) -> str:
        signature = None if function is None else function._facts_at_hand().get("signature")
        return f"{signature}\n\n{self._text}" if signature else self._text


class Signature:
    """The signature of a function, if its parameters are known; else that of `__call__`."""

    def __get__(self, function: Any, owner: Any = None) -> Optional[inspect.Signature]:
        return None if function is None else _signature(function._facts_at_hand(), type(function))


def _signature(facts: dict[str, Any], kind: Any) -> Optional[inspect.Signature]:
    params = facts.get("params") or ()
    names = [p.get("name") for p in params]
    if not names or len({*names, *OWN}) != len(names) + len(OWN) or not all(map(_is_name, names)):
        return None
    own = inspect.signature(kind.__call__).parameters
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=_type(p),
                default=None if p.get("optional") else inspect.Parameter.empty,
            )
            for name, p in zip(names, params)
        ]
        + [own[name] for name in OWN]
    )


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _type(param: dict[str, Any]) -> Any:
    if param.get("kind") != "tensor" or "dtype" not in param:
        return _Type(param["kind"]) if "kind" in param else inspect.Parameter.empty
    dims = param.get("shape")
    known = "" if dims is None else ", ".join("*" if d < 0 else str(d) for d in dims)
    return _Type(f"{param['dtype']}" if dims is None else f"{param['dtype']}[{known}]")
