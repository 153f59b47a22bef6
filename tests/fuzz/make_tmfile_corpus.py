#!/usr/bin/env python3
"""Write tests/corpus/tmfile: one behaviour a file, named for it. An independent writer, from the
format document alone. Run it after changing it; --check tells when that was forgotten."""
import pathlib
import struct
import sys

from settle import settle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from tmfile_writer import File, floats, words  # noqa: E402 (it lies in another folder)

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "tmfile"
EMBEDDING, OLD_RESIZE, STRIDED_SLICE, DEPTH_TO_SPACE, REDUCTION = 65, 2, 41, 80, 45
CONST, INPUT, RELU, FC, CONCAT, RESHAPE, ELTWISE, CONV, LRN = 4, 12, 20, 11, 3, 23, 9, 5, 13


def net(op=FC, param=words(2), weights=None, size=24, data=True, dims=(2, 3), w_type=2, dtype=0,
        layout=0, subgraphs=1, versions=(2, 0, 0), node_index=2, last=(0, 1), outputs=(2,),
        buffer=0, inputs=(0,), **node):
    """x and w go into one operator."""
    f = File(versions)
    nodes = [f.node(0, "x", INPUT, [], [0]), f.node(1, "w", CONST, [], [1]),
             f.node(node_index, "op", op, last, outputs, param, **node)]
    tensors = [f.tensor(0, "x", 3, (1, 3)), f.tensor(1, "w", w_type, dims, dtype, buffer),
               f.tensor(2, "y", 1, ())]
    at = f.put(weights or floats(*range(6))) if data else 0
    return f.end(nodes, tensors, [f.put(words(size, at))], list(inputs), [2], layout, subgraphs)


def with_attrs():
    f = File()
    pair = f.put(words(f.string("kernel"), f.string("fast"), 4))
    nodes = [f.node(0, "x", INPUT, [], [0]),
             f.node(1, "y", RELU, [0], [1], floats(0.5), attrs=f.vector(pair), dynamic=1)]
    tensors = [f.tensor(0, "x", 3, (1, -1), dtype=2, quants=[(0.5, 3)]),
               f.tensor(1, "y", 1, (), dtype=3)]
    return f.end(nodes, tensors, [], [0], [1])


def circle():
    f = File()
    nodes = [f.node(0, "a", RELU, [1], [0]), f.node(1, "b", RELU, [0], [1])]
    tensors = [f.tensor(0, "a", 1, ()), f.tensor(1, "b", 1, ())]
    return f.end(nodes, tensors, [], [], [1])


def named_again_and_again():
    """A thousand nodes of one list of a thousand inputs, in 30 kB."""
    f = File()
    relu = f.node(0, "a", CONCAT, [0] * 2000, [0], words(1))
    return f.end([relu] * 2000, [f.tensor(0, "a", 1, ())], [], [], [0])


def channels_last():
    """A convolution by channels, and a Reshape of what it makes."""
    f = File()
    param = words(1, 1, 1, 1, 1, 1, 1, 3, 3, -1, 0, 0, 0, 0)
    nodes = [f.node(0, "x", INPUT, [], [0]), f.node(1, "w", CONST, [], [1]),
             f.node(2, "conv", CONV, [0, 1], [2], param),
             f.node(3, "turn", RESHAPE, [2], [3], words(0, 0, f.vector(1, 3, 1, -1), 0))]
    tensors = [f.tensor(0, "x", 3, (1, 2, 4, 3)), f.tensor(1, "w", 2, (3, 1, 1, 1), 0, 0),
               f.tensor(2, "c", 1, ()), f.tensor(3, "y", 1, ())]
    at = f.put(floats(1, 2, 3))
    return f.end(nodes, tensors, [f.put(words(12, at))], [0], [3], 1)


def patched(raw, at, value):
    return raw[:at] + words(value) + raw[at + 4:]


def cases():
    good = net()
    root = struct.unpack_from("<I", good, 8)[0]
    return {
        "accept_net": good,
        "accept_attributes_and_scales": with_attrs(),
        "accept_short_reshape": net(RESHAPE, words(1, 0, 0)),
        "accept_short_eltwise": net(ELTWISE, words(2, 0)),
        "accept_embedding": net(EMBEDDING, words(3, 2, 0, 6)),
        "accept_old_resize": net(OLD_RESIZE, floats(2, 2) + words(1), last=(0,), dims=(1, 6)),
        "accept_strided_slice": net(STRIDED_SLICE, words(*(0, 0, 1) * 4), last=(0,)),
        "accept_depth_to_space": net(DEPTH_TO_SPACE, words(2), last=(0,)),
        "accept_amounts": net(REDUCTION, words(1, -2, -2, -2, 7, 1), last=(0,)),
        "accept_unaligned_weights": unaligned(),
        "accept_larger_buffer": net(size=28, weights=floats(*range(7))),
        "reject_version_1": net(versions=(0, 1, 0)),
        "reject_version_3": net(versions=(3, 0, 0)),
        "reject_stripped": net(data=False),
        "accept_nhwc": channels_last(),
        "reject_nhwc_axis": net(CONCAT, words(7), dims=(1, 1, 2, 3), layout=1,
                                last=(1, 1)),
        "reject_nhwc_operator": net(LRN, b"", layout=1, last=(0,)),
        "reject_two_subgraphs": net(subgraphs=2),
        "reject_no_subgraph": net(subgraphs=0),
        "reject_unknown_operator": net(op=104),
        "reject_missing_operator": net(op=32),
        "reject_short_buffer": net(size=20),
        "reject_overflowing_shape": net(dims=(0x7FFFFFFF,) * 4),
        "reject_missing_buffer": net(buffer=1),
        "reject_missing_tensor": net(last=(0, 3)),
        "reject_two_producers": net(outputs=(1,)),
        "reject_wrong_number": net(node_index=7),
        "reject_element_type": net(dtype=6),
        "reject_tensor_type": net(w_type=5),
        "reject_33_dimensions": net(dims=(1,) * 33),
        "reject_too_many_inputs": net(last=(0, 1, 1, 1)),
        "reject_circle": circle(),
        "reject_named_again_and_again": named_again_and_again(),
        "reject_input_that_nobody_brings": net(inputs=()),
        "reject_root_behind_the_end": patched(good, 8, len(good) - 4),
        "reject_huge_list_of_subgraphs": patched(good, struct.unpack_from("<I", good, root + 8)[0],
                                                 0x40000001),
        "reject_empty": b"",
    }


def unaligned():
    f = File()
    nodes = [f.node(0, "x", INPUT, [], [0]), f.node(1, "w", CONST, [], [1]),
             f.node(2, "op", FC, [0, 1], [2], words(2))]
    tensors = [f.tensor(0, "x", 3, (1, 3)), f.tensor(1, "w", 2, (2, 3), 0, 0),
               f.tensor(2, "y", 1, ())]
    at = f.put(b"\0" + floats(*range(6))) + 1
    return f.end(nodes, tensors, [f.put(words(24, at))], [0], [2])


def main():
    settle(__file__, {CORPUS / f"{name}.bin": raw for name, raw in cases().items()})


if __name__ == "__main__":
    main()
