"""Wrong uses of pack, unpack and convert: one line of cause, one line of what to do, nothing
left behind.
"""
import json
import os
import pathlib
import signal
import subprocess

import harness
import pytest

LIB = {"kind": "_lib", "imports": [1]}
HOST_C = "void *__tvm_ffi__library_ctx;\nint __tvm_ffi_f(void) { return 0; }\n"


def modser(*words, **env):
    return harness.run(harness.BIN / "modser", *words, env=harness.environment() | env)


def manifest(folder, **fields):
    path = folder / "manifest.json"
    path.write_text(json.dumps({"tvm": "0.22"} | fields))
    return path


def kernels(folder, text):
    (folder / "k.cl").write_text("// Function: k\n")
    (folder / "k.json").write_text(text)
    module = {"kind": "opencl", "format": "cl", "functions": "k.json", "code": "k.cl"}
    return manifest(folder, modules=[LIB, module])


def expect_refused(said, status, *words):
    assert said.status == status, said
    lines = said.err.splitlines()
    assert len(lines) >= 2 and lines[-1].startswith("  to do: "), said
    for word in words:
        assert word in lines[-2], said


@pytest.mark.parametrize("text, word", [
    ("{", "functions: line 1"),
    ("[]", "func_info"),
    ('{"func_info": {"k": 3}}', 'function "k"'),
    ('{"func_info": {"k": {"arg_types": ["zzz"], "launch_param_tags": []}}}', "type of an argument is unknown"),
    ('{"func_info": {"k": {"arg_types": [], "launch_param_tags": [7]}}}', "launch_param_tags"),
    ('{"func_info": {"k": {}, "k": {}}}', "duplicate"),
])
def test_a_malformed_table_of_functions(tmp_path, text, word):
    expect_refused(modser("pack", kernels(tmp_path, text), "-o", tmp_path / "x.so"), 8,
                   "module 1", word, "BAD_ARTIFACT")
    assert not (tmp_path / "x.so").exists()


@pytest.mark.parametrize("modules, word", [
    ([LIB, {"kind": "never_heard_of"}], "an unknown kind"),
    ([LIB, {"kind": "x", "payload": None, "imports": [0]}], "import each other"),
    ([LIB, {"kind": "x", "payload": None, "imports": [2]}, {"kind": "_lib"}], "one library"),
    ([LIB], "imports are not all numbers"),
    ([{"imports": []}], 'no "kind"'),
    ([], "1 to 4096"),
])
def test_a_tree_that_cannot_be(tmp_path, modules, word):
    expect_refused(modser("pack", manifest(tmp_path, modules=modules), "-o", tmp_path / "x.so"), 8, word,
                   "BAD_ARTIFACT")


@pytest.mark.parametrize("change", [{"payload": "absent.bin"}, {"payload": "."}])
def test_a_payload_that_is_no_file(tmp_path, change):
    path = manifest(tmp_path, modules=[LIB, {"kind": "x"} | change])
    said = modser("pack", path, "-o", tmp_path / "x.so")
    expect_refused(said, 4 if change["payload"] == "absent.bin" else 2, "module 1 (x): payload")


def test_files_that_are_not_there(tmp_path):
    expect_refused(modser("pack", tmp_path / "absent", "-o", tmp_path / "x.so"), 4, "absent")
    expect_refused(modser("pack", tmp_path, "-o", tmp_path / "x.so"), 4, "manifest.json")
    expect_refused(modser("unpack", tmp_path / "absent.so", "-C", tmp_path / "p"), 4, "absent.so")
    path = manifest(tmp_path, library="absent.so", modules=[LIB, {"kind": "x", "payload": None}])
    expect_refused(modser("pack", path, "-o", tmp_path / "x.so"), 4, "absent.so")


@pytest.mark.parametrize("name, advice", [("lib0.c", "modser convert lib0.c -o FILE.so"), ("a.o", "modser convert a.o"),
                                          ("deploy.so", "modser unpack deploy.so -C DIR")])
def test_what_is_no_manifest_is_told_whose_it_is(tmp_path, monkeypatch, name, advice):
    monkeypatch.chdir(tmp_path)
    pathlib.Path(name).write_text("int x;\n")
    said = modser("pack", name, "-o", "out.so")
    assert said.status == 8 and f"{name}: " in said.err and advice in said.err, said
    assert modser("pack", f"no-{name}", "-o", "out.so").status == 4


def test_what_is_no_library_cannot_be_unpacked(tmp_path):
    path = manifest(tmp_path, modules=[{"kind": "_lib"}])
    expect_refused(modser("unpack", path, "-C", tmp_path / "p"), 8, "manifest.json: not an ELF file")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("name", ["x.so", "x.o", "x.c", "x.blob"])
def test_an_output_that_is_a_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    expect_refused(modser("pack", path, "-o", tmp_path / name), 2, f"{name}: Is a directory")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["manifest.json", name]
    expect_refused(modser("pack", path, "-o", tmp_path / "absent" / name), 2, "No such file")


def test_wishes_that_this_output_cannot_have(tmp_path):
    (tmp_path / "f.c").write_text(HOST_C)
    path = manifest(tmp_path, library="l.so", modules=[LIB, {"kind": "x", "payload": None}])
    for words in [("--system-lib",), ("--cc", "cc"), ("--symbol-prefix", "p_"), ("-lm",)]:
        expect_refused(modser("pack", path, *words, "-o", tmp_path / "x.so"), 2, "for linking")
    expect_refused(modser("pack", path, tmp_path / "f.c", "-o", tmp_path / "x.c"), 2, "with objects")
    expect_refused(modser("pack", path, "--symbol-prefix", "9", "-o", tmp_path / "x.o"), 2, "identifier")


