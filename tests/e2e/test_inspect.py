"""modser inspect: what it says of real artifacts, against other tools and against loading."""
import hashlib
import json
import os
import re
import shutil

import harness
import pytest

MODSER = harness.BIN / "modser"


def inspect(path):
    said = harness.run(MODSER, "--json", "inspect", path)
    assert said.status == 0, said
    return json.loads(said.out)


def need(fixtures, name):
    path = fixtures / name
    if not path.exists():
        pytest.skip(f"no {name} among the fixtures")
    return path


def module(found, kind):
    return next(m for m in found["modules"] if m["kind"] == kind)


def test_the_files_hash_is_what_sha256sum_prints(fixtures):
    path = need(fixtures, "tvm-0.27/addone.so")
    want = hashlib.sha256(path.read_bytes()).hexdigest()
    assert inspect(path)["sha256"] == want
    assert f"sha256     {want}\n" in harness.run(MODSER, "inspect", path).out


def test_payloads_hashes_are_of_the_bytes_in_the_file(fixtures):
    path = need(fixtures, "tvm-0.8/cuda_ops/cuda_ops_ptx.so")
    found = module(inspect(path), "cuda")
    data = path.read_bytes()
    at = data.index(b"\x03\0\0\0\0\0\0\0ptx")  # its format begins the payload
    assert found["sha256"] == hashlib.sha256(data[at:at + found["bytes"]]).hexdigest()


def test_a_graphs_inputs_are_those_of_its_json(fixtures):
    folder = need(fixtures, "tvm-0.8/convnet_llvm")
    found = module(inspect(folder / "convnet_llvm.so"), "GraphExecutorFactory")
    graph = json.loads((folder / "graph.json").read_text())
    run = found["model"]["functions"][0]
    names = [graph["nodes"][i]["name"] for i in graph["arg_nodes"]]
    assert [v["name"] for v in run["inputs"]] == [n for n in names if not re.match(r"p\d+$", n)]
    shapes = graph["attrs"]["shape"][1]
    rows = graph["node_row_ptr"]
    heads = [shapes[rows[node] + index] for node, index, *_ in graph["heads"]]
    assert [v["shape"] for v in run["outputs"]] == heads
    assert all(v["dtype"] == "float32" for v in run["inputs"] + run["outputs"])


def test_a_relay_program_is_listed_as_tvm_lists_it(fixtures):
    folder = need(fixtures, "tvm-0.8/mlp_vm")
    theirs = re.findall(r"^ *\d+: .*# (.*)$", (folder / "bytecode.txt").read_text(), re.M)
    said = harness.run(MODSER, "inspect", "--vm", folder / "mlp_vm.so")
    ours = re.findall(r"^ *\d+ (.*)$", said.out, re.M)
    assert theirs and len(ours) == len(theirs)
    for a, b in zip(theirs, ours):
        assert a.split()[0].replace("invoke_packed", "call_packed") == b.split()[0]
        registers = re.findall(r"\$(\d+)", a)
        assert sorted(registers) == sorted(re.findall(r"\br(\d+)", b)), (a, b)


@pytest.mark.parametrize("form, kinds", [("ptx", ["ptx"]), ("cubin", ["cubin"]),
                                         ("fatbin", ["cubin", "ptx", "cubin"])])
def test_cuda_code_says_its_devices_and_kernels(fixtures, form, kinds):
    found = module(inspect(need(fixtures, f"tvm-0.8/cuda_ops/cuda_ops_{form}.so")), "cuda")
    assert [c["kind"] for c in found["code"]] == kinds
    kernels = {"addone_kernel0", "matmul_kernel0", "scale_shift_kernel0"}
    for code in found["code"]:
        assert re.match("(sm|compute)_(75|90)$", code["arch"])
        if "compression" in code:
            continue
        assert {k["name"] for k in code["kernels"]} == kernels
        assert {k["n_params"] for k in code["kernels"]} == {5, 3, 7}
        for kernel in code["kernels"]:
            assert kernel["max_threads"][1:] == [1, 1]
            assert code["kind"] == "ptx" or kernel["registers"] in range(8, 65)


