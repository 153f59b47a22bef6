"""Modules that one daemon gets from another's store: modser:// as a source."""
import contextlib
import hashlib
import select
import socket
import threading

import certs
import harness
import pytest
from test_fixtures import need
from wire import Failure, Wire

FETCH = harness.BIN / "modserd-fetch"
RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
MIB = 1 << 20

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


class Way:
    """Stands between the daemon that asks and the one that gives, and counts what comes back. The
    first connection that brings @cut_at bytes or more ends there; the byte @flip of the first one
    that has so many is another."""

    def __init__(self, hub, cut_at=None, flip=None):
        self.target = ("127.0.0.1", int(hub.hosts[-1].rpartition(":")[2]))
        self.cut_at, self.flip, self.came = cut_at, flip, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.threads = [threading.Thread(target=self.serve)]

    def uri(self, name):
        return f"modser://127.0.0.1:{self.listener.getsockname()[1]}/{name}"

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            hub = socket.create_connection(self.target)
            self.came.append(0)
            for words in ((self.ask, client, hub), (self.give, hub, client, len(self.came) - 1)):
                self.threads.append(threading.Thread(target=words[0], args=words[1:]))
                self.threads[-1].start()

    @staticmethod
    def ask(client, hub):
        try:
            while data := client.recv(65536):
                hub.sendall(data)
            hub.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # cut by the other direction

    def give(self, hub, client, which):
        with hub, client:
            while data := hub.recv(65536):
                at, n = self.came[which], len(data)
                if self.flip is not None and at <= self.flip < at + n:
                    data = bytearray(data)
                    data[self.flip - at] ^= 1
                    self.flip = None
                if self.cut_at is not None and at + n >= self.cut_at:
                    n, self.cut_at = self.cut_at - at, None
                    self.came[which] += n
                    client.sendall(data[:n])
                    for end in (hub, client):
                        end.shutdown(socket.SHUT_RDWR)
                    return
                self.came[which] += n
                try:
                    client.sendall(data)
                except OSError:
                    return

    def __enter__(self):
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for t in self.threads:
            t.join(harness.PATIENCE)


@pytest.fixture
def hub(own_daemon, folder):
    return own_daemon("--store", folder / "hub", "--allow-load-tcp", listen=["tcp://127.0.0.1:0"])


@pytest.fixture
def device(own_daemon, folder):
    return own_daemon("--store", folder / "device", "--fetch-retry", "5ms")


def uri_of(hub, name):
    return f"modser://{hub.hosts[-1].removeprefix('tcp://')}/{name}"


def expect_answered(daemon, way):
    """The source of `m` was asked on its way, and has answered."""

    def has():
        with Wire(daemon.host) as wire:
            source = wire.ask("module.describe", "m")["source"]
        return way.came and source["state"] != "asking" and not source["failures"]

    daemon.ok("wait", "m")
    harness.until(has, "the source has answered")


def works(daemon, name):
    return daemon.ok("call", f"{name}:int").out == "-42\n"


