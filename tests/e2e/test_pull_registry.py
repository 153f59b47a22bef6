"""Modules out of registries: Debian's docker-registry, and one that does what it is told."""
import platform

import harness
import pytest
from bad_server import Server, cut, flipped, hold, redirect, turn_away, wants_token, whole
from registry import REGISTRY, DockerRegistry, digest_of, index, manifest
from test_pull import BYTES, FETCH, SHA256, asked, puller, store, works  # noqa: F401
from wire import Wire

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    with Server() as s:
        yield s


def give(server, reference="1", body=None, *blob_steps, data=BYTES):
    """The module as `m`; returns its URI."""
    body = body or manifest(data)
    server.give(f"/v2/m/manifests/{reference}", body)
    server.give(f"/v2/m/blobs/{digest_of(data)}", data, *blob_steps)
    mark = "@" if reference.startswith("sha256:") else ":"
    return f"oci://127.0.0.1:{server.http.server_port}/m{mark}{reference}"


def test_a_real_registry_serves_by_tag_and_by_digest(puller, folder):  # noqa: F811
    if REGISTRY is None:
        pytest.skip("no docker-registry: a real registry is not tested")
    body = manifest(BYTES)
    with DockerRegistry(folder) as registry:
        registry.push("models/digits", "1", BYTES, body)
        puller.ok("pull", "one", f"oci://{registry.host}/models/digits:1")
        puller.ok("pull", "two", f"oci://{registry.host}/models/digits@{digest_of(body)}")
    assert works(puller, "one") and works(puller, "two")


def test_a_layer_is_called_by_its_title(puller, server):  # noqa: F811
    puller.ok("pull", "one", give(server))
    with Wire(puller.host) as wire:
        assert wire.ask("module.list")[0]["file"] == "digits.so"


def test_an_index_is_chosen_from_by_architecture(puller, server):  # noqa: F811
    right, wrong = manifest(BYTES), manifest(b"of another machine")
    server.give(f"/v2/m/manifests/{digest_of(right)}", right)
    puller.ok("pull", "one", give(server, "1", index(("mips", wrong), (ARCH, right))))
    assert works(puller, "one")


def test_an_index_without_this_machine_says_so(puller, server):  # noqa: F811
    said = puller.modser("pull", "one", give(server, "1", index(("mips", b"{}"))))
    assert said.status == 8 and "UNSUPPORTED" in said.err and ARCH in said.err


def test_a_blob_of_another_digest_is_refused(puller, server):  # noqa: F811
    said = puller.modser("pull", "one", give(server, "1", None, flipped))
    assert said.status == 7 and SHA256 in said.err


def test_a_manifest_of_another_digest_is_refused(puller, server):  # noqa: F811
    body = manifest(BYTES)
    said = puller.modser("pull", "one", give(server, digest_of(body), body + b" "))
    assert said.status == 7 and digest_of(body) in said.err


def test_what_was_promised_counts_against_the_registry(puller, server):  # noqa: F811
    uri = give(server)
    said = puller.modser("pull", "--sha256", 64 * "0", "one", uri)
    assert said.status == 7 and SHA256 in said.err
    assert not asked(server, f"/v2/m/blobs/sha256:{SHA256}")
    puller.ok("pull", "--sha256", SHA256, "one", uri)


def test_a_token_is_asked_for_where_the_registry_says(puller, server):  # noqa: F811
    realm = server.give("/token", b'{"token": "t.o-k_e=n"}')
    uri = give(server, "1", None, wants_token("t.o-k_e=n", realm))
    server.give("/v2/m/manifests/1", manifest(BYTES), wants_token("t.o-k_e=n", realm))
    puller.ok("pull", "one", uri)
    assert [at for at, _ in server.asked if at.startswith("/token")] == [
        "/token?service=registry&scope=repository%3Am%3Apull"]
    assert works(puller, "one")


def test_a_token_that_ends_in_the_midst_of_a_blob_is_renewed(puller, server):  # noqa: F811
    realm = server.give("/token", b'{"access_token": "second"}')
    half = len(BYTES) // 2
    uri = give(server, "1", None, cut(half), turn_away("first", realm),
               wants_token("second", realm))
    puller.ok("pull", "one", uri)
    last = asked(server, f"/v2/m/blobs/sha256:{SHA256}")[-1]
    assert last["Authorization"] == "Bearer second" and last["Range"] == f"bytes={half}-"
    assert works(puller, "one")


def test_a_token_that_does_not_help_is_asked_for_once(puller, server):  # noqa: F811
    realm = server.give("/token", b'{"token": "bad"}')
    uri = give(server)
    server.give("/v2/m/manifests/1", manifest(BYTES), wants_token("good", realm))
    said = puller.modser("pull", "one", uri)
    assert said.status == 6 and "token" in said.err
    assert len(asked(server, "/token")) == 1


def test_a_token_is_not_sent_to_where_the_registry_redirects(puller, server):  # noqa: F811
    realm = server.give("/token", b'{"token": "secret"}')
    with Server() as elsewhere:
        there = elsewhere.give("/blob", BYTES)
        uri = give(server, "1", None, wants_token("secret", realm, redirect(there)))
        puller.ok("pull", "one", uri)
        assert [set(h) & {"Authorization"} for h in asked(elsewhere, "/blob")] == [set()]
    assert works(puller, "one")


@pytest.mark.parametrize(
    "body, status, name",
    [
        (b"", 8, "BAD_ARTIFACT"),
        (b"{}", 8, "BAD_ARTIFACT"),
        (b'{"layers": []}', 8, "BAD_ARTIFACT"),
        (b'{"layers": [{"digest": "sha256:00", "size": 1}]}', 8, "BAD_ARTIFACT"),
        (b'{"layers": [{"digest": 1, "size": -1}]}', 8, "BAD_ARTIFACT"),
        (b'{"layers": ' + 100000 * b"[", 8, "BAD_ARTIFACT"),
        (2 * 1024 * 1024 * b" ", 1, "TOO_LARGE"),
    ],
)
def test_what_is_no_manifest_is_refused(puller, server, body, status, name):  # noqa: F811
    uri = give(server)
    server.give("/v2/m/manifests/1", body)
    said = puller.modser("pull", "one", uri)
    assert said.status == status and name in said.err


def test_an_index_that_leads_to_itself_ends(puller, server):  # noqa: F811
    inner = index((ARCH, manifest(BYTES)))
    body = inner
    for _ in range(8):
        server.give(f"/v2/m/manifests/{digest_of(body)}", body)
        body = index((ARCH, body))
    said = puller.modser("pull", "one", give(server, "1", body))
    assert said.status == 8 and "refer to each other without end" in said.err


@pytest.mark.parametrize("path", ["", "m:", "m:a/b", "m@sha256:12", "m/%2e%2e/x:1"])
def test_what_is_no_reference_is_refused(puller, path):  # noqa: F811
    said = puller.modser("pull", "one", f"oci://127.0.0.1:1/{path}")
    assert said.status == 1 and "BAD_REQUEST" in said.err


def test_nobody_waits_and_the_registry_is_left(puller, server):  # noqa: F811
    with Wire(puller.host) as wire:
        wire.start("module.pull", "one", give(server, "1", None, hold))
        assert server.http.held.wait(harness.PATIENCE)
    assert server.http.left.wait(harness.PATIENCE)
    puller.ok("pull", "one", give(server, "2", None, whole))
