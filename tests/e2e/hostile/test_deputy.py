"""The daemon as a deputy: a user who may load has it fetch no file, no address of its networks and no
bytes of another team, and learns nothing of them."""
import hashlib
import os
import re

import harness
import pytest
from bad_server import Server, redirect, whole
from registry import manifest
from rights import User, connect, lines
from test_pull_resumed import held_at
from wire import Failure, Wire

FETCH = harness.BIN / "modserd-fetch"
RESULTS = harness.ZOO / "results.so"
TEAM = User("team", ["load", "lookup", "call"], ["u-*/*"])
OTHER = User("other", ["read", "load", "lookup", "call"], ["hub-*/*", "u-*/*"])
SECRET = "root:x:0:0"

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def start(own_daemon, folder, monkeypatch):
    """start(url...): a daemon of the users above, with these to pull from."""
    for word in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(word, raising=False)

    def run(*urls, words=()):
        acl = folder / "rights.acl"
        acl.write_text(lines([TEAM, OTHER]))
        acl.chmod(0o600)
        listed = [word for url in urls for word in ("--pull-from", url)]
        return own_daemon("--store", folder / "store", "--acl", acl, "--fetch-retry", "5ms", *listed,
                          *words)

    return run


def refused(wire, uri, **more):
    """The code and the text by which a pull ends, its URI left out."""
    with pytest.raises(Failure) as failure:
        wire.ask("module.pull", "u-m", uri, more)
    return failure.value.name, re.sub(r"\w+://\S+:", "URI:", failure.value.message)


def test_files_of_the_daemon_are_told_from_none_by_nothing(start, folder):
    there, absent = folder / "secret", folder / "absent"
    there.write_text(SECRET)
    (folder / "dark").mkdir(mode=0)
    daemon = start()
    uris = [there, absent, folder, folder / "dark/x", folder / "store/modules/x", "/etc/passwd",
            "/etc/passwd/x", "/dev/zero"]
    with connect(daemon, "team") as wire:
        told = {refused(wire, f"file://{uri}", **more) for uri in uris
                for more in ({}, {"sha256": "0" * 64})}
        assert len(told) == 1 and {code for code, _ in told} == {"REFUSED"}, told
    with Wire(daemon.host) as operator:
        assert refused(operator, f"file://{absent}")[0] == "NOT_FOUND"
        assert operator.ask("module.pull", "u-m", f"file://{RESULTS}", {})["state"] == "READY"


def test_a_listed_folder_ends_where_its_links_lead_out(start, folder):
    shelf, secret = folder / "shelf", folder / "secret"
    shelf.mkdir()
    secret.write_text(SECRET)
    (shelf / "a.so").write_bytes(RESULTS.read_bytes())
    (shelf / "in.so").symlink_to("a.so")
    (shelf / "out").symlink_to(folder)
    (shelf / "leaf").symlink_to(secret)
    (shelf / "nowhere").symlink_to(folder / "nothing")
    (folder / "shelf-of-others").write_text(SECRET)
    daemon = start(f"file://{shelf}/")
    with connect(daemon, "team") as wire:
        for name in ("a.so", "in.so"):
            assert wire.ask("module.pull", "u-m", f"file://{shelf}/{name}", {})["state"] == "READY"
        told = {refused(wire, f"file://{shelf}{path}") for path in (
            "/absent", "/leaf", "/nowhere", "/out/secret", "/out/absent", "/out/absent/x", "/../secret",
            "/%2e%2e/secret", "/..%2fsecret", "-of-others", "/a.so/x")}
        assert len(told) == 1, told


@pytest.mark.parametrize("path", ["shelf/leaf", "secret"])
def test_a_policy_that_wants_signatures_tells_no_more(start, folder, path):
    (folder / "shelf").mkdir()
    (folder / "shelf/leaf").symlink_to(folder / "secret")
    daemon = start(f"file://{folder}/shelf/", words=("--policy", "digest"))
    with connect(daemon, "team") as wire:
        before = refused(wire, f"file://{folder}/{path}", sha256="0" * 64)
        (folder / "secret").write_text(SECRET)
        assert refused(wire, f"file://{folder}/{path}", sha256="0" * 64) == before


