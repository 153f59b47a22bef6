#!/usr/bin/env python3
"""Write tests/corpus/node_times: answers to module.plan and module.profile."""
import pathlib
import struct

from make_corpus import array, mapping, tensor, text, uid
from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "node_times"
NIL, MOST = b"\xc0", (1 << 63) - 1


def number(n):
    return n if isinstance(n, bytes) else b"\xd3" + struct.pack(">q", n)


def answer(value):
    body = array(b"\x01", uid(7), NIL, value)
    return struct.pack("<H", len(body)) + body


def row(op="Relu", node=0, operations=100, **more):
    words = {"name": text("a"), "op": text(op), "engine": text("native"),
             "implementation": text("avx2"), "node": number(node), "operations": number(operations)}
    return mapping(*((text(key), value) for key, value in {**words, **more}.items()))


def page(*rows):
    return answer(mapping((text("threads"), number(2)), (text("rows"), array(*rows))))


def times(*rows, shape=None, dtype=(0, 64, 1), columns=4):
    raw = b"".join(struct.pack(f"<{columns}q", *r) for r in rows)
    value = tensor(dtype=dtype, shape=shape or (len(rows), columns), nbytes=len(raw))
    return answer(array(array(), value)) + raw


CALL = (1, 900, 0, 0)
ONE = page(row()), times((1, 500, 10, 7), CALL)

WANTED = {
    "accept_no_nodes": page() + times(CALL),
    "accept_one": b"".join(ONE),
    "accept_operators": page(row(), row("Conv", 1), row("Relu", 2))
    + times((1, 5, 10, 0), (2, 6, 20, 3), (1, 7, 30, 0), CALL),
    "accept_bodies": page(row("Loop"), row("Add", 1, body_of=number(0)))
    + times((1, 500, 10, 0), (9, 400, 0, 0), CALL),
    "accept_groups": page(row("Conv", group=number(0)), row("Relu", 1, group=number(0)),
                          row("Conv", 2, group=number(MOST)), row("Relu", 3, group=number(-1)),
                          row("Conv", 4, operations=MOST, group=number(0)))
    + times((1, 500, 10, 0), *[(0, 0, 0, 0)] * 4, CALL),
    "accept_missing_words": page(mapping()) + times((1, 5, 10, 0), CALL),
    "accept_words_of_other_kinds": page(row(name=number(1), node=text("x"), engine=NIL))
    + times((1, 5, 10, 0), CALL),
    "accept_control_characters": page(row("\x1b[2J\n", name=text("\x00\x7f")))
    + times((1, 5, 10, 0), CALL),
    "accept_large_numbers": page(row(operations=MOST), row(node=1, operations=MOST))
    + times((MOST, MOST, MOST, MOST), (MOST, MOST, 0, MOST), (1, MOST, 0, 0)),
    "accept_negative_numbers": page(row(node=-1 - MOST, operations=-1 - MOST))
    + times((-1, -1 - MOST, -1, -1 - MOST), (-1, -1, -1, -1)),
    "accept_no_rows": answer(NIL) + times(CALL),
    "reject_a_row_less": page(row(), row()) + ONE[1],
    "reject_a_row_more": page() + ONE[1],
    "reject_columns": page(row()) + times((1, 2), (3, 4), columns=2),
    "reject_flat": page(row()) + times((1, 500, 10, 7), CALL, shape=(8,)),
    "reject_narrow": page() + times(CALL, shape=(1, 4, 2), dtype=(0, 32, 1)),
    "reject_negative_columns": page(row()) + times((1, 500, 10, 7), CALL, shape=(-2, 4)),
    "reject_short": b"".join(ONE)[:-1],
    "reject_no_tensor": page() + answer(array(array(), NIL)),
    "reject_no_times": page() + answer(array()),
}

settle(__file__, {CORPUS / f"{name}.bin": data for name, data in WANTED.items()}, CORPUS.glob("*"))
