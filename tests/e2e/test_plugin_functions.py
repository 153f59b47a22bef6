"""The plugin plugins/bringer.c adds packed functions, a module kind and a context symbol; the
library plugins/user.c uses them."""
import json
import struct
import subprocess

import harness
import numpy as np
import pytest
from wire import Failure, Wire

HERE = harness.ROOT / "tests" / "e2e" / "plugins"
MISTAKES = {
    "NO_LIST": 'function bringer.add is not in the plugin\'s list: write MODSERD_PLUGIN_BRINGS('
               '"function bringer.add\\n")',
    "UNLISTED": "function bringer.more is not in the plugin's list",
    "TWICE": "function bringer.add is added twice",
    "TAKEN": "ffi.Shape",
    "RUNS": "_lib",
    "HOLLOW": "modserd_module_kind.load is NULL",
    "LACKING": "it lists symbol __TVMBringerOffset, but does not add it",
    "BAD_LINE": 'modserd_plugin_brings, line 8: expected "WORD NAME" once',
}


def compile_c(source, target, *flags):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", *flags, source, "-o", target], check=True)
    return target


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("bringer")


@pytest.fixture(scope="module")
def build(home):
    """Builds the plugin with copies of the installed headers, once for each mistake."""
    for name in ("modser_graph.h", "modserd_plugin.h"):
        (home / name).write_text((harness.ROOT / "graph" / name).read_text())

    def make(mistake=""):
        path = home / f"bringer{mistake}.so"
        flags = [f"-DBRINGER_{mistake}"] if mistake else []
        return path if path.exists() else compile_c(HERE / "bringer.c", path, f"-I{home}", *flags)
    return make


def text(value):
    return struct.pack("<Q", len(value)) + value


def rows(*numbers):
    return struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers)


def user(path, payload=b"x3", kind=b"bringer_scaler", classic=False):
    """The library, which imports one module."""
    if classic:
        blob = (struct.pack("<Q", 3) + text(b"_lib") + text(kind) + payload
                + text(b"_import_tree") + rows(0, 1, 1) + rows(1))
    else:
        blob = rows(0, 1, 1) + rows(1) + text(b"_lib") + text(kind) + text(payload)
    body = ",".join(str(b) for b in struct.pack("<Q", len(blob)) + blob)
    return compile_c(HERE / "user.c", path, f"-DBLOB={body}", *(["-DUSER_CLASSIC"] if classic else []))


def modser(*words):
    return harness.run(harness.BIN / "modser", *words)


@pytest.fixture(scope="module", params=["ffi", "classic"])
def served(request, build, home):
    with harness.Daemon("--plugin", build()) as daemon:
        daemon.load("user", user(home / f"{request.param}.so", classic=request.param == "classic"))
        yield daemon


def called(daemon, *words):
    return daemon.ok("call", *words).out.split()[-1]


def test_a_library_finds_functions_modules_and_symbols_of_a_plugin(served):
    assert called(served, "user:global_add", 3, 4) == "7"
    assert called(served, "user:global_add", 3, 4.5) == "7.5"
    assert called(served, "user:import_scale", 7) == "21"
    assert called(served, "user:with_offset", 7) == "1007"


def test_clients_call_the_functions_that_a_plugin_lets_them_call(served):
    assert called(served, "user:bringer.add", 20, 22) == "42"
    assert called(served, "user:bringer.twice", "str:ab") == "abab"
    assert called(served, "user:scale", 5) == "15"
    with Wire(served.host) as wire:
        assert wire.call("user:bringer.twice", "x\0y")[1] == "x\0yx\0y"
        with pytest.raises(Failure, match="CALL_FAILED: .*TypeError: bringer.add takes numbers"):
            wire.call("user:bringer.add", "x")
        with pytest.raises(Failure, match="CALL_FAILED: .*expected a str or bytes, got int"):
            wire.call("user:bringer.twice", 1)
        with pytest.raises(Failure, match="NOT_FOUND: .*bringer.hidden"):
            wire.call("user:bringer.hidden")
        assert [f["name"] for f in wire.ask("module.describe", "user")["functions"]
                if f["name"] == "scale"] == ["scale"]


def test_a_function_of_a_plugin_takes_and_makes_tensors(served, tmp_path):
    x = np.float32([[1, -2], [3, 0.5]])
    np.save(tmp_path / "x.npy", x)
    served.ok("call", "user:bringer.double", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), 2 * x)


