"""Model Library Format: archives of TVM 0.8 are served, written archives are like TVM's."""
import gzip
import io
import json
import os
import struct
import tarfile

import harness
import numpy as np
import pytest
from test_fixtures import need, ulps

FLAT_C = """
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
TVM_DLL int32_t %s(void* args, void* codes, int32_t n, void* ret, void* ret_code, void* self) {
  DLTensor* x = ((TVMValue*)args)[0].v_handle;
  DLTensor* y = ((TVMValue*)args)[n - 1].v_handle;
  for (int64_t i = 0; i < 4; ++i) ((float*)y->data)[i] = ((float*)x->data)[i] + 1.0f;
  return 0;
}
"""
GRAPH = {
    "nodes": [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "tvm_op", "name": "f", "inputs": [[0, 0, 0]],
         "attrs": {"func_name": "f", "num_inputs": "1", "num_outputs": "1",
                   "flatten_data": "0"}},
    ],
    "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
    "attrs": {"dltype": ["list_str", ["float32", "float32"]],
              "storage_id": ["list_int", [0, 1]], "shape": ["list_shape", [[4], [4]]]},
}


@pytest.fixture(scope="module")
def mlf(fixtures):
    return need(fixtures, "tvm-0.8/mlf/mlp_graph_llvm.tar").parent


def modser(*words, **env):
    return harness.run(harness.BIN / "modser", *words, env=harness.environment() | env)


def members(path):
    with tarfile.open(path) as tar:
        return {m.name: (tar.extractfile(m).read() if m.isfile() else None) for m in tar}


def unpacked(path, folder):
    """The files of an archive that `convert` takes."""
    wanted = ("graph.json", ".graph", ".params", ".o", ".c", "relay.txt")
    found = []
    for name, data in members(path).items():
        if data is not None and name.endswith(wanted):
            found.append(folder / os.path.basename(name))
            found[-1].write_bytes(data)
    return found


def runs(daemon, name, mlf, tmp_path):
    daemon.ok("call", f"{name}:run", f"@{mlf / 'in_data.npy'}", "-o", tmp_path / "o.npy")
    return ulps(np.load(tmp_path / "o.npy"), np.load(mlf / "out_0.npy")) <= 2


def test_a_full_model_of_tvm_0_8_runs(daemon, mlf, tmp_path):
    daemon.load("whole", mlf / "mlp_graph_llvm.tar")
    assert runs(daemon, "whole", mlf, tmp_path)


def test_an_operator_of_tvm_0_8_runs(daemon, mlf, tmp_path):
    x = np.arange(64, dtype="float32")
    np.save(tmp_path / "x.npy", x)
    shown = modser("inspect", mlf / "operator_addone.tar").out
    assert "addone_op(A_1: Tensor([64], float32), B_1: Tensor([64], float32))\n" in shown
    daemon.load("op", mlf / "operator_addone.tar")
    daemon.ok("call", "op:addone_op", f"@{tmp_path / 'x.npy'}", "out:float32[64]",
              "-o", tmp_path / "y.npy")
    assert (np.load(tmp_path / "y.npy") == x + 1).all()
    told = "addone_op(A_1: Tensor([64], float32), B_1: Tensor([64], float32))"
    assert told in daemon.ok("funcs", "op").out and told in daemon.ok("show", "op").out
    said = daemon.modser("call", "op:addone_op", f"@{tmp_path / 'x.npy'}", "out:float32[63]")
    assert said.status == 1 and "argument 1 (B_1)" in said.err, "its code checks nothing"


def test_what_convert_links_is_whole(daemon, mlf, tmp_path):
    assert modser("convert", mlf / "mlp_graph_llvm.tar", "-o", tmp_path / "d.so").status == 0
    daemon.load("linked", tmp_path / "d.so")
    assert runs(daemon, "linked", mlf, tmp_path)


@pytest.fixture
def folder(mlf, tmp_path):
    """An archive that somebody has unpacked."""
    with tarfile.open(mlf / "mlp_graph_llvm.tar") as tar:
        tar.extractall(tmp_path / "model", filter="data")
    return tmp_path / "model"


