"""The uploaded bytes of a load: a library or model, and its further files."""
from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator, Mapping
from typing import Any, Optional, Union

import numpy as np

from ._params_folder import packed

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]
Bytes = np.ndarray[Any, Any]
_BYTES = (bytes, bytearray, memoryview)
PAGE = 4096  # the alignment of external data files


class Artifact:
    """A library with a separate graph.json or program and parameters, or a framework's model with
    the files that it names."""

    def __init__(
        self,
        library: Source,
        graph: Optional[Source] = None,
        params: Optional[Source] = None,
        files: Optional[Mapping[str, Source]] = None,
    ) -> None:
        self._sources = [("source", library)]
        self._files = dict(files or {})
        if graph is not None:
            self._sources.append(("graph", graph))
        if params is not None:
            self._sources.append(("params", params))
        for name, source in [*self._sources, *self._files.items()]:
            if not isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)):
                kind = type(source).__name__
                raise TypeError(f"{name} is a path or the file's bytes, not {kind}")

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[list[Bytes], dict[str, Any]]]:
        """The parts in the order of an upload, and their options of module.load."""
        pieces: list[list[Bytes]] = []
        for name, source in self._sources:
            if name == "params" and not isinstance(source, _BYTES) and os.path.isdir(source):
                at = sum(len(piece) for part in pieces for piece in part)
                pieces.append(packed(source, at))
            else:
                pieces.append([_read(name, source)])
        parts = [piece for part in pieces for piece in part]
        facts: dict[str, Any] = {}
        library = self._sources[0][1]
        if isinstance(library, (str, os.PathLike)):
            name = os.path.basename(os.fsdecode(library))
            facts["file"] = name.encode(errors="replace").decode()
        for (key, _), part in list(zip(self._sources, pieces))[1:]:
            facts[key] = sum(len(piece) for piece in part)
        if self._files:
            facts["model"] = len(parts[0])
            facts["files"] = []
        for name, source in self._files.items():
            part = _read(name, source)
            parts += [np.zeros(-sum(map(len, parts)) % PAGE, np.uint8), part]
            facts["files"].append([name, len(part)])
        yield [part for part in parts if len(part)], facts


def _read(name: str, source: Source) -> Bytes:
    if isinstance(source, _BYTES):
        part: Bytes = np.frombuffer(source, np.uint8)
        if not len(part):
            raise ValueError(f"{name} has no bytes")
        return part
    with open(source, "rb") as file:
        # A pipe or an empty file cannot be mapped.
        if os.fstat(file.fileno()).st_size:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8)
        part = np.frombuffer(file.read(), np.uint8)
    if not len(part):
        raise ValueError(f"{os.fspath(source)}: an empty file")
    return part
