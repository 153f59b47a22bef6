"""Modules that have a manifest, and keys that vouch for it."""
import json
import shutil

import harness
import numpy as np
import pytest
from bad_server import Server, flipped, unannounced
from registry import descriptor, digest_of
from signing import MINISIGN, Key, manifest, row
from test_pull import BYTES, FETCH, SHA256, asked, store, works  # noqa: F401
from wire import Failure, Wire

pytestmark = [
    pytest.mark.skipif(not FETCH.exists(),
                       reason="modserd-fetch is not built: libcurl was absent"),
    pytest.mark.skipif(MINISIGN is None, reason="no minisign: signatures are not tested"),
]
LIBRARY = row("digits.so", BYTES)


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def key(folder):
    return Key(folder)


@pytest.fixture
def signed(own_daemon, store, key):  # noqa: F811
    """A daemon that takes what @key has signed."""
    return own_daemon("--store", store, "--fetch-retry", "5ms", "--trust", key.public)


def give(server, text, signature=None, data=BYTES, *steps):
    """digits.so with its manifest beside it; returns its URI."""
    server.give("/digits.so.json", text)
    if signature is not None:
        server.give("/digits.so.json.minisig", signature)
    return server.give("/digits.so", data, *steps)


def expect_refused(daemon, uri, *said):
    """The pull of @uri is NOT_VERIFIED, and says each of @said."""
    result = daemon.modser("pull", "one", uri)
    assert result.status == 7 and "NOT_VERIFIED" in result.err, result
    assert [text for text in said if text not in result.err] == [], result


def test_what_a_trusted_key_has_signed_is_served(signed, server, key):
    text = manifest(LIBRARY)
    signed.ok("pull", "one", give(server, text, key.sign(text)))
    assert works(signed, "one")


def test_both_of_minisigns_kinds_are_taken(signed, server, key):
    text = manifest(LIBRARY)
    signed.ok("pull", "one", give(server, text, key.sign(text, "-l")))
    assert works(signed, "one")


def test_a_folder_of_this_machine_is_a_source_like_any(signed, key, folder):
    text = manifest(LIBRARY)
    (folder / "digits.so").write_bytes(BYTES)
    (folder / "digits.so.json").write_bytes(text)
    expect_refused(signed, f"file://{folder}/digits.so", "it has no trusted signature")
    (folder / "digits.so.json.minisig").write_bytes(key.sign(text))
    signed.ok("pull", "one", f"file://{folder}/digits.so")
    assert works(signed, "one")


def test_a_path_with_a_slip_is_no_file_that_nobody_has_signed(signed, folder):
    said = signed.modser("pull", "one", f"file://{folder}/digts.so")
    assert said.status == 4 and f"file://{folder}/digts.so: there is no such file" in said.err, said


def test_a_file_of_another_size_is_named(own_daemon, store, folder):  # noqa: F811
    (folder / "digits.so").write_bytes(BYTES)
    (folder / "digits.so.json").write_bytes(manifest(LIBRARY | {"size": len(BYTES) + 1}))
    said = own_daemon("--store", store).modser("pull", "one", f"file://{folder}/digits.so")
    told = f"file://{folder}/digits.so: it has {len(BYTES)} bytes, expected {len(BYTES) + 1}"
    assert said.status == 7 and told in said.err, said


def test_a_broken_manifest_is_what_is_to_be_corrected(own_daemon, store, folder):  # noqa: F811
    (folder / "digits.so").write_bytes(BYTES)
    (folder / "digits.so.json").write_text("{")
    said = own_daemon("--store", store).modser("pull", "one", f"file://{folder}/digits.so")
    assert said.status == 8 and "manifest: line 1" in said.err, said
    assert "correct FILE.json" in said.err


