"""The HTTP front, with raw sockets and curl at the other end."""
import hashlib
import json
import os
import re
import shutil
import signal
import socket

import pytest

import harness
from harness import PATIENCE, until
from wire import Failure, Wire

ZOO = harness.ZOO / "results.so"


def http_of(daemon):
    """Where @daemon listens by HTTP: (host, port)."""
    address = next(a for a in daemon.hosts if a.startswith("http://"))
    host, _, port = address.removeprefix("http://").rpartition(":")
    return host, int(port)


def start(*words, **more):
    """A daemon with an HTTP address beside its unix socket."""
    daemon = harness.Daemon("--http", "127.0.0.1:0", "--first-frame", "0", *words, **more)
    word, _, address = daemon._line().partition(" ")
    assert word == "listening"
    daemon.hosts.append(address)
    return daemon


@pytest.fixture(scope="module")
def daemon():
    with start("--load", f"zoo={ZOO}") as d:
        d.ok("wait", "zoo")
        yield d


class Visit:
    """A connection that says what it is told to and reads one answer after the other."""

    def __init__(self, daemon):
        self.socket = self._connect(daemon)
        self.had = b""

    def _connect(self, daemon):
        return socket.create_connection(http_of(daemon), PATIENCE)

    def say(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode())

    def _more(self):
        more = self.socket.recv(65536)
        self.had += more
        return bool(more)

    def answer(self, is_head=False):
        """(status, fields, body)"""
        while b"\r\n\r\n" not in self.had:
            assert self._more(), f"the end came before an answer: {self.had}"
        head, _, self.had = self.had.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
        n = 0 if is_head else int(fields.get("content-length", 0))
        while len(self.had) < n:
            assert self._more(), "the end came within an answer"
        body, self.had = self.had[:n], self.had[n:]
        return int(lines[0].split()[1]), fields, body

    def ask(self, path, fields="", method="GET", body=b""):
        self.say(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode() + body)
        return self.answer(method == "HEAD")

    def expect_end(self):
        assert self.had == b""
        assert self.socket.recv(1) == b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def status(daemon, path, fields="", **more):
    with Visit(daemon) as visit:
        return visit.ask(path, fields, **more)[0]


def test_says_that_it_lives_and_is_ready(daemon):
    with Visit(daemon) as visit:
        assert visit.ask("/livez")[0] == 200
        assert visit.ask("/readyz")[::2] == (200, b"ready\n")
        assert visit.ask("/readyz/zoo")[::2] == (200, b"ready\n")
        assert visit.ask("/readyz/none")[0] == 404
        answered, fields, body = visit.ask("/version")
        assert (answered, fields["content-type"]) == (200, "application/json")
        assert json.loads(body)["name"] == "modserd"


