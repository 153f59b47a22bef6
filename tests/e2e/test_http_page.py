"""The status page: what it may do, what it is told, and a browser that shows it."""
import base64
import hashlib
import os
import re
import shutil

import pytest

import harness
from harness import until
from test_http import ZOO, Visit, ask_json, http_of, start
from wire import Wire


@pytest.fixture(scope="module")
def daemon():
    with start("--load", f"zoo={ZOO}") as d:
        d.ok("wait", "zoo")
        yield d


def test_the_page_may_run_what_is_in_it_and_nothing_else(daemon):
    with Visit(daemon) as visit:
        answered, fields, page = visit.ask("/")
        assert answered == 200 and fields["content-type"] == "text/html; charset=utf-8"
        policy = dict(rule.split(" ", 1) for rule in fields["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
        for part in ("style", "script"):
            (text,) = re.findall(f"<{part}>(.*?)</{part}>".encode(), page, re.S)
            digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
            assert policy[f"{part}-src"] == f"'sha256-{digest}'"
        assert b"//" not in re.sub(rb"http://www.w3.org/2000/svg", b"", page), "a foreign address"


def test_the_page_is_told_what_frames_are_told(daemon):
    with Visit(daemon) as visit, Wire(daemon.host) as wire:
        answered, said = ask_json(visit, "/status")
        assert answered == 200 and said["server"]["pid"] == daemon.process.pid
        (listed,) = wire.ask("module.list")
        assert {**said["modules"][0], "rss": 0} == {**listed, "rss": 0}
        answered, said = ask_json(visit, "/status/zoo")
        shown = wire.ask("module.describe", "zoo")
        assert answered == 200 and said["history"]["every_s"] == 10
        assert said["module"]["functions"] == shown["functions"]
        assert said["module"]["inspect"] == shown["inspect"]
        assert visit.ask("/status/none")[0] == 404


def test_a_browser_shows_the_page(daemon, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium (Debian: chromium): the page is not run")
    host, port = http_of(daemon)

    def shown():
        said = harness.run(browser, "--headless=new", "--no-sandbox", "--disable-gpu",
                           f"--user-data-dir={tmp_path}", "--virtual-time-budget=5000",
                           "--dump-dom", f"http://{host}:{port}/#zoo",
                           env={**os.environ, "HOME": str(tmp_path)})
        body = said.out.partition("<main")[2].partition("</main>")[0]
        return all(text in body for text in ("<b>zoo</b>", ">READY<", "results.so", 'd="M'))

    until(shown, "the page shows the module, and all of it")