def test_several_files_are_one_module(own_daemon, store, fixtures, folder):  # noqa: F811
    home = fixtures / "tvm-0.8/mlp_llvm"
    names = {"mlp_llvm_nofactory.so": "library", "graph.json": "graph",
             "model.params": "params"}
    if not (home / "graph.json").exists():
        pytest.skip(f"no {home}: a graph beside its library is not tested")
    for name in names:
        shutil.copy(home / name, folder)
    rows = [row(name, (home / name).read_bytes(), role) for name, role in names.items()]
    (folder / "mlp_llvm_nofactory.so.json").write_bytes(manifest(*rows, version=7))

    def answer(daemon):
        out = folder / "out.npy"
        daemon.ok("call", "mlp:run", f"@{home / 'in_data.npy'}", "-o", out)
        return np.load(out)

    first = own_daemon("--store", store)
    first.ok("pull", "mlp", f"file://{folder}/mlp_llvm_nofactory.so")
    assert np.allclose(answer(first), np.load(home / "out_0.npy"), rtol=1e-5)
    first.stop()
    again = own_daemon("--store", store)
    again.ok("wait", "mlp")
    assert np.allclose(answer(again), np.load(home / "out_0.npy"), rtol=1e-5)


# Each sixth byte here; store/manifest's own tests have each bit.
@pytest.mark.parametrize("which", ["manifest", "signature"])
def test_no_byte_of_what_is_signed_may_change(signed, server, key, which):
    text = manifest(LIBRARY)
    signature = key.sign(text)
    comment = signature.index(b"\n")
    with Wire(signed.host) as wire:
        changed, start = (text, 0) if which == "manifest" else (signature, comment)
        for at in range(start, len(changed), 6):
            bad = changed[:at] + bytes([changed[at] ^ 1]) + changed[at + 1:]
            pair = (bad, signature) if which == "manifest" else (text, bad)
            with pytest.raises(Failure) as failure:
                wire.ask("module.pull", "one", give(server, *pair))
            assert failure.value.code == 27, (at, failure.value)
        assert wire.ask("module.list") == []
        wire.ask("module.pull", "one", give(server, text, signature))


def test_the_key_that_is_not_trusted_is_named(signed, server, folder):
    other = Key(folder, "other")
    text = manifest(LIBRARY)
    expect_refused(signed, give(server, text, other.sign(text)), other.id, "not trusted")


def test_a_file_that_the_manifest_does_not_know_is_refused(signed, server, key):
    text = manifest(LIBRARY)
    expect_refused(signed, give(server, text, key.sign(text), BYTES, flipped), "digits.so", SHA256)
    expect_refused(signed, give(server, text, key.sign(text), BYTES + b"x"), "digits.so")
    expect_refused(signed, give(server, text, key.sign(text), BYTES[:-1]), "digits.so")


def test_what_nobody_signed_is_refused(signed, server):
    expect_refused(signed, give(server, manifest(LIBRARY)), "it has no trusted signature")
    expect_refused(signed, server.give("/alone.so", BYTES), "it has no trusted signature")


def test_a_manifest_of_another_module_is_refused(signed, server, key):
    text = manifest(LIBRARY, name="two")
    expect_refused(signed, give(server, text, key.sign(text)), "two", "one")


def test_a_lower_version_is_refused_and_after_a_restart_too(own_daemon, store,  # noqa: F811
                                                            signed, server, key):
    older, newer = manifest(LIBRARY, version=6), manifest(LIBRARY, version=7)
    signed.ok("pull", "one", give(server, newer, key.sign(newer)))
    expect_refused(signed, give(server, older, key.sign(older)), "version 6", "version 7", key.id)
    signed.ok("unload", "one")
    signed.stop()
    again = own_daemon("--store", store, "--trust", key.public)
    expect_refused(again, give(server, older, key.sign(older)), "version 7")
    again.ok("pull", "one", give(server, newer, key.sign(newer)))
    assert works(again, "one")


def test_what_serves_goes_on_when_another_is_refused(signed, server, key):
    text = manifest(LIBRARY)
    signed.ok("pull", "one", give(server, text, key.sign(text)))
    expect_refused(signed, give(server, manifest(LIBRARY, version=2), key.sign(text)))
    assert works(signed, "one")


def test_versions_that_are_damaged_stop_signed_pulls_alone(own_daemon, store,  # noqa: F811
                                                           signed, server, key):
    text = manifest(LIBRARY)
    signed.ok("pull", "one", give(server, text, key.sign(text)))
    signed.stop()
    (store / "versions").write_text("nothing of the kind\n")
    again = own_daemon("--store", store, "--trust", key.public)
    again.ok("wait", "one")
    said = again.modser("pull", "one", give(server, text, key.sign(text)))
    assert said.status == 1 and "versions: line 1" in said.err
    assert works(again, "one")
    assert "or move it away" in said.err
    (store / "versions").rename(store.parent / "damaged")
    again.ok("pull", "one", give(server, text, key.sign(text)))
    assert "one " in (store / "versions").read_text()


