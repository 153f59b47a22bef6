"""TLS on sockets that the service manager has opened: the configuration says which they are."""
import shutil
import socket
import threading

import certs
import harness
import pytest
from test_service_manager import handed
from wire import Wire


def expect_served(address, pki):
    with Wire(certs.connect(address, certs.context(pki, pki.alice))) as wire:
        assert wire.ask("ping") is None


@pytest.mark.parametrize("host, family", [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_a_socket_whose_address_is_configured_so_speaks_tls(own_daemon, pki, host, family):
    try:
        tcp, plain = (socket.create_server((host, 0), family=family) for _ in range(2))
    except OSError as error:
        pytest.skip(f"no {host} here: {error}")
    with tcp, plain:
        shown = f"[{host}]" if ":" in host else host
        ports = [s.getsockname()[1] for s in (tcp, plain)]
        daemon = own_daemon("--listen", f"tls://{shown}:{ports[0]}", *pki.words(),
                            **handed(tcp, plain))
        assert daemon.hosts == [f"tls://{shown}:{ports[0]}", f"tcp://{shown}:{ports[1]}"]
        expect_served(daemon.hosts[0], pki)
        with Wire(daemon.hosts[1]) as wire:
            assert wire.ask("ping") is None


def test_beyond_loopback_it_wants_what_an_address_of_its_own_wants(own_daemon, pki):
    with socket.create_server(("0.0.0.0", 0)) as tcp:
        port = tcp.getsockname()[1]
        words = ["--listen", f"tls://0.0.0.0:{port}"]
        with pytest.raises(AssertionError, match="beyond loopback.*--tls-ca"):
            own_daemon(*words, *pki.words(ca=False), **handed(tcp))
        daemon = own_daemon(*words, *pki.words(), **handed(tcp))
        assert daemon.host == f"tls://0.0.0.0:{port}"
        expect_served(f"tls://127.0.0.1:{port}", pki)


@pytest.mark.skipif(
    not shutil.which("systemd-socket-activate"), reason="no systemd-socket-activate here"
)
def test_systemds_own_tool_hands_a_socket_for_tls_over(own_daemon, pki):
    """It waits for a first client and becomes the daemon then."""
    with socket.socket() as kept:  # keeps its port from other programs
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port = kept.getsockname()[1]
        knocked = threading.Event()
        client = socket.socket()

        def knock():
            harness.until(lambda: client.connect_ex(("127.0.0.1", port)) == 0, "it listens")
            knocked.set()

        threading.Thread(target=knock).start()
        daemon = own_daemon("--listen", f"tls://127.0.0.1:{port}", *pki.words(), listen=[],
                            before=["systemd-socket-activate", "-l", f"127.0.0.1:{port}"])
        assert daemon.host == f"tls://127.0.0.1:{port}"
        assert knocked.wait(harness.PATIENCE)
        client.settimeout(harness.PATIENCE)
        with certs.context(pki, pki.alice).wrap_socket(client, server_hostname="localhost") as s:
            assert Wire(s).ask("ping") is None
