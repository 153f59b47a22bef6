"""Files that are no library, not for this machine, damaged or hostile: an error that names the
file and what is wrong, before any of it runs; the daemon serves on.
"""
import random
import resource
import struct
import subprocess

import harness
import numpy as np
import pytest
from wire import Failure, Wire


@pytest.fixture(scope="module")
def good(models):
    return (models / "mlp.so").read_bytes()


@pytest.fixture(scope="module")
def served(daemon):
    with Wire(daemon.host) as wire:
        wire.load("good", (harness.ZOO / "results.so").read_bytes())
    yield daemon
    with Wire(daemon.host) as wire:
        assert wire.call("good:int")[1] == -42
        harness.until(lambda: len(daemon.workers()) == 1, "no process is left")


def refusal(served, data, file="deploy.so"):
    """The error that loading @data gives; no module and no process may be left."""
    with Wire(served.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.load("bad", data, file=file)
        assert "bad" not in {m["name"] for m in wire.ask("module.list")}
    assert failure.value.name in ("BAD_ARTIFACT", "UNSUPPORTED", "MODULE_FAILED", "BAD_REQUEST")
    return failure.value


@pytest.mark.parametrize(
    "data", [b"\0", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF" + bytes(60), bytes(100000)]
)
def test_what_is_no_library_is_refused_by_its_file_name(served, data):
    failure = refusal(served, data, file="not-a-library.so")
    assert failure.name in ("BAD_ARTIFACT", "UNSUPPORTED")
    assert "not-a-library.so" in failure.message


@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_library_is_refused(served, good, part):
    failure = refusal(served, good[: int(len(good) * part)])
    assert failure.name == "BAD_ARTIFACT" and "deploy.so" in failure.message


def test_a_damaged_name_is_the_files_and_no_break_of_the_protocol(served, good):
    assert b"matmul" in good
    failure = refusal(served, good.replace(b"matmul", b"mat\xfful"))
    assert failure.name == "BAD_ARTIFACT" and "a str is not UTF-8" in failure.message


@pytest.mark.parametrize(
    "at, value, what",
    [(4, 1, "32"), (5, 2, "endian"), (18, 183, "aarch64"), (18, 40, "arm"), (16, 2, "")],
)
def test_a_library_for_another_machine_is_refused_by_name(served, good, at, value, what):
    data = bytearray(good)
    data[at] = value
    failure = refusal(served, bytes(data))
    assert failure.name in ("BAD_ARTIFACT", "UNSUPPORTED")
    assert what.lower() in failure.message.lower()


def test_flipped_bits_never_harm_the_daemon(own_daemon, good):
    """What is flipped may be code: then the worker pays. The headers and tables come first."""
    served = own_daemon("--load-timeout", "5s")  # flipped code may never end
    harness.until(
        lambda: served.modser("load", "good", harness.ZOO / "results.so").status == 0, "a load"
    )
    rng = random.Random(1)
    for round_ in range(60):
        data = bytearray(good)
        span = 4096 if round_ % 2 else len(data)
        for _ in range(rng.choice([1, 4, 16])):
            at = rng.randrange(span)
            data[at] ^= 1 << rng.randrange(8)
        with Wire(served.host) as wire:
            try:
                wire.load("flipped", bytes(data), replace=True)
                wire.ask("module.unload", "flipped")
            except Failure as failure:
                assert failure.name in (
                    "BAD_ARTIFACT", "UNSUPPORTED", "MODULE_FAILED", "WORKER_LOST"
                ), failure
    with Wire(served.host) as wire:
        for module in wire.ask("module.list"):
            if module["name"] != "good":
                wire.ask("module.unload", module["name"])
        assert wire.call("good:int")[1] == -42


def test_objects_and_archives_are_refused_with_the_command_that_links_them(served, tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int a;")
    subprocess.run(["cc", "-c", source, "-o", tmp_path / "a.o"], check=True)
    failure = refusal(served, (tmp_path / "a.o").read_bytes(), file="a.o")
    assert "modser convert NAME.o" in failure.message
    subprocess.run(["tar", "-C", tmp_path, "-cf", tmp_path / "a.tar", "a.o"], check=True)
    failure = refusal(served, (tmp_path / "a.tar").read_bytes(), file="a.tar")
    assert "modser convert NAME.tar" in failure.message


def test_a_models_archive_is_refused_with_the_command_that_keeps_its_graph(served, tmp_path):
    (tmp_path / "metadata.json").write_text("{}")
    (tmp_path / "lib0.o").write_bytes(b"object")
    for names in (["metadata.json", "lib0.o"], ["./lib0.o", "./metadata.json"]):
        subprocess.run(["tar", "-C", tmp_path, "-cf", tmp_path / "m.tar", *names], check=True)
        failure = refusal(served, (tmp_path / "m.tar").read_bytes(), file="m.tar")
        assert failure.name == "UNSUPPORTED" and "modser convert" in failure.message


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(value):
    return u64(len(value)) + value


def blob(indptr, children, *modules):
    body = u64(len(indptr), *indptr) + u64(len(children), *children) + b"".join(modules)
    return u64(len(body)) + body


LIB = text(b"_lib")
CUDA = text(b"cuda") + text(b"payload")
HOSTILE = {
    "huge_count": u64(24) + u64(1 << 60, 0, 0),
    "huge_children": u64(32) + u64(2, 0, 0, 1 << 61),
    "huge_string": u64(48) + u64(2, 0, 0, 0, 1 << 62, 0),
    "size_beyond_the_file": u64(1 << 50) + bytes(64),
    "child_out_of_range": blob([0, 1, 1], [9], LIB, CUDA),
    "child_is_itself": blob([0, 1], [0], LIB),
    "cycle": blob([0, 1, 2], [1, 0], LIB, CUDA),
    "rows_run_backwards": blob([0, 2, 1], [1, 1], LIB, CUDA),
    "no_modules": blob([0], []),
    "trailing_bytes": blob([0, 0], [], LIB + b"xyz"),
    "cut_in_a_module": blob([0, 1, 1], [1], LIB, CUDA[:-3]),
    "image_that_is_none": blob([0, 1, 1], [1], text(b"relax.VMExecutable") + text(b"junk"), LIB),
}


def library_with(data, tmp_path):
    """A library whose import tree is @data."""
    source = tmp_path / "blob.c"
    body = ",".join(map(str, data))
    source.write_text(
        f'__attribute__((visibility("default"))) const unsigned char'
        f" __tvm_ffi__library_bin[] = {{{body}}};\n"
        "int __tvm_ffi_f(void *s, void *a, int n, void *r);\n"
        "int __tvm_ffi_f(void *s, void *a, int n, void *r) { return 0; }\n"
    )
    subprocess.run(
        ["cc", "-w", "-shared", "-fPIC", source, "-o", tmp_path / "blob.so"], check=True
    )
    return (tmp_path / "blob.so").read_bytes()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_import_trees_are_refused(served, tmp_path, name):
    failure = refusal(served, library_with(HOSTILE[name], tmp_path), file=f"{name}.so")
    assert failure.name == "BAD_ARTIFACT" and f"{name}.so" in failure.message
    said = harness.run(harness.BIN / "modser", "inspect", tmp_path / "blob.so")
    if said.status == 0:  # the tree is sound, one of its modules is not
        assert "damaged" in said.out
    else:
        assert said.status == 8 and "blob.so" in said.err


def test_a_sound_tree_with_a_kind_that_cannot_run_loads(served, tmp_path):
    data = library_with(blob([0, 1, 1], [1], LIB, text(b"dnnl_json") + text(b"x")), tmp_path)
    with Wire(served.host) as wire:
        wire.load("odd", data)
        assert "dnnl_json" in wire.ask("module.describe", "odd")["inspect"]["text"]
        assert wire.call("odd:f")[1] is None
        wire.ask("module.unload", "odd")


def test_synthetic_containers_of_the_classic_era_are_refused(served, fixtures):
    for path in sorted((fixtures / "tvm-0.8/synthetic").glob("bad_*.so")):
        failure = refusal(served, path.read_bytes(), file=path.name)
        assert path.name in failure.message
        assert failure.name in ("BAD_ARTIFACT", "UNSUPPORTED"), failure


def test_a_library_that_needs_the_c_plus_plus_runtime_of_tvm_is_refused(served, fixtures):
    path = fixtures / "tvm-0.8/byoc_metadata/byoc_metadata.so"
    if not path.exists():
        pytest.skip("no byoc_metadata.so among the fixtures")
    failure = refusal(served, path.read_bytes(), file=path.name)
    assert failure.name == "UNSUPPORTED" and "tvm::runtime::" in failure.message


def test_a_failed_load_at_start_leaves_the_daemon_up(own_daemon, tmp_path):
    (tmp_path / "bad.so").write_bytes(b"nothing")
    daemon = own_daemon(
        "--load", f"bad={tmp_path / 'bad.so'}", "--load", f"absent={tmp_path / 'absent.so'}",
        "--load", f"good={harness.ZOO / 'results.so'}",
    )
    with Wire(daemon.host) as wire:
        for name in ("bad", "absent"):
            with pytest.raises(Failure):
                wire.ask("module.wait", name, deadline_ms=harness.LONG_MS)
        wire.ask("module.wait", "good", deadline_ms=harness.LONG_MS)
        assert wire.call("good:int")[1] == -42
        modules = {m["name"]: m for m in wire.ask("module.list")}
        assert modules["bad"]["state"] == modules["absent"]["state"] == "FAILED"
        assert "bad.so" in modules["bad"]["error"]
        assert "absent.so" in modules["absent"]["error"]
        with pytest.raises(Failure) as failure:
            wire.call("bad:f")
        assert failure.value.name in ("MODULE_FAILED", "BAD_ARTIFACT") and "bad.so" in failure.value.message


def test_a_death_at_load_leaves_its_logs(daemon):
    """Unlike a refusal, whose error is all there is to know."""
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="MODULE_FAILED"):
            wire.load("dead", (harness.ZOO / "constructor_crash.so").read_bytes())
        assert {m["name"]: m["state"] for m in wire.ask("module.list")}["dead"] == "FAILED"
        assert "the last words of a constructor" in wire.ask("module.logs", "dead")
        wire.ask("module.unload", "dead")


def test_an_upload_over_the_limit_is_refused_at_its_beginning(own_daemon):
    daemon = own_daemon("--max-upload-size", "64K")
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.ask("module.upload", "begin", (64 << 10) + 1)
        assert failure.value.name == "TOO_LARGE"
        upload = wire.ask("module.upload", "begin", 64 << 10)
        with pytest.raises(Failure) as failure:
            wire.ask("module.upload", "write", upload, (64 << 10) - 5, np.zeros(6, "u1"))
        assert failure.value.name in ("TOO_LARGE", "BAD_REQUEST")
        with pytest.raises(Failure) as failure:
            wire.ask("module.upload", "write", upload, 2**63, np.zeros(6, "u1"))
        assert failure.value.name in ("TOO_LARGE", "BAD_REQUEST")


def test_no_space_for_an_upload_is_an_error(own_daemon):
    """Uploads lie in memory files, which the limit on file sizes counts."""
    daemon = own_daemon()
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.ask("module.upload", "begin", 1 << 20)
        assert failure.value.name in ("NO_SPACE", "IO")
        assert wire.ask("ping") is None


def test_too_many_uploads_of_one_connection_are_busy(daemon):
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure) as failure:
            for _ in range(100):
                wire.ask("module.upload", "begin", 10)
        assert failure.value.name == "BUSY"


def test_an_uncommitted_upload_cannot_be_loaded(daemon):
    with Wire(daemon.host) as wire:
        upload = wire.ask("module.upload", "begin", 10)
        with pytest.raises(Failure):
            wire.ask("module.load", "half", upload)