def test_what_a_removed_key_has_signed_serves_on_and_is_named(own_daemon, store,  # noqa: F811
                                                              server, key, folder):
    old, new = key, Key(folder, "new")
    conf = folder / "m.conf"
    conf.write_text(f'trust = {{"{old.public}"}}\n')
    daemon = own_daemon("--store", store, "--config", conf)
    text = manifest(LIBRARY)
    daemon.ok("pull", "one", give(server, text, old.sign(text)))
    conf.write_text(f'trust = {{"{new.public}"}}\n')
    daemon.ok("reload")
    told = "event=edition_untrusted name=one version=1"
    harness.until(lambda: told in daemon.log(), "it is told at the reload")
    assert works(daemon, "one")
    daemon.stop()
    again = own_daemon("--store", store, "--config", conf)
    again.ok("wait", "one")
    harness.until(lambda: told in again.log(), "it is told at the start")
    assert works(again, "one")
    both = give(server, text, old.sign(text) + new.sign(text))
    again.ok("pull", "one", both)
    again.stop()
    last = own_daemon("--store", store, "--config", conf)
    last.ok("store", "ls")  # behind that look
    assert told not in last.log()


def test_an_expired_one_is_refused(signed, server, key):
    text = manifest(LIBRARY, expires="2026-01-02T00:00:00Z")
    expect_refused(signed, give(server, text, key.sign(text)), "expired", "2026-01-02T00:00:00Z")
    text = manifest(LIBRARY, expires="2099-01-02T00:00:00Z")
    signed.ok("pull", "one", give(server, text, key.sign(text)))


def test_two_of_two_keys_must_sign_where_it_says_so(own_daemon, store, server,  # noqa: F811
                                                    key, folder):
    other = Key(folder, "other")
    daemon = own_daemon("--store", store, "--trust", key.public, "--trust", other.public,
                        "--trust-least", "2")
    text = manifest(LIBRARY)
    expect_refused(daemon, give(server, text, key.sign(text)), "1 of the trusted keys")
    daemon.ok("pull", "one", give(server, text, key.sign(text) + other.sign(text)))
    assert works(daemon, "one")


def test_a_key_that_is_taken_away_counts_no_more(own_daemon, store, server,  # noqa: F811
                                                 key, folder):
    other, conf = Key(folder, "other"), folder / "modserd.conf"
    conf.write_text(f'trust = {{"{key.public}", "{other.public}"}}\n')
    daemon = own_daemon("--store", store, "--config", conf)
    text = manifest(LIBRARY)
    daemon.ok("pull", "one", give(server, text, key.sign(text)))
    conf.write_text(f'trust = {{"{other.public}"}}\n')
    assert "trust" in daemon.ok("reload").out
    expect_refused(daemon, give(server, text, key.sign(text)), key.id)


def test_unsigned_is_what_the_operator_says(own_daemon, store, server, key):  # noqa: F811
    daemon = own_daemon("--store", store, "--trust", key.public, "--policy", "unsigned")
    daemon.ok("pull", "one", give(server, manifest(LIBRARY)))
    assert works(daemon, "one")


def test_digest_takes_what_was_promised(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store, "--policy", "digest")
    uri = server.give("/alone.so", BYTES)
    expect_refused(daemon, uri, "no SHA-256 was given")
    daemon.ok("pull", "--sha256", SHA256, "one", uri)
    assert not asked(server, "/alone.so.json")


def test_a_manifest_counts_where_nobody_must_sign_it(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store)
    said = daemon.modser("pull", "one", give(server, b"{}"))
    assert said.status == 8 and "manifest: expected name" in said.err
    expect_refused(daemon, give(server, manifest(row("digits.so", b"other"))), "digits.so")


