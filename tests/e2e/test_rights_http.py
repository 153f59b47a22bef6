"""Who may do what by HTTP and HTTPS: every identity, path and module, the limits of users, and
what comes through a proxy."""
import contextlib
import json
import re
import socket

import certs
import harness
import pytest
import test_http
from harness import LONG_MS
from rights import MODULES, RIGHTS, USERS, User, connect, lines, token_of, whole
from test_proxied import ALICE, header
from wire import Wire

MODULE = "{}"
# Method and path, and the method of the protocol that asks for the same; None: it is anybody's.
# The bodies are refused where they are allowed, so that nothing changes.
PATHS = {
    "GET /": None,
    "GET /livez": None,
    "GET /readyz": None,
    "GET /readyz/{}": "module.describe",
    "GET /metrics": "server.metrics",
    "GET /status": "module.list",
    "GET /status/{}": "module.describe",
    "GET /version": None,
    "GET /v2": None,
    "GET /v2/health/live": None,
    "GET /v2/health/ready": None,
    "GET /v2/models/{}": "module.describe",
    "GET /v2/models/{}/versions/1": "module.describe",
    "GET /v2/models/{}/config": "module.describe",
    "GET /v2/models/{}/versions/1/config": "module.describe",
    "GET /v2/models/stats": "module.list",
    "GET /v2/models/{}/ready": "module.describe",
    "GET /v2/models/{}/versions/1/ready": "module.describe",
    "GET /v2/models/{}/stats": "module.describe",
    "GET /v2/models/{}/versions/1/stats": "module.describe",
    "POST /v2/models/{}/infer": "call",
    "POST /v2/models/{}/versions/1/infer": "call",
    "POST /v2/repository/models/{}/load": "module.load",
    "POST /v2/repository/models/{}/unload": "module.unload",
    "POST /v2/repository/index": "module.list",
}
NEEDS = {"call": "call", "module.load": "load", "module.unload": "load"}
ANONYMOUS = [User("anonymous", []), User("anonymous", RIGHTS),
             User("anonymous", RIGHTS, ("mine*/*",))]


class Visit(test_http.Visit):
    """By what @daemon has beside its unix socket, as who shows @context, or nothing."""

    def __init__(self, daemon, shown=None):
        self.shown = shown
        super().__init__(daemon)

    def _connect(self, daemon):
        address = daemon.hosts[1]
        if address.startswith("https:"):
            return certs.connect(address, self.shown)
        if address.startswith("http+unix:"):
            made = socket.socket(socket.AF_UNIX)
            made.settimeout(harness.PATIENCE)
            made.connect(address.partition(":")[2])
            return made
        return super()._connect(daemon)


def bearer(user):
    return "" if user == "anonymous" else f"Authorization: Bearer {token_of(user)}\r\n"


def answer(visit, line, module, fields):
    method, _, path = line.partition(" ")
    body = b"[1]" if method == "POST" else b""
    name = f"{module}:echo" if PATHS[line] == "call" else module
    return visit.ask(path.format(name), f"{fields}Content-Length: {len(body)}\r\n", method, body)


def expect_rights(visit, user, fields, refusal, withheld=()):
    """Each path for each module, by what the file says; and nobody learns what is there."""
    for line, method in PATHS.items():
        texts = set()
        for module in MODULES if MODULE in line else MODULES[:1]:
            status, found, body = answer(visit, line, module, fields)
            allowed = method is None or user.may(
                method, NEEDS.get(method, "lookup"), module, withheld)
            assert (status not in (401, 403)) == allowed, (user.name, line, module, body)
            if not allowed:
                assert status == refusal, (user.name, line, module, status)
                assert ("www-authenticate" in found) == (refusal == 401)
                texts.add(body.replace(module.encode(), b"NAME"))
        assert len(texts) <= 1, texts