def test_an_unpacked_archive_is_linked_and_loaded(daemon, mlf, folder, tmp_path):
    assert modser("convert", f"{folder}/", "-o", tmp_path / "d.so").status == 0
    daemon.load("from_folder", tmp_path / "d.so")
    assert runs(daemon, "from_folder", mlf, tmp_path)
    daemon.load("folder", folder)
    assert runs(daemon, "folder", mlf, tmp_path)
    said, packed = modser("inspect", folder).out, modser("inspect", mlf / "mlp_graph_llvm.tar").out
    assert said.splitlines()[1:-5] == packed.splitlines()[1:-5]  # the size, the order of files


@pytest.mark.parametrize("source", ["archive", "folder"])
def test_an_archive_of_version_5_becomes_one_of_7(daemon, mlf, folder, tmp_path, source):
    given = folder if source == "folder" else mlf / "mlp_graph_llvm.tar"
    out = tmp_path / "seven.tar"
    said = modser("convert", given, "-o", out, SOURCE_DATE_EPOCH="0")
    assert said.status == 0, said
    names = members(out)
    assert json.loads(names["./metadata.json"])["version"] == 7
    assert "./src/default.relay" in names
    daemon.load(f"seven_{source}", out)
    assert runs(daemon, f"seven_{source}", mlf, tmp_path)
    back = tmp_path / "five.tar"
    assert modser("convert", out, "--mlf-version", "5", "-o", back).status == 0
    old, new = (members(p) for p in (mlf / "mlp_graph_llvm.tar", back))
    assert all(new[n] == old[n] for n in old if n != "./metadata.json")


def test_an_archive_without_relay_text_gets_none(mlf, folder, tmp_path):
    (folder / "src/relay.txt").unlink()
    assert modser("convert", folder, "-o", tmp_path / "x.tar").status == 0
    assert not any("relay" in n for n in members(tmp_path / "x.tar"))


def test_what_cannot_become_another_archive_says_so(mlf, folder, tmp_path):
    said = modser("convert", mlf / "operator_addone.tar", "-o", tmp_path / "x.tar")
    assert said.status == 8 and "operator_addone.tar" in said.err and "graph executor" in said.err
    said = modser("convert", folder, mlf / "mlp_graph_llvm.tar", "-o", tmp_path / "x.tar")
    assert said.status == 2 and "a second model" in said.err
    (folder / "link").symlink_to("/etc/passwd")
    said = modser("convert", folder, "-o", tmp_path / "x.so")
    assert said.status == 8 and "link: neither a file nor a folder" in said.err
    said = modser("convert", tmp_path, "-o", tmp_path / "x.so")
    assert said.status == 8 and f"{tmp_path}: a folder without metadata.json" in said.err
    assert "tvmc is given as its .tar" in said.err
    assert not (tmp_path / "x.tar").exists() and not (tmp_path / "x.so").exists()


def test_a_project_of_microtvm_has_its_archive_inside(daemon, mlf, tmp_path):
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "microtvm_api_server.py").write_text("# generated\n")
    (project / "model.tar").write_bytes((mlf / "mlp_graph_llvm.tar").read_bytes())
    daemon.load("project", project)
    assert runs(daemon, "project", mlf, tmp_path)


@pytest.mark.parametrize("version", [5, 7])
def test_what_convert_writes_is_read_and_runs(daemon, mlf, tmp_path, version):
    parts = unpacked(mlf / "mlp_graph_llvm.tar", tmp_path)
    out = tmp_path / "again.tar"
    assert modser("convert", *parts, "--mlf-version", version, "-o", out).status == 0
    said = json.loads(modser("--json", "inspect", out).out)
    assert said["version"] == version
    daemon.load(f"again{version}", out)
    assert runs(daemon, f"again{version}", mlf, tmp_path)


def test_version_5_is_what_tvm_0_8_writes(mlf, tmp_path):
    parts = unpacked(mlf / "mlp_graph_llvm.tar", tmp_path)
    out = tmp_path / "again.tar"
    said = modser("convert", *parts, "--mlf-version", "5", "-o", out, SOURCE_DATE_EPOCH="0")
    assert said.status == 0, said
    ours, theirs = members(out), members(mlf / "mlp_graph_llvm.tar")
    assert list(ours) == list(theirs), "the same members in the same order"
    one, two = (json.loads(m.pop("./metadata.json", None) or m.pop("metadata.json"))
                for m in (ours, theirs))
    assert ours == theirs, "the same bytes"
    assert one.pop("export_datetime") == "1970-01-01 00:00:00Z"
    two.pop("export_datetime")
    assert one["target"].keys() == two["target"].keys()
    one["target"] = two["target"]  # what compiled the objects is not in them
    main = one["memory"]["functions"]["main"][0]
    main["workspace_size_bytes"] += 80  # the largest workspace of an operator is not, either
    for f in one["memory"]["functions"]["operator_functions"]:
        f["workspace"] = next(
            t["workspace"] for t in two["memory"]["functions"]["operator_functions"]
            if t["function_name"] == f["function_name"])
    assert one == two


