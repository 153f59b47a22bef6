#!/usr/bin/env python3
"""Write tests/corpus/onnx: one behaviour a file, named for it, by a writer of its own. Run it
after changing it; --check tells when that was forgotten."""
import pathlib
import sys

import numpy as np
from settle import settle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from onnx_writer import (Graph, Reference, field, floats, function, model, node, of_domain,  # noqa: E402
                         tensor, value, varint, with_functions)

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


COUNT = value("n", "int64", [])
TURN = [value("i", "int64", []), value("go", "bool", [])]


def branches(**graphs):
    return model([node("If", ["c"], ["y"], **graphs)], [value("c", "bool", []), X],
                 [value("y", "float32", [1, 3])])


def loop(states, body, outputs, inputs=("n", "")):
    """Values a and b, of which @states go from turn to turn."""
    return model([node("Loop", [*inputs, *states], [name for name, _ in outputs], body=body)],
                 [COUNT, *(value(name, "float32", [2]) for name in "ab")],
                 [value(name, "float32", shape) for name, shape in outputs])


# Of a row r that a turn gets: itself, reshaped by its own shape, where it is not 0, and what graphs
# within the body make of it: a Loop of two turns, a Scan over it, and an If.
ROW_CONSTANTS = [ints("one", 1), tensor("two", np.int64(2)), tensor("yes", np.bool_(True))]
INNER = Graph([node("Identity", ["on"], ["on2"]), node("Neg", ["column"], ["m"])],
              [value("k", "int64", []), value("on", "bool", [])], [field(1, "on2"), field(1, "m")])
EACH = Graph([node("Neg", ["e"], ["f"])], [field(1, "e")], [field(1, "f")])
BOTH = [Graph([node("Unsqueeze", ["each", "one"], [name])], [], [field(1, name)]) for name in "uv"]
BY_ROW = [node("Shape", ["r"], ["sizes"]), node("Concat", ["sizes", "one"], ["to"], axis=0),
          node("Reshape", ["r", "to"], ["column"]),
          node("Loop", ["two", ""], ["twice"], body=INNER),
          node("NonZero", ["r"], ["places"]),
          node("Scan", ["r"], ["each"], body=EACH, num_scan_inputs=1),
          node("If", ["yes"], ["either"], then_branch=BOTH[0], else_branch=BOTH[1])]
MADE = [field(1, name) for name in ("r", "twice", "places", "either")]
STACKS = ["w", "x2", "y", "z"]
ENDS = [value("w", "float32", ["?", "?"]), value("x2", "float32", ["?", "?", "?", "?"]),
        value("y", "int64", ["?", "?", "?"]), value("z", "float32", ["?", "?", "?"])]