def test_what_is_asked_again_is_answered_as_things_are_now():
    with start("--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        until(lambda: visit.ask("/readyz/zoo")[0] == 200, "it is ready")
        d.ok("unload", "zoo")
        until(lambda: visit.ask("/readyz/zoo")[0] == 404, "it is gone")
        assert [visit.ask(f"/{path}")[0] for path in ("livez", "none", "livez")] == [200, 404, 200]


def test_prometheus_gets_the_form_that_it_accepts(daemon):
    with Visit(daemon) as visit:
        answered, fields, body = visit.ask("/metrics")
        assert answered == 200 and fields["content-type"].startswith("text/plain; version=0.0.4")
        assert b"modserd_" in body and not body.endswith(b"# EOF\n")
        accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"
        answered, fields, body = visit.ask("/metrics", accept)
        assert fields["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        assert body.endswith(b"# EOF\n")


def test_head_has_the_length_alone(daemon):
    with Visit(daemon) as visit:
        answered, fields, body = visit.ask("/livez", method="HEAD")
        assert (answered, fields["content-length"], body) == (200, "5", b"")
        assert visit.ask("/livez")[0] == 200


def test_other_paths_and_methods_are_told_so(daemon):
    with Visit(daemon) as visit:
        for path in ("//", "/livez/", "/none", "/readyz/../livez", "/readyz/a%2fb"):
            answered, _, body = visit.ask(path)
            assert answered == 404 and "error" in json.loads(body), path
        assert visit.ask("/%00")[0] == 400
        answered, fields, _ = visit.ask("/livez", "Content-Length: 3\r\n", "POST", b"abc")
        assert (answered, fields["allow"]) == (405, "GET, HEAD")


def test_pipelined_requests_are_answered_in_their_order(daemon):
    with Visit(daemon) as visit:
        for _ in range(20):
            visit.say(b"".join(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"livez", b"none")[i % 2]
                               for i in range(200)))
            assert [visit.answer()[0] for _ in range(200)] == [200, 404] * 100


def test_who_reads_nothing_is_not_read_from_and_gets_every_answer(daemon):
    """The socket fills: what is not written stops the reading. Then all goes on."""
    request = b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
    with Visit(daemon) as visit:
        visit.socket.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while sent < 64 << 20:
                sent += visit.socket.send((request * 1000)[sent % len(request):])
        assert status(daemon, "/livez") == 200
        visit.socket.settimeout(PATIENCE)
        for _ in range(sent // len(request)):
            assert visit.answer()[0] == 404


def test_a_body_may_come_in_chunks_and_be_asked_for(daemon):
    with Visit(daemon) as visit:
        visit.say("POST /none HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n")
        assert visit.answer()[0] == 100
        visit.say("3\r\nabc\r\n0\r\n\r\n")
        assert visit.answer()[0] == 404
        assert visit.ask("/livez")[0] == 200


def test_an_operator_sees_a_visit_and_ends_it(daemon):
    with Visit(daemon) as visit, Wire(daemon.host) as wire:
        assert visit.ask("/livez")[0] == 200
        (seen,) = [c for c in wire.ask("client.list") if c["peer"] == "127.0.0.1"]
        assert (seen["state"], seen["in_flight"]) == ("reading", 0)
        assert seen["in_bytes"] > 0 and seen["out_bytes"] > 0
        wire.ask("client.kill", seen["connection"])
        assert visit.socket.recv(1) == b""
        assert [c["peer"] for c in wire.ask("client.list")].count("127.0.0.1") == 0


def test_who_asks_for_the_end_gets_it(daemon):
    with Visit(daemon) as visit:
        assert visit.ask("/livez", "Connection: close\r\n")[0] == 200
        visit.expect_end()
    with Visit(daemon) as visit:
        visit.say("GET /livez HTTP/1.0\r\n\r\n")
        visit.socket.shutdown(socket.SHUT_WR)
        assert visit.answer()[0] == 200
        visit.expect_end()


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_curl_asks_over_a_unix_socket():
    folder = harness.short_folder()
    with harness.Daemon("--http", f"unix:{folder}/h.sock") as d:
        assert d._line() == f"listening http+unix:{folder}/h.sock"
        said = harness.run("curl", "-sS", "--fail", "--unix-socket", f"{folder}/h.sock",
                           "http://x/livez", "http://x/readyz")
        assert (said.status, said.out) == (0, "live\nready\n")
    assert not os.path.exists(f"{folder}/h.sock")


def test_a_module_that_cannot_be_loaded_keeps_it_from_being_ready():
    with start("--load", f"zoo={ZOO}", "--load", "bad=/nonexistent.so") as d:
        d.ok("wait", "zoo")
        until(lambda: status(d, "/readyz/zoo") == 200, "zoo is ready")
        with Visit(d) as visit:
            answered, fields, body = visit.ask("/readyz")
            assert (answered, body) == (503, b"not ready: 1 of 2 modules are\n")
            assert fields["retry-after"] == "1"
            assert visit.ask("/readyz/bad")[0] == 503
            assert visit.ask("/livez")[0] == 200


def test_ready_follows_a_death_and_a_restart():
    with start("--load", f"zoo={ZOO}") as d:
        d.ok("wait", "zoo")
        with Visit(d) as visit:
            assert visit.ask("/readyz")[0] == 200
            for pid in d.workers():
                os.kill(pid, signal.SIGKILL)
            d.expect_logged("state=RESTARTING")
            until(lambda: visit.ask("/readyz")[0] == 200, "it is ready again")


def test_while_it_drains_it_is_not_ready():
    with start("--drain", harness.FOREVER) as d:
        d.load("zoo", harness.ZOO / "calls.so")
        assert status(d, "/readyz") == 200
        pid = d.workers()[0]
        os.kill(pid, signal.SIGSTOP)
        until(lambda: harness.is_stopped(pid), "the worker stands still")
        with Wire(d.host) as wire:
            call = wire.start("call", "zoo:addone")  # not done before the worker goes on
            wire.ask("ping")
            d.process.send_signal(signal.SIGTERM)
            d.expect_logged("event=daemon_drain")
            with Visit(d) as visit:  # the listener of HTTP is still there
                answered, fields, body = visit.ask("/readyz")
                assert (answered, body) == (503, b"draining\n")
                assert fields["connection"] == "close"
            os.kill(pid, signal.SIGCONT)
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.finish(call)
        assert d.process.wait(PATIENCE) == 0


TOKEN = "a token of alice"
RIGHTS = f"""
user alice token:sha256={hashlib.sha256(TOKEN.encode()).hexdigest()} +@lookup z*/*
end
"""


def ask_json(visit, path, method="GET", body=b"", fields=""):
    fields += f"Content-Length: {len(body)}\r\n" if body else ""
    answered, _, said = visit.ask(path, fields, method, body)
    return answered, json.loads(said)


@pytest.fixture(scope="module")
def models():
    with start("--load", f"dtypes={harness.MODELS / 'dtypes.so'}", "--load", f"zoo={ZOO}",
               "--load", "bad=/nonexistent.so") as d:
        d.ok("wait", "dtypes")
        d.ok("wait", "zoo")
        until(lambda: status(d, "/v2/models/bad") == 503, "the load has failed")
        yield d


def test_the_open_inference_protocol_tells_of_the_server(models):
    with Visit(models) as visit:
        answered, server = ask_json(visit, "/v2")
        assert (answered, server["name"]) == (200, "modserd")
        assert ask_json(visit, "/v2/health/live") == (200, {"live": True})
        assert ask_json(visit, "/v2/health/ready") == (503, {"ready": False})


@pytest.mark.parametrize("path", ["dtypes:f_float32", "dtypes%3Af_float32/versions/1"])
def test_a_model_is_a_function_of_a_module(models, path):
    with Visit(models) as visit:
        answered, model = ask_json(visit, f"/v2/models/{path}")
        assert (answered, model["name"]) == (200, "dtypes:f_float32")
        assert model["versions"] == ["1"]
        assert model["inputs"] == [{"name": n, "datatype": "FP32", "shape": [37]} for n in "AB"]
        assert model["outputs"] == [{"name": "C", "datatype": "FP32", "shape": [37]}]
        assert ask_json(visit, f"/v2/models/{path}/ready") == (200, {"ready": True})


def test_models_that_are_not_there_are_named(models):
    with Visit(models) as visit:
        for path, word in (("none", "none"), ("dtypes:none", "none"), ("dtypes/versions/2", "2"),
                           ("none/ready", "none"), ("dt%00", "path")):
            answered, said = ask_json(visit, f"/v2/models/{path}")
            assert answered in (400, 404) and word in said["error"], path
        answered, said = ask_json(visit, "/v2/models/bad")
        assert answered == 503 and "/nonexistent.so" in said["error"]


def test_the_index_lists_modules_and_their_states(models):
    index = "/v2/repository/index"
    with Visit(models) as visit:
        answered, every = ask_json(visit, index, "POST")
        assert answered == 200
        assert {m["name"]: m["state"] for m in every} == {
            "dtypes": "READY", "zoo": "READY", "bad": "UNAVAILABLE"}
        assert "/nonexistent.so" in next(m["reason"] for m in every if m["name"] == "bad")
        answered, ready = ask_json(visit, index, "POST", b'{"ready": true}')
        assert {m["name"] for m in ready} == {"dtypes", "zoo"}
        for body in (b"[]", b'{"ready": 1}', b"{", b"[" * 1000, b'{"ready":true,"ready":false}'):
            answered, said = ask_json(visit, index, "POST", body)
            assert answered == 400 and "error" in said
        assert visit.ask(index, "Content-Length: 100000\r\n", "POST", b" " * 100000)[0] == 413
        assert visit.ask(index)[1]["allow"] == "POST"


def test_the_index_lists_what_its_reader_may_see(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path, "--load", f"zoo={ZOO}", "--load", f"other={ZOO}") as d:
        until(lambda: status(d, "/readyz") == 200, "it is ready")
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        with Visit(d) as visit:
            assert ask_json(visit, "/v2/repository/index", "POST")[0] == 401
            answered, seen = ask_json(visit, "/v2/repository/index", "POST", fields=bearer)
            assert answered == 200 and [m["name"] for m in seen] == ["zoo"]
            assert ask_json(visit, "/v2/models/zoo:x", fields=bearer)[0] == 404
            assert ask_json(visit, "/v2/models/other:x", fields=bearer)[0] == 403
            assert ask_json(visit, "/v2/models/zoo/ready")[0] == 401


@pytest.mark.parametrize("path", ["/v2%2Fhealth%2Flive", "/v2/health%2Flive", "/v", "/v2/heal/live"])
def test_a_route_is_met_segment_by_segment(daemon, path):
    visit = Visit(daemon)
    visit.say(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert visit.answer()[0] == 404


def test_a_build_without_the_parser_has_all_that_others_call():
    folder = harness.ROOT / "daemon" / "supervisor" / "http"
    asked = r"(msd_http_\w+)\((?:const )?struct msd_edge"  # what is of an edge is asked by others
    told, there = (set(re.findall(asked, (folder / name).read_text())) for name in ("http.h", "absent.c"))
    assert told <= there and len(told) >= 2
