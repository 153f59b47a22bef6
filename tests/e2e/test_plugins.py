"""Plugins: plugins/toy.c, built with the installed headers alone, adds a format, an operator, its
kernel and its row for ONNX; the mistakes that it can make cost a worker and say whose they were."""
import json
import pathlib

import harness
import numpy as np
import onnx_writer as onnx
import pytest
import toy

MISTAKES = {
    "ABI": "version 11 of the plugin interface, this is version 5",
    "OLD_ABI": "toyOLD_ABI.so: it was built for version 4 of the plugin interface, this is "
               "version 5",
    "NO_ENTRY": "no modserd_plugin_entry",
    "HOLLOW": "toy 0.9 cannot be added: its names are taken: modser_serializer_ops.probe is NULL",
    "REFUSE": "toy 0.9 cannot be added: it is not in the mood",
}
AT_START = ("ABI", "OLD_ABI", "NO_ENTRY")  # in the file's bytes: the daemon does not start


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds the plugin as others do, once for each mistake."""
    home = tmp_path_factory.mktemp("plugins")
    return lambda mistake="": toy.build(home, mistake)


@pytest.fixture
def x(tmp_path):
    value = np.float32([1, -2, 3, 0.5])
    np.save(tmp_path / "x.npy", value)
    return value


def scale_model(path, since=2, domain="toy.example", **attributes):
    node = onnx.node("Scale", ["x"], ["y"], domain=domain, **attributes)
    raw = onnx.model([node], [onnx.value("x", "float32", [4])], [onnx.value("y", "float32", [4])])
    path.write_bytes(raw + onnx.field(8, onnx.field(1, "toy.example") + onnx.field(2, since)))
    return path


def expect_no_start(folder, plugin, *texts):
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{folder}/s", "--plugin", plugin)
    assert said.status == 2 and all(text in said.err for text in texts), said


def relu_model(path):
    ends = [[onnx.value(name, "float32", [4])] for name in "xy"]
    path.write_bytes(onnx.model([onnx.node("Relu", ["x"], ["y"])], *ends))
    return path


def modser(*words):
    return harness.run(harness.BIN / "modser", *words)


def expect_scaled(daemon, name, x, factor, tmp_path):
    daemon.ok("call", f"{name}:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.float32(factor) * x)


def test_a_daemon_serves_a_plugins_format_and_its_operator_of_onnx(own_daemon, build, x, tmp_path):
    (tmp_path / "net.toy").write_text("toy 2.5 4\n")
    model = scale_model(tmp_path / "net.onnx", factor=0.5)
    daemon = own_daemon("--plugin", build(), "--load", f"first={tmp_path}/net.toy")
    daemon.ok("wait", "first")
    expect_scaled(daemon, "first", x, 2.5, tmp_path)
    daemon.load("second", model)
    expect_scaled(daemon, "second", x, 0.5, tmp_path)
    tmfile = tmp_path / "net.tmfile"
    assert modser("--plugin", build(), "convert", model, "-o", tmfile).status == 0
    daemon.load("third", tmfile)
    expect_scaled(daemon, "third", x, 0.5, tmp_path)


def test_a_plugin_of_an_earlier_header_works(own_daemon, tmp_path, x):
    (tmp_path / "net.toy").write_text("toy 2.5 4\n")
    plugin = toy.build(tmp_path, is_earlier=True)
    daemon = own_daemon("--plugin", plugin, "--load", f"first={tmp_path}/net.toy")
    daemon.ok("wait", "first")
    expect_scaled(daemon, "first", x, 2.5, tmp_path)
    assert "brings     no list: it is a plugin" in modser("inspect", plugin).out


def test_a_kernel_that_fails_says_why_and_is_called_again(own_daemon, build, x, tmp_path):
    daemon = own_daemon("--plugin", build())
    daemon.load("m", scale_model(tmp_path / "m.onnx", factor=-1.0))
    for _ in range(2):
        said = daemon.modser("call", "m:run", f"@{tmp_path}/x.npy")
        assert said.status == 1 and "ToyScale: a factor below 0" in said.err, said
    assert daemon.restarts("m") == []


def neg_model(path, *names, dims=(4,)):
    """One Neg behind the other, called by these names."""
    nodes = [onnx.node("Neg", [f"t{i}"], [f"t{i + 1}"], name=name) for i, name in enumerate(names)]
    ends = [[onnx.value(f"t{i}", "float32", dims)] for i in (0, len(names))]
    path.write_bytes(onnx.model(nodes, *ends))
    return path


def test_an_engine_computes_the_nodes_that_it_takes_and_no_others(own_daemon, build, x, tmp_path):
    daemon = own_daemon("--plugin", build())
    daemon.load("m", neg_model(tmp_path / "m.onnx", "toy.one", "mine", "toy.two"))
    expect_scaled(daemon, "m", x, -100, tmp_path)
    daemon.load("m", neg_model(tmp_path / "m.onnx", "mine"), "--replace")
    expect_scaled(daemon, "m", x, -1, tmp_path)


def test_an_engine_says_why_it_cannot_take_or_run_a_node(own_daemon, build, tmp_path):
    daemon = own_daemon("--plugin", build())
    said = daemon.modser("load", "m", neg_model(tmp_path / "m.onnx", "toy.broken"))
    assert said.status == 8 and 'node 1 "toy.broken": engine toy engine: it is broken' in said.err
    daemon.load("m", neg_model(tmp_path / "m.onnx", "toy.one", dims=(2, 2)))
    for _ in range(2):
        said = daemon.modser("call", "m:run", "zeros:float32[2,2]")
        assert said.status == 1 and "engine toy engine: not one axis" in said.err, said


def conv_model(path, name):
    """A convolution by 5, called so, and a batch norm that doubles."""
    given = {key: onnx.tensor(key, np.float32(value)) for key, value in
             {"w": [[[[5]]]], "two": [2], "zero": [0], "one": [1]}.items()}
    nodes = [onnx.node("Conv", ["x", "w"], ["c"], name=name),
             onnx.node("BatchNormalization", ["c", "two", "zero", "zero", "one"], ["y"],
                       epsilon=0.0)]
    ends = [[onnx.value(end, "float32", [1, 1, 1, 4])] for end in "xy"]
    path.write_bytes(onnx.model(nodes, *ends, list(given.values())))
    return path


@pytest.mark.parametrize("knows, name, factor", [
    ("", "toy.conv", 6),  # it takes the convolution as the file has it, and no pass joins that
    ("", "mine", 10),  # what a pass makes is not offered to who does not list it
    ("KNOWS", "toy.conv", 7),
    ("KNOWS", "mine", 10),
])
def test_an_engine_gets_what_passes_make_where_it_lists_that(own_daemon, build, tmp_path, knows,
                                                             name, factor):
    x = np.float32([1, -2, 3, 0.5]).reshape(1, 1, 1, 4)
    np.save(tmp_path / "x.npy", x)
    daemon = own_daemon("--plugin", build(knows))
    daemon.load("m", conv_model(tmp_path / "m.onnx", name))
    expect_scaled(daemon, "m", x, factor, tmp_path)


def test_without_the_plugin_the_operator_is_refused_by_its_domain(daemon, tmp_path):
    said = daemon.modser("load", "m", scale_model(tmp_path / "m.onnx", factor=0.5))
    assert said.status == 8 and "of domain toy.example, which is not known" in said.err, said


def test_a_version_of_the_domain_before_the_row_is_refused(build, tmp_path):
    old = scale_model(tmp_path / "m.onnx", since=1, factor=0.5)
    said = modser("--plugin", build(), "inspect", old)
    assert "opset 1 of toy.example has no operator Scale; 2 has" in said.err, said


def test_modser_lists_inspects_and_converts_what_a_plugin_knows(build, tmp_path):
    plugin = build()
    rows = json.loads(modser("--plugin", plugin, "--json", "formats").out)
    (row,) = [row for row in rows if row["key"] == "toy"]
    assert (row["format"], row["name"], row["version"], row["files"], row["stores"]) == (
        "toy", "toy reader", "3.1", 1, True)
    (onnx,) = [row for row in rows if row["key"] == "onnx"]
    assert "toy.example.Scale" in onnx["load_operators"] and "ToyScale" in onnx["store_operators"]
    assert row["load_operators"] == row["store_operators"] == []  # it registers no methods
    (tmp_path / "a.toy").write_text("toy 2.5 4\n")
    for source, target in (("a.toy", "b.onnx"), ("b.onnx", "c.toy")):
        said = modser("--plugin", plugin, "convert", tmp_path / source, "-o", tmp_path / target)
        assert said.status == 0, said
    assert (tmp_path / "c.toy").read_text() == "toy 2.5 4\n"
    tmfile = (tmp_path / "b.tmfile", tmp_path / "c.onnx")
    for source, target in ((tmp_path / "b.onnx", tmfile[0]), tmfile):
        said = modser("--plugin", plugin, "convert", source, "-o", target)
        assert said.status == 0, said
    assert "node 1 " in (said := modser("--plugin", plugin, "inspect", "--dump", tmfile[0])).out
    assert "ToyScale{factor=2.5}" in said.out, said
    assert "ToyScale" in modser("--plugin", plugin, "inspect", tmp_path / "b.onnx").out


def test_a_plugin_that_is_named_twice_adds_what_it_has_once(build):
    plugin = build()
    rows = json.loads(modser("--plugin", plugin, "--plugin", plugin, "--json", "formats").out)
    assert [row["key"] for row in rows].count("toy") == 1, rows


@pytest.mark.skipif(harness.SANITIZED, reason="the sanitizer wants to be the first library")
def test_a_plugin_that_was_preloaded_still_adds_what_it_has(build):
    plugin = build()
    said = harness.run(harness.BIN / "modser", "--plugin", plugin, "--json", "formats",
                       env={**harness.environment(), "LD_PRELOAD": str(plugin)})
    assert [row["key"] for row in json.loads(said.out)].count("toy") == 1, said


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_plugin_that_is_none_is_refused_by_its_name(own_daemon, build, mistake, tmp_path):
    plugin = build(mistake)
    here = modser("--plugin", plugin, "formats")
    assert here.status == 8 and plugin.name in here.err and MISTAKES[mistake] in here.err, here
    if mistake in AT_START:
        return expect_no_start(tmp_path, plugin, f"{plugin.name}: it", MISTAKES[mistake])
    said = own_daemon("--plugin", plugin).modser("load", "m", relu_model(tmp_path / "m.onnx"))
    assert said.status != 0 and plugin.name in said.err and MISTAKES[mistake] in said.err, said


def test_a_program_and_a_text_are_no_plugins_for_start_and_check(tmp_path):
    (tmp_path / "text.so").write_text("not a library")
    for path in ("/bin/true", tmp_path / "text.so"):
        why = "expected a shared library"
        expect_no_start(tmp_path, path, f"plugin {pathlib.Path(path).resolve()}: ", why)
        (tmp_path / "m.conf").write_text(f'plugin = {{"{path}"}}\n')
        said = harness.run(harness.BIN / "modserd", "--check-config", tmp_path / "m.conf")
        assert said.status == 2 and why in said.err, said


def test_a_plugin_that_crashes_costs_its_worker_alone(own_daemon, build, tmp_path):
    plugin = build("CRASH")
    daemon = own_daemon("--plugin", plugin)
    said = daemon.modser("load", "m", relu_model(tmp_path / "m.onnx"))
    assert said.status != 0 and f"in registration of plugin {plugin}" in said.err, said
    daemon.ok("ping")


def test_a_path_without_a_plugin_ends_daemon_and_client_at_once(tmp_path):
    missing = tmp_path / "none.so"
    daemon = harness.run(harness.BIN / "modserd", "--listen", f"unix:{tmp_path}/s",
                         "--plugin", missing)
    client = modser("--plugin", missing, "formats")
    for said in (daemon, client):
        assert said.status != 0 and str(missing) in said.err and "No such file" in said.err, said
