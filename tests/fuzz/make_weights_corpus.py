#!/usr/bin/env python3
"""Write tests/corpus/weights: files of packed weights as runtime/engine/weights.c reads them."""
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "weights"


def file(*blocks, key=b"key", n=None, magic=b"msdwght1", size=256):
    raw = magic + struct.pack("<QQ", len(key), len(blocks) if n is None else n) + key
    return (raw + b"".join(struct.pack("<QQQ", *b) for b in blocks)).ljust(size, b"\7")


FILES = {
    "accept_none": file(size=27),
    "accept_one": file((1, 64, 192)),
    "accept_two": file((1, 128, 64), (2, 192, 64)),
    "accept_empty_block": file((1, 256, 0)),
    "reject_magic": file((1, 64, 16), magic=b"msdwght0"),
    "reject_key": file((1, 64, 16), key=b"kez"),
    "reject_long_key": file((1, 64, 16), key=b"keys"),
    "reject_number": file((1, 64, 16), n=1 << 61),
    "reject_more_than_there_are": file((1, 64, 16), n=20),
    "reject_in_the_index": file((1, 0, 16)),
    "reject_unaligned": file((1, 72, 16)),
    "reject_beyond": file((1, 64, 193)),
    "reject_beyond_all": file((1, (1 << 64) - 64, 128)),
}

settle(__file__, {CORPUS / name: data for name, data in FILES.items()}, CORPUS.glob("*"))
