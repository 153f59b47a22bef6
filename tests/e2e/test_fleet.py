"""The examples of several daemons, with the engines in front of them that they are for."""
import http.server
import os
import shutil
import threading

import harness
import numpy as np
import pytest

EXAMPLES = harness.ROOT / "examples/fleet"


haproxy = pytest.mark.skipif(not shutil.which("haproxy"), reason="no haproxy: no daemon is behind it")


@pytest.fixture
def behind_haproxy(models, tmp_path):
    """behind_haproxy(script, function, more=variables): it has run, with a model that is called by two rows."""
    if "--http" not in harness.run(harness.BIN / "modserd", "--help").out:
        pytest.skip("modserd was built without llhttp: no HTTP")
    np.save(tmp_path / "x.npy", np.ones((2, 16), "float32"))

    def run(script, function="main", **more):
        return harness.run(EXAMPLES / "haproxy" / script, models / "mlp.so", function, f"@{tmp_path / 'x.npy'}",
                           env=harness.environment() | {"BIN": str(harness.BIN), "PYTHONDONTWRITEBYTECODE": "1", **more},
                           timeout=4 * harness.PATIENCE)

    return run


@haproxy
def test_no_call_fails_and_none_runs_twice_while_haproxy_has_each_daemon_restarted(behind_haproxy):
    done = behind_haproxy("run", LOAD="2")
    assert done.status == 0 and done.out.endswith(" calls answered, 0 failed, 0 ran twice\n"), done
    assert done.out.count("is back") == 3
    assert " answered by modser, " in done.out and " answered by HTTP\n" in done.out, done


@haproxy
def test_the_calls_of_one_module_go_to_one_daemon(behind_haproxy):
    done = behind_haproxy("by_module")
    assert done.status == 0 and done.out.endswith("0 calls failed\n"), done


@haproxy
def test_a_function_that_is_not_there_is_told_before_anybody_calls(behind_haproxy):
    done = behind_haproxy("run", "none")
    assert done.status == 1 and done.err.startswith("run: http://") and "404" in done.err, done


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
