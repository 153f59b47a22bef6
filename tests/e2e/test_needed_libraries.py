"""Libraries that need other libraries: what dlopen loads is loaded, and foretold."""
import json
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


CALLED = """
struct any { int type, zero; long long value; };
void *__tvm_ffi__library_ctx;
int __tvm_ffi_absent = 1;
int (*__TVMFFIEnvModLookupFromImports)(void *ctx, const char *name, void **ret)
	__attribute__((weak));
int extra(void);
int extra(void) { return 42; }
int __tvm_ffi_more(void *self, const struct any *args, int n, struct any *ret);
int __tvm_ffi_more(void *self, const struct any *args, int n, struct any *ret)
{
	void *found = 0;
	(void)self, (void)args, (void)n;
	ret->type = 1;
	ret->value = 100 + (__TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx,
		"__tvm_set_device", &found) == 0);
	return 0;
}
"""
CLASSIC = """
union value { long long i; };
int (*__TVMFuncCall)(void) __attribute__((weak));
int more(union value *args, int *codes, int n, union value *ret, int *code, void *self);
int more(union value *args, int *codes, int n, union value *ret, int *code, void *self)
{
	(void)args, (void)codes, (void)n, (void)self;
	ret->i = 7;
	*code = 0;
	return __TVMFuncCall == 0;
}
"""
CLASSIC_USER = """
int more(void);
void *__tvm_module_ctx;
int own(void *args, int *codes, int n, long long *ret, int *code, void *self)
{
	(void)args, (void)codes, (void)n, (void)self;
	*ret = (long long)(void *)more;
	*code = 0;
	return 0;
}
"""


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
    said = daemon.ok("inspect", "--check-daemon", daemon.host, library)
    assert "not known" not in said.out
    assert served(daemon, library)


def test_a_library_by_its_whole_path_is_found(daemon, extra):
    there, user = extra
    plain = build(there, "plain", EXTRA)  # without a soname the path is what is needed
    library = build(user, "user", USER, plain)
    assert is_loadable(library)
    assert daemon.modser("inspect", "--check-daemon", daemon.host, library).status == 0
    assert served(daemon, library)


def test_a_library_that_the_sandbox_closes_is_foretold(own_daemon, extra):
    there, user = extra
    library = needing(extra, f"-Wl,-rpath,{there}")
    assert is_loadable(library)
    daemons = [own_daemon(*words, may_write=user)
               for words in ([], ["--may-read", there], ["--sandbox", "trusted"])]
    landlock = json.loads(daemons[0].ok("--json", "info").out)["sandbox"]["landlock"]
    for daemon, status in zip(daemons, [8 if landlock else 0, 0, 0]):
        said = daemon.modser("inspect", "--check-daemon", daemon.host, library)
        loaded = daemon.modser("load", "user", library)
        assert said.status == loaded.status == status
        assert (f"--may-read {there}" in said.out) == (status != 0)
        assert (f"--may-read {there}, or" in loaded.err) == (status != 0), loaded


@pytest.mark.parametrize(
    "words, why",
    [(["-Wl,-rpath,/nowhere"], "needed library file is not found here: libextra.so"),
     (["-Wl,-rpath,$ORIGIN"], r"beside itself ($ORIGIN): libextra.so")],
)
def test_a_library_that_is_nowhere_is_named(daemon, extra, words, why):
    library = needing(extra, *words)
    assert not is_loadable(library)
    said = daemon.modser("load", "nowhere", library)
    assert said.status == 8 and why in said.err
    said = daemon.modser("inspect", "--check-daemon", daemon.host, library)
    assert said.status == 8


def test_a_whole_path_that_is_gone_is_foretold(daemon, extra):
    there, user = extra
    plain = build(there, "plain", EXTRA)
    library = build(user, "user", USER, plain)
    shutil.move(plain, there / "other.so")
    assert not is_loadable(library)
    said = daemon.modser("inspect", "--check-daemon", daemon.host, library)
    assert said.status == 8 and f"there is no file {plain}" in said.out
    assert daemon.modser("load", "gone", library).status == 8


def needing_functions(extra, text, user):
    """A library that needs another one by its path, whose functions are callers' too."""
    there, folder = extra
    plain = build(there, "functions", text)
    return build(folder, "user", user, "-Wl,--no-as-needed", plain)


def test_functions_of_a_needed_library_are_called(own_daemon, extra):
    daemon = own_daemon()
    daemon.load("user", needing_functions(extra, CALLED, USER))
    assert daemon.ok("call", "user:answer").out == "42\n"
    assert daemon.ok("call", "user:more").out == "101\n"  # its code finds functions, too
    assert [line.split("\t")[0] for line in daemon.ok("funcs", "user").out.splitlines()] == ["answer"]


@pytest.mark.parametrize("name", ["extra", "absent", "_library_ctx", "malloc"])
def test_other_symbols_of_a_needed_library_are_no_functions(own_daemon, extra, name):
    daemon = own_daemon()
    daemon.load("user", needing_functions(extra, CALLED, USER))
    assert daemon.modser("call", f"user:{name}").status == 4


def test_functions_without_a_prefix_are_those_of_libraries_that_tvm_made(own_daemon, extra):
    daemon = own_daemon()
    daemon.load("user", needing_functions(extra, CLASSIC, CLASSIC_USER))
    assert daemon.ok("call", "user:more").out == "7\n"
    for name in ("malloc", "abs", "getpid"):
        assert daemon.modser("call", f"user:{name}").status == 4