def flow_cases():
    negative = Graph([node("Neg", ["x"], ["t"])], [], [value("t", "float32", [1, 3])])
    sum_ = Graph([node("Add", ["x", "w"], ["e"])], [], [value("e", "float32", [1, 3])],
                 [tensor("w", floats(1, 3))])
    unknown = Graph([node("Add", ["x", "nobody"], ["e"])], [], [value("e", "float32", [1, 3])])
    go = node("Identity", ["go"], ["go2"])
    vectors = [value(name, "float32", [2]) for name in ("p", "q")]
    added = Graph([go, node("Add", ["p", "b"], ["p2"]), node("Neg", ["p"], ["s"])],
                  TURN + vectors[:1],
                  [value("go2", "bool", []), value("p2", "float32", [2]),
                   value("s", "float32", [2])])
    swapped = Graph([go], TURN + vectors, [value("go2", "bool", []), vectors[1], vectors[0]])
    within = Graph([node("Add", ["p", "a"], ["t"])], [], [value("t", "float32", [2])])
    beside = Graph([node("Sub", ["p", "b"], ["e"])], [], [value("e", "float32", [2])])
    nested = Graph([go, node("Constant", [], ["one"], value=tensor("one", np.int64(1))),
                    node("Less", ["i", "one"], ["first"]),
                    node("If", ["first"], ["p2"], then_branch=within, else_branch=beside)],
                   TURN + [field(1, "p")],
                   [field(1, "go2"), field(1, "p2")])
    ended = Graph([node("Add", ["p", "b"], ["p2"]),
                   node("ReduceMax", ["p2"], ["most"], keepdims=0),
                   node("Constant", [], ["ten"], value=tensor("ten", np.float32(10))),
                   node("Less", ["most", "ten"], ["go2"])],
                  TURN + vectors[:1],
                  [value("go2", "bool", []), value("p2", "float32", [2])])
    scan = Graph([node("Add", ["p", "q"], ["p2"]), node("Mul", ["p2", "b"], ["s"])], vectors,
                 [value("p2", "float32", [2]), value("s", "float32", [2])])
    # Nothing says that p is of int64 but what goes in, whose shape only a run knows.
    counted = Graph([go, node("Constant", [], ["one"], value=tensor("one", np.int64(1))),
                     node("Add", ["p", "one"], ["p2"])],
                    TURN + [field(1, "p")], [field(1, "go2"), field(1, "p2")])
    # Nothing says of what shape rows and what is made of them are.
    rows = Graph([go, node("Gather", ["x", "i"], ["r"]), *BY_ROW], TURN, [field(1, "go2"), *MADE])
    slices = Graph([node("Neg", ["t"], ["r"]), *BY_ROW], [field(1, "t")], MADE)
    return {
        "accept_loop_of_unsaid_shapes": model(
            [node("Loop", ["n", ""], STACKS, body=rows)],
            [COUNT, value("x", "float32", ["t", 4])], ENDS, ROW_CONSTANTS),
        "accept_scan_of_unsaid_shapes": model(
            [node("Scan", ["x"], STACKS, body=slices, num_scan_inputs=1, scan_input_axes=[1],
                  scan_output_axes=[0, 1, 0, -1])],
            [COUNT, value("x", "float32", [4, "t"])], ENDS, ROW_CONSTANTS),
        "accept_if": branches(then_branch=negative, else_branch=sum_),
        "accept_loop": loop("a", added, [("y", [2]), ("z", ["n", 2])]),
        "accept_loop_that_swaps": loop("ab", swapped, [("y", [2]), ("z", [2])]),
        "accept_loop_with_an_if": loop("a", nested, [("y", [2])]),
        "accept_loop_without_a_shape": model(
            [node("NonZero", ["x"], ["k"]), node("Loop", ["n", "", "k"], ["y"], body=counted)],
            [COUNT, X], [value("y", "int64", [2, "k"])]),
        "accept_loop_that_ends": loop("a", ended, [("y", [2])], ("", "")),
        "accept_scan": model(
            [node("Scan", ["a", "m"], ["y", "z"], body=scan, num_scan_inputs=1,
                  scan_input_axes=[1], scan_output_axes=[-1], scan_input_directions=[1])],
            [value("a", "float32", [2]), value("b", "float32", [2]),
             value("m", "float32", [2, "t"])],
            [value("y", "float32", [2]), value("z", "float32", [2, "t"])]),
        "reject_if_without_a_branch": branches(then_branch=negative),
        "reject_nothing_makes_what_is_captured": branches(then_branch=negative,
                                                          else_branch=unknown),
    }


def call(name, inputs=("x",), outputs=("y",), **attributes):
    return node(name, list(inputs), list(outputs), "c", domain="local", **attributes)


def calls(*functions, nodes=None):
    return with_functions(model(nodes or [call("f")], [X], [value("y", "float32", [1, 3])]),
                          *functions)


def function_cases():
    """Functions of the model: what a body makes has the names of others, and no matter."""
    slope = Reference("slope")
    inner = function("inner", ["a", "least"], ["y"],
                     [node("Clip", ["a", "least"], ["x"]),
                      node("LeakyRelu", ["x"], ["y"], alpha=slope)], slope=0.25)
    negative = Graph([call("inner", ["t"], ["e"])], [], [value("e", "float32", [1, 3])])
    sum_ = Graph([node("Add", ["x", "t"], ["e"])], [], [value("e", "float32", [1, 3])])
    outer = function("outer", ["c", "x"], ["y", "x"],
                     [call("inner", ["x", ""], ["t"], slope=slope),
                      node("If", ["c"], ["y"], then_branch=negative, else_branch=sum_)])
    good = with_functions(
        model([call("outer", ["c", "x"], ["y", "same"], slope=0.5), call("inner", ["y"], ["z"])],
              [value("c", "bool", []), X],
              [value(name, "float32", [1, 3]) for name in ("y", "same", "z")]), inner, outer)
    chain = [function(f"f{i}", ["x"], ["y"], [call(f"f{i + 1}")]) for i in range(65)]
    twice = [function(f"f{i}", ["x"], ["y"], [call(f"f{i + 1}", outputs=["t"]),
                                              call(f"f{i + 1}", ["t"])]) for i in range(18)]
    # A body that is small, and large with the graphs in it.
    many = Graph([node("Add", ["x", "w"], ["e"])], [], [value("e", "float32", [1, 3])],
                 [tensor("w", floats(1, 3)), tensor("more", floats(150), typed=True)])
    hidden = [function(f"f{i}", ["c", "x"], ["y"],
                       [call(f"f{i + 1}", ["c", "x"], ["t"]),
                        call(f"f{i + 1}", ["c", "t"])]) for i in range(14)]
    hidden.append(function("f14", ["c", "x"], ["y"],
                           [node("If", ["c"], ["y"], then_branch=many, else_branch=many)]))
    said = Reference("v")
    copied = [function(f"f{i}", ["x"], ["y"],
                       [call(f"f{i + 1}", outputs=["t"], v=said), call(f"f{i + 1}", ["t"], v=said)])
              for i in range(12)]
    copied.append(function("f12", ["x"], ["y"],
                           [node("Constant", [], ["t"], value_floats=said),
                            node("Add", ["x", "t"], ["y"])]))
    relu = [node("Relu", ["x"], ["y"])]
    scaler = function("f", ["x"], ["y"], [
        node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0], scale=[2.0])])
    scaler += field(9, field(1, "ai.onnx.ml") + field(2, 1))
    return {
        "accept_functions": good,
        "reject_function_that_calls_itself": calls(function("f", ["x"], ["y"], [call("f")])),
        "reject_functions_too_deep": calls(*chain, nodes=[call("f0")]),
        "reject_functions_too_often": calls(*twice, function("f18", ["x"], ["y"], relu),
                                            nodes=[call("f0")]),
        "reject_functions_with_graphs_too_often": with_functions(
            model([call("f0", ["c", "x"])], [value("c", "bool", []), X],
                  [value("y", "float32", [1, 3])]), *hidden),
        "reject_functions_that_copy_too_much": calls(
            *copied, nodes=[call("f0", v=[0.5] * 600)]),
        "reject_two_functions_with_one_name": calls(*[function("f", ["x"], ["y"], relu)] * 2),
        "accept_function_of_another_domain": calls(scaler),
        "reject_function_without_its_output": calls(function("f", ["x"], ["z"], relu)),
        "reject_function_of_fewer_inputs": calls(function("f", [], ["y"], relu)),
        "reject_function_that_sees_its_caller": calls(
            function("f", ["a"], ["y"], [node("Relu", ["x"], ["y"])])),
        "reject_function_of_a_later_opset": calls(function("f", ["x"], ["y"], relu, opset=99)),
    }


