"""How workers run a module, through each front: it is kept over restarts and rollbacks."""
import contextlib
import pathlib
import sys

import pytest
from onnx_writer import floats, model, node, tensor, value
from test_http import Visit, start
from test_http_repository import load_with
from wire import Wire

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
from run_keys import rows

# As they are printed. A library and a model have different options.
LIBRARY = {"device": "cpu:0", "workers": "2", "abi": "ffi", "ignore-unknown-inputs": "yes",
           "batch": "4", "batch-delay": "5ms", "max-run": "30000ms"}
MODEL = {"format": "onnx", "input": "x=float32[2,3]", "missing-weights": "zero"}
ALL = {key: (kind, wire) for kind, _, key, wire in rows("MSD_RUN_CLIENT_KEY_MAP")[0]}


@pytest.fixture
def files(models, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node("Add", ["x", "k"], ["y"])], [value("x", "float32", ["n", 3])],
                           [value("y", "float32", ["n", 3])], [tensor("k", floats(3))]))
    return {"library": (models / "mlp.so", LIBRARY), "model": (path, MODEL)}


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


def by_words(daemon, name, path, options):
    daemon.load(name, path, "--keep", "--replace", *words_of(options))


def by_wire(daemon, name, path, options):
    with Wire(daemon.host) as wire:
        wire.load(name, path.read_bytes(), keep=True, replace=True, **typed(options))


def by_pull(daemon, name, path, options):
    daemon.ok("pull", *words_of(options), name, f"file://{path}")


def by_http(daemon, name, path, options):
    """The store has it without options; a load says them."""
    daemon.load(name, path, "--keep", "--replace")
    with Visit(daemon) as visit:
        assert load_with(visit, name, **options) == (200, b"")


def test_each_key_has_a_sample():
    assert set(LIBRARY) | set(MODEL) == set(ALL)


@pytest.mark.parametrize("load", [by_words, by_wire, by_pull, by_http])
def test_what_is_kept_is_the_same_after_a_restart(folder, files, load):
    words = ["--store", folder / "store", "--allow-load-tcp"]
    with start(*words) as daemon:
        for name, (path, options) in files.items():
            load(daemon, name, path, options)
            assert told(daemon, name) == options
    with start(*words) as daemon:
        for name, (_, options) in files.items():
            daemon.ok("wait", name)
            assert told(daemon, name) == options


def test_a_rollback_brings_the_options_back(own_daemon, folder, files):
    daemon = own_daemon("--store", folder / "store")
    for name, (path, options) in files.items():
        by_words(daemon, name, path, options)
        again = folder / path.name
        again.write_bytes(path.read_bytes() + b"\0" * (name == "library"))
        if name == "model":  # another edition of the same model
            again.write_bytes(path.read_bytes().replace(b"y", b"z"))
        by_words(daemon, name, again, {})
        assert told(daemon, name) == {}
        daemon.ok("rollback", name)
        assert told(daemon, name) == options


def test_a_section_and_the_command_line_take_each_key(own_daemon, folder, files):
    parts = {name: ",".join([f"{name}={path}", *(f"{k}={v}" for k, v in options.items())])
             for name, (path, options) in files.items()}
    daemon = own_daemon(*(word for part in parts.values() for word in ("--load", part)))
    for name, (_, options) in files.items():
        daemon.ok("wait", name)
        assert told(daemon, name) == options
    daemon.stop()
    config = folder / "m.conf"
    config.write_text("".join(
        f"module {name} {{ file = \"{path}\" " + " ".join(f'{k} = "{v}"' for k, v in options.items()) + " }\n"
        for name, (path, options) in files.items()))
    daemon = own_daemon("--config", config)
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
