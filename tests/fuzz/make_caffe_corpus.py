#!/usr/bin/env python3
"""Write the corpus of the fuzz target caffemodel: networks of Caffe, field by field. With --check,
compare it with the files that are there."""
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "caffemodel"


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A text, a message, or an integer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def blob(dims, values, packed=True):
    numbers = struct.pack(f"<{len(values)}f", *values)
    data = field(5, numbers) if packed else b"".join(
        b"\x2d" + numbers[i:i + 4] for i in range(0, len(numbers), 4))
    return field(7, field(1, b"".join(varint(d) for d in dims))) + data


def layer(name, kind, bottom, top, extra=b""):
    return field(100, field(1, name) + field(2, kind) + b"".join(field(3, b) for b in bottom) +
                 b"".join(field(4, t) for t in top) + extra)


def net(*layers, dims=(1, 2, 4, 4)):
    return (field(1, "n") + field(3, "x") + field(8, field(1, b"".join(varint(d) for d in dims))) +
            b"".join(layers))


def convolution(values=8, **how):
    return layer("c", "Convolution", ["x"], ["c"],
                 field(7, blob((1, 2, 2, 2), [0.5] * values, **how)) +
                 field(106, field(1, 1) + field(2, 0) + field(4, 2)))


def cases():
    relu = layer("r", "ReLU", ["c"], ["c"])
    pool = layer("p", "Pooling", ["c"], ["p"], field(121, field(2, 2) + field(3, 2)))
    old = field(2, field(4, "r") + field(5, 18) + field(2, "x") + field(3, "y"))
    return {
        "accept_convolution": net(convolution(), relu, pool),
        "accept_unpacked": net(convolution(packed=False), relu),
        "accept_old_layer": net(old),
        "accept_slice": net(layer("s", "Slice", ["x"], ["a", "b"])),
        "reject_short_weights": net(convolution(values=7)),
        "reject_unknown_type": net(layer("u", "Fancy", ["x"], ["y"])),
        "reject_no_layers": net(),
        "reject_huge_extents": net(layer("r", "ReLU", ["x"], ["y"]), dims=(1 << 31,)),
        "reject_circle": net(layer("r", "ReLU", ["y"], ["y"])),
        "reject_empty": b"",
    }


def main():
    settle(__file__, {CORPUS / f"{name}.bin": raw for name, raw in cases().items()})


if __name__ == "__main__":
    main()