def cases():
    good = gemm()
    return {
        **flow_cases(),
        **function_cases(),
        "accept_gemm": good,
        "accept_uneven_split": model(
            [node("Split", ["x"], ["y", "z"], axis=-1, num_outputs=2)], [X],
            [value("y", "float32", [1, 2]), value("z", "float32", [1, 1])], opset=18),
        "accept_typed_numbers": gemm(tensor("w", floats(2, 3), typed=True)),
        "accept_initializer_named_as_input": model(
            [node("Gemm", ["x", "w"], ["y"], transB=1)], [X, value("w", "float32", [2, 3])], [Y],
            [tensor("w", floats(2, 3))], opset=11, ir=3),
        "accept_defaults": model(
            [node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
            [value("w", "float32", [2, 3]), X, value("b", "float32", ["n"])], [Y],
            [tensor("b", floats(2)), tensor("w", floats(2, 3))]),
        "reject_default_that_is_an_input_twice": model(
            [node("Gemm", ["x", "w"], ["y"], transB=1)],
            [value("w", "float32", [2, 3]), X, value("w", "float32", [2, 3])], [Y],
            [tensor("w", floats(2, 3))]),
        "accept_open_extents": model([node("Relu", ["x"], ["y"])],
                                     [value("x", "float32", ["n", 3])],
                                     [value("y", "float32", ["n", 3])]),
        "accept_conv": one("Conv", ["x", "w"], constants=[tensor("w", floats(2, 1, 3, 3))],
                           kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        "accept_trees": of_domain(model(
            [node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
                  nodes_treeids=[0, 0, 0, 1], nodes_nodeids=[0, 1, 2, 0],
                  nodes_featureids=[2, 0, 0, 0], nodes_values=[0.5, 0.0, 0.0, 0.0],
                  nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
                  nodes_truenodeids=[1, 0, 0, 0], nodes_falsenodeids=[2, 0, 0, 0],
                  target_treeids=[0, 0, 1], target_nodeids=[1, 2, 0], target_ids=[0, 0, 0],
                  target_weights=[1.0, 2.0, 4.0])], [X], [value("y", "float32", [1, 1])]),
            "ai.onnx.ml", 3),
        "accept_linear_classifier": of_domain(model(
            [node("LinearClassifier", ["x"], ["y", "s"], domain="ai.onnx.ml",
                  coefficients=[1.0, 2.0, 3.0], intercepts=[0.5], classlabels_ints=[4, 7],
                  post_transform="LOGISTIC")], [X],
            [value("y", "int64", [1]), value("s", "float32", [1, 2])]), "ai.onnx.ml", 3),
        "accept_input_that_no_run_can_have": model(
            [node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
            [value("x", "float32", [1, 1, (1 << 63) - 1, 1])],
            [value("y", "float32", ["a", "b", "c", "d"])], [tensor("w", floats(2, 1, 3, 3))]),
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
        "reject_external_length": gemm(
            tensor("w", floats(2, 3), external={"location": "w", "length": "20"})),
        "reject_external_shared": gemm(constants=[
            tensor(name, floats(2, 3), external={"location": "w"}) for name in ("w", "w1", "w2")]),
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
