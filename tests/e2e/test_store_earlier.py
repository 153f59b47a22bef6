"""A store that an earlier version has written is served: tests/store/earlier is of commit d746d324,
where it was filled by `modser load --keep`, a rollback, a pin and a signed pull."""
import json
import shutil

import harness
import numpy as np
import pytest
from wire import Wire

EARLIER = harness.ROOT / "tests" / "store" / "earlier"
X = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
ADDED = {"editions": 2, "fixed": 5, "options": 1, "pulled": 4}  # by each model to its input


@pytest.fixture
def store(folder):
    shutil.copytree(EARLIER, folder / "store", ignore=shutil.ignore_patterns("key.pub"))
    return folder / "store"


@pytest.fixture
def start(own_daemon, store):
    def start():
        daemon = own_daemon("--store", store, "--trust", EARLIER / "key.pub", "--watch", "1h")
        for name in ADDED:
            daemon.ok("wait", name)
        return daemon

    return start


def expect_all(daemon, **others):
    with Wire(daemon.host) as wire:
        for name, n in (ADDED | others).items():
            _, y = wire.call(f"{name}:run", X)
            assert np.array_equal(y, X + np.float32(n)), name


def editions(daemon):
    told = json.loads(daemon.ok("--json", "store", "ls").out)
    return {(e["module"], e["ref"]): e for e in told}


def test_each_module_answers_before_and_after_a_restart(start):
    for _ in range(2):
        daemon = start()
        expect_all(daemon)
        assert daemon.ok("store", "verify").out.endswith(" files read, 0 faults\n")
        daemon.stop()


def test_editions_pins_and_versions_are_those_of_then(start):
    daemon = start()
    kept = editions(daemon)
    assert [(*key, e["version"]) for key, e in kept.items()] == [
        ("editions", "current", 2), ("editions", "previous", 3), ("editions", "bad", 0),
        ("fixed", "current", 1), ("options", "current", 1), ("pulled", "current", 3)]
    assert kept["options", "current"]["pinned"] and not kept["fixed", "current"]["pinned"]
    daemon.ok("rollback", "editions")
    expect_all(daemon, editions=3)
    daemon.stop()
    daemon = start()
    expect_all(daemon, editions=3)
    daemon.ok("rollback", "editions")
    expect_all(daemon)


def test_options_have_their_names_of_today(start):
    daemon = start()
    with Wire(daemon.host) as wire:
        told = wire.ask("module.describe", "options")
    assert told["options"] == {
        "device": "cpu:0", "workers": "2", "abi": "ffi", "ignore-unknown-inputs": "yes",
        "missing-weights": "seeded", "format": "onnx", "input": "x=float32[?,3]", "batch": "8",
        "batch-delay": "1ms"}
    assert len(told["pids"]) == 2


def test_a_batch_that_joins_nothing_is_logged_and_served(start, store):
    """Refused for a new load; the earlier version kept it so."""
    daemon = start()
    daemon.expect_logged("event=module_batch_off name=fixed ")
    assert "event=module_batch_off name=options" not in daemon.log()
    [fixed] = store.glob("sha256/d4/*")
    said = daemon.modser("load", "--batch", "4", "new", fixed)
    assert said.status == 8 and "no function has a first extent that may vary" in said.err, said