@pytest.mark.parametrize("change, status, name", [
    (None, 8, "it is empty"),
    (dict(platform={"arch": "mips"}), 8, "UNSUPPORTED"),
    (dict(files=[row("digits.tar", BYTES)]), 8, "UNSUPPORTED"),
    (dict(files=[row("../digits.so", BYTES)]), 8, "BAD_ARTIFACT"),
    (dict(files=[row("digits.so", BYTES), row("labels.txt", b"0", "data")]), 8, "UNSUPPORTED"),
    (dict(deep=json.loads(900 * "[" + 900 * "]")), 8, "BAD_ARTIFACT"),
    (dict(files=[LIBRARY | {"size": 1 << 62}]), 1, "TOO_LARGE"),
])
def test_a_signature_does_not_make_it_fit(signed, server, key, change, status, name):
    if change is None:
        text = b""
    elif "files" in change:
        text = manifest(*change["files"])
    else:
        text = manifest(LIBRARY, **change)
    said = signed.modser("pull", "one", give(server, text, key.sign(text)))
    assert said.status == status and name in said.err
    assert not asked(server, "/digits.so")


@pytest.mark.parametrize("steps", [(), (unannounced,)])
def test_the_limit_of_a_manifest_is_named(signed, server, key, steps):
    text = manifest(LIBRARY, comment="x" * (1 << 20))
    server.give("/digits.so.json", text, *steps)
    said = signed.modser("pull", "one", server.give("/digits.so", BYTES))
    assert said.status == 1 and "TOO_LARGE" in said.err, said
    assert "limit of 1048576 (of a manifest)" in said.err or \
        "more than 1048576 bytes, the limit (of a manifest)" in said.err, said
    assert "max-upload-size" not in said.err and "digits.so.json" in said.err, said


MANIFEST_TYPE = "application/vnd.modserd.manifest.v1+json"
SIGNATURE_TYPE = "application/vnd.modserd.manifest.v1.minisig"


def artifact(text, signature=None):
    layers = [descriptor(text, MANIFEST_TYPE), descriptor(BYTES, "application/octet-stream")]
    if signature is not None:
        layers.insert(1, descriptor(signature, SIGNATURE_TYPE))
    config = descriptor(b"{}", "application/vnd.oci.empty.v1+json")
    return json.dumps({"schemaVersion": 2, "config": config, "layers": layers}).encode()


def give_artifact(server, text, signature=None):
    server.give("/v2/m/manifests/1", artifact(text, signature))
    for blob in (text, signature or b"", BYTES):
        server.give(f"/v2/m/blobs/{digest_of(blob)}", blob)
    return f"oci://127.0.0.1:{server.http.server_port}/m:1"


def test_a_registry_has_the_manifest_among_its_layers(signed, server, key):
    text = manifest(LIBRARY)
    expect_refused(signed, give_artifact(server, text), "no signature")
    expect_refused(signed, give_artifact(server, text + b" ", key.sign(text)))
    signed.ok("pull", "one", give_artifact(server, text, key.sign(text)))
    assert works(signed, "one")


def test_a_registrys_word_is_no_signature(signed, server):
    server.give("/v2/m/manifests/1", json.dumps(
        {"layers": [descriptor(BYTES, "application/octet-stream")]}).encode())
    server.give(f"/v2/m/blobs/{digest_of(BYTES)}", BYTES)
    expect_refused(signed, f"oci://127.0.0.1:{server.http.server_port}/m:1", "no manifest")
    assert not asked(server, f"/v2/m/blobs/{digest_of(BYTES)}")


def test_what_the_store_has_is_not_brought_again(own_daemon, store, server, key,  # noqa: F811
                                                 folder):
    text, conf = manifest(LIBRARY), folder / "modserd.conf"
    uri = give_artifact(server, text, key.sign(text))
    conf.write_text(f'trust = {{"{key.public}"}}\nmodule one {{ source = "{uri}" }}\n')
    first = own_daemon("--store", store, "--config", conf)
    first.ok("wait", "one")
    first.stop()
    second = own_daemon("--store", store, "--config", conf)
    second.ok("wait", "one")
    with Wire(second.host) as wire:
        wire.ask("server.reload")
    assert works(second, "one")
    assert len(asked(server, f"/v2/m/blobs/{digest_of(BYTES)}")) == 1
