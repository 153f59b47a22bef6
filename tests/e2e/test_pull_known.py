"""What the store has already is pulled by its digest, without asking anybody."""
import hashlib

import harness
import pytest
from bad_server import Server
from registry import digest_of
from registry import manifest as manifest_of
from signing import MINISIGN, Key, manifest, row
from test_pull import BYTES, FETCH, SHA256, store, works  # noqa: F401
from test_pull_registry import give
from test_pull_signed import artifact, give_artifact
from wire import Wire

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    with Server() as s:
        yield s


def kept_manifest(server):
    """Where `one` comes from with a manifest, whose SHA-256 is that."""
    text = manifest(row("digits.so", BYTES), version=7)
    server.give("/digits.so.json", text)
    return server.give("/digits.so", BYTES), hashlib.sha256(text).hexdigest()


def test_the_manifest_of_another_module_brings_its_edition(own_daemon, store, server):  # noqa: F811
    """By its digest, and without asking anybody."""
    daemon = own_daemon("--store", store)
    uri, digest = kept_manifest(server)
    daemon.ok("pull", "one", uri)
    server.asked.clear()
    dead = "https://127.0.0.1:1/digits.so"
    daemon.ok("pull", "--sha256", digest, "--workers", "2", "two", dead)
    assert works(daemon, "one") and works(daemon, "two") and not server.asked
    daemon.stop()
    again = own_daemon("--store", store)
    again.ok("wait", "two")
    with Wire(again.host) as wire:
        two = wire.ask("module.describe", "two")
        assert wire.ask("module.read", "two")["version"] == 7
    assert two["sha256"] == SHA256 and two["workers"] == 2
    again.ok("unload", "one")
    again.ok("store", "prune")
    assert again.ok("store", "verify").out.endswith(", 0 faults\n") and works(again, "two")


def test_an_edition_that_is_damaged_is_fetched_again(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store)
    uri, digest = kept_manifest(server)
    daemon.ok("pull", "one", uri)
    blob = store / "sha256" / SHA256[:2] / SHA256
    blob.chmod(0o644)
    blob.write_bytes(BYTES[:-1] + bytes([BYTES[-1] ^ 1]))
    daemon.ok("pull", "--sha256", digest, "one", uri)
    assert works(daemon, "one") and blob.read_bytes() == BYTES


def test_what_is_kept_beside_a_module_is_no_file_to_load(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store)
    uri, _ = kept_manifest(server)
    server.give("/digits.so.json.minisig", b"untrusted comment: nobody's\n")
    daemon.ok("pull", "one", uri)
    with Wire(daemon.host) as wire:
        files = wire.ask("module.read", "one")["files"]
    (digest,) = (f["sha256"].hex() for f in files if f["role"] == "signature")
    said = daemon.modser("pull", "--sha256", digest, "two", uri)
    assert said.status == 7 and SHA256 in said.err and digest in said.err, said
    assert "ELF" not in said.err


@pytest.fixture
def key(folder):
    if MINISIGN is None:
        pytest.skip("no minisign: signatures are not tested")
    return Key(folder)


def publish(server, key, version=1):
    """`one`, signed; its URI, and by which digests it may be asked for."""
    text = manifest(row("digits.so", BYTES), version=version)
    server.give("/digits.so.json", text)
    server.give("/digits.so.json.minisig", key.sign(text))
    return server.give("/digits.so", BYTES), [hashlib.sha256(text).hexdigest(), SHA256]


DEAD = "https://127.0.0.1:1/digits.so"


def test_what_was_signed_is_pulled_again_without_a_network(own_daemon, store,  # noqa: F811
                                                           server, key):
    daemon = own_daemon("--store", store, "--trust", key.public, "--fetch-retry", "1ms")
    uri, digests = publish(server, key)
    daemon.ok("pull", "one", uri)
    server.asked.clear()
    for digest in digests:
        for source in (uri, DEAD):
            daemon.ok("pull", "--sha256", digest, "--workers", "2", "one", source)
    assert works(daemon, "one") and not server.asked
    with Wire(daemon.host) as wire:
        assert wire.ask("module.describe", "one")["workers"] == 2
    said = daemon.modser("pull", "--sha256", digests[0], "two", DEAD)
    assert said.status != 0, "it was signed for another module"


