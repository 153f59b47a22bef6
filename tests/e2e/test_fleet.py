"""The examples of several daemons, with the engines in front of them that they are for."""
import http.server
import os
import shutil
import threading

import harness
import pytest

EXAMPLES = harness.ROOT / "examples/fleet"


@pytest.mark.skipif(not shutil.which("haproxy"), reason="no haproxy: no daemon is behind it")
def test_no_call_fails_while_haproxy_has_each_daemon_restarted():
    done = harness.run(EXAMPLES / "haproxy/run", harness.ZOO / "results.so", "int",
                       env=harness.environment() | {"BIN": str(harness.BIN), "LOAD": "2"},
                       timeout=4 * harness.PATIENCE)
    assert done.status == 0 and done.out.endswith(" calls answered, 0 failed\n"), done
    assert done.out.count("is back") == 3


@pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: nobody scrapes a fleet")
def test_prometheus_follows_a_fleet_and_tells_who_is_gone():
    done = harness.run(EXAMPLES / "prometheus/run", harness.ZOO / "results.so",
                       env=harness.environment() | {"BIN": str(harness.BIN)},
                       timeout=4 * harness.PATIENCE)
    assert done.status == 0 and done.out.endswith("four answer\n"), done
    assert "ModserdFleetIncomplete fires" in done.out and "nothing fires" in done.out


def test_modser_asks_the_next_address_when_one_does_not_answer(own_daemon):
    first, second = own_daemon(), own_daemon("--load", f"zoo={harness.ZOO / 'results.so'}")
    both = f"{first.host},{second.host}"
    second.ok("wait", "zoo")
    assert "zoo" not in first.modser("ls", host=both).out
    first.kill()
    assert "zoo" in first.modser("ls", host=both).out
    second.kill()
    done = first.modser("ls", host=both)
    assert done.status == 3 and done.err.count("connect to unix:") == 2, done


def test_modser_asks_the_next_address_when_the_first_speaks_http(own_daemon):
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        daemon = own_daemon("--load", f"zoo={harness.ZOO / 'results.so'}")
        daemon.ok("wait", "zoo")
        said = daemon.modser("ls", host=f"tcp://127.0.0.1:{web.server_port},{daemon.host}")
        web.shutdown()
    assert said.status == 0 and "zoo" in said.out, said
