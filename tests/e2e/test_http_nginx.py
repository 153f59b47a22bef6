"""nginx in front, as its manual sets it up: connections to the daemon that are kept, bodies with a
length and in chunks, errors, and answers that must be the daemon's own, byte for byte."""
import json
import os
import shutil
import socket

import numpy as np
import pytest

import harness
from harness import PATIENCE, until
from test_http import Visit, http_of, start
from test_http_infer import ADD, PATH
from wire import Wire

CONFIG = """
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_max_body_size 128m;
    {temporary}
    upstream modserd {{ server {host}:{port}; keepalive 4; }}
    server {{
        listen unix:{folder}/front;
        location / {{
            proxy_pass http://modserd;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host localhost;
            proxy_request_buffering {buffering};
            proxy_buffering {buffering};
        }}
    }}
}}
"""
TEMPORARY = "client_body proxy fastcgi uwsgi scgi".split()


@pytest.fixture(scope="module")
def daemon():
    with start("--load", f"shapes={harness.MODELS / 'shapes.so'}") as d:
        d.ok("wait", "shapes")
        yield d


@pytest.fixture(scope="module", params=["on", "off"], ids=["buffered", "as it comes"])
def front(request, daemon, tmp_path_factory):
    """The path of its socket."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        pytest.skip("no nginx (Debian: nginx): nothing is in front")
    folder = tmp_path_factory.mktemp("nginx")
    host, port = http_of(daemon)
    temporary = " ".join(f"{t}_temp_path {folder}/{t};" for t in TEMPORARY)
    config = CONFIG.format(folder=folder, host=host, port=port, temporary=temporary,
                           buffering=request.param)
    if os.getuid() == 0:
        config = "user root;\n" + config
    (folder / "conf").write_text(config)
    with harness.started(nginx, "-e", folder / "error.log", "-c", folder / "conf",
                         "-g", "daemon off;") as server:
        until((folder / "front").exists, "it listens")
        yield folder / "front"
        server.terminate()  # its worker ends with it
        server.wait(PATIENCE)


class ThroughFront(Visit):
    def _connect(self, front):
        it = socket.socket(socket.AF_UNIX)
        it.settimeout(PATIENCE)
        it.connect(str(front))
        return it

    def answer(self, is_head=False):
        """nginx sends chunks where it does not know a length."""
        answered, fields, body = super().answer(is_head)
        while fields.get("transfer-encoding") == "chunked":
            while b"\r\n" not in self.had:
                assert self._more()
            size, _, self.had = self.had.partition(b"\r\n")
            n = int(size, 16) + 2
            while len(self.had) < n:
                assert self._more()
            body, self.had = body + self.had[: n - 2], self.had[n:]
            if n == 2:
                break
        return answered, fields, body


def accepted(wire):
    return wire.ask("server.info")["connections_total"]


def test_many_requests_take_few_connections(daemon, front):
    with Wire(daemon.host) as wire:
        before = accepted(wire)
        with ThroughFront(front) as visit:
            visit.say("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" * 64)
            assert [visit.answer()[0] for _ in range(64)] == [200] * 64
            for path, answered in (("/readyz/shapes", 200), ("/readyz/none", 404), ("/", 200),
                                   ("/metrics", 200), ("/v2/models/shapes%3Aaddone", 200)):
                assert visit.ask(path)[0] == answered, path
            assert visit.ask("/livez", method="HEAD")[0] == 200
        assert accepted(wire) - before <= 4


def test_what_goes_through_is_what_the_daemon_says(daemon, front):
    body = json.dumps({"inputs": ADD}).encode()
    length = f"Content-Length: {len(body)}\r\n"
    asks = [(PATH.format("shapes:addone"), length, "POST", body),
            (PATH.format("shapes:addone"), "Content-Length: 2\r\n", "POST", b"{}"),
            (PATH.format("shapes:none"), length, "POST", body),
            ("/v2/repository/index", "Content-Length: 2\r\n", "POST", b"{}"),
            ("/v2/models/shapes", "", "GET", b""), ("/livez", "Content-Length: 0\r\n", "PUT", b"")]
    with Visit(daemon) as direct, ThroughFront(front) as visit:
        for ask in asks:
            assert visit.ask(*ask)[::2] == direct.ask(*ask)[::2], ask


@pytest.mark.parametrize("in_chunks", [False, True], ids=["with a length", "in chunks"])
def test_large_tensors_come_back_with_all_their_bits(front, in_chunks):
    array = np.arange(2 << 20, dtype="float32")  # 8 MiB
    head = json.dumps({"inputs": [{"name": "A", "datatype": "FP32", "shape": [array.size],
                                   "parameters": {"binary_data_size": array.nbytes}}],
                       "parameters": {"binary_data_output": True}}).encode()
    body = head + array.tobytes()
    with ThroughFront(front) as visit:
        for _ in range(3):
            if in_chunks:
                pieces = [body[at:at + 100_000] for at in range(0, len(body), 100_000)]
                framing = "Transfer-Encoding: chunked\r\n"
                sent = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
            else:
                framing, sent = f"Content-Length: {len(body)}\r\n", body
            answered, fields, said = visit.ask(
                PATH.format("shapes:addone"),
                f"Inference-Header-Content-Length: {len(head)}\r\n{framing}", "POST", sent)
            assert answered == 200, said[:300]
            behind = said[int(fields["inference-header-content-length"]):]
            assert behind == (array + 1).tobytes()


def test_what_is_too_large_is_told_through_it(front):
    with ThroughFront(front) as visit:
        answered, _, said = visit.ask(PATH.format("shapes:addone"), "Content-Length: 20000000\r\n",
                                      "POST", bytes(20000000))
        assert answered == 413 and b"the limit is 16777216 of --max-json" in said, said
    with ThroughFront(front) as visit:
        assert visit.ask("/livez")[0] == 200


def test_two_lengths_come_to_nobody(daemon, front):
    with Wire(daemon.host) as wire, ThroughFront(front) as visit:
        before = wire.ask("server.info")["requests"]
        visit.say("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert visit.answer()[0] == 400
        visit.expect_end()
        assert wire.ask("server.info")["requests"] == before + 1, "that question itself"