def test_addresses_of_the_machine_are_told_from_none_by_nothing(start, server):
    """A port that is open, one that is not, another spelling: nothing is sent, one text comes back."""
    server.give("/secret.json", SECRET.encode(), whole)
    port, unused = server.http.server_port, 1
    daemon = start()
    hosts = [f"127.0.0.1:{port}", f"127.0.0.1:{unused}", f"localhost:{port}", f"127.1:{port}",
             f"0x7f000001:{port}", f"[::1]:{port}", f"[::ffff:127.0.0.1]:{port}", f"0.0.0.0:{port}",
             f"127.0.0.2:{port}", f"[::ffff:7f00:1]:{port}"]
    with connect(daemon, "team") as wire:
        for host in hosts:
            for scheme in ("http", "https"):
                code, text = refused(wire, f"{scheme}://{host}/secret")
                assert code == "REFUSED" and SECRET[:4] not in text, (scheme, host, text)
                assert "pull-from" in text or "not authenticated" in text, (scheme, host, text)
        assert refused(wire, f"http://127.0.0.1:{port}/secret") == \
            refused(wire, f"http://127.0.0.1:{unused}/secret")
        for uri in (f"oci://127.0.0.1:{port}/a/b:1", f"oci://localhost:{port}/a/b@sha256:{'0' * 64}",
                    f"modser://127.0.0.1:{port}/a", f"modser://[::1]:{port}/a"):
            assert refused(wire, uri)[0] == "REFUSED", uri
    assert server.asked == []


def test_who_may_load_pulls_what_is_listed_and_is_not_led_out_of_it(start, server):
    data = RESULTS.read_bytes()
    server.give("/models/a.so", data, whole)
    server.give("/secret.so", data, whole)
    for i, to in enumerate(("/secret.so", "/models/../secret.so", "/models/%2e%2e/secret.so")):
        server.give(f"/models/{i}.so", b"", redirect(server.uri(to)))
    server.give("/models/3.so", b"", redirect("/models/a.so"))
    daemon = start(server.uri("/models/"))
    with connect(daemon, "team") as wire:
        assert wire.ask("module.pull", "u-m", server.uri("/models/a.so"), {})["state"] == "READY"
        assert wire.ask("module.pull", "u-m", server.uri("/models/3.so"), {})["state"] == "READY"
        for path in ("/models/0.so", "/models/1.so", "/models/2.so", "/secret.so",
                     "/models/..%2fsecret.so", "/models-/x"):
            assert refused(wire, server.uri(path))[0] == "REFUSED", path
    assert not [at for at, _ in server.asked if "secret" in at]


def test_a_connection_that_the_operator_has_opened_is_no_way_in(start, server):
    """libcurl keeps connections; a pull that goes on holds the process that has them."""
    data = RESULTS.read_bytes()
    server.give("/models/a.so", data, whole)
    server.give("/models/held.so", data * 2, held_at(len(data)))
    daemon = start()
    with Wire(daemon.host) as operator, connect(daemon, "team") as wire:
        operator.start("module.pull", "held", server.uri("/models/held.so"),
                       {"sha256": "0" * 64, "progress": True})
        while operator.receive()[0] != 2:
            pass
        with Wire(daemon.host) as other:
            other.ask("module.pull", "mine", server.uri("/models/a.so"), {})
        assert refused(wire, server.uri("/models/a.so"))[0] == "REFUSED"


def test_a_listed_registry_is_asked_and_no_other_path_of_its_host(start, server):
    data = RESULTS.read_bytes()
    host = server.uri("").removeprefix("http://")
    body = manifest(data)
    blob = f"/blobs/sha256:{hashlib.sha256(data).hexdigest()}"
    for repository in ("models/a", "others/a"):
        server.give(f"/v2/{repository}/manifests/1", body, whole)
        server.give(f"/v2/{repository}{blob}", data, whole)
    server.give("/v2/models/b/manifests/1", body, whole)
    server.give(f"/v2/models/b{blob}", b"", redirect(server.uri("/elsewhere")))
    server.give("/elsewhere", data, whole)
    daemon = start(f"oci://{host}/models/")
    with connect(daemon, "team") as wire:
        assert wire.ask("module.pull", "u-m", f"oci://{host}/models/a:1", {})["state"] == "READY"
        assert refused(wire, f"oci://{host}/others/a:1")[0] == "REFUSED"
        assert refused(wire, f"oci://{host}/models/b:1")[0] == "REFUSED"
    assert not [at for at, _ in server.asked if "others" in at or "elsewhere" in at]


