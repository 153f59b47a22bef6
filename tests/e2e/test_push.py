"""Modules that are put into registries: what is sent, and what comes back."""
import json

import harness
import pytest
from registry import REGISTRY, DockerRegistry
from signing import MINISIGN, Key, manifest, row
from test_pull import BYTES, FETCH, RESULTS, store, works  # noqa: F401

pytestmark = [
    pytest.mark.skipif(not FETCH.exists(),
                       reason="modserd-fetch is not built: libcurl was absent"),
    pytest.mark.skipif(REGISTRY is None, reason="no docker-registry: nothing is pushed"),
]


@pytest.fixture
def registry(folder):
    with DockerRegistry(folder) as r:
        yield r


def push(*words):
    return harness.run(harness.BIN / "modser", "push", *words)



def test_what_is_pushed_is_pulled(own_daemon, store, registry):  # noqa: F811
    uri = f"oci://{registry.host}/models/one:1"
    said = push(RESULTS, uri)
    assert said.status == 0, said
    daemon = own_daemon("--store", store)
    daemon.ok("pull", "one", uri)
    assert works(daemon, "one")


def test_a_registry_may_say_where_to_as_seen_from_itself(folder):
    with DockerRegistry(folder, relative=True) as registry:
        said = push(RESULTS, f"oci://{registry.host}/models/one:1")
    assert (said.status, said.out) == (0, "3 sent, 0 there\n"), said


@pytest.mark.skipif(MINISIGN is None, reason="no minisign: signatures are not tested")
def test_what_is_signed_is_taken_by_who_trusts_the_key(own_daemon, store,  # noqa: F811
                                                       registry, folder):
    key, uri = Key(folder), f"oci://{registry.host}/models/one:1"
    daemon = own_daemon("--store", store, "--trust", key.public)
    assert push(RESULTS, uri).status == 0
    assert daemon.modser("pull", "one", uri).status == 7
    assert push("--sign", key.secret, RESULTS, uri).status == 0
    daemon.ok("pull", "one", uri)
    assert works(daemon, "one")


def test_a_manifest_of_ones_own_is_what_is_pushed(own_daemon, store,  # noqa: F811
                                                  registry, folder):
    text, uri = folder / "own.json", f"oci://{registry.host}/models/one:1"
    text.write_bytes(manifest(row(RESULTS.name, BYTES), version=77))
    assert push("--manifest", text, RESULTS, uri).status == 0
    daemon = own_daemon("--store", store)
    daemon.ok("pull", "one", uri)
    record = (store / "modules/one").read_text()
    assert "current 77 " in record
    text.write_bytes(manifest(row(RESULTS.name, BYTES + b"x")))
    said = push("--manifest", text, RESULTS, uri)
    assert said.status == 7 and str(RESULTS) in said.err


def test_only_what_the_manifest_lists_is_pushed_by_it(folder):
    text, other = folder / "own.json", folder / "other.so"
    text.write_bytes(manifest(row(RESULTS.name, BYTES), version=77))
    other.write_bytes(BYTES)
    said = push("--manifest", text, other, "oci://127.0.0.1:1/m:1")
    assert said.status == 2, said
    assert f"{other}: it is not among what {text} lists ({RESULTS.name})" in said.err


@pytest.mark.parametrize("option", ["--graph", "--params"])
def test_what_lies_beside_is_the_manifests_to_say(folder, option):
    said = push("--manifest", folder / "m.json", option, folder / "g", RESULTS, "oci://h/m:1")
    assert said.status == 2 and f"{option} beside --manifest" in said.err, said


def test_a_broken_manifest_is_what_is_to_be_corrected(folder):
    text = folder / "own.json"
    text.write_text('{"name": "one",')
    said = push("--manifest", text, RESULTS, "oci://127.0.0.1:1/m:1")
    assert said.status == 8 and f"{text}: manifest: line 1" in said.err, said
    assert "correct what the text names in the manifest" in said.err


def test_what_the_registry_has_is_not_sent_again(registry, folder):
    uri = f"oci://{registry.host}/models/one"
    text = folder / "own.json"
    text.write_bytes(manifest(row(RESULTS.name, BYTES)))
    words = ("--manifest", text, RESULTS)
    first = push(*words, f"{uri}:1")
    again = push(*words, f"{uri}:2")
    assert (first.out, again.out) == ("3 sent, 0 there\n", "0 sent, 3 there\n")


@pytest.mark.parametrize("name, status", [
    ("digits.tar", 8), ("absent.so", 4), ("passwd", 8), ("text.so", 8)])
def test_what_is_no_module_is_not_pushed(folder, name, status):
    if name != "absent.so":
        (folder / name).write_bytes(b"root:x:0:0:\n")
    said = push(folder / name, "oci://127.0.0.1:1/m:1")
    assert said.status == status and name in said.err, said


def test_what_is_no_module_is_refused_as_a_pull_of_it_is(own_daemon, store, folder):  # noqa: F811
    path = folder / "text.so"
    path.write_bytes(b"root:x:0:0:\n")
    pulled = own_daemon("--store", store).modser("pull", "m", f"file://{path}")
    pushed = push(path, "oci://127.0.0.1:1/m:1")
    why = "not an ELF file; expected a shared library [BAD_ARTIFACT]"
    assert why in pulled.err and why in pushed.err
    assert pulled.status == pushed.status == 8


@pytest.mark.parametrize("uri", ["https://127.0.0.1:1/m:1", "oci://", "digits"])
def test_only_a_registry_is_pushed_to(uri):
    said = push(RESULTS, uri)
    assert said.status == 2 and "oci://HOST/REPOSITORY:TAG" in said.err


def test_a_registry_that_is_not_there_is_an_error():
    said = push("--json", RESULTS, "oci://127.0.0.1:1/m:1")
    assert said.status == 1 and json.loads(said.err)["error"]["name"] == "IO"
