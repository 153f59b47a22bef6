"""The HTTP front over TLS: Python's ssl and curl at the other end."""
import hashlib
import json
import shutil
import ssl
import struct

import pytest

import certs
import harness
import test_http

TOKEN = "a token of bob"
RIGHTS = f"""
user alice cert:cn=alice +@lookup +@call s*/*
user bob token:sha256={hashlib.sha256(TOKEN.encode()).hexdigest()} +@lookup s*/*
end
"""
MODULE = ("--load", f"shapes={harness.MODELS / 'shapes.so'}")


def start(*words):
    """A daemon with an HTTPS address beside its unix socket."""
    daemon = harness.Daemon("--http", "https://127.0.0.1:0", *MODULE, *words)
    daemon.hosts.append(daemon._line().partition(" ")[2])
    assert daemon.hosts[1].startswith("https://")
    daemon.ok("wait", "shapes")
    return daemon


class Visit(test_http.Visit):
    """The same by TLS, with what is believed and shown."""

    def __init__(self, daemon, context):
        self.context = context
        super().__init__(daemon)

    def _connect(self, daemon):
        return certs.connect(daemon.hosts[1], self.context)


@pytest.fixture(scope="module")
def daemon(pki):
    with start(*pki.words(ca=False)) as d:
        yield d


@pytest.fixture(scope="module")
def guarded(pki):
    """One that knows alice by her certificate, and bob by his token."""
    path = pki.folder / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start(*pki.words(), "--acl", path) as d:
        yield d


def status(visit, *words):
    return visit.ask(*words)[0]


def ask(context, daemon, *words):
    with Visit(daemon, context) as visit:
        return visit.ask(*words)[0]


def test_many_records_of_a_body_and_of_an_answer_come_whole(daemon, pki):
    """More than one read takes: what TLS has taken from the socket is told by no event."""
    n = 100_000
    values = struct.pack(f"<{n}f", *range(n))
    head = json.dumps({
        "inputs": [{"name": "A", "shape": [n], "datatype": "FP32",
                    "parameters": {"binary_data_size": len(values)}}],
        "outputs": [{"name": "B", "parameters": {"binary_data": True}}]}).encode()
    fields = f"Inference-Header-Content-Length: {len(head)}\r\n"
    fields += f"Content-Length: {len(head) + len(values)}\r\n"
    with Visit(daemon, certs.context(pki)) as visit:
        for _ in range(3):
            answered, found, body = visit.ask("/v2/models/shapes:addone/infer", fields, "POST",
                                              head + values)
            assert answered == 200, body
            behind = body[int(found["inference-header-content-length"]):]
            assert behind == struct.pack(f"<{n}f", *range(1, n + 1))


def test_requests_that_come_at_once_are_all_answered(daemon, pki):
    with Visit(daemon, certs.context(pki)) as visit:
        visit.say("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" * 500)
        assert [visit.answer()[0] for _ in range(500)] == [200] * 500


def test_curl_asks_by_https(daemon, pki):
    if shutil.which("curl") is None:
        pytest.skip("no curl: not tested with it")
    port = daemon.hosts[1].rpartition(":")[2]
    said = harness.run("curl", "-sS", "--cacert", pki.cert, "--resolve",
                       f"localhost:{port}:127.0.0.1", f"https://localhost:{port}/readyz")
    assert (said.status, said.out) == (0, "ready\n"), said


def test_who_speaks_without_tls_is_told(daemon):
    with certs.plain(daemon.hosts[1]) as s:
        s.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        said = b""
        while more := s.recv(4096):
            said += more
    assert said.startswith(b"HTTP/1.1 400") and b"by https" in said


def test_a_certificate_is_a_users(guarded, pki):
    mine = certs.context(pki, pki.alice)
    assert ask(mine, guarded, "/v2/models/shapes:addone") == 200
    assert ask(mine, guarded, "/v2/repository/models/shapes/unload", "", "POST") == 403


def test_a_token_says_who_asks_and_is_stronger_than_a_certificate(guarded, pki):
    bearer = f"Authorization: Bearer {TOKEN}\r\n"
    body = json.dumps({"inputs": [{"name": "A", "datatype": "FP32", "shape": [1],
                                   "data": [1]}]}).encode()
    call = ("/v2/models/shapes:addone/infer", f"Content-Length: {len(body)}\r\n", "POST", body)
    with Visit(guarded, certs.context(pki)) as visit:
        assert status(visit, "/v2/models/shapes:addone") == 401
        assert status(visit, "/v2/models/shapes:addone", bearer) == 200
    with Visit(guarded, certs.context(pki, pki.alice)) as visit:
        assert status(visit, *call) == 200
        assert status(visit, call[0], bearer + call[1], *call[2:]) == 403
        assert status(visit, *call) == 200


def test_a_certificate_of_another_authority_is_refused(guarded, pki):
    with pytest.raises(ssl.SSLError):
        ask(certs.context(pki, pki.other.issue("mallory")), guarded, "/livez")


def refused(folder, *words):
    """What a daemon that does not start has to say."""
    config = folder / "empty.conf"
    config.touch()
    said = harness.run(harness.BIN / "modserd", "--config", config, *words)
    assert said.status != 0, said
    return said.err


def test_beyond_loopback_somebody_must_say_who_may(pki, tmp_path):
    words = pki.words(ca=False)
    assert "give rights with --acl" in refused(tmp_path, "--http", "https://0.0.0.0:0", *words)


def test_without_a_certificate_of_its_own_it_does_not_start(tmp_path):
    assert "https:// address needs --tls-cert" in refused(tmp_path, "--http", "https://127.0.0.1:0")


def test_a_visit_by_a_certificate_whose_authority_went_ends_with_the_reload(pki, tmp_path):
    authorities = tmp_path / "ca.pem"
    authorities.write_text(pki.cert.read_text() + pki.other.cert.read_text())
    cert, key = pki.server
    words = ("--tls-cert", cert, "--tls-key", key, "--tls-ca", authorities)
    with start(*words) as daemon, \
            Visit(daemon, certs.context(pki, pki.other.issue("frank"))) as gone, \
            Visit(daemon, certs.context(pki, pki.alice)) as stays:
        assert status(gone, "/v2/health/live") == status(stays, "/v2/health/live") == 200
        authorities.write_text(pki.cert.read_text())
        daemon.ok("reload")
        with pytest.raises((OSError, EOFError, AssertionError)):
            status(gone, "/v2/health/live")
        assert status(stays, "/v2/health/live") == 200