SOURCE = """
extern "C" __global__ void __launch_bounds__(128) add(float *a, const float *b, int n) {
    __shared__ float s[64];
    s[threadIdx.x % 64] = b[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) a[threadIdx.x] = s[(threadIdx.x + 1) % 64] + 1;
}
extern "C" __global__ void dyn(float *a, double x, char c) {
    extern __shared__ float d[];
    float local[100];
    for (int i = 0; i < 100; i++) local[(i * c) % 100] = d[i];
    a[threadIdx.x] = local[c % 100] + x;
}
"""


@pytest.mark.parametrize("arch", ["75", "90a", "100f"])
def test_kernels_resources_are_those_that_ptxas_reports(tmp_path, arch):
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if nvcc is None:
        pytest.skip("no nvcc")
    (tmp_path / "k.cu").write_text(SOURCE)
    made = harness.run(nvcc, "-cubin", f"-arch=sm_{arch}", "-Xptxas", "-v", "-o",
                       tmp_path / "k.cubin", tmp_path / "k.cu")
    if made.status != 0:
        pytest.skip(f"nvcc does not make sm_{arch}")
    (code,) = inspect(tmp_path / "k.cubin")
    kernels = {k["name"]: k for k in code["kernels"]}
    assert code["arch"] == f"sm_{arch}" and kernels.keys() == {"add", "dyn"}
    for name, stack, used in re.findall(
            r"entry function '(\w+)'.*?(\d+) bytes stack frame.*?Used (.*?)\n",
            made.out + made.err, re.S):
        kernel = kernels[name]
        assert f"{kernel['registers']} registers" in used
        assert kernel["local_bytes"] == int(stack)
        smem = re.search(r"(\d+) bytes smem", used)
        assert kernel["shared_bytes"] == (int(smem[1]) if smem else 0)
        constants = re.search(r"(\d+) bytes cmem\[0\]", used)
        assert constants is None or kernel["const_bytes"] == int(constants[1])
    assert kernels["add"]["max_threads"] == [128, 1, 1] and kernels["add"]["n_params"] == 3


def test_a_signature_is_the_one_that_a_loaded_module_prints(daemon, fixtures):
    path = need(fixtures, "tvm-0.27/addone.so")
    daemon.load("addone", path)
    assert dict(inspect(path)["signatures"])["addone"] in daemon.ok("funcs", "addone").out


def test_a_verdict_is_what_loading_gives(daemon, fixtures):
    """Loading runs code; the verdict does not, and has to say the same. But for kernels of
    kinds that do not run: such a library loads, and a call says what is missing."""
    kinds = json.loads(daemon.ok("--json", "info").out)["kinds"]
    files = sorted(p for p in fixtures.glob("tvm-*/**/*.so") if p.stat().st_size < 1 << 20)
    assert files
    for i, path in enumerate(files):
        said = harness.run(MODSER, "inspect", "--check-daemon", daemon.host, path)
        loaded = daemon.modser("load", f"m{i}", path)
        runs = loaded.status == 0
        if runs:
            functions = json.loads(daemon.ok("--json", "funcs", f"m{i}").out)
            runs = not any("refusal" in f for f in functions)
            runs &= all(m["kind"] in kinds for m in inspect(path)["modules"])
            daemon.ok("unload", f"m{i}")
        assert said.status == (0 if runs else 8), f"{path}: {said}\n{loaded}"
        assert runs or len((said.out + said.err).splitlines()) >= 2, said


def test_foreign_code_will_not_run(daemon, fixtures, tmp_path):
    data = bytearray(need(fixtures, "tvm-0.27/addone.so").read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "arm.so").write_bytes(data)
    said = harness.run(MODSER, "inspect", "--check-daemon", daemon.host, tmp_path / "arm.so")
    assert said.status == 8 and "it is for aarch64, the daemon's machine is" in said.out
    said = harness.run(MODSER, "--json", "inspect", "--check-daemon", daemon.host,
                       tmp_path / "arm.so")
    verdict = json.loads(said.out)
    assert said.status == 8 and verdict["will_run"] is False
    assert any("aarch64" in reason for reason in verdict["reasons"])