@pytest.fixture
def start(folder, own_daemon):
    """start(text, address, word...): a daemon with these rights, two modules and HTTP there."""

    def run(text, address, *words):
        acl = folder / "rights.acl"
        acl.write_text(text)
        acl.chmod(0o600)
        loads = [w for name in ("mine", "theirs")
                 for w in ("--load", f"{name}={harness.ZOO}/results.so")]
        daemon = own_daemon("--listen", f"unix:{folder}/s", "--http", address, "--acl", acl,
                            *loads, *words, listen=[], n_listening=2)
        for name in ("mine", "theirs"):
            daemon.ok("wait", name)
        return daemon

    return run


def test_every_path_of_the_document_is_asked_for():
    table = (harness.ROOT / "docs/reference/http.md").read_text().partition("| path |")[2]
    found = set()
    for row in table.partition("\n\n")[0].splitlines():
        method = ""
        for word in re.findall(r"`([^`]*/[^`]*)`", row.split("|")[1] if "|" in row else ""):
            method, path = word.split() if " " in word else (method, word)
            found.add(f"{method} {re.sub('MODULE|MODEL', MODULE, path)}")
    assert found == set(PATHS)


@pytest.mark.parametrize("address, allow", [
    ("127.0.0.1:0", True), ("127.0.0.1:0", False), ("unix:{}/h", True)])
def test_every_identity_path_and_module_by_token(start, folder, address, allow):
    daemon = start(lines(USERS), address.format(folder), *["--allow-load-tcp"] * allow)
    with Visit(daemon) as visit:
        for user in USERS:
            expect_rights(visit, user, bearer(user.name), 403, () if allow else ("load", "admin"))


def test_every_identity_path_and_module_by_token_over_tls(start, pki):
    daemon = start(lines(USERS), "https://127.0.0.1:0", *pki.words())
    with Visit(daemon, certs.context(pki)) as visit:
        for user in USERS:
            expect_rights(visit, user, bearer(user.name), 403)


def test_every_identity_path_and_module_by_certificate(start, pki):
    daemon = start(whole(*(u.line(f"cert:cn={u.name}") for u in USERS)), "https://127.0.0.1:0",
                   *pki.words())
    for user in USERS:
        with Visit(daemon, certs.context(pki, pki.issue(user.name))) as visit:
            expect_rights(visit, user, "", 403)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "unix:{}/h", "https://127.0.0.1:0"])
@pytest.mark.parametrize("user", ANONYMOUS, ids=["nothing", "all", "mine"])
def test_every_path_and_module_of_who_shows_nothing(start, folder, pki, address, user):
    words = pki.words() if "https" in address else ()
    daemon = start(whole(user.line() if user.rights else ""), address.format(folder), *words)
    withheld = ("load", "read", "admin") if address[0].isdigit() else ()
    with Visit(daemon, certs.context(pki)) as visit:
        expect_rights(visit, user, "", 401, withheld)


def infer(visit, user="web", n=1, times=1):
    """[(status, fields, what the body says)] of calls with @n elements, sent at once."""
    tensor = {"name": "A", "datatype": "FP32", "shape": [n], "data": [1] * n}
    body = json.dumps({"inputs": [tensor]}).encode()
    visit.say((f"POST /v2/models/shapes:addone/infer HTTP/1.1\r\nHost: x\r\n{bearer(user)}"
               f"Content-Length: {len(body)}\r\n\r\n".encode() + body) * times)
    answers = (visit.answer() for _ in range(times))
    return [(status, found, json.loads(said)) for status, found, said in answers]


def expect_served(visit, *who, **more):
    [(status, _, body)] = infer(visit, *who, **more)
    assert status == 200, body


def expect_busy(said, word):
    status, found, body = said
    assert status == 429 and word in body["error"], said
    assert body["retry_after_ms"] > 0 and int(found["retry-after"]) >= 1, said


