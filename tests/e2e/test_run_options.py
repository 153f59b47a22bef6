"""How workers run a module, through each front: it is kept over restarts and rollbacks."""
import contextlib
import pathlib
import sys

import numpy as np
import pytest
import toy
from onnx_writer import floats, model, node, tensor, value
from test_http import Visit, start
from test_http_repository import load_with
from wire import Failure, Wire

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
from run_keys import rows

# As they are printed. A library and a model have different options.
LIBRARY = {"device": "cpu:0", "workers": "2", "abi": "ffi", "ignore-unknown-inputs": "yes",
           "batch": "4", "batch-delay": "5ms", "max-run": "30000ms", "keep-alive": "3600000ms",
           "threads": "3"}
MODEL = {"format": "onnx", "input": "x=float32[2,3]", "missing-weights": "zero",
         "engine": "reference"}
TOY = {"outputs": "y", "signature": "twice"}  # for formats whose files do not name their outputs
ALL = {key: (kind, wire) for kind, _, key, wire in rows("MSD_RUN_CLIENT_KEY_MAP")[0]}


@pytest.fixture
def files(models, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node("Add", ["x", "k"], ["y"])], [value("x", "float32", ["n", 3])],
                           [value("y", "float32", ["n", 3])], [tensor("k", floats(3))]))
    toy_model = tmp_path / "net.toy"
    toy_model.write_text("toy 2.5 4\n")
    return {"library": (models / "mlp.so", LIBRARY), "model": (path, MODEL), "toy": (toy_model, TOY)}


@pytest.fixture
def plugin(tmp_path):
    return toy.build(tmp_path)


def words_of(options):
    """The command line of `modser load`."""
    return [word for key, text in options.items()
            for word in ([f"--{key}"] if ALL[key][0] == "FLAG" else [f"--{key}", text])]


def typed(options):
    """The options of module.load."""
    convert = {"COUNT": int, "TIME": lambda text: int(text[:-2]), "FLAG": lambda text: text == "yes"}
    return {ALL[key][1]: convert.get(ALL[key][0], str)(text) for key, text in options.items()}


def told(daemon, name):
    with Wire(daemon.host) as wire:
        return wire.ask("module.describe", name)["options"]


def plugin_of(path):
    """modser sends only files of formats that it knows."""
    return ["--plugin", path.parent / "toy.so"] if path.suffix == ".toy" else []


def by_words(daemon, name, path, options):
    daemon.load(name, path, "--keep", "--replace", *plugin_of(path), *words_of(options))


def by_wire(daemon, name, path, options):
    with Wire(daemon.host) as wire:
        wire.load(name, path.read_bytes(), keep=True, replace=True, **typed(options))


def by_pull(daemon, name, path, options):
    daemon.ok("pull", *words_of(options), name, f"file://{path}")


def by_http(daemon, name, path, options):
    """The store has it without options; a load says them."""
    daemon.load(name, path, "--keep", "--replace", *plugin_of(path))
    with Visit(daemon) as visit:
        assert load_with(visit, name, **options) == (200, b"")


def test_each_key_has_a_sample():
    assert set(LIBRARY) | set(MODEL) | set(TOY) == set(ALL)


@pytest.mark.parametrize("key", TOY)
def test_the_words_of_another_format_are_refused(own_daemon, files, key):
    daemon = own_daemon()
    for name, why in (("model", "of the format onnx names its outputs itself"),
                      ("library", "is for a framework's model")):
        said = daemon.modser("load", name, files[name][0], f"--{key}", TOY[key])
        assert said.status == 8 and why in said.err and key in said.err, said


@pytest.mark.parametrize("load", [by_words, by_wire, by_pull, by_http])
def test_what_is_kept_is_the_same_after_a_restart(folder, files, plugin, load):
    words = ["--store", folder / "store", "--allow-load-tcp", "--plugin", plugin]
    with start(*words) as daemon:
        for name, (path, options) in files.items():
            load(daemon, name, path, options)
            assert told(daemon, name) == options
    with start(*words) as daemon:
        for name, (_, options) in files.items():
            daemon.ok("wait", name)
            assert told(daemon, name) == options


