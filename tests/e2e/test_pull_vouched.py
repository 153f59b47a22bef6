"""Modules that one daemon gets from another with what their makers have signed: modser:// under the
policy "signed"."""
import hashlib
import json

import harness
import numpy as np
import pytest
from signing import MINISIGN, Key, manifest, row
from test_pull import BYTES, FETCH, works
from test_pull_daemon import Way, uri_of
from test_pull_tested import NEXT, case
from test_trial import X
from wire import Wire, out

pytestmark = [
    pytest.mark.skipif(not FETCH.exists(),
                       reason="modserd-fetch is not built: libcurl was absent"),
    pytest.mark.skipif(MINISIGN is None, reason="no minisign: signatures are not tested"),
]
PAPERS = ["library", "manifest", "signature"]


@pytest.fixture
def key(folder):
    return Key(folder)


@pytest.fixture
def start(own_daemon, folder, key):
    """start(name, *options): a daemon with a store in the folder of that name, that takes what @key
    has signed and gives it on."""

    def begin(name, *options, trust=True):
        words = ("--trust", key.public) if trust else ()
        return own_daemon("--store", folder / name, "--fetch-retry", "5ms", "--allow-load-tcp",
                          *words, *options, listen=[f"unix:{folder}/{name}.sock", "tcp://127.0.0.1:0"])

    return begin


@pytest.fixture
def hub(start):
    return start("hub")


@pytest.fixture
def device(start):
    return start("device")


def publish(folder, key, version=1, data=BYTES, **more):
    """one.so with its manifest, signed, in a folder of its own; its URI."""
    text = manifest(row("one.so", data), version=version, **more)
    home = folder / f"published{version}"
    home.mkdir()
    (home / "one.so").write_bytes(data)
    (home / "one.so.json").write_bytes(text)
    (home / "one.so.json.minisig").write_bytes(key.sign(text))
    return f"file://{home}/one.so"


def files_of(daemon):
    """What it gives of `one`, by their roles."""
    with Wire(daemon.host) as wire:
        return {f["role"]: f for f in wire.ask("module.read", "one")["files"]}


def blob(store, digest):
    return store / "sha256" / digest[:2] / digest


def forge(store, role, data):
    """What the store's record says of `one` is true, and @data is its file of @role."""
    record = store / "modules" / "one"
    digest = hashlib.sha256(data).hexdigest()
    blob(store, digest).parent.mkdir(exist_ok=True)
    blob(store, digest).write_bytes(data)
    lines = record.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"file {role} "))
    name = lines[at].split(" ", 4)[4]
    lines[at] = f"file {role} {len(data)} {digest} {name}"
    record.write_text("\n".join(lines) + "\n")


def expect_refused(device, hub, *said):
    result = device.modser("pull", "one", uri_of(hub, "one"))
    assert result.status == 7 and "NOT_VERIFIED" in result.err, result
    assert [text for text in said if text not in result.err] == [], result


def test_what_was_signed_for_the_first_is_checked_by_all_behind_it(
        hub, device, start, own_daemon, folder, key):
    uri = publish(folder, key, version=7)
    hub.ok("pull", "one", uri)
    device.ok("pull", "one", uri_of(hub, "one"))
    hub.stop()
    last = start("last")
    last.ok("pull", "one", uri_of(device, "one"))
    assert works(device, "one") and works(last, "one")
    home = folder / "published7"
    for daemon in (device, last):
        told = files_of(daemon)
        assert list(told) == PAPERS
        for role, name in (("manifest", "one.so.json"), ("signature", "one.so.json.minisig")):
            assert told[role]["sha256"] == hashlib.sha256((home / name).read_bytes()).digest()
        with Wire(daemon.host) as wire:
            assert wire.ask("module.read", "one")["version"] == 7
    last.stop()
    again = own_daemon("--store", folder / "last")
    again.ok("wait", "one")
    assert works(again, "one")


def test_a_source_brings_what_is_signed(hub, start, folder, key):
    hub.ok("pull", "one", publish(folder, key))
    (folder / "one.conf").write_text(
        f"module one {{ source = '{uri_of(hub, 'one')}'  policy = 'signed' }}\n")
    device = start("device", "--config", folder / "one.conf")
    device.ok("wait", "one")
    assert works(device, "one")
    assert list(files_of(device)) == PAPERS


def test_what_nobody_signed_is_refused_with_what_to_do(start, device, folder, key):
    hub = start("hub", trust=False)
    uri = publish(folder, key)
    (folder / "published1/one.so.json.minisig").unlink()
    hub.ok("pull", "one", uri)
    expect_refused(device, hub, "has no signature", "--trust")
    hub.ok("load", "--keep", "--replace", "one", harness.ZOO / "results.so")
    expect_refused(device, hub, "has no signature", "--trust")
    assert "signature" not in files_of(hub)