@pytest.fixture(params=["127.0.0.1:0", "https://127.0.0.1:0"])
def limited(request, start, models, pki):
    """limited(words): a daemon where web has these limits; a visit there."""

    def run(words):
        user = User("web", ["lookup", "call"])
        free = User("free", ["lookup", "call"])
        daemon = start(whole(f"{user.line().rstrip()} {words}\n", free.line()), request.param,
                       *(pki.words() if "https" in request.param else ()))
        daemon.load("shapes", models / "shapes.so")
        daemon.load("faults", harness.ZOO / "faults.so")
        return daemon, Visit(daemon, certs.context(pki))

    return run


def test_calls_in_a_second_are_counted_by_identity(limited):
    daemon, visit = limited("rate=1/s")
    with visit:
        said = infer(visit, times=100)
        assert said[0][0] == 200
        expect_busy(next(s for s in said if s[0] != 200), "rate=")
        expect_served(visit, "free")


def test_bytes_in_a_second_are_counted_by_identity(limited):
    _, visit = limited("bytes=1K/s")
    with visit:
        expect_served(visit, n=16384)
        expect_busy(infer(visit)[0], "bytes=")
        expect_served(visit, "free")


def test_requests_in_flight_are_counted_by_identity_whatever_they_come_by(limited):
    daemon, visit = limited("requests=1")
    with visit, harness.Gate() as gate, connect(daemon, "web") as wire:
        held = wire.start("call", "faults:gate", gate.path, deadline_ms=LONG_MS)
        gate.entered()
        expect_busy(infer(visit)[0], "requests=")
        expect_served(visit, "free")
        gate.open()
        wire.finish(held)
        expect_served(visit)


READERS = 20


def begin_long(visit):
    """A call as web whose JSON is read on a thread; the last byte of it."""
    tensor = {"name": "A", "datatype": "FP32", "shape": [100000], "data": [1] * 100000}
    body = json.dumps({"inputs": [tensor]}).encode()
    visit.say(f"POST /v2/models/shapes:addone/infer HTTP/1.1\r\nHost: x\r\n{bearer('web')}"
              f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
    return body[-1:]


@pytest.mark.parametrize("stays, status", [(True, 200), (False, 401)])
def test_a_call_that_is_being_read_is_its_askers_by_the_file_as_it_is(
        start, folder, models, stays, status):
    web, other = User("web", ["call"]), User("other", ["call"])
    daemon = start(lines([web]), "127.0.0.1:0")
    daemon.load("shapes", models / "shapes.so")
    with contextlib.ExitStack() as stack:
        visits = [stack.enter_context(Visit(daemon)) for _ in range(READERS)]
        ends = [begin_long(visit) for visit in visits]
        operator = stack.enter_context(Wire(daemon.host))
        (folder / "rights.acl").write_text(lines([other, web][:1 + stays]))
        with daemon.standstill():  # all are to be read when the file changes
            for visit, end in zip(visits, ends):
                visit.say(end)
            number = operator.start("server.reload")
        operator.finish(number)
        answers = [visit.answer()[0] for visit in visits]
    assert answers[0] in (200, status)
    assert answers.count(status) >= READERS - 6, answers  # what was read before it


def test_a_proxy_says_where_who_comes_by_https_is_from(start, pki):
    """The header comes first, then the handshake, then HTTP."""
    daemon = start(whole(User("alice", ["lookup"]).line("cert:cn=alice")), "https://127.0.0.1:0",
                   "--proxy-from", "127.0.0.0/8", *pki.words())
    tcp = certs.plain(daemon.hosts[1])
    tcp.sendall(header())
    context = certs.context(pki, pki.alice)
    with context.wrap_socket(tcp, server_hostname="localhost") as visit:
        visit.sendall(b"GET /v2/models/mine HTTP/1.1\r\nHost: x\r\n\r\n")
        assert visit.makefile("rb").readline().split()[1] == b"200"
        [mine] = [x for x in daemon.ok("clients").out.splitlines() if ALICE in x]
        assert "\talice\t" in mine, mine
    with pytest.raises(OSError):  # who brings no header never gets to the handshake
        Visit(daemon, context)
    daemon.expect_logged("cause=missing")
