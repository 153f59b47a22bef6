"""On which terms a module is fetched: those of its section, and by hand no others."""
import base64
import json
import warnings

import harness
import pytest
from bad_server import Server, redirect, wants_token, whole
from registry import REGISTRY, DockerRegistry, digest_of, manifest
from signing import MINISIGN, Key
from test_pull import BYTES, FETCH, RESULTS, SHA256, asked, certificate, works  # noqa: F401

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")
URI = f"file://{RESULTS}"


@pytest.fixture
def configured(own_daemon, folder):
    """configured(keys): a daemon whose module `m` has a source that has nothing, and @keys."""

    def start(keys, *words):
        text = f"module m {{ source = 'file://{folder}/nothing' {keys} }}\n"
        (folder / "m.conf").write_text(text)
        return own_daemon("--config", folder / "m.conf", "--store", folder / "store",
                          "--fetch-retry", "5ms", *words)

    return start


def expect_refused(daemon, *words):
    said = daemon.modser("pull", *words)
    assert said.status == 7 and "NOT_VERIFIED" in said.err, said


def test_a_pull_by_hand_follows_the_policy_of_the_modules_section(configured):
    daemon = configured("policy = digest")
    expect_refused(daemon, "m", URI)
    daemon.ok("pull", "n", URI)
    daemon.ok("pull", "--sha256", SHA256, "m", URI)
    assert works(daemon, "m") and works(daemon, "n")


@pytest.mark.skipif(MINISIGN is None, reason="no minisign: signatures are not tested")
def test_what_the_store_has_is_not_signed_for_that(configured, folder):
    daemon = configured("policy = signed", "--trust", Key(folder).public, "--policy", "unsigned")
    daemon.ok("pull", "n", URI)
    expect_refused(daemon, "--sha256", SHA256, "m", URI)


def test_a_section_may_take_more_than_the_others(configured):
    daemon = configured("policy = unsigned", "--policy", "digest")
    expect_refused(daemon, "n", URI)
    daemon.ok("pull", "m", URI)
    assert works(daemon, "m")


NAME = "fleet:s3cret"
BASIC = "Basic " + base64.b64encode(NAME.encode()).decode()


@pytest.fixture
def server():
    with Server() as s:
        yield s


def names(folder, host):
    """The file of one name and password, for @host."""
    path = folder / "auth.json"
    path.write_text(json.dumps({"auths": {host: {"auth": BASIC.split()[1]}}}))
    return path


def host_of(server):
    return f"127.0.0.1:{server.http.server_port}"


def test_a_name_and_password_go_to_their_host_alone(configured, folder, server):
    with Server() as other:
        there = other.give("/there.so", BYTES)
        uri = server.give("/here.so", BYTES, redirect(there))
        daemon = configured(f"auth = '{names(folder, host_of(server))}'")
        daemon.ok("pull", "m", uri)
        daemon.ok("pull", "n", server.give("/n.so", BYTES))  # another section's they are not
        shown = [h.get("Authorization") for h in asked(server, "/here.so")]
        assert shown == [BASIC]
        assert "Authorization" not in asked(other, "/there.so")[0]
        assert "Authorization" not in asked(server, "/n.so")[0]
    assert NAME.partition(":")[2] not in daemon.log()


def test_a_token_is_asked_for_by_name_and_used_without(configured, folder, server):
    realm = server.give("/token", b'{"token": "t"}')
    data = manifest(BYTES)
    server.give("/v2/m/manifests/1", data, wants_token("t", realm))
    server.give(f"/v2/m/blobs/{digest_of(BYTES)}", BYTES, wants_token("t", realm))
    daemon = configured("", "--auth", names(folder, host_of(server)))
    daemon.ok("pull", "n", f"oci://{host_of(server)}/m:1")
    assert [h.get("Authorization") for h in asked(server, "/token")] == [BASIC]
    assert BASIC not in [h.get("Authorization") for h in asked(server, "/v2/m/manifests/1")]


