"""Manifests and archives that a stranger made: what they name beyond themselves is not read."""
import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import tarfile

import harness
import pytest
from test_mlf import FLAT_C, GRAPH, members
from test_pack_wrong import HOST_C, LIB, manifest, modser

SECRET = "a-secret-that-no-output-may-hold"


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.bin"
    path.write_text(SECRET)
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "theirs"
    path.mkdir()
    return path


def payload_of(folder, name):
    """A manifest with a module whose payload is the file @name."""
    return manifest(folder, modules=[LIB, {"kind": "x", "payload": str(name)}])


def assert_kept(said, out, status=6):
    """Refused, and the secret is in no output."""
    assert said.status == status, said
    assert SECRET not in said.out + said.err
    assert not out.exists()


def test_a_payload_beside_the_manifest_is_taken(folder, tmp_path):
    (folder / "p.bin").write_text("payload")
    said = modser("pack", payload_of(folder, "p.bin"), "-o", tmp_path / "x.blob")
    assert said.status == 0 and b"payload" in (tmp_path / "x.blob").read_bytes()


def test_an_absolute_path_in_a_manifest_is_refused(folder, tmp_path, secret):
    out = tmp_path / "x.blob"
    said = modser("pack", payload_of(folder, secret), "-o", out)
    assert_kept(said, out)
    assert str(secret) in said.err


def test_a_path_upwards_in_a_manifest_is_refused(folder, tmp_path, secret):
    out = tmp_path / "x.blob"
    said = modser("pack", payload_of(folder, "../secret.bin"), "-o", out)
    assert_kept(said, out)
    assert "../secret.bin" in said.err


def test_a_link_beside_a_manifest_is_refused(folder, tmp_path, secret):
    (folder / "p.bin").symlink_to(secret)
    out = tmp_path / "x.blob"
    said = modser("pack", payload_of(folder, "p.bin"), "-o", out)
    assert_kept(said, out)
    assert "p.bin" in said.err


def test_an_object_that_is_a_linker_script_is_refused(folder, tmp_path, secret):
    (folder / "o.o").write_text(f"INPUT({secret})\n")
    out = tmp_path / "x.so"
    assert_kept(modser("pack", manifest(folder, modules=[LIB | {"imports": []}], objects=["o.o"]),
                       "-o", out), out, 8)


TAKE_IN = ['__asm__(".data\\n.incbin \\"%s\\"\\n");', '#include "%s"\n',
           '__asm__(".include \\"%s\\"");']


@pytest.mark.parametrize("line", TAKE_IN)
def test_a_source_of_a_manifest_reads_no_other_file(folder, tmp_path, secret, line):
    (folder / "f.c").write_text(HOST_C + line % secret)
    out = tmp_path / "x.so"
    said = modser("pack", manifest(folder, modules=[LIB | {"imports": []}], objects=["f.c"]),
                  "-o", out)
    assert said.status == 8 and not out.exists(), said
    assert SECRET not in said.err


def archive_of(tmp_path, source):
    """A Model Library Format archive with @source as its only code."""
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "f.c").write_text(FLAT_C % "f")
    made, out = tmp_path / "fair.tar", tmp_path / "theirs.tar"
    said = modser("convert", tmp_path / "graph.json", tmp_path / "f.c", "-o", made)
    assert said.status == 0, said
    with tarfile.open(out, "w") as tar:
        for name, data in members(made).items():
            if data is not None:
                data = source.encode() if name.endswith(".c") else data
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return out


def test_a_source_of_an_archive_finds_the_system_s_headers(tmp_path):
    source = "#include <math.h>\n#include <stdio.h>\n" + FLAT_C % "f"
    said = modser("convert", archive_of(tmp_path, source), "-o", tmp_path / "x.so")
    assert said.status == 0, said


@pytest.mark.parametrize("line", TAKE_IN)
def test_a_source_of_an_archive_reads_no_other_file(tmp_path, secret, line):
    out = tmp_path / "x.so"
    said = modser("convert", archive_of(tmp_path, FLAT_C % "f" + line % secret), "-o", out)
    assert said.status == 8 and not out.exists(), said
    assert SECRET not in said.err


def test_who_trusts_the_source_may_let_it_read(tmp_path, secret):
    out = tmp_path / "x.so"
    theirs = archive_of(tmp_path, FLAT_C % "f" + TAKE_IN[0] % secret)
    said = modser("convert", theirs, "-o", out, MODSER_TRUST_SOURCES="1")
    assert said.status == 0 and SECRET.encode() in out.read_bytes(), said


def test_a_tool_chain_in_a_folder_of_its_own_is_found(tmp_path):
    tools = tmp_path / "tools/bin"
    tools.mkdir(parents=True)
    (tools / "cc").write_text('#!/bin/sh\nexec /usr/bin/cc "$@"\n')
    (tools / "cc").chmod(0o755)
    said = modser("convert", archive_of(tmp_path, FLAT_C % "f"), "-o", tmp_path / "x.so",
                  CC=str(tools / "cc"))
    assert said.status == 0, said


