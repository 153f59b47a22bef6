"""The status page: what it may do, what it is told, and a browser that shows it."""
import base64
import contextlib
import hashlib
import os
import re
import shutil
import signal

import pytest

import harness
from harness import until
from test_http import ZOO, Visit, ask_json, http_of, start
from wire import Failure, Wire


OBEYED = [*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]


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
        assert {**said["modules"][0], "rss_bytes": 0} == {**listed, "rss_bytes": 0}
        answered, said = ask_json(visit, "/status/zoo")
        shown = wire.ask("module.describe", "zoo")
        assert answered == 200 and said["history"]["every_s"] == 10
        assert said["module"]["functions"] == shown["functions"]
        assert said["module"]["inspect"] == shown["inspect"]
        assert visit.ask("/status/none")[0] == 404


class Browser:
    """A headless one that is shown the page; gives what is then in its <main>."""

    def __init__(self, folder):
        self.program = shutil.which("chromium")
        if self.program is None:
            pytest.skip("no chromium (Debian: chromium): the page is not run")
        self.folder = folder

    def shown(self, daemon, name):
        host, port = http_of(daemon)
        said = harness.run(self.program, "--headless=new", "--no-sandbox", "--disable-gpu",
                           f"--user-data-dir={self.folder}", "--virtual-time-budget=5000",
                           "--dump-dom", f"http://{host}:{port}/#{name}",
                           env={**os.environ, "HOME": str(self.folder)})
        return said.out.partition("<main")[2].partition("</main>")[0]


def test_the_page_escapes_what_a_terminal_would_obey(daemon):
    """As proto/base/utf8.h has it, for each character; a browser alone would reverse a text."""
    with Visit(daemon) as visit:
        page = visit.ask("/")[2].decode()
    obeyed = re.compile(re.search(r"replace\(/(\[.*?\])/g,", page).group(1))
    assert [c for c in range(0x110000) if obeyed.match(chr(c))] == OBEYED
    assert page.count("textContent = ") == 2  # both by plain()


def test_a_browser_shows_the_page(daemon, tmp_path):
    browser = Browser(tmp_path)

    def shown():
        body = browser.shown(daemon, "zoo")
        return all(text in body for text in ("<b>zoo</b>", ">READY<", "results.so", 'd="M'))

    until(shown, "the page shows the module, and all of it")


@contextlib.contextmanager
def troubled():
    """A daemon with a module that serves, one that has died too often, one whose worker opens it
    again, and one that is unloaded while its call runs."""
    with harness.Gate() as opens, harness.Gate() as runs, \
         start("--max-deaths", "3", "--drain", harness.FOREVER,
               "--load-timeout", harness.FOREVER, "--load", f"serves={ZOO}",
               env={"MSD_TEST_FIRST": opens.path}) as d, \
         Wire(d.host) as wire, Wire(d.host) as other:
        load = wire.start("module.load", "reopens",
                          wire.upload((harness.ZOO / "held_first.so").read_bytes()))
        opens.entered()
        opens.open()
        wire.finish(load)
        os.kill(wire.ask("module.describe", "reopens")["pids"][0], signal.SIGKILL)
        for name in ("dies", "leaves"):
            d.load(name, harness.ZOO / "faults.so")
        for _ in range(3):
            pid = wire.call("dies:pid", deadline_ms=harness.LONG_MS)[1]
            os.kill(pid, signal.SIGSEGV)  # it runs nothing: no call is to blame
            until(lambda: pid not in wire.ask("module.describe", "dies")["pids"], "it is gone")
        wire.start("call", "leaves:gate", runs.path)
        runs.entered()
        other.start("module.unload", "leaves")
        d.ok("wait", "serves")
        yield d, wire


STATES = {"serves": "READY", "dies": "QUARANTINED", "reopens": "RESTARTING", "leaves": "DRAINING"}


def test_a_browser_shows_the_states_of_modules_in_trouble(tmp_path):
    browser = Browser(tmp_path)
    with troubled() as (d, wire):
        until(lambda: {m["name"]: m["state"] for m in wire.ask("module.list")} == STATES,
              "they are in their states")

        def shown():
            body = browser.shown(d, "dies")
            states = dict(re.findall(r"<b>(\w+)</b><span class=\"state (\w+)\">", body))
            return states == STATES and all(text in body for text in (
                "SEGV", "3, of these 0 errors", "1 call is still answered",
                "are started again"))

        until(shown, "the page shows the states, and why")