def test_an_archive_that_is_cut_off_says_so(mlf, tmp_path):
    whole = (mlf / "mlp_graph_llvm.tar").read_bytes()
    path = tmp_path / "cut.tar"
    for n in (512, 513, 1000, 1024, 1536, 2000, 2048, 4096, len(whole) // 2):
        path.write_bytes(whole[:n])
        for verb in (("inspect", path), ("convert", path, "-o", tmp_path / "d.so")):
            said = modser(*verb)
            assert said.status != 0 and "end marker" in said.err, (n, said)
            assert "unlinked" not in said.err


def test_what_is_cut_off_is_never_taken_for_something_else(daemon, mlf, tmp_path):
    whole = (mlf / "mlp_graph_llvm.tar").read_bytes()
    for name, data in (("cut.tar", whole[:512]), ("cut.tar.gz", gzip.compress(whole))):
        for n in (3, 11, 100, 511):
            path = tmp_path / name
            path.write_bytes(data[:n])
            for verb in (("inspect", path), ("load", "cut", path),
                         ("unpack", path, "-C", tmp_path / "out")):
                said = daemon.modser(*verb)
                assert said.status != 0 and f"{name}: " in said.err and "cut off" in said.err, said


def test_archives_are_reproducible(mlf, tmp_path):
    parts = unpacked(mlf / "mlp_graph_llvm.tar", tmp_path)
    made = []
    for i in range(2):
        said = modser("convert", *parts, "-o", tmp_path / f"{i}.tar", SOURCE_DATE_EPOCH="86400")
        assert said.status == 0, said
        made.append((tmp_path / f"{i}.tar").read_bytes())
    assert made[0] == made[1]
    names = members(tmp_path / "0.tar")
    assert any(n.endswith("src/default.relay") for n in names)


def write_parts(folder):
    (folder / "graph.json").write_text(json.dumps(GRAPH))
    (folder / "f.c").write_text(FLAT_C % "f")
    np.save(folder / "x.npy", np.arange(4, dtype="float32"))


def test_a_model_of_c_sources_needs_no_parameters(daemon, tmp_path):
    write_parts(tmp_path)
    out = tmp_path / "c.tar"
    said = modser("convert", tmp_path / "graph.json", tmp_path / "f.c", "--name", "net", "-o", out)
    assert said.status == 0, said
    assert any(n.endswith("codegen/host/src/net_lib0.c") for n in members(out))
    daemon.load("net", out)
    daemon.ok("call", "net:run", f"x=@{tmp_path / 'x.npy'}", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [1, 2, 3, 4]


def write_archive(path, metadata, files):
    with tarfile.open(path, "w") as tar:
        for name, text in ({"metadata.json": json.dumps(metadata)} | files).items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


def test_objects_come_from_what_export_library_writes(fixtures, mlf, tmp_path):
    graph = need(fixtures, "tvm-0.8/mlp_llvm/graph.json")
    lib = need(fixtures, "tvm-0.8/addone_cpu/addone_syslib.tar")
    said = modser("convert", graph, lib, "-o", tmp_path / "x.tar")
    assert said.status == 0, said
    assert any(n.endswith("codegen/host/lib/default_lib0.o") for n in members(tmp_path / "x.tar"))


def text64(data):
    return struct.pack("<Q", len(data)) + data


@pytest.mark.parametrize(
    "module, status",
    [
        (text64(b"GraphExecutorFactory") + text64(b"{}") + bytes(16) + text64(b"default"), 0),
        (text64(b"opencl") + text64(b"cl") + bytes(8) + text64(b""), 8),
    ],
)
def test_imports_for_devices_are_not_lost_in_silence(mlf, tmp_path, module, status):
    write_parts(tmp_path)
    blob = text64(struct.pack("<Q", 1) + module)
    text = f"const unsigned char __tvm_dev_mblob[] = {{{','.join(map(str, blob))}}};"
    (tmp_path / "devc.c").write_text(text)
    with tarfile.open(tmp_path / "lib.tar", "w:gz") as tar:
        tar.add(tmp_path / "devc.c", "devc.c")
        tar.add(tmp_path / "f.c", "lib0.c")
    out = tmp_path / "x.tar"
    said = modser("convert", tmp_path / "graph.json", tmp_path / "lib.tar", "-o", out)
    assert said.status == status, said
    if status == 0:
        assert len([n for n in members(out) if n.endswith(".c")]) == 1
    else:
        assert "opencl" in said.err


def test_one_of_several_models_is_chosen_by_name(daemon, tmp_path):
    write_parts(tmp_path)
    (tmp_path / "f.c").write_text("void* __tvm_module_ctx;" + FLAT_C % "f")
    both = {"version": 7, "modules": {}}
    with tarfile.open(tmp_path / "both.tar", "w") as tar:
        for name in ("a", "b"):
            said = modser("convert", tmp_path / "graph.json", tmp_path / "f.c", "--name", name,
                          "-o", tmp_path / f"{name}.tar")
            assert said.status == 0, said
            for path, data in members(tmp_path / f"{name}.tar").items():
                if path.endswith("metadata.json"):
                    both["modules"] |= json.loads(data)["modules"]
                elif data is not None:
                    info = tarfile.TarInfo(path)
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("./metadata.json")
        info.size = len(json.dumps(both))
        tar.addfile(info, io.BytesIO(json.dumps(both).encode()))
    said = daemon.modser("load", "b", tmp_path / "both.tar")
    assert said.status == 2 and "a, b" in said.err and "--name" in said.err
    said = modser("convert", tmp_path / "both.tar", "--name", "b", "-o", tmp_path / "b.so")
    assert said.status == 0, said
    daemon.load("b", tmp_path / "b.so")


def test_a_linked_library_is_refused_by_name(fixtures, tmp_path):
    graph = need(fixtures, "tvm-0.8/mlp_llvm/graph.json")
    said = modser("convert", graph, graph.parent / "mlp_llvm.so", "-o", tmp_path / "x.tar")
    assert said.status == 8 and "mlp_llvm.so" in said.err and "objects" in said.err


def test_without_a_compiler_the_offline_way_is_named(mlf, tmp_path):
    said = modser("convert", mlf / "mlp_graph_llvm.tar", "-o", tmp_path / "d.so",
                  CC="/nonexistent/cc", TMPDIR=str(tmp_path))
    assert said.status == 8 and "modser convert model.tar -o deploy.so" in said.err
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_what_the_compiler_says_is_passed_on(daemon, tmp_path):
    write_parts(tmp_path)
    (tmp_path / "f.c").write_text("#error no such luck\n")
    out = tmp_path / "c.tar"
    assert modser("convert", tmp_path / "graph.json", tmp_path / "f.c", "-o", out).status == 0
    said = daemon.modser("load", "broken", out)
    assert said.status == 8 and "no such luck" in said.err


def test_an_object_that_is_a_linkers_script_is_refused(mlf, tmp_path):
    script = tmp_path / "default_lib1.o"
    script.write_text("INPUT(/etc/hostname)")
    archive = tmp_path / "model.tar"
    archive.write_bytes((mlf / "mlp_graph_llvm.tar").read_bytes())
    with tarfile.open(archive, "a") as tar:
        tar.add(script, f"codegen/host/lib/{script.name}")
    said = modser("convert", archive, "-o", tmp_path / "x.so")
    assert said.status == 8 and f"{script.name}: not an ELF file" in said.err
    assert not (tmp_path / "x.so").exists()


def test_inspect_shows_the_models_parts(mlf):
    said = modser("inspect", mlf / "mlp_graph_llvm.tar").out
    for part in ["version 5", "default", "llvm", "graph", "data: float32[2, 16]",
                 "p3: float32[1, 10]", "tvmgen_default_fused_nn_softmax", "src/relay.txt"]:
        assert part in said
    model = json.loads(modser("--json", "inspect", mlf / "mlp_graph_llvm.tar").out)["models"][0]
    assert model["inputs"] == [{"name": "data", "dtype": "float32", "shape": [2, 16]}]
    assert model["memory"]["functions"]["main"][0]["workspace_size_bytes"] == 416


@pytest.mark.parametrize("words", [["-o", "x.zip"], [], ["--mlf-version", "6", "-o", "x.tar"]])
def test_convert_wants_to_know_what_into(words):
    assert modser("convert", "model.tar", *words).status == 2
