"""An engine with a layout of its own, plugins/blocks.c: its nodes exchange blocks of channels, and
`modser show` and `modser profile` tell where tensors are converted."""
import json

import harness
import numpy as np
import onnx_writer as onnx
import pytest
import toy

C, M, H, W = 5, 11, 6, 7  # channels that fill no block of 8


def integers(*shape):
    """Sums of few of these are exact in float32."""
    return (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype("f4")


WIDE, NARROW = integers(M, C, 3, 3), integers(C, M, 1, 1)


def network(path, rows=H):
    """y = floor(conv1x1(relu(conv3x3(x))) + x), and the mean of what floor reads."""
    nodes = [onnx.node("Conv", ["x", "wide"], ["a"], name="wide", pads=[1, 1, 1, 1]),
             onnx.node("Relu", ["a"], ["b"], name="relu"),
             onnx.node("Conv", ["b", "narrow"], ["c"], name="narrow"),
             onnx.node("Add", ["c", "x"], ["d"], name="add"),
             onnx.node("Floor", ["d"], ["y"], name="floor"),
             onnx.node("GlobalAveragePool", ["d"], ["z"], name="mean")]
    outputs = [onnx.value("y", "float32", [1, C, rows, W]), onnx.value("z", "float32", [1, C, 1, 1])]
    path.write_bytes(onnx.model(nodes, [onnx.value("x", "float32", [1, C, rows, W])], outputs,
                                constants=[onnx.tensor("wide", WIDE),
                                           onnx.tensor("narrow", NARROW)]))
    return path


def expected(x):
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
    a = np.maximum(np.einsum("ncyxhw,mchw->nmyx", windows, WIDE), 0)
    d = np.einsum("nmyx,cm->ncyx", a, NARROW[:, :, 0, 0]) + x
    return np.floor(d), d.mean((2, 3), keepdims=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layouts")
    with harness.Daemon("--plugin", toy.build_other(folder, "blocks")) as daemon:
        daemon.load("net", network(folder / "net.onnx"))
        daemon.load("open", network(folder / "open.onnx", "rows"))
        yield daemon, folder


def expect_answer(daemon, folder, name, x):
    np.save(folder / "x.npy", x)
    daemon.ok("call", f"{name}:run", f"@{folder}/x.npy", "-o", folder / "y.npy", "-o",
              folder / "z.npy")
    y, z = expected(x)
    assert np.array_equal(np.load(folder / "y.npy"), y)
    assert np.allclose(np.load(folder / "z.npy"), z, rtol=1e-6)


def rows_of(daemon, name):
    return json.loads(daemon.ok("show", "--json", name).out)["plan"]["rows"]


def expect_rows(rows, height=H):
    told = {row["name"]: (row["engine"], row["layout"], row["layout_changes"],
                          row["layout_change_bytes"]) for row in rows}
    plane = height * W * 4
    assert told["wide"] == ("blocks", "NCHW8c", 1, 8 * plane)
    for name in ("relu", "narrow", "add"):
        assert told[name] == ("blocks", "NCHW8c", 0, 0)
    assert told["floor"][1:] == ("row-major", 1, C * plane)
    assert told["mean"] == ("blocks", "row-major", 0, 0)


def test_answers_are_right_and_show_tells_the_layouts(served):
    daemon, folder = served
    expect_answer(daemon, folder, "net", integers(1, C, H, W))
    expect_rows(rows_of(daemon, "net"))
    lines = [line.split("\t") for line in daemon.ok("show", "net").out.splitlines()
             if line.startswith("plan\t")]
    assert any("NCHW8c" in line and "wide" in line for line in lines)


def test_each_set_of_extents_has_its_layouts(served):
    daemon, folder = served
    for height in (6, 9, 1, 6):
        expect_answer(daemon, folder, "open", integers(1, C, height, W))
        expect_rows(rows_of(daemon, "open"), height)


def test_profile_counts_changes_beside_the_nodes(served):
    daemon, folder = served
    np.save(folder / "x.npy", integers(1, C, H, W))
    told = json.loads(daemon.ok("profile", "net", f"@{folder}/x.npy", "--json").out)
    changes = {node["name"]: node["layout_change_ns"] for node in told["nodes"]}
    assert {name for name, ns in changes.items() if ns > 0} == {"wide", "floor"}
    assert told["layout_changes_ns"] == sum(changes.values())
    assert told["nodes_ns"] == sum(node["ns"] for node in told["nodes"]) + sum(changes.values())
    assert told["nodes_ns"] <= told["call_ns"]


def test_the_plan_of_a_file_is_the_same(served):
    daemon, folder = served
    said = harness.run(harness.BIN / "modser", "--plugin", folder / "blocks.so", "inspect", "--plan",
                       "--json", folder / "net.onnx")
    assert said.status == 0, said
    assert json.loads(said.out)["rows"] == rows_of(daemon, "net")