def test_a_function_of_a_plugin_makes_functions_that_keep_values(served):
    with Wire(served.host) as wire:
        wire.ask("session.hello", {"objects": True})
        counter = wire.call("user:bringer.counter")[1]
        again = wire.call("user:bringer.counter", counter)[1]
        assert [wire.call(counter)[1] for _ in range(3)] == [1, 2, 3]
        wire.ask("object.free", counter)
        assert wire.call(again)[1] == 4  # it kept the function, whose count goes on


def test_inspect_reads_what_a_plugin_brings_without_opening_it(build):
    said = modser("inspect", build())
    assert said.status == 0, said
    assert "brings     function bringer.add" in said.out and "symbol __TVMBringerOffset" in said.out
    # a plugin that ends the process when it is opened is read in the same way
    brings = json.loads(modser("--json", "inspect", build("LACKING")).out)["brings"]
    assert brings[0] == "function bringer.add" and brings[-2:] == [
        "kind bringer_scaler", "symbol __TVMBringerOffset"]


def test_the_daemon_says_what_its_plugins_bring(served):
    with Wire(served.host) as wire:
        info = wire.ask("server.info")
    assert "bringer_scaler" in info["kinds"] and "__TVMBringerOffset" in info["slots"]
    assert "bringer.hidden" in info["packed_functions"]


def test_a_module_that_the_plugin_refuses_fails_the_load_by_name(own_daemon, build, tmp_path):
    daemon = own_daemon("--plugin", build())
    said = daemon.modser("load", "m", user(tmp_path / "m.so", payload=b"y3"))
    assert said.status == 8 and "its plugin: expected x and a digit" in said.err, said
    said = daemon.modser("load", "m", user(tmp_path / "c.so", payload=b"y3", classic=True))
    assert said.status == 8 and "its plugin does not find the end of the payload" in said.err, said


def test_without_the_plugin_the_kind_is_refused_by_its_name(daemon, tmp_path):
    said = daemon.modser("load", "m", user(tmp_path / "m.so"))
    assert said.status == 8 and "__TVMBringerOffset" in said.err, said
    said = modser("inspect", user(tmp_path / "c.so", classic=True))
    assert "bringer_scaler, unknown kind" in said.out, said


def test_modser_with_the_plugin_reads_the_trees_of_its_kind(build, tmp_path):
    said = modser("--plugin", build(), "inspect", user(tmp_path / "c.so", classic=True))
    assert said.status == 0 and "bringer_scaler, a kind of a plugin, 2 bytes" in said.out, said
    assert "__TVMBringerOffset" not in said.out.split("modules")[0].split("unknown")[-1], said


def test_the_example_of_the_reference_works(own_daemon, build, home, tmp_path):
    build()  # copies the headers
    page = (harness.ROOT / "docs" / "reference" / "plugins.md").read_text()
    example = page[page.index("    #include <modserd_plugin.h>"):page.index("`modser call MODULE:mine.add")]
    (tmp_path / "mine.c").write_text(example)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{home}"]
    daemon = own_daemon("--plugin", compile_c(tmp_path / "mine.c", tmp_path / "mine.so", *flags))
    daemon.load("held", harness.ZOO / "objects.so")
    assert called(daemon, "held:mine.add", 3, 4) == "7"


def test_a_plugin_may_be_in_cpp(build, home, tmp_path):
    build()
    (tmp_path / "m.cc").write_text("""#include <modserd_plugin.h>
static int add(const modserd_host *host, char *, size_t) {
  return MODSERD_HOST_HAS(host, release) ? host->add_symbol("__TVMMine", (void *)add) : -1;
}
MODSERD_PLUGIN_BRINGS("symbol __TVMMine");
MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
    MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "m", "1", add};
""")
    plugin = compile_c(tmp_path / "m.cc", tmp_path / "m.so", "-fvisibility=hidden", f"-I{home}", "-Wall",
                       "-Werror")
    assert "brings     symbol __TVMMine" in modser("inspect", plugin).out
    assert modser("--plugin", plugin, "formats").status == 0


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_plugin_whose_list_or_names_are_wrong_is_refused(own_daemon, build, mistake, tmp_path):
    plugin = build(mistake)
    here = modser("--plugin", plugin, "formats")
    assert here.status == 8 and plugin.name in here.err and MISTAKES[mistake] in here.err, here
    said = (harness.run(harness.BIN / "modserd", "--listen", f"unix:{tmp_path}/s", "--plugin", plugin)
            if mistake == "BAD_LINE" else  # in the file's bytes: the daemon does not start
            own_daemon("--plugin", plugin).modser("load", "m", user(tmp_path / "m.so")))
    assert said.status != 0 and plugin.name in said.err and MISTAKES[mistake] in said.err, said