def test_behind_a_proxy_nothing_is_fetched_that_is_not_listed(start, server, monkeypatch):
    monkeypatch.setenv("https_proxy", server.uri(""))
    daemon = start("https://models.invalid/")
    with connect(daemon, "team") as wire:
        code, text = refused(wire, "https://other.invalid/x")
        assert code == "REFUSED" and "proxy" in text
        assert refused(wire, "https://models.invalid/x")[0] != "REFUSED"


def test_what_came_is_not_quoted(start, server):
    server.give("/models/x.json", SECRET.encode(), whole)
    daemon = start(server.uri("/models/"))
    with connect(daemon, "team") as wire:
        code, text = refused(wire, server.uri("/models/x"))
        assert code == "BAD_ARTIFACT" and "root" not in text, text


def found(wire, sha256):
    try:
        return wire.ask("module.upload", "find", sha256) is not None
    except Failure as failure:
        return failure.name, failure.message


def test_a_digest_gives_no_right_to_the_bytes_of_another_team(start, folder, server):
    """By a find, by a pull's sha256, by a registry's digest."""
    data = RESULTS.read_bytes()
    digest = hashlib.sha256(data)
    body = manifest(data)
    host = server.uri("").removeprefix("http://")
    server.give("/v2/m/manifests/1", body, whole)
    server.give(f"/v2/m/blobs/sha256:{digest.hexdigest()}", data, whole)
    by_name = f"oci://{host}/m@sha256:{hashlib.sha256(body).hexdigest()}"
    daemon = start()
    with Wire(daemon.host) as operator:
        operator.ask("module.pull", "hub-a", f"oci://{host}/m:1", {})
        assert found(operator, digest.digest()) is True
        assert operator.ask("module.pull", "again", by_name, {})["state"] == "READY"
    n_asked = len(server.asked)
    with connect(daemon, "team") as wire:
        assert found(wire, digest.digest()) == found(wire, b"\0" * 32)
        for uri in (f"file://{folder}/x", server.uri("/x")):
            told = {refused(wire, uri, sha256=sha256) for sha256 in (digest.hexdigest(), "0" * 64)}
            assert len(told) == 1, told
        assert refused(wire, by_name)[0] == "REFUSED"
        assert wire.ask("module.list") == []
    assert len(server.asked) == n_asked
    with connect(daemon, "other") as wire:
        assert found(wire, digest.digest()) is True
        uri = f"file://{folder}/x"
        assert wire.ask("module.pull", "u-m", uri, {"sha256": digest.hexdigest()})["state"] == "READY"
    with connect(daemon, "team") as wire:  # now the bytes are of a module that is theirs, too
        assert found(wire, digest.digest()) is True


def test_what_came_for_another_module_is_not_gone_on_with(start, server, folder):
    """A digest names what has come of a file that was broken off, too."""
    size = 8 << 20
    data = os.urandom(size)
    sha256 = hashlib.sha256(data).hexdigest()
    server.give("/models/x.so", data, held_at(5 << 20), whole)
    daemon = start(server.uri("/models/"))
    with connect(daemon, "other") as wire:
        wire.start("module.pull", "hub-x", server.uri("/models/x.so"),
                   {"sha256": sha256, "progress": True})
        while True:
            said = wire.receive()
            if said[1] == "module.progress" and said[2][1] >= 4 << 20:
                break
    harness.until(lambda: list((folder / "store/arriving").iterdir()), "what came is saved")
    with connect(daemon, "team") as wire:
        code, _ = refused(wire, server.uri("/models/x.so"), sha256=sha256)
        assert code != "REFUSED"
    assert [headers.get("Range") for at, headers in server.asked if at == "/models/x.so"] == [None, None]
