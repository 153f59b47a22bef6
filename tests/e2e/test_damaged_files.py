"""Every verb that reads files, over every kind of file, damaged in every way: one code and one exit
status, BAD_ARTIFACT and 6, and nothing written. What is not damaged is taken, or refused for what
it is: that tells damage from a verb that refuses all.
"""
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import tarfile

import harness
import pytest

CORPUS = harness.ROOT / "tests/corpus"
HOST_C = "void *__tvm_ffi__library_ctx;\nint __tvm_ffi_f(void) { return 0; }\n"
JUNK = random.Random(1).randbytes(4096)
DAMAGES = {
    "empty": lambda data: b"",
    "a_byte": lambda data: data[:1],
    "a_quarter": lambda data: data[: len(data) // 4],
    "half": lambda data: data[: len(data) // 2],
    "three_quarters": lambda data: data[: len(data) * 3 // 4],
    "junk": lambda data: JUNK,
    "zeros": lambda data: bytes(len(data)),
}


def archive(files, mode="w"):
    """A tar of {name: data} that ends with its marker."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        end = tar.offset + 1024
    return out.getvalue()[:end] if mode == "w" else out.getvalue()


def of_corpus(kind, name):
    return (CORPUS / kind / f"accept_{name}.bin").read_bytes()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """{name: bytes}, all sound."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "a.c").write_text(HOST_C)
    subprocess.run(["cc", "-w", "-c", "-fPIC", folder / "a.c", "-o", folder / "a.o"], check=True)
    library, code = (harness.ZOO / "results.so").read_bytes(), (folder / "a.o").read_bytes()
    graph = of_corpus("graph", "release_017_graph_two_io")
    params = of_corpus("params", "two")
    package = {"mod.so": library, "mod.json": graph, "mod.params": of_corpus("params", "none")}
    return {
        "library.so": library,
        "object.o": code,
        "objects.tar": archive({"lib0.o": code, "notes": b"linked by nobody"}),
        "objects.tar.gz": archive({"lib0.o": code}, "w:gz"),
        "package.tar": archive(package),
        "package.tar.gz": archive(package, "w:gz"),
        "mlf.tar": of_corpus("mlf", "release_09_mlf2_c_pools"),
        "graph.json": graph,
        "model.params": params,
        "program.ro": of_corpus("relax_image", "release_017_relax_control")[1:],  # an era is in front
        "model.tmfile": of_corpus("tmfile", "larger_buffer"),
        "model.onnx": of_corpus("onnx", "scan"),
    }


NAMES = ("library.so", "object.o", "objects.tar", "objects.tar.gz", "package.tar", "package.tar.gz",
         "mlf.tar", "graph.json", "model.params", "program.ro", "model.tmfile", "model.onnx")


def verbs(daemon, folder, path):
    """(verb, its command line): those that are for such a file."""
    yield "inspect", ("inspect", path)
    yield "load", ("-H", daemon.host, "load", "damaged", "--replace", path)
    yield "convert", ("convert", path, "-o", folder / "made.so")
    if path.suffix == ".so":
        yield "unpack", ("unpack", path, "-C", folder / "made")


def expect_damaged(said, folder):
    assert said.status == 8, said
    lines = said.err.splitlines()
    assert lines[-2].endswith("[BAD_ARTIFACT]") and lines[-1].startswith("  to do: "), said
    assert not list(folder.glob("made*")), "nothing is written"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_one_code_for_every_verb(daemon, kinds, tmp_path, name, damage):
    path = tmp_path / name
    path.write_bytes(DAMAGES[damage](kinds[name]))
    for _, words in verbs(daemon, tmp_path, path):
        expect_damaged(harness.run(harness.BIN / "modser", *words), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_file_whole_is_not_called_damaged(daemon, kinds, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(kinds[name])
    for verb, words in verbs(daemon, tmp_path, path):
        if verb == "load" and name.startswith("package"):
            continue  # its library is not that of its graph
        said = harness.run(harness.BIN / "modser", *words)
        assert "BAD_ARTIFACT" not in said.err and (verb != "inspect" or said.status == 0), said


@pytest.mark.parametrize("part", ["mod.so", "mod.json", "mod.params"])
def test_a_damaged_part_of_a_package_is_named(daemon, kinds, tmp_path, part):
    files = {"mod.so": kinds["library.so"], "mod.json": kinds["graph.json"],
             "mod.params": kinds["model.params"]}
    for damage in ("half", "junk", "a_byte"):
        path = tmp_path / "package.tar"
        path.write_bytes(archive(files | {part: DAMAGES[damage](files[part])}))
        for _, words in verbs(daemon, tmp_path, path):
            expect_damaged(harness.run(harness.BIN / "modser", *words), tmp_path)


CLAIMED = 1 << 30  # as zeros, of which gzip makes a thousandth


def bomb(path):
    """An archive of a MiB, which may unpack to 128, with a file of many more."""
    head = tarfile.TarInfo("mod.so")
    head.size = CLAIMED
    zeros = gzip.compress(bytes(1 << 20))
    with path.open("wb") as file:
        file.write(gzip.compress(head.tobuf(tarfile.GNU_FORMAT)))
        file.write(zeros * (CLAIMED >> 20))
        file.write(gzip.compress(bytes(1024)))


@pytest.mark.parametrize("verb", ["inspect", "convert"])
def test_a_bomb_is_damage_and_takes_no_memory(tmp_path, verb):
    path = tmp_path / "package.tar.gz"
    bomb(path)
    words = ["modser", verb, str(path), *["-o", str(tmp_path / "made.so")] * (verb == "convert")]
    with harness.started(harness.BIN / "modser", *words[1:], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 8 and "[BAD_ARTIFACT]" in said, said
    assert harness.SANITIZED or usage.ru_maxrss < 64 << 10, usage  # KiB; half of what it may take


@pytest.fixture
def unpacked(kinds, tmp_path):
    """What `unpack` makes of a library with an opaque module and device code, to be packed."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "a.o").write_bytes(kinds["object.o"])
    (folder / "x.bin").write_bytes(b"opaque")
    (folder / "k.cl").write_text("// Function: k\n")
    (folder / "k.json").write_text(json.dumps(
        {"func_info": {"k": {"name": "k", "arg_types": [], "launch_param_tags": []}}}))
    modules = [{"kind": "_lib", "imports": [1, 2]}, {"kind": "x", "payload": "x.bin"},
               {"kind": "opencl", "format": "cl", "functions": "k.json", "code": "k.cl"}]
    (folder / "manifest.json").write_text(
        json.dumps({"tvm": "0.22", "modules": modules, "objects": ["a.o"]}))
    return folder


def pack(folder):
    return harness.run(harness.BIN / "modser", "pack", folder, "-o", folder / "made.so")


def test_a_whole_folder_is_packed(unpacked):
    assert pack(unpacked).status == 0


@pytest.mark.parametrize("name", ["manifest.json", "k.json", "a.o"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_a_folder_is_one_code_for_pack(unpacked, name, damage):
    path = unpacked / name
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    expect_damaged(pack(unpacked), unpacked)


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_a_flipped_bit_of_a_manifest_is_never_a_wrong_command(unpacked, at):
    """It may still be one, of another name or file."""
    path = unpacked / "manifest.json"
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 4
    path.write_bytes(data)
    said = pack(unpacked)
    assert said.status in (0, 4, 8), said
    shutil.rmtree(unpacked)
