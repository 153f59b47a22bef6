"""What a manifest's tests say of a module that is pulled, or that a section gives a source."""
import base64
import hashlib
import os

import harness
import numpy as np
import pytest
from signing import manifest, row
from test_pull import FETCH, store  # noqa: F401
from test_trial import X
from wire import Wire, out

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")
NEXT = X + 1


def tensor(array):
    return {"dtype": str(array.dtype), "shape": list(array.shape),
            "base64": base64.b64encode(array.tobytes()).decode()}


def case(outputs):
    return {"function": "addone", "inputs": [tensor(X)], "outputs": [tensor(outputs)],
            "rtol": 1e-6, "atol": 1e-6}


@pytest.fixture
def source(models, folder):
    """source(version, outputs): a file with a manifest whose test wants @outputs; its URI."""

    def give(version, outputs, **more):
        data = (models / "shapes.so").read_bytes() + bytes([version])
        text = manifest(row("m.so", data), name="m", version=version, tests=[case(outputs)], **more)
        for name, part in (("m.so", data), ("m.so.json", text)):
            (folder / "new").write_bytes(part)
            os.replace(folder / "new", folder / name)
        return f"file://{folder}/m.so"

    return give


def expect_served(daemon):
    with Wire(daemon.host) as wire:
        assert np.array_equal(wire.call("m:addone", X, out("float32", 6))[0][0], NEXT)


def test_what_passes_its_manifests_tests_is_served(own_daemon, store, source):  # noqa: F811
    daemon = own_daemon("--store", store)
    daemon.ok("pull", "m", source(1, NEXT, warmup=2))
    expect_served(daemon)


def test_the_manifest_that_an_edition_has_asks_nobody(own_daemon, store, source,  # noqa: F811
                                                      folder):
    daemon = own_daemon("--store", store)
    uri, digests = source(1, NEXT), []
    for version in (1, 2):
        daemon.ok("pull", "m", source(version, NEXT))
        digests.append(hashlib.sha256((folder / "m.so.json").read_bytes()).hexdigest())
    for path in ("m.so", "m.so.json"):
        (folder / path).unlink()
    for digest, version in ((digests[0], 1), (digests[1], 2), (digests[1], 2)):
        daemon.ok("pull", "m", uri, "--sha256", digest)
        expect_served(daemon)
        assert f"current {version} {digest}" in (store / "modules/m").read_text()
    daemon.ok("pull", "other", uri, "--sha256", digests[0])
    assert f"current 1 {digests[0]}" in (store / "modules/other").read_text()


def test_the_example_of_the_documents_works(own_daemon, store, models, folder):  # noqa: F811
    text = (harness.ROOT / "docs/how-to/self-tests.md").read_text()
    script = "cat >addone.so.json" + text.partition("```\ncat >addone.so.json")[2].partition("```")[0]
    (folder / "addone.so").write_bytes((models / "shapes.so").read_bytes())
    env = harness.environment() | {"PATH": f"{harness.BIN}:{os.environ['PATH']}",
                                   "MODSER_HOST": own_daemon("--store", store).host}
    said = harness.run("bash", "-e", "-c", script, cwd=folder, env=env)
    assert said.status == 0 and "READY" in said.out, said
    wrong = script.replace("[2, 3, 4]", "[2, 3, 5]")
    said = harness.run("bash", "-e", "-c", wrong, cwd=folder, env=env)
    told = text.partition("the pull ends with 1 and `")[2].partition("`")[0]
    assert said.status == 1 and told in said.err, said


def test_what_does_not_fails_the_pull_and_the_old_one_serves(
        own_daemon, store, source):  # noqa: F811
    daemon = own_daemon("--store", store)
    daemon.ok("pull", "m", source(1, NEXT))
    said = daemon.modser("pull", "m", source(2, X))
    assert said.status == 1 and "self-test 0 (addone): output 0: element 0 is 1" in said.err
    expect_served(daemon)


def test_of_warm_up_there_is_an_end(own_daemon, store, source):  # noqa: F811
    said = own_daemon("--store", store).modser("pull", "m", source(1, NEXT, warmup=100000))
    assert said.status == 8 and "warmup" in said.err


def test_a_source_is_tried_too_at_its_first_time(own_daemon, store, source, folder):  # noqa: F811
    uri = source(1, X)
    (folder / "m.conf").write_text(f"module m {{ source = '{uri}' }}\n")
    daemon = own_daemon("--config", folder / "m.conf", "--store", store)
    said = daemon.modser("wait", "m")
    assert said.status == 1 and "self-test 0 (addone)" in said.err
