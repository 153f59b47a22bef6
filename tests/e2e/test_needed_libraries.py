"""Libraries that need other libraries: what dlopen loads is loaded, and foretold."""
import shutil
import subprocess
import sys

import pytest

EXTRA = "int extra(void) { return 42; }\n"
USER = """
struct any { int type, zero; long long value; };
int extra(void);
int __tvm_ffi_answer(void *self, const struct any *args, int n, struct any *ret)
{
	(void)self, (void)args, (void)n;
	ret->type = 1;
	ret->value = extra();
	return 0;
}
"""


def build(folder, name, text, *words):
    source = folder / f"{name}.c"
    source.write_text(text)
    library = folder / f"{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, *map(str, words)], check=True)
    return library


@pytest.fixture
def extra(tmp_path):
    """(a folder with libextra.so, the folder of who needs it)"""
    there, user = tmp_path / "there", tmp_path / "user"
    there.mkdir()
    user.mkdir()
    build(there, "libextra", EXTRA, "-Wl,-soname,libextra.so")
    return there, user


def is_loadable(library):
    """The oracle: the system's own loader, in a process that has loaded nothing else."""
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    words = [sys.executable, "-c", program, str(library)]
    return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


def needing(extra, *words):
    there, user = extra
    return build(user, "user", USER, f"-L{there}", "-lextra", *words)


def served(daemon, library):
    daemon.load("user", library, "--replace")
    return daemon.ok("call", "user:answer").out == "42\n"


@pytest.mark.parametrize("tags", ["--enable-new-dtags", "--disable-new-dtags"])
def test_a_library_in_the_search_path_is_found(daemon, extra, tags):
    library = needing(extra, f"-Wl,{tags},-rpath,/nowhere:$ORIGIN:{extra[0]}")
    assert is_loadable(library)
    said = daemon.ok("inspect", "--will-run-on", daemon.host, library)
    assert "not known" not in said.out
    assert served(daemon, library)


def test_a_library_by_its_whole_path_is_found(daemon, extra):
    there, user = extra
    plain = build(there, "plain", EXTRA)  # without a soname the path is what is needed
    library = build(user, "user", USER, plain)
    assert is_loadable(library)
    assert daemon.modser("inspect", "--will-run-on", daemon.host, library).status == 0
    assert served(daemon, library)


@pytest.mark.parametrize(
    "words, why",
    [(["-Wl,-rpath,/nowhere"], "needed library file is not found here: libextra.so"),
     (["-Wl,-rpath,$ORIGIN"], r"beside itself ($ORIGIN): libextra.so")],
)
def test_a_library_that_is_nowhere_is_named(daemon, extra, words, why):
    library = needing(extra, *words)
    assert not is_loadable(library)
    said = daemon.modser("load", "nowhere", library)
    assert said.status == 6 and why in said.err
    said = daemon.modser("inspect", "--will-run-on", daemon.host, library)
    assert said.status == 6


def test_a_whole_path_that_is_gone_is_foretold(daemon, extra):
    there, user = extra
    plain = build(there, "plain", EXTRA)
    library = build(user, "user", USER, plain)
    shutil.move(plain, there / "other.so")
    assert not is_loadable(library)
    said = daemon.modser("inspect", "--will-run-on", daemon.host, library)
    assert said.status == 6 and f"there is no file {plain}" in said.out
    assert daemon.modser("load", "gone", library).status == 6
