"""The bytes of a library that shall be uploaded."""
from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from typing import Any, Union

import numpy as np

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


@contextlib.contextmanager
def opened(source: Source) -> Iterator[tuple[np.ndarray[Any, Any], str]]:
    """Its bytes as an array, and the file's name for error texts (empty for bytes)."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield np.frombuffer(source, np.uint8), ""
        return
    path = os.fspath(source)
    with open(path, "rb") as file:
        # A pipe or an empty file cannot be mapped.
        if os.fstat(file.fileno()).st_size:
            yield np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8), (
                os.path.basename(path)
            )
        else:
            yield np.frombuffer(file.read(), np.uint8), os.path.basename(path)