@pytest.fixture
def large(folder):
    """A library of some MiB, of which nothing but its size is other than usual."""
    path = folder / "large.so"
    path.write_bytes(RESULTS.read_bytes() + bytes(range(256)) * (6 * MIB // 256))
    return path


def test_what_another_daemon_keeps_is_served_and_there_after_a_restart(
        hub, device, own_daemon, folder):
    hub.ok("load", "--keep", "digits", RESULTS)
    digest = hashlib.sha256(RESULTS.read_bytes()).hexdigest()
    device.ok("pull", "--sha256", digest, "mine", uri_of(hub, "digits"))
    assert works(device, "mine")
    with Wire(device.host) as wire:
        assert wire.ask("module.list")[0]["file"] == "results.so"
        assert wire.ask("module.describe", "mine")["sha256"] == digest
    device.stop()
    hub.stop()
    again = own_daemon("--store", folder / "device")
    again.ok("wait", "mine")
    assert works(again, "mine")


def test_a_source_that_has_not_changed_brings_no_file(hub, own_daemon, folder, large):
    hub.ok("load", "--keep", "digits", large)
    with Way(hub) as way:
        (folder / "m.conf").write_text(f"module m {{ source = '{way.uri('digits')}' }}\n")
        words = ("--config", folder / "m.conf", "--store", folder / "device")
        first = own_daemon(*words)
        expect_answered(first, way)
        assert sum(way.came) > large.stat().st_size
        first.stop()
        way.came.clear()
        second = own_daemon(*words)
        expect_answered(second, way)
        assert 0 < sum(way.came) < 4096, way.came
        assert works(second, "m")


def test_what_was_cut_is_gone_on_with(hub, device, large):
    hub.ok("load", "--keep", "digits", large)
    with Way(hub, cut_at=3 * MIB + 12345) as way:
        device.ok("pull", "digits", way.uri("digits"))
        assert way.cut_at is None
        assert sum(way.came) < large.stat().st_size + MIB + 65536, way.came
    assert works(device, "digits")


def test_a_flipped_byte_is_refused_and_what_served_goes_on(hub, device, large):
    device.ok("pull", "digits", f"file://{RESULTS}")
    hub.ok("load", "--keep", "digits", large)
    with Way(hub, flip=2 * MIB) as way:
        said = device.modser("pull", "digits", way.uri("digits"))
        assert way.flip is None
    assert said.status == 7 and "NOT_VERIFIED" in said.err
    assert works(device, "digits")


def test_a_graph_and_parameters_come_with_it(hub, device, fixtures):
    parts = fixtures / "tvm-0.8/mlp_llvm"
    library = need(parts, "mlp_llvm_nofactory.so")
    hub.ok("load", "--keep", "--graph", parts / "graph.json", "--params", parts / "model.params",
           "mlp", library)
    device.ok("pull", "mlp", uri_of(hub, "mlp"))
    x = f"@{parts / 'in_data.npy'}"
    assert device.ok("call", "mlp:run", x).out == hub.ok("call", "mlp:run", x).out


@pytest.mark.parametrize("uri, status, why", [
    ("modser://127.0.0.1/digits", 2, "HOST:PORT/MODULE"),
    ("modser://127.0.0.1:1/a/b", 2, "HOST:PORT/MODULE"),
    ("modser://192.0.2.1.invalid:1/digits", None, "192.0.2.1.invalid"),
])
def test_what_is_no_daemon_is_named(device, uri, status, why):
    said = device.modser("pull", "digits", uri)
    assert said.status != 0 and why in said.err


def test_what_the_hub_refuses_is_said_in_its_words(own_daemon, folder, hub, device):
    said = device.modser("pull", "digits", uri_of(hub, "digits"))
    assert "NOT_FOUND" in said.err and "digits" in said.err
    shut = own_daemon("--store", folder / "shut", listen=["tcp://127.0.0.1:0"])
    said = device.modser("pull", "digits", uri_of(shut, "digits"))
    assert said.status == 6 and "REFUSED" in said.err
    bare = own_daemon("--allow-load-tcp", listen=["tcp://127.0.0.1:0"])
    said = device.modser("pull", "digits", uri_of(bare, "digits"))
    assert "UNSUPPORTED" in said.err and "no store" in said.err


@pytest.fixture
def address():
    """One that another machine could have."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.200", 9))  # sends nothing: it names the address to go out by
        except OSError:
            pytest.skip("this machine has no address but its own")
        return s.getsockname()[0]


def tls_hub(own_daemon, folder, address):
    """(a daemon at @address whose store has digits, its authority)"""
    authority = certs.Authority(folder)
    cert, key = authority.issue("hub", (f"IP:{address}",))
    hub = own_daemon("--store", folder / "hub", "--allow-load-tcp", "--insecure-tcp",
                     "--tls-cert", cert, "--tls-key", key, listen=[f"tls://{address}:0"])
    hub.ok("--tls-ca", authority.cert, "load", "--keep", "digits", RESULTS)
    return hub, authority


def test_to_another_machine_it_speaks_tls(own_daemon, folder, address):
    hub, authority = tls_hub(own_daemon, folder, address)
    device = own_daemon("--store", folder / "device", "--fetch-retry", "5ms",
                        env={"SSL_CERT_FILE": str(authority.cert)})
    uri = f"modser://{hub.host.removeprefix('tls://')}/digits"
    device.ok("pull", "digits", uri)
    assert works(device, "digits")
    stranger = own_daemon("--store", folder / "stranger", "--fetch-retry", "5ms")
    said = stranger.modser("pull", "digits", uri)
    assert said.status != 0 and "certificate" in said.err


def dribble(near, far):
    """Passes on between both; once the handshake is over, what @far says byte by byte."""
    n_said = 0
    with near, far, contextlib.suppress(OSError):
        while True:
            for end in select.select([near, far], [], [])[0]:
                piece = end.recv(1 if end is far and n_said > 1 else 1 << 16)
                if not piece:
                    return
                (far if end is near else near).sendall(piece)
                if end is near:
                    n_said += 1
                elif n_said > 1:
                    select.select([near], [], [], 0.01)


def test_a_record_that_never_ends_is_a_stall(own_daemon, folder, address):
    hub, authority = tls_hub(own_daemon, folder, address)
    device = own_daemon("--store", folder / "device", "--fetch-retry", "5ms", "--fetch-stall",
                        "500ms", env={"SSL_CERT_FILE": str(authority.cert)})
    there = hub.host.removeprefix("tls://").rsplit(":", 1)
    with socket.create_server((address, 0)) as server:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    near, _ = server.accept()
                    dribble(near, socket.create_connection(there))

        threading.Thread(target=serve, daemon=True).start()
        said = device.modser("pull", "digits",
                             f"modser://{address}:{server.getsockname()[1]}/digits")
        server.shutdown(socket.SHUT_RDWR)
    assert said.status == 1 and "it stalled" in said.err


def test_peers_that_say_nothing_keep_nobody_else_waiting(own_daemon, folder, hub):
    hub.ok("load", "--keep", "digits", RESULTS)
    device = own_daemon("--store", folder / "device", "--max-pulls", "6", "--fetch-stall", "1h")
    with socket.create_server(("127.0.0.1", 0)) as silent, contextlib.ExitStack() as held:
        silent.settimeout(harness.PATIENCE)
        wire = held.enter_context(Wire(device.host))
        for n in range(5):
            uri = f"modser://127.0.0.1:{silent.getsockname()[1]}/m"
            wire.start("module.pull", f"stalled{n}", uri)
            held.enter_context(silent.accept()[0])  # all five are being waited for
        device.ok("pull", "theirs", uri_of(hub, "digits"))
        device.ok("pull", "ours", f"file://{RESULTS}")
    assert works(device, "theirs") and works(device, "ours")


def test_who_may_read_gets_what_a_line_gives_and_brings_nothing(own_daemon, folder, device):
    stocked = own_daemon("--store", folder / "hub")
    for name in ("pub-digits", "digits"):
        stocked.ok("load", "--keep", name, RESULTS)
    stocked.stop()
    acl = folder / "rights.acl"
    acl.write_text("user anonymous +@read pub-*/*\nend\n")
    hub = own_daemon("--store", folder / "hub", "--allow-load-tcp", "--acl", acl,
                     listen=["tcp://127.0.0.1:0"])
    device.ok("pull", "digits", uri_of(hub, "pub-digits"))
    assert works(device, "digits")
    said = device.modser("pull", "more", uri_of(hub, "digits"))
    assert said.status == 6 and "REFUSED" in said.err, said
    said = hub.modser("load", "pub-mine", RESULTS)
    assert said.status == 6 and "REFUSED" in said.err, said


def test_a_file_is_read_piece_by_piece(hub):
    hub.ok("load", "--keep", "digits", RESULTS)
    data = RESULTS.read_bytes()
    with Wire(hub.host) as wire:
        told = wire.ask("module.read", "digits")
        assert [f["role"] for f in told["files"]] == ["library"]
        assert told["files"][0]["sha256"] == hashlib.sha256(data).digest()
        of = {"sha256": told["files"][0]["sha256"]}
        assert wire.ask("module.read", "digits", of | {"from": 7, "bytes": 9}) == data[7:16]
        assert wire.ask("module.read", "digits", of | {"from": len(data)}) == b""
        assert wire.ask("module.read", "digits", of | {"from": (1 << 64) - 1}) == b""
        for wrong in ({"sha256": bytes(32)}, {"sha256": b"short"}, {"from": 1}):
            with pytest.raises(Failure, match="sha256|has that file"):
                wire.ask("module.read", "digits", wrong)


def test_where_the_store_is_concerns_nobody_who_asks(hub, folder):
    hub.ok("load", "--keep", "digits", RESULTS)
    (record,) = folder.rglob("modules/digits")
    with Wire(hub.host) as wire:
        with pytest.raises(Failure) as failure:
            wire.ask("module.read", "none")
        assert "the store has no module none" in str(failure.value)
        record.write_text("damaged\n")
        with pytest.raises(Failure) as failure:
            wire.ask("module.read", "digits")
        assert "the daemon's log says why" in str(failure.value)
        assert str(folder) not in str(failure.value)
    hub.expect_logged(f"event=store_read name=digits why=\"{record.parents[1]}")