def test_a_daemon_that_trusts_nobody_hands_a_signature_on(start, device, folder, key):
    hub = start("hub", trust=False)
    hub.ok("pull", "one", publish(folder, key))
    assert list(files_of(hub)) == PAPERS
    device.ok("pull", "one", uri_of(hub, "one"))
    assert works(device, "one") and list(files_of(device)) == PAPERS
    uri = publish(folder, key, version=2, data=BYTES + b"2")
    (folder / "published2/one.so.json.minisig").write_bytes(b"nobody's")
    hub.ok("pull", "one", uri)
    expect_refused(device, hub, "signature")


def test_another_key_than_the_devices_is_named(start, hub, own_daemon, folder, key):
    other = Key(folder, "other")
    hub.ok("pull", "one", publish(folder, key))
    device = own_daemon("--store", folder / "device", "--trust", other.public)
    expect_refused(device, hub, key.id, "not trusted")


@pytest.mark.parametrize("role", PAPERS)
def test_no_byte_in_the_others_store_may_change(hub, device, folder, key, role):
    device.ok("pull", "one", publish(folder, key))
    hub.ok("pull", "one", publish(folder, key, version=2, data=BYTES + b"2"))
    path = blob(folder / "hub", files_of(hub)[role]["sha256"].hex())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)
    expect_refused(device, hub)
    assert works(device, "one")
    assert "one" in hub.modser("store", "verify").out


@pytest.mark.parametrize("role, what", [
    ("manifest", lambda data: data.replace(b'"version": 2', b'"version": 3')),
    ("signature", lambda data: data.replace(b"timestamp:", b"timestamp:1")),
    ("library", lambda data: data + b"x"),
])
def test_what_the_other_daemon_changes_and_vouches_for_is_refused(
        hub, device, folder, key, role, what):
    device.ok("pull", "one", publish(folder, key))
    hub.ok("pull", "one", publish(folder, key, version=2, data=BYTES + b"2"))
    path = blob(folder / "hub", files_of(hub)[role]["sha256"].hex())
    forged = what(path.read_bytes())
    assert forged != path.read_bytes()
    forge(folder / "hub", role, forged)
    if role == "library":  # what the manifest names is asked for, which it has no more
        said = device.modser("pull", "one", uri_of(hub, "one"))
        assert said.status == 4 and "has that file" in said.err
    else:
        expect_refused(device, hub, "signature")
    assert works(device, "one")


def test_of_two_daemons_the_older_version_is_refused(start, device, folder, key):
    new, old = start("new"), start("old")
    new.ok("pull", "one", publish(folder, key, version=7))
    old.ok("pull", "one", publish(folder, key, version=6, data=BYTES + b"6"))
    device.ok("pull", "one", uri_of(new, "one"))
    expect_refused(device, old, "version 6", "version 7")
    assert works(device, "one")


def test_its_self_tests_and_warm_up_come_along(hub, device, models, folder, key):
    data = (models / "shapes.so").read_bytes()
    hub.ok("pull", "one", publish(folder, key, data=data, tests=[case(NEXT)], warmup=2))
    device.ok("pull", "one", uri_of(hub, "one"))
    assert files_of(device)["test"] == files_of(hub)["test"]
    with Wire(device.host) as wire:
        assert np.array_equal(wire.call("one:addone", X, out("float32", 6))[0][0], NEXT)


def test_they_are_run_where_it_is_pulled(start, models, folder, key):
    data = (models / "shapes.so").read_bytes()
    hub, device = start("hub", trust=False), start("device", trust=False)
    hub.ok("pull", "one", publish(folder, key, data=data, tests=[case(NEXT)]))
    text = json.loads(blob(folder / "hub", files_of(hub)["manifest"]["sha256"].hex()).read_text())
    forge(folder / "hub", "manifest", json.dumps(text | {"tests": [case(X)]}).encode())
    said = device.modser("pull", "one", uri_of(hub, "one"))
    assert said.status == 1 and "self-test 0 (addone)" in said.err, said


def test_a_manifest_that_was_cut_is_asked_for_again(hub, device, folder, key):
    hub.ok("pull", "one", publish(folder, key, comment="x" * 900000))
    with Way(hub, cut_at=500000) as way:
        device.ok("pull", "one", way.uri("one"))
        assert way.cut_at is None
    assert works(device, "one")


def test_the_store_keeps_them_as_long_as_the_module(hub, folder, key):
    hub.ok("pull", "one", publish(folder, key))
    digests = [f["sha256"].hex() for f in files_of(hub).values()]
    hub.ok("store", "prune")
    assert hub.ok("store", "verify").out == "3 files read, 0 faults\n"
    assert all(blob(folder / "hub", digest).exists() for digest in digests)
    hub.ok("unload", "one")
    hub.ok("store", "prune")
    assert not any(blob(folder / "hub", digest).exists() for digest in digests)
