#!/usr/bin/env python3
"""Write tests/corpus/kv: operations on a paged cache as fuzz_kv.c reads them."""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "kv"
ADD, REMOVE, FORK, POP, WINDOW, FORWARD, ACCEPT, IMPORT, CLEAR = range(9)
PLAIN, WINDOWS, LAYERS, ROPE = 0, 1, 2, 4


def three(op, *v):
    return [op] + list(v) + [0] * (3 - len(v))


def forward(ids, lengths, parents=()):
    return [FORWARD, len(ids), len(parents)] + ids + lengths + list(parents)


def accept(ids, leaves):
    return [ACCEPT, len(ids)] + ids + leaves


def main():
    one = three(ADD, 0) + forward([0], [10])
    layers = forward([0], [9]) + forward([0], [1]) + forward([0], [3])
    files = {
        "accept_grow": [PLAIN] + one + forward([0], [1]),
        "accept_fork_and_pop": [ROPE] + one + three(FORK, 0, 1, 6) + forward([0, 1], [1, 1]) + three(POP, 1, 5) + three(REMOVE, 0),
        "accept_fork_at_a_page": [PLAIN] + one + three(POP, 0, 2) + three(FORK, 0, 1, -1) + forward([0, 1], [2, 3]),
        "accept_window": [WINDOWS] + three(ADD, 0) + three(WINDOW, 0, 12, 3) + forward([0], [10]) * 3 + forward([0], [1]) * 9,
        "accept_layer_windows": [LAYERS] + one + layers,
        "accept_tree": [PLAIN] + one + forward([0], [4], [-1, 0, 0, 1]) + accept([0], [3]) + forward([0], [1]),
        "accept_clear": [PLAIN] + one + [CLEAR] + one,
        "reject_cycle": [PLAIN] + one + forward([0], [2], [1, 0]),
        "reject_unknown": [PLAIN] + one + forward([3], [1]),
        "reject_full": [PLAIN] + one + forward([0], [24]) * 4,
        "reject_text": [PLAIN, IMPORT] + list(b'{"format_version":1,"seq_length":8,"num_total_pages":21}'),
        "reject_window_too_small": [WINDOWS] + one + three(WINDOW, 0, 3, 2) + three(FORK, 0, 1, 8),
    }
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, values in files.items():
        (CORPUS / name).write_bytes(b"".join(struct.pack("B", v & 255) for v in values))


if __name__ == "__main__":
    main()
