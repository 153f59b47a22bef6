"""Manifests and archives that a stranger made: what they name beyond themselves is not read."""
import io
import json
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


def assert_kept(said, out):
    """Refused, and the secret is in no output."""
    assert said.status == 6, said
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
                       "-o", out), out)


TAKE_IN = ['__asm__(".data\\n.incbin \\"%s\\"\\n");', '#include "%s"\n',
           '__asm__(".include \\"%s\\"");']


@pytest.mark.parametrize("line", TAKE_IN)
def test_a_source_of_a_manifest_reads_no_other_file(folder, tmp_path, secret, line):
    (folder / "f.c").write_text(HOST_C + line % secret)
    out = tmp_path / "x.so"
    said = modser("pack", manifest(folder, modules=[LIB | {"imports": []}], objects=["f.c"]),
                  "-o", out)
    assert said.status == 6 and not out.exists(), said
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
    assert said.status == 6 and not out.exists(), said
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
