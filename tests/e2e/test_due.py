"""`--deadline` bounds all that modser does, what is read and linked before a daemon is asked, too."""
import os
import subprocess

import harness
import pytest

SOON = "300ms"
NOBODY = "unix:/nowhere/m.sock"


@pytest.fixture
def endless(folder):
    """A file that never comes: somebody holds the pipe open and writes nothing."""
    os.mkfifo(folder / "pipe.so")
    fd = os.open(folder / "pipe.so", os.O_RDWR)
    yield folder / "pipe.so"
    os.close(fd)


def expect_late(said, *texts):
    assert said.status == 9, said
    assert "[DEADLINE_EXCEEDED]" in said.err and "give more time with --deadline" in said.err, said
    for text in texts:
        assert text in said.err, said


@pytest.mark.parametrize("words", [
    ["load", "m", "FILE"],
    ["load", "m", harness.ZOO / "results.so", "--params", "FILE"],
    ["call", "m:f", "@FILE"],
    ["session", "m", "set_input", "@FILE"],
])
def test_what_is_read_first_is_within_it(endless, words):
    words = [str(word).replace("FILE", str(endless)) for word in words]
    said = harness.run(harness.BIN / "modser", "-H", NOBODY, "--deadline", SOON, *words)
    expect_late(said, "not read", "nothing was sent to a daemon")


def test_standard_input_is_named(folder):
    command = [harness.BIN / "modser", "-H", NOBODY, "--deadline", SOON, "--json", "load", "m", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as modser:
        assert modser.wait(harness.PATIENCE) == 9
        said = modser.stderr.read()
    assert said.startswith('{"error":') and "standard input: it was not read" in said


def test_a_compiler_is_ended_and_leaves_nothing(folder):
    tools, tmp = folder / "tools", folder / "tmp"
    tools.mkdir(), tmp.mkdir()
    cc = tools / "cc"
    cc.write_text(f"#!/bin/sh\necho $$ > {folder}/pid\nexec sleep {harness.FOREVER_MS}\n")
    cc.chmod(0o755)
    (folder / "a.c").write_text("int a;\n")
    env = harness.environment() | {"CC": str(cc), "TMPDIR": str(tmp), "MODSER_TRUST_SOURCES": "1"}
    for deadline in ("1s", "5s", "25s"):  # until it was begun within it
        said = harness.run(harness.BIN / "modser", "-H", NOBODY, "--deadline", deadline, "load", "m", folder / "a.c", env=env)
        expect_late(said, "a.c: it was not read and made ready")
        assert list(tmp.iterdir()) == []
        if (folder / "pid").exists():
            break
    pid = int((folder / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_is_read_in_time_leaves_the_rest_to_the_request(served):
    said = served.modser("--deadline", harness.LONG, "load", "due", harness.ZOO / "results.so")
    assert said.status == 0, said
    assert served.ok("--deadline", harness.LONG, "call", "due:echo", "5").out == "5\n"
