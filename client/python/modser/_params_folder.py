"""A folder of parameters as one archive: the index and the shards that it names, in ustar."""
from __future__ import annotations

import json
import mmap
import os
from typing import Any, Union

import numpy as np

Bytes = np.ndarray[Any, Any]
ALIGN = 64  # of the archive in the module
BLOCK = 512
INDEXES = ("tensor-cache.json", "ndarray-cache.json")


def packed(folder: Union[str, "os.PathLike[str]"], at: int) -> list[Bytes]:
    """The pieces of the part that begins at byte ``at`` of its module; shards stay mapped files."""
    index = next((n for n in INDEXES if os.path.exists(os.path.join(folder, n))), None)
    if index is None:
        raise ValueError(f"{os.fspath(folder)}: a folder of parameters has an index, "
                         f"{INDEXES[0]} or {INDEXES[1]}")
    text = np.fromfile(os.path.join(folder, index), np.uint8)
    try:
        shards = [shard["dataPath"] for shard in json.loads(text.tobytes())["records"]]
    except (ValueError, LookupError, TypeError) as e:
        raise ValueError(f"{os.path.join(folder, index)}: not an index of shards: {e}") from e
    pieces = [np.zeros(-at % ALIGN, np.uint8), _header(index, len(text)), text, _rest(len(text))]
    for name in shards:
        if not isinstance(name, str) or not 0 < len(name.encode()) < 100 or \
                name in (".", "..") or "/" in name:
            raise ValueError(f"{os.path.join(folder, index)}: a shard is a file of the folder, "
                             f"not {name!r}")
        data = _mapped(os.path.join(folder, name))
        pieces += [_header(name, len(data)), data, _rest(len(data))]
    pieces.append(np.zeros(2 * BLOCK, np.uint8))
    return [piece for piece in pieces if len(piece)]


def _mapped(path: str) -> Bytes:
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return np.zeros(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8)


def _rest(n: int) -> Bytes:
    return np.zeros(-n % BLOCK, np.uint8)


def _header(name: str, n: int) -> Bytes:
    head = name.encode().ljust(100, b"\0") + b"0000644\0000000000\0000000000\0" + b"%011o\0" % n
    if n >= 1 << 33:
        raise ValueError(f"{name}: it has 8 GiB or more")
    rest = b"0" + bytes(100) + b"ustar\00000"
    whole = (head + b"00000000000\0" + b" " * 8 + rest).ljust(BLOCK, b"\0")
    return np.frombuffer(whole[:148] + b"%06o\0 " % sum(whole) + whole[156:], np.uint8)
