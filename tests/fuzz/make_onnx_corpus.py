#!/usr/bin/env python3
"""Write tests/corpus/onnx: one behaviour a file, named for it, by a writer of its own. Run it
after changing it; --check tells when that was forgotten."""
import pathlib
import sys

import numpy as np
from settle import settle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from onnx_writer import field, floats, model, node, tensor, value, varint  # noqa: E402

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "onnx"
X = value("x", "float32", [1, 3])
Y = value("y", "float32", [1, 2])


def gemm(weights=None, constants=None, **more):
    w = tensor("w", floats(2, 3)) if weights is None else weights
    return model([node("Gemm", ["x", "w"], ["y"], transB=1)], [X], [Y],
                 [w] if constants is None else constants, **more)


def one(op, inputs=("x",), outputs=("y",), constants=(), opset=17, domain=None, **attributes):
    return model([node(op, list(inputs), list(outputs), domain=domain, **attributes)],
                 [value("x", "float32", [1, 1, 4, 4])], [value("y", "float32", ["n"])],
                 constants, opset)


def ints(name, *values):
    return tensor(name, np.array(values, np.int64))


def nested(depth):
    """A graph in an attribute of a node of a graph, and so on."""
    graph = b""
    for _ in range(depth):
        graph = field(1, field(5, field(1, "g") + field(6, graph)))
    return field(1, 8) + field(7, graph)


def cases():
    good = gemm()
    return {
        "accept_gemm": good,
        "accept_typed_numbers": gemm(tensor("w", floats(2, 3), typed=True)),
        "accept_initializer_named_as_input": model(
            [node("Gemm", ["x", "w"], ["y"], transB=1)], [X, value("w", "float32", [2, 3])], [Y],
            [tensor("w", floats(2, 3))], opset=11, ir=3),
        "accept_open_extents": model([node("Relu", ["x"], ["y"])],
                                     [value("x", "float32", ["n", 3])],
                                     [value("y", "float32", ["n", 3])]),
        "accept_conv": one("Conv", ["x", "w"], constants=[tensor("w", floats(2, 1, 3, 3))],
                           kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        "accept_einsum": one("Einsum", ["x", "w"], constants=[tensor("w", floats(4, 2))],
                             equation="...ij,jk->...ki"),
        "accept_non_zero_and_gather_nd": model(
            [node("NonZero", ["x"], ["i"]), node("Transpose", ["i"], ["t"]),
             node("GatherND", ["x", "t"], ["y"])], [X], [value("y", "float32", ["n"])]),
        "accept_quantized": model(
            [node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)], [X],
            [value("y", "float32", [1, 3])],
            [tensor("s", floats(3) + 1), tensor("z", np.zeros(3, np.int8))]),
        "accept_range": model(
            [node("Range", ["a", "b", "c"], ["r"]), node("Add", ["x", "r"], ["y"])], [X],
            [value("y", "float32", [1, 3])],
            [tensor(name, np.float32(v)) for name, v in zip("abc", (0, 3, 1))]),
        "accept_scatter_elements": one(
            "ScatterElements", ["x", "i", "u"], opset=18, axis=3, reduction="max",
            constants=[tensor("i", np.zeros((1, 1, 4, 1), np.int64)),
                       tensor("u", floats(1, 1, 4, 1))]),
        "accept_slice_of_opset_9": one("Slice", opset=9, starts=[1], ends=[3], axes=[2]),
        "accept_slice_of_opset_13": one("Slice", ["x", "s", "e"], opset=13,
                                        constants=[ints("s", 0), ints("e", 1)]),
        "accept_constant_node": model(
            [node("Constant", [], ["c"], value=tensor("c", floats(1, 3))),
             node("Add", ["x", "c"], ["y"])], [X], [value("y", "float32", [1, 3])]),
        "accept_left_out_input": one("Clip", ["x", "", "h"],
                                     constants=[tensor("h", np.float32(1))]),
        "accept_broadcast_of_opset_6": one("Add", ["x", "b"], opset=6, broadcast=1, axis=1,
                                           constants=[tensor("b", floats(1))]),
        "accept_weights_last": good + field(4, "domain"),
        "reject_empty": b"",
        "reject_no_graph": field(1, 8) + field(8, field(2, 17)),
        "reject_opset_99": gemm(opset=99),
        "reject_unknown_operator": one("Frobnicate"),
        "reject_unknown_domain": one("Relu", domain="com.example"),
        "reject_operator_of_a_later_opset": one("Erf", opset=8),
        "reject_unknown_attribute": one("Relu", slope=0.5),
        "reject_missing_attribute": one("LRN"),
        "reject_attribute_of_another_type": one("Flatten", axis=1.5),
        "reject_nothing_makes_its_input": one("Relu", ["z"]),
        "reject_circle": model([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])], [],
                               [value("a", "float32", [1])]),
        "reject_two_makers": model([node("Relu", ["x"], ["y"])] * 2, [X], [Y]),
        "reject_no_output": model([node("Relu", ["x"], ["y"])], [X], []),
        "reject_too_few_inputs": one("Add", ["x"]),
        "reject_short_weights": gemm(tensor("w", floats(2, 3))[:-5]),
        "reject_weights_of_another_shape": gemm(
            field(1, 3) + field(1, 3) + field(2, 1) + field(8, "w") + field(9, bytes(24))),
        "reject_overflowing_shape": gemm(
            (field(1, 1 << 62) * 4) + field(2, 1) + field(8, "w") + field(9, bytes(24))),
        "reject_negative_extent": gemm(
            field(1, -1) + field(2, 1) + field(8, "w") + field(9, bytes(24))),
        "reject_33_dimensions": gemm(
            field(1, 1) * 33 + field(2, 1) + field(8, "w") + field(9, bytes(4))),
        "reject_strings": gemm(field(1, 1) + field(2, 8) + field(8, "w") + field(6, "text")),
        "reject_external_data": gemm(tensor("w", floats(2, 3), external={"location": "../w"})),
        "reject_deep": nested(5000),
        "reject_many_fields": field(1, 8) + field(7, field(1, b"") * 100) + b"\x3a\xff\xff\x7f",
        "reject_group": field(1, 8) + varint(7 << 3 | 3),
        "reject_length_behind_the_end": field(1, 8) + varint(7 << 3 | 2) + varint(1 << 40),
        "reject_no_weights_at_all": gemm(constants=[]),
    }


def main():
    settle(__file__, {CORPUS / f"{name}.bin": raw for name, raw in cases().items()})


if __name__ == "__main__":
    main()