def test_nobody_to_ask_is_told(fixtures):
    said = harness.run(MODSER, "inspect", "--check-daemon", "unix:/no/such",
                       need(fixtures, "tvm-0.27/addone.so"))
    assert said.status == 3 and "/no/such" in said.err


@pytest.mark.parametrize("option", ["--dot", "--vm"])
def test_an_archive_has_no_picture_and_no_listing(fixtures, option):
    path = need(fixtures, "tvm-0.8/mlf/operator_addone.tar")
    said = harness.run(MODSER, "inspect", option, path)
    assert said.status == 8 and said.out == "", said
    assert f"a model library archive; {option} is for libraries" in said.err


def test_one_way_of_showing_at_a_time(fixtures):
    said = harness.run(MODSER, "inspect", "--dot", "--vm", need(fixtures, "tvm-0.27/addone.so"))
    assert said.status == 2 and said.out == "", said


def test_a_device_without_an_end_is_no_file():
    said = harness.run(MODSER, "inspect", "/dev/zero")
    assert said.status == 2, said
    assert said.err.startswith("modser: /dev/zero: an endless device"), said


def test_cut_files_get_one_line_of_cause(fixtures, tmp_path):
    data = need(fixtures, "tvm-0.27/relax_mlp_cuda.so").read_bytes()
    for n in range(0, len(data), len(data) // 40):
        (tmp_path / "cut.so").write_bytes(data[:n])
        said = harness.run(MODSER, "inspect", tmp_path / "cut.so")
        assert said.status == 8 and said.out == "", f"{n}: {said}"
        assert len(said.err.splitlines()) == 2, said


def u64(*numbers):
    return b"".join(n.to_bytes(8, "little") for n in numbers)


def named(kind):
    return u64(len(kind)) + kind.encode()


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """A library of TVM 0.13's layout whose second module is of a kind that modserd does not know:
    no reader tells where it ends. The third one stands behind it, and then the tree.
    """
    folder = tmp_path_factory.mktemp("cut")
    rows = u64(4, 0, 1, 2, 2) + u64(2, 1, 2)  # 0 imports 1, which imports 2
    body = u64(4) + named("_lib") + named("zzz") + b"no reader" + named("cuda") + named("_import_tree") + rows
    (folder / "blob").write_bytes(u64(len(body)) + body)
    library = folder / "cut.so"
    source = harness.ROOT / "tests" / "artifact" / "library.c"
    said = harness.run("cc", "-shared", "-fPIC", "-nostdlib", "-DERA_CLASSIC",
                       f'-DBLOB_FILE="{folder / "blob"}"', source, "-o", library)
    assert said.status == 0, said
    return library


def test_a_tree_is_shown_beyond_a_module_of_an_unknown_kind(cut):
    said = harness.run(harness.BIN / "modser", "inspect", cut)
    assert said.status == 0, said
    assert "[1] zzz" in said.out and "does not know this kind" in said.out
    assert "[2] (not read)" in said.out
    modules = json.loads(harness.run(harness.BIN / "modser", "--json", "inspect", cut).out)["modules"]
    assert [m["kind"] for m in modules] == ["_lib", "zzz", "(not read)"]
    assert [m["imports"] for m in modules] == [[1], [2], []]


def test_such_a_library_is_refused_by_the_name_of_the_kind(cut, daemon):
    said = daemon.modser("load", "cut", cut)
    assert said.status == 8 and '"zzz"' in said.err
    said = daemon.modser("inspect", "--check-daemon", daemon.host, cut)
    assert said.status == 8 and "module 1 (zzz): the daemon does not run this kind" in said.out + said.err
    assert "(not read)" not in said.out + said.err
