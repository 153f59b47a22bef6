"""Models of the classic era, served as one call each."""
import json
import re

import harness
import numpy as np
import pytest
from test_fixtures import call, loaded, need, out, ulps  # noqa: F401


def test_out_tensors_are_refused_by_functions_that_return_their_outputs(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    said = daemon.modser("call", f"{name}:run", f"@{folder / 'in_data.npy'}", "out:float32[2,10]")
    text = "run: argument 1: an out tensor, but run returns its outputs itself; omit it"
    assert said.status == 1 and text in said.err


def test_operators_without_their_graph_name_what_is_missing(daemon, fixtures):
    name = loaded(daemon, need(fixtures / "tvm-0.8/mlp_llvm", "mlp_llvm_nofactory.so"))
    said = daemon.modser("call", name, 1)
    assert said.status == 2 and "--graph FILE --params FILE" in said.err, said


def test_names_that_do_not_fit_are_refused(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x = f"@{folder / 'in_data.npy'}"
    said = daemon.modser("call", f"{name}:run", f"image={x}")
    assert said.status == 1 and "no parameter has the name image" in said.err
    said = daemon.modser("call", f"{name}:run", f"data={x}", f"data={x}")
    assert said.status == 1 and "two arguments" in said.err
    said = daemon.modser("call", f"{name}:run", f"data={x}", x)
    assert said.status == 1 and "more arguments than parameters" in said.err


@pytest.mark.parametrize(
    "path, outputs",
    [
        ("mlp_llvm/mlp_llvm.so", 1),
        ("convnet_llvm/convnet_llvm.so", 2),
        ("mlp_linkparams/mlp_linkparams.so", 1),
        ("resnet18_llvm/resnet18_llvm.so", 1),
    ],
)
def test_graph_executors_run(daemon, fixtures, tmp_path, path, outputs):
    file = need(fixtures / "tvm-0.8", path)
    name = loaded(daemon, file)
    words = []
    for i in range(outputs):
        words += ["-o", str(tmp_path / f"{i}.npy")]
    for prefix in ("", "data="):
        daemon.ok("call", f"{name}:run", f"{prefix}@{file.parent / 'in_data.npy'}", *words)
        for i in range(outputs):
            want = np.load(file.parent / f"out_{i}.npy")
            got = np.load(tmp_path / f"{i}.npy")
            assert got.shape == want.shape and ulps(got, want) <= 2


@pytest.mark.parametrize("model, outputs", [("mlp_llvm", 1), ("convnet_llvm", 2)])
def test_a_graph_beside_its_library_runs(daemon, fixtures, tmp_path, model, outputs):
    folder = fixtures / "tvm-0.8" / model
    library = need(folder, f"{model}_nofactory.so")
    files = ("--graph", folder / "graph.json", "--params", folder / "model.params")
    name = f"{model}_parts"
    daemon.ok("load", *files, name, library)
    words = []
    for i in range(outputs):
        words += ["-o", tmp_path / f"{i}.npy"]
    daemon.ok("call", f"{name}:run", f"@{folder / 'in_data.npy'}", *words)
    for i in range(outputs):
        assert ulps(np.load(tmp_path / f"{i}.npy"), np.load(folder / f"out_{i}.npy")) <= 2
    assert json.loads(daemon.ok("--json", "show", name).out)["beside"] == {
        "graph_bytes": (folder / "graph.json").stat().st_size,
        "params_bytes": (folder / "model.params").stat().st_size}
    daemon.ok("unload", name)


def test_a_daemon_starts_with_a_graph_beside_its_library(own_daemon, fixtures, tmp_path):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    library = need(folder, "mlp_llvm_nofactory.so")
    parts = f"{library},graph={folder / 'graph.json'},params={folder / 'model.params'}"
    (tmp_path / "empty.params").write_bytes(b"")
    daemon = own_daemon(
        "--load", f"parts={parts},device=cpu",
        "--load", f"absent={library},graph={tmp_path}/absent.json",
        "--load", f"empty={library},graph={folder / 'graph.json'},params={tmp_path}/empty.params",
        "--load", f"folder={library},graph={tmp_path}",
    )
    daemon.ok("wait", "parts")
    y = tmp_path / "y.npy"
    daemon.ok("call", "parts:run", f"@{folder / 'in_data.npy'}", "-o", y)
    assert ulps(np.load(y), np.load(folder / "out_0.npy")) <= 2
    for name, cause in [
        ("absent", "absent.json: No such file"),
        ("empty", "empty.params: an empty file"),
        ("folder", "not a regular file"),
    ]:
        said = daemon.modser("wait", name)
        assert said.status == 1 and f"load {name}: " in said.err and cause in said.err


@pytest.mark.parametrize("model, outputs", [("mlp_opencl", 1), ("convnet_opencl", 2)])
@pytest.mark.parametrize("form", ["factory", "parts"])
def test_graphs_run_on_a_device(daemon, fixtures, tmp_path, model, outputs, form):
    folder = fixtures / "tvm-0.8" / model
    if "opencl:0" not in daemon.ok("devices").out:
        pytest.skip("no OpenCL device")
    name = f"{model}_{form}"
    if form == "factory":
        daemon.ok("load", name, need(folder, f"{model}.so"))
    else:
        files = ("--graph", folder / "graph.json", "--params", folder / "model.params")
        daemon.ok("load", *files, name, need(folder, f"{model}_nofactory.so"))
    words = []
    for i in range(outputs):
        words += ["-o", tmp_path / f"{i}.npy"]
    for _ in range(2):
        daemon.ok("call", f"{name}:run", f"@{folder / 'in_data.npy'}", *words)
        for i in range(outputs):
            want = np.load(folder / f"out_{i}.npy")
            assert ulps(np.load(tmp_path / f"{i}.npy"), want) <= 2
    daemon.ok("unload", name)


def test_a_graph_of_a_device_does_not_run_on_the_host(daemon, fixtures):
    file = need(fixtures / "tvm-0.8", "mlp_opencl/mlp_opencl.so")
    daemon.ok("load", "--device", "cpu", "on_host", file)
    said = daemon.modser("call", "on_host:run")
    assert said.status == 1 and "its tensors are on opencl" in said.err
    daemon.ok("unload", "on_host")


def test_ahead_of_time_compiled_models_run(daemon, tmp_path):
    library = harness.BUILD / "tests/runtime/graph/fixture_aot_planned.so"
    np.save(tmp_path / "x.npy", np.arange(3, dtype="float32"))
    daemon.ok("load", "aot", library)
    words = ("-o", tmp_path / "0.npy", "-o", tmp_path / "1.npy")
    daemon.ok("call", "aot:run", f"x=@{tmp_path / 'x.npy'}", *words)
    assert np.load(tmp_path / "0.npy").tolist() == [11, 22, 33]
    assert np.load(tmp_path / "1.npy").tolist() == [22, 44, 66]
    daemon.ok("unload", "aot")


def test_files_that_are_no_graph_are_refused(daemon, fixtures, tmp_path):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    library = need(folder, "mlp_llvm_nofactory.so")
    said = daemon.modser("load", "--graph", folder / "model.params", "bad", library)
    assert said.status == 8 and "graph: line 1" in said.err
    files = ("--graph", folder / "graph.json", "--params", folder / "graph.json")
    said = daemon.modser("load", *files, "bad", library)
    assert said.status == 8 and "magic of a .params file" in said.err
    (tmp_path / "empty").touch()
    said = daemon.modser("load", "--graph", tmp_path / "empty", "bad", library)
    assert said.status == 8 and "empty: the file is empty" in said.err
    said = daemon.modser("load", "--params", folder / "model.params", "bad", library)
    assert said.status == 8 and "none of its modules has parameters" in said.err


def refused_graph(daemon, fixtures, tmp_path, change):
    """What a load of mlp_llvm says when @change was done to its graph."""
    folder = fixtures / "tvm-0.8/mlp_llvm"
    graph = json.loads(need(folder, "graph.json").read_text())
    change(graph)
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    files = ("--graph", tmp_path / "graph.json", "--params", folder / "model.params")
    said = daemon.modser("load", *files, "bad", folder / "mlp_llvm_nofactory.so")
    assert said.status == 8, said
    return said.err


def nodes_of(graph):
    return [n for n in graph["nodes"] if n["op"] != "null"]


def other_function(graph):
    nodes_of(graph)[1]["attrs"]["func_name"] = "fused_nothing"


def fewer_inputs(graph):
    nodes_of(graph)[0]["inputs"].pop()


def fewer_arguments(graph):
    fewer_inputs(graph)
    attrs = nodes_of(graph)[0]["attrs"]
    attrs["num_inputs"] = str(int(attrs["num_inputs"]) - 1)


def other_shape(graph):
    graph["attrs"]["shape"][1][0] = [2, 17]


def other_dtype(graph):
    graph["attrs"]["dltype"][1][0] = "int32"


def lost_input(graph):
    graph["arg_nodes"].pop()


@pytest.mark.parametrize("change, text", [
    (other_function, r"graph: the library does not have the functions of its nodes: "
                     r"fused_nothing \(node \d+, \w+\)"),
    (fewer_inputs, r"graph: node \d+ \(\w+\): num_inputs 3, but it has 2"),
    (fewer_arguments, r"graph: node \d+ \(\w+\) passes 3 arguments, but its function is \w+\("),
    (other_shape, r"passes Tensor\(\[2, 17\], float32\) as argument 0, but"),
    (other_dtype, r"passes Tensor\(\[2, 16\], int32\) as argument 0, but"),
    (lost_input, "4 arg_nodes, but 5 nodes have no function"),
])
def test_a_graph_that_is_not_the_librarys_is_refused(daemon, fixtures, tmp_path, change, text):
    assert re.search(text, refused_graph(daemon, fixtures, tmp_path, change))


def test_parts_of_two_models_are_refused(daemon, fixtures):
    mlp, net = (fixtures / "tvm-0.8" / name for name in ("mlp_llvm", "convnet_llvm"))
    library = need(mlp, "mlp_llvm_nofactory.so")
    said = daemon.modser("load", "--graph", net / "graph.json", "bad", library)
    assert said.status == 8 and "does not have the functions of its nodes" in said.err
    files = ("--graph", mlp / "graph.json", "--params", net / "model.params")
    said = daemon.modser("load", *files, "bad", library)
    assert said.status == 8 and "parameter p" in said.err and "the graph has Tensor(" in said.err


def test_without_parameters_they_are_inputs(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    library = need(folder, "mlp_llvm_nofactory.so")
    daemon.ok("load", "--graph", folder / "graph.json", "bare", library)
    assert "p3: Tensor([1, 10], float32))" in daemon.ok("show", "bare").out
    daemon.ok("unload", "bare")


def test_relay_vm_runs(daemon, fixtures, tmp_path):
    folder = fixtures / "tvm-0.8/mlp_vm"
    name = loaded(daemon, need(folder, "mlp_vm.so"))
    text = "main(data: Tensor([2, 16], float32)) -> (Tensor([2, 10], float32))"
    assert text in daemon.ok("show", name).out
    for prefix in ("", "data="):
        said = ("-o", tmp_path / "y.npy", f"{prefix}@{folder / 'in_data.npy'}")
        daemon.ok("call", f"{name}:main", *said)
        assert ulps(np.load(tmp_path / "y.npy"), np.load(folder / "out_0.npy")) <= 2


def test_inputs_and_outputs_are_shown(daemon, fixtures):
    name = loaded(daemon, need(fixtures / "tvm-0.8", "convnet_llvm/convnet_llvm.so"))
    shown = daemon.ok("show", name).out
    assert "run(data: Tensor([1, 3, 16, 16], float32))" in shown
    assert "-> (Tensor([1, 5], float32), Tensor([4, 4], float32))" in shown


def test_compiled_functions_take_names_too(daemon, fixtures, call):  # noqa: F811
    name = loaded(daemon, need(fixtures, "tvm-0.27/addone.so"))
    data = np.load(fixtures / "tvm-0.27/addone.npz")
    x = call.save(data["in17"])
    shown = daemon.ok("funcs", name).out.split("addone(")[1]
    x_name, y_name = re.findall(r"(\w+): Tensor", shown)[:2]
    path = call.folder / "y.npy"
    y = out(data["out17"])
    daemon.ok("call", f"{name}:addone", f"{y_name}={y}", f"{x_name}={x}", "-o", path)
    assert np.load(path).tobytes() == data["out17"].tobytes()