def test_a_password_goes_to_no_other_server_than_the_registry(configured, folder, server):
    with Server() as other:
        realm = other.give("/token", b'{"token": "t"}')
        data = manifest(BYTES)
        server.give("/v2/m/manifests/1", data, wants_token("t", realm))
        server.give(f"/v2/m/blobs/{digest_of(BYTES)}", BYTES, wants_token("t", realm))
        auth = names(folder, host_of(server))
        daemon = configured(f"auth = '{auth}' realm = '{host_of(other)}'", "--auth", auth)
        uri = f"oci://{host_of(server)}/m:1"
        said = daemon.modser("pull", "n", uri)  # another section's realm is not its own
        assert said.status == 6 and f'realm = "{host_of(other)}"' in said.err, said
        assert not asked(other, "/token")
        daemon.ok("pull", "m", uri)
        assert [h.get("Authorization") for h in asked(other, "/token")] == [BASIC]
    assert works(daemon, "m")


def test_a_push_sends_its_password_to_no_other_server(folder, server):
    with Server() as other:
        challenge = f'Bearer realm="{other.give("/token", b"{}")}",service="s"'
        server.refuse(challenge)
        push = (harness.BIN / "modser", "push", "--auth", names(folder, host_of(server)))
        uri = f"oci://{host_of(server)}/m:1"
        said = harness.run(*push, RESULTS, uri)
        assert said.status == 6 and f'realm = "{host_of(other)}"' in said.err, said
        assert not other.asked
        harness.run(*push, "--realm", host_of(other), RESULTS, uri)
        assert [h.get("Authorization") for h in asked(other, "/token")] == [BASIC]


def closed_registry(folder):
    """A real registry, for one name alone."""
    if REGISTRY is None:
        pytest.skip("no docker-registry: a real registry is not tested")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crypt = pytest.importorskip("crypt", reason="no crypt: htpasswd is not tested")
    user, _, password = NAME.partition(":")
    salt = crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)
    return DockerRegistry(folder, f"{user}:{crypt.crypt(password, salt)}\n", BASIC)


def test_a_real_registry_that_wants_a_name_gets_it(configured, folder):
    with closed_registry(folder) as registry:
        registry.push("models/digits", "1", BYTES, manifest(BYTES))
        uri = f"oci://{registry.host}/models/digits:1"
        daemon = configured(f"auth = '{names(folder, registry.host)}'")
        said = daemon.modser("pull", "n", uri)
        assert said.status == 6 and "requires a name and password" in said.err
        daemon.ok("pull", "m", uri)
    assert works(daemon, "m")


def test_a_push_takes_the_name_that_the_registry_wants(configured, folder):
    with closed_registry(folder) as registry:
        uri, auth = f"oci://{registry.host}/models/m:1", names(folder, registry.host)
        push = (harness.BIN / "modser", "push")
        said = harness.run(*push, RESULTS, uri)
        assert said.status == 6 and "--auth" in said.err and registry.host in said.err
        assert harness.run(*push, "--auth", auth, RESULTS, uri).status == 0
        daemon = configured(f"auth = '{auth}'")
        daemon.ok("pull", "m", uri)
    assert works(daemon, "m")


def test_an_auth_that_is_no_such_file_is_named(configured, folder, server):
    (folder / "auth.json").write_text("s3cret")
    daemon = configured("", "--auth", folder / "auth.json")
    said = daemon.modser("pull", "n", server.give("/n.so", BYTES))
    assert said.status == 1 and f"auth: {folder}/auth.json" in said.err
    assert "s3cret" not in said.err and not asked(server, "/n.so")


def test_an_authority_is_believed_for_its_section_alone(configured, certificate):  # noqa: F811
    with Server(certificate) as server:
        uri = server.give("/a.so", BYTES)
        daemon = configured(f"ca = '{certificate[0]}'")
        said = daemon.modser("pull", "n", uri)
        assert said.status == 1 and "certificate" in said.err
        daemon.ok("pull", "m", uri)
    assert works(daemon, "m")


def by_proxy(request, data):
    """Answers who asks this server for a file of another."""
    assert request.path.startswith("http://models.example/"), request.path
    whole(request, data)


def test_plain_http_goes_elsewhere_where_the_section_says_so(configured, folder, server):
    uri = "http://models.example/a.so"
    server.give(uri, BYTES, by_proxy)
    proxy = f"proxy = '{server.uri('')}'"
    daemon = configured(f"{proxy} insecure = true auth = '{names(folder, 'models.example:80')}'")
    said = daemon.modser("pull", "n", uri)
    assert said.status == 6 and "insecure" in said.err
    daemon.ok("pull", "m", uri)
    assert works(daemon, "m")
    assert ["Authorization" in h for h in asked(server, uri)] == [False]