def compiler(tmp_path, script):
    """A compiler of a few lines of a shell; its folder is the one that it may read."""
    tools = tmp_path / "tools/bin"
    tools.mkdir(parents=True)
    (tools / "cc").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "cc").chmod(0o755)
    return str(tools / "cc")


@contextlib.contextmanager
def compiling(tmp_path, script, limit=None, **env):
    """`modser convert` of a stranger's archive by such a compiler, under way; @limit is what
    modser itself may have: a resource and its bound."""
    theirs = archive_of(tmp_path, FLAT_C % "f")
    (tmp_path / "tmp").mkdir()
    env = harness.environment() | {"CC": compiler(tmp_path, script),
                                   "TMPDIR": str(tmp_path / "tmp")} | env

    def lower():
        if limit:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    words = harness.BIN / "modser", "convert", theirs, "-o", tmp_path / "x.so"
    with harness.started(*words, env=env, preexec_fn=lower, text=True,
                         stderr=subprocess.PIPE) as process:
        yield process


def told(process):
    """Its status and its words, when it has ended."""
    err = process.communicate(timeout=harness.PATIENCE)[1]
    return process.returncode, err


def pids(tmp_path):
    """The compiler's and its own child's, once it has written them."""
    found = list((tmp_path / "tmp").glob("modser.*/pids"))
    words = found[0].read_text().split() if found else []
    return [int(word) for word in words]


TWO = """sleep 1000000 &
echo $$ $! > $TMPDIR/part
mv $TMPDIR/part $TMPDIR/pids
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_compiler_and_all_that_it_started_end_with_modser(tmp_path, number):
    deaf = "trap '' TERM INT\n" if number == signal.SIGKILL else ""
    with compiling(tmp_path, deaf + TWO + "wait") as process:
        running = harness.until(lambda: pids(tmp_path), "the compiler runs")
        with harness.Watched(running[0]) as itself, harness.Watched(running[1]) as its_child:
            os.kill(process.pid, number)
            process.wait(harness.PATIENCE)
            harness.until(itself.has_ended, "the compiler has ended")
            harness.until(its_child.has_ended, "what it started has ended")


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_what_a_compiler_has_left_behind_ends_with_it(tmp_path):
    with compiling(tmp_path, TWO + "cat $TMPDIR/pids; exit 1") as process:
        _, err = told(process)
    left = int(err.split()[1])
    harness.until(lambda: has_ended(left), "what it has left behind has ended")


LIMITS = "ulimit -t; ulimit -v; ulimit -f; ulimit -c; exit 1"


def test_a_compiler_of_foreign_sources_has_bounds(tmp_path):
    with compiling(tmp_path, LIMITS) as process:
        _, err = told(process)
    cpu_s, memory_kib, file_blocks, core = (int(line) for line in err.splitlines()[:4])
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // 2
    assert cpu_s == 600 and file_blocks * 512 == 4 << 30 and core == 0
    assert memory_kib * 1024 == max(1 << 30, min(8 << 30, half // 1024 * 1024))


def test_a_compiler_of_trusted_sources_has_none(tmp_path):
    with compiling(tmp_path, LIMITS, MODSER_TRUST_SOURCES="1") as process:
        _, err = told(process)
    of_ours = resource.getrlimit(resource.RLIMIT_CPU)[0]
    assert (err.splitlines()[0] == "unlimited") == (of_ours == resource.RLIM_INFINITY), err


@pytest.mark.parametrize("limit, script, words", [
    ((resource.RLIMIT_CPU, 2), "while :; do :; done", "more than 1 s of processor time"),
    ((resource.RLIMIT_FSIZE, 1 << 20), "exec head -c 2000000 /dev/zero > $TMPDIR/a",
     "more than 0 MiB for one file"),
    ((resource.RLIMIT_AS, 1 << 30), "echo 'cc1: out of memory allocating 9 bytes' >&2; exit 1",
     "more than 1023 MiB of memory"),
    ((resource.RLIMIT_CPU, 2), 'sh -c "while :; do :; done"; kill -l $? >/dev/null; '
     "echo 'cc: CPU time limit exceeded signal terminated program cc1' >&2; exit 1",
     "more than 1 s of processor time")], ids=["cpu", "file", "memory", "of-its-child"])
def test_a_compiler_that_passes_a_bound_is_told_so(tmp_path, limit, script, words):
    if harness.SANITIZED and limit[0] == resource.RLIMIT_AS:
        pytest.skip("a sanitizer reserves more addresses than the bound")
    with compiling(tmp_path, script, limit) as process:
        status, err = told(process)
    assert status == 8 and words in err and "MODSER_TRUST_SOURCES=1" in err, err