def test_a_rollback_brings_the_options_back(own_daemon, folder, files, plugin):
    daemon = own_daemon("--store", folder / "store", "--plugin", plugin)
    for name, (path, options) in files.items():
        by_words(daemon, name, path, options)
        again = path.parent / f"again{path.suffix}"  # another edition
        again.write_bytes(path.read_bytes().replace(b"y", b"z") if name == "model" else path.read_bytes() + b"\0")
        by_words(daemon, name, again, {})
        assert told(daemon, name) == {}
        daemon.ok("rollback", name)
        assert told(daemon, name) == options


def test_a_section_and_the_command_line_take_each_key(own_daemon, folder, files, plugin):
    parts = {name: ",".join([f"{name}={path}", *(f"{k}={v}" for k, v in options.items())])
             for name, (path, options) in files.items()}
    daemon = own_daemon("--plugin", plugin, *(word for part in parts.values() for word in ("--load", part)))
    for name, (_, options) in files.items():
        daemon.ok("wait", name)
        assert told(daemon, name) == options
    daemon.stop()
    config = folder / "m.conf"
    config.write_text("".join(
        f"module {name} {{ file = \"{path}\" " + " ".join(f'{k} = "{v}"' for k, v in options.items()) + " }\n"
        for name, (path, options) in files.items()))
    daemon = own_daemon("--plugin", plugin, "--config", config)
    for name, (_, options) in files.items():
        daemon.ok("wait", name)
        assert told(daemon, name) == options


def test_a_record_of_an_older_daemon_loads_with_the_defaults(own_daemon, folder, files):
    daemon = own_daemon("--store", folder / "store")
    by_words(daemon, "library", files["library"][0], LIBRARY)
    daemon.stop()
    record = folder / "store" / "modules" / "library"
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(line for line in lines if not line.startswith("with batch")))
    assert len(record.read_text()) < sum(map(len, lines))
    daemon = own_daemon("--store", folder / "store")
    daemon.ok("wait", "library")
    assert told(daemon, "library") == {k: v for k, v in LIBRARY.items() if not k.startswith("batch")}


def convolution(folder):
    """conv(x) and its ReLU, which the native engine runs as one, on several threads."""
    path = folder / "conv.onnx"
    nodes = [node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["y"])]
    path.write_bytes(model(nodes, [value("x", "float32", [1, 32, 64, 64])],
                           [value("y", "float32", [1, 32, 64, 64])], [tensor("k", floats(32, 32, 3, 3))]))
    return path


def test_the_engine_of_a_load_computes_the_model(own_daemon, tmp_path):
    daemon, path = own_daemon(), convolution(tmp_path)
    for engine, is_fused in (("auto", True), ("native", True), ("reference", False)):
        daemon.load("m", path, "--replace", "--engine", engine)
        passes, = [line for line in daemon.ok("show", "m").out.splitlines() if "passes" in line] or [""]
        assert ("fused" in passes) == is_fused, engine
    said = daemon.modser("load", "m", path, "--replace", "--engine", "fast")
    assert said.status == 2 and "engine fast: expected auto, native or reference" in said.err, said
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="expected auto, native or reference"):
        wire.load("n", path.read_bytes(), engine="fast")


def test_each_module_has_the_threads_of_its_load(own_daemon, tmp_path):
    daemon, path = own_daemon("--threads", 2), convolution(tmp_path)
    np.save(tmp_path / "x.npy", floats(1, 32, 64, 64))

    def tasks(*words):
        daemon.load("m", path, "--replace", *words)
        daemon.ok("call", "m:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
        with Wire(daemon.host) as wire:
            (pid,) = wire.ask("module.describe", "m")["pids"]
        return len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))

    of_daemon = tasks()
    assert tasks("--threads", "1") == of_daemon - 1
    assert tasks("--threads", "5") == of_daemon + 3


def test_the_outputs_and_the_signature_reach_the_format(own_daemon, files, plugin):
    daemon, path = own_daemon("--plugin", plugin), files["toy"][0]
    for words, y in (([], "2.5 5 7.5 10"), (["--signature", "twice", "--outputs", "y"], "5 10 15 20")):
        daemon.load("toy", path, "--replace", *plugin_of(path), *words)
        assert y in daemon.ok("call", "toy:run", "[1,2,3,4]").out.replace(".0", "").replace(",", "")
    said = daemon.modser("load", "toy", path, "--replace", *plugin_of(path), "--outputs", "z")
    assert said.status == 8 and 'it has one output, y' in said.err, said