def test_a_signature_that_counts_no_more_is_asked_for(own_daemon, store,  # noqa: F811
                                                      server, key, folder):
    old = own_daemon("--store", store, "--trust", key.public)
    uri, digests = publish(server, key)
    old.ok("pull", "one", uri)
    old.stop()
    other = Key(folder, "other")
    daemon = own_daemon("--store", store, "--trust", other.public, "--fetch-retry", "1ms")
    said = daemon.modser("pull", "--sha256", digests[0], "one", uri)
    assert said.status == 7 and key.id in said.err and "not trusted" in said.err, said
    publish(server, other)
    daemon.ok("pull", "--sha256", digests[0], "one", uri)
    assert works(daemon, "one")


def test_a_version_that_was_left_behind_is_refused(own_daemon, store, server, key):  # noqa: F811
    daemon = own_daemon("--store", store, "--trust", key.public, "--fetch-retry", "1ms")
    uri, digests = publish(server, key)
    daemon.ok("pull", "one", uri)
    publish(server, key, version=2)
    daemon.ok("pull", "one", uri)
    said = daemon.modser("pull", "--sha256", digests[0], "one", uri)
    assert said.status == 7, said
    assert works(daemon, "one")
    with Wire(daemon.host) as wire:
        assert wire.ask("module.read", "one")["version"] == 2


def test_what_nobody_signed_is_not_taken_from_the_store(own_daemon, store, server, key):  # noqa: F811
    daemon = own_daemon("--store", store)
    uri, digest = kept_manifest(server)
    daemon.ok("pull", "one", uri)
    daemon.stop()
    again = own_daemon("--store", store, "--trust", key.public, "--fetch-retry", "1ms")
    said = again.modser("pull", "--sha256", digest, "one", uri)
    assert said.status == 7 and "it has no trusted signature" in said.err, said
    said = again.modser("pull", "--sha256", SHA256, "one", DEAD)
    assert said.status != 0, said


def test_a_registrys_digest_is_asked_for_once(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store)
    uri = give(server, digest_of(manifest_of(BYTES)), manifest_of(BYTES))
    daemon.ok("pull", "one", uri)
    server.asked.clear()
    for name in ("one", "two"):
        daemon.ok("pull", name, uri)
    assert works(daemon, "one") and works(daemon, "two") and not server.asked


def test_what_a_tag_has_brought_is_known_by_its_digest(own_daemon, store, server):  # noqa: F811
    daemon = own_daemon("--store", store)
    body = manifest_of(BYTES)
    give(server, digest_of(body), body)
    daemon.ok("pull", "one", give(server, "1", body))
    uri = give(server, digest_of(body), body)
    server.asked.clear()
    daemon.ok("pull", "one", uri)
    daemon.ok("pull", "two", uri)
    assert works(daemon, "one") and works(daemon, "two") and not server.asked


def signed_artifact(server, key):
    """In a registry, by its digest; the URI."""
    text = manifest(row("digits.so", BYTES))
    signature = key.sign(text)
    body = artifact(text, signature)
    give_artifact(server, text, signature)
    return give(server, digest_of(body), body)


@pytest.mark.parametrize("policy", ["unsigned", "signed"])
def test_a_source_of_one_digest_is_asked_until_it_is_there(own_daemon, store,  # noqa: F811
                                                           server, key, folder, policy):
    uri, conf = signed_artifact(server, key), folder / "one.conf"
    conf.write_text(f"trust = {{'{key.public}'}}\n"
                    f"module one {{ source = '{uri}'  policy = '{policy}' }}\n")

    def has_answered(daemon):
        with Wire(daemon.host) as wire:
            source = wire.ask("module.describe", "one")["source"]
        assert not source["failures"], source
        return source["state"] != "asking"

    first = own_daemon("--store", store, "--config", conf)
    first.ok("wait", "one")
    assert server.asked
    first.stop()
    server.asked.clear()
    again = own_daemon("--store", store, "--config", conf)
    again.ok("wait", "one")
    again.ok("store", "ls")  # behind the look into the store, which comes first
    harness.until(lambda: has_answered(again), "its source is known")
    again.ok("pull", "one", uri)
    assert works(again, "one") and not server.asked
