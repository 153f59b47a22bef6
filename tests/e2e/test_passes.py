"""Passes over models that are served: the same numbers with them and without, and what they did is
told. How a graph changes is tests/graph/test_pass.c."""
import numpy as np
from onnx_writer import Graph, model, node, tensor, value
from wire import Wire


def weights(*shape):
    return (np.arange(np.prod(shape)) * 37 % 101 / np.float32(101)).astype("f4").reshape(shape) - 0.4


def net():
    """Convolution and batch norm, identities, a shape that nodes compute, an If that does so."""
    nodes = [node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
             node("BatchNormalization", ["a", "g", "b", "m", "v"], ["c"]),
             node("Identity", ["c"], ["d"]),
             node("Dropout", ["d"], ["e"]),
             node("Shape", ["e"], ["s"]),
             node("Slice", ["s", "zero", "two"], ["t"]),
             node("Concat", ["t", "rest"], ["u"], axis=0),
             node("Reshape", ["e", "u"], ["f"]),
             node("Add", ["b", "g"], ["h"]),
             node("ReduceSum", ["h"], ["i"], keepdims=0),
             node("Mul", ["f", "i"], ["j"]),
             node("Identity", ["j"], ["y"])]
    positive = weights(4) + np.float32(1)
    constants = [tensor("w", weights(4, 3, 3, 3)), tensor("g", weights(4)), tensor("v", positive),
                 tensor("b", weights(4) * 2), tensor("m", weights(4) * 3),
                 tensor("zero", np.int64([0])), tensor("two", np.int64([2])),
                 tensor("rest", np.int64([-1]))]
    return model(nodes, [value("x", "float32", [2, 3, 8, 8])],
                 [value("y", "float32", [2, 4, 64])], constants)


def run(daemon, folder):
    np.save(folder / "x.npy", weights(2, 3, 8, 8))
    daemon.ok("call", "m:run", f"x=@{folder}/x.npy", "-o", folder / "y.npy")
    return np.load(folder / "y.npy")


def told(daemon):
    with Wire(daemon.host) as wire:
        return wire.ask("module.describe", "m")["inspect"]["text"]


def test_the_numbers_are_those_of_the_files_own_nodes(own_daemon, tmp_path):
    (tmp_path / "m.onnx").write_bytes(net())
    passed = own_daemon("--load", f"m={tmp_path / 'm.onnx'}")
    plain = own_daemon("--load", f"m={tmp_path / 'm.onnx'}", env={"MODSERD_PASSES": "off"})
    for daemon in (passed, plain):
        daemon.ok("wait", "m")
    want = run(plain, tmp_path)
    assert np.allclose(run(passed, tmp_path), want, rtol=1e-6, atol=1e-6 * np.abs(want).max())
    # The file's own operators are shown in either case, as `modser inspect FILE` shows them.
    assert told(passed) == told(plain) + ("passes: nodes folded into constants 5, identities taken "
                                          "out 3, batch norms put into convolutions 1\n")
    assert "Dropout 1" in told(passed) and "constants 8" in told(passed)


def test_a_model_within_a_model_is_passed_over_too(own_daemon, tmp_path):
    branch = [Graph([node("Add", ["w", "w"], ["k"]), node("Identity", ["k"], [end])], [],
                    [value(end, "float32", [2])], [tensor("w", np.float32([1, by]))])
              for end, by in (("p", 2), ("q", 3))]
    nodes = [node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1])]
    (tmp_path / "m.onnx").write_bytes(model(nodes, [value("c", "bool", [])],
                                            [value("y", "float32", [2])]))
    daemon = own_daemon("--load", f"m={tmp_path / 'm.onnx'}")
    daemon.ok("wait", "m")
    for said, by in ((True, 2), (False, 3)):
        np.save(tmp_path / "c.npy", np.array(said))
        daemon.ok("call", "m:run", f"@{tmp_path}/c.npy", "-o", tmp_path / "y.npy")
        assert np.load(tmp_path / "y.npy").tolist() == [2, 2 * by]
    assert "passes: nodes folded into constants 4\n" in told(daemon)