def test_code_of_a_library_is_not_lost_without_a_word(models, tmp_path):
    """A linked library cannot be made objects again."""
    assert modser("unpack", models / "mlp.so", "-C", tmp_path / "parts").status == 0
    said = modser("pack", tmp_path / "parts", "-o", tmp_path / "x.tar")
    expect_refused(said, 2, "functions of library.so itself would be missing")
    assert not (tmp_path / "x.tar").exists()
    for name in ("x.o", "x.c", "x.blob"):
        said = modser("pack", tmp_path / "parts", "-o", tmp_path / name)
        assert said.status == 0 and "without the functions of library.so itself" in said.err
    said = modser("pack", tmp_path / "parts", "-o", tmp_path / "x.so")
    assert said.status == 0 and not said.err


@pytest.mark.parametrize("name", ["x.o", "x.c", "x.blob"])
def test_a_library_alone_has_nothing_to_write(tmp_path, name):
    path = manifest(tmp_path, blob=False, modules=[{"kind": "_lib"}])
    expect_refused(modser("pack", path, "-o", tmp_path / name), 2, "imports no modules")
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("sources, word", [
    (["int f( {"], "error"),
    (["int f(void) { return 1; }"] * 2, "multiple definition of `f'"),
])
def test_what_does_not_compile(tmp_path, sources, word):
    work = tmp_path / "tmp"
    work.mkdir()
    files = [tmp_path / f"{i}.c" for i in range(len(sources))]
    for file, text in zip(files, sources):
        file.write_text(text)
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    said = modser("pack", path, *files, "-o", tmp_path / "x.so", TMPDIR=str(work))
    expect_refused(said, 8, "cc failed (status 1)", word)
    assert not list(work.iterdir()) and not (tmp_path / "x.so").exists()
    said = modser("--json", "pack", path, *files, "-o", tmp_path / "x.so")
    assert json.loads(said.err)["error"]["name"] == "BAD_ARTIFACT"


def test_a_damaged_object(tmp_path):
    (tmp_path / "o.o").write_bytes(b"\x7fELF" + bytes(200))
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    said = modser("pack", path, tmp_path / "o.o", "-o", tmp_path / "x.so")
    expect_refused(said, 8, "BAD_ARTIFACT")


def test_a_compiler_that_is_killed_says_nothing_of_the_file(tmp_path):
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\nkill -9 $$\n")
    cc.chmod(0o755)
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    expect_refused(modser("pack", path, "--cc", cc, "-o", tmp_path / "x.so"), 1, "signal 9", "CALL_FAILED")


def test_an_object_that_is_not_there(tmp_path):
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    expect_refused(modser("pack", path, tmp_path / "o.o", "-o", tmp_path / "x.so"), 4, "o.o")


def test_no_compiler(tmp_path):
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    expect_refused(modser("pack", path, "--cc", "/no/cc", "-o", tmp_path / "x.o"), 8,
           "no C compiler /no/cc", "--cc")
    expect_refused(modser("pack", path, "-o", tmp_path / "x.o", CC="/no/cc"), 8, "no C compiler /no/cc")


def interrupt(tmp_path, number, *words):
    """Start modser with a compiler that never ends, and send @number once it runs."""
    work, ready = tmp_path / "tmp", tmp_path / "ready"
    work.mkdir()
    os.mkfifo(ready)
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\nsleep 1000 &\necho $$ $! >{ready}\nwait\n')
    compiler.chmod(0o755)
    env = harness.environment() | {"TMPDIR": str(work), "CC": str(compiler),
                                   "MODSER_TRUST_SOURCES": "1"}  # it writes to the pipe
    process = subprocess.Popen([harness.BIN / "modser", *map(str, words)], env=env,
                               stderr=subprocess.PIPE)
    with open(ready, encoding="ascii") as fifo:  # the compiler runs when it can be read
        pids = [int(w) for w in fifo.read().split()]
    process.send_signal(number)
    _, err = process.communicate(timeout=harness.PATIENCE)
    assert process.returncode == 130, err
    assert not list(work.iterdir()), "nothing is left behind"
    for pid in pids:  # a process that nobody waited for yet is as good as gone
        harness.until(lambda pid=pid: state_of(pid) in (None, "Z"), f"{pid} is gone")


def state_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_pack_leaves_nothing(tmp_path, number):
    path = manifest(tmp_path, modules=[LIB, {"kind": "x", "payload": None}])
    interrupt(tmp_path, number, "pack", path, "-o", tmp_path / "x.o")
    assert not (tmp_path / "x.o").exists()


def test_an_interrupted_convert_leaves_nothing(fixtures, tmp_path):
    model = fixtures / "tvm-0.8/mlf/mlp_graph_llvm.tar"
    if not model.exists():
        pytest.skip("no archive of TVM 0.8")
    interrupt(tmp_path, signal.SIGINT, "convert", model, "-o", tmp_path / "x.so")
    assert not (tmp_path / "x.so").exists()


@pytest.mark.parametrize("cut", [1, 0.9, 0.5, 0])
def test_a_damaged_manifest_is_a_damaged_file(tmp_path, cut):
    path = manifest(tmp_path, modules=[{"kind": "_lib"}])
    text = path.read_bytes()
    path.write_bytes(text[:int(len(text) * cut)] if cut < 1 else text[:-2])
    said = modser("pack", path, "-o", tmp_path / "x.so")
    expect_refused(said, 8, "manifest: invalid JSON at line")
    assert "[BAD_ARTIFACT]" in said.err
