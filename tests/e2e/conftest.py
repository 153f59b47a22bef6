"""Fixtures of the end-to-end tests; harness.py starts processes, wire.py speaks the protocol."""
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import certs
import harness


def pytest_sessionfinish(session, exitstatus):
    """A file whose tests are skipped all at once, aloud, has not failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="session")
def cases():
    """Every call in models.py with TVM's own results; ctest makes them before, once a run."""
    if not (harness.MODELS / "cases.json").exists():
        script = pathlib.Path(__file__).with_name("models.py")
        subprocess.run([sys.executable, str(script), str(harness.MODELS)], check=True)
    return json.loads((harness.MODELS / "cases.json").read_text())


@pytest.fixture(scope="session")
def models(cases):
    return harness.MODELS


@pytest.fixture(scope="session")
def fixtures():
    folder = harness.fixtures()
    if folder is None:
        pytest.skip("no ../shared/fixtures and no MODSERD_FIXTURES: real artifacts not tested")
    return folder


@pytest.fixture(scope="module")
def daemon():
    """One daemon for all tests of a file; at the end it must drain and leave nothing."""
    with harness.Daemon() as d:
        yield d


@pytest.fixture(scope="module")
def pki():
    """Certificates of this file's own: tests add to them. Without the openssl command: a skip."""
    path = harness.short_folder()
    yield certs.Pki(path)
    shutil.rmtree(path)


@pytest.fixture
def folder():
    """A folder of this test's own whose path is short enough for a socket in it."""
    path = harness.short_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def own_daemon(folder):
    """A daemon for this test alone: own_daemon(word...) starts it. The folder is asked for so that
    it is removed after the daemon's end: what still runs may write a store that lies in it."""
    started = []

    def start(*words, **more):
        started.append(harness.Daemon(*words, **more))
        return started[-1]

    yield start
    for d in started:
        d.__exit__(None)


@pytest.fixture(scope="module")
def served(daemon, models):
    """The daemon with the modules whose functions take and return all kinds of values."""
    daemon.load("results", harness.ZOO / "results.so")
    daemon.load("shapes", models / "shapes.so")
    daemon.load("scalars", models / "scalars.so")
    daemon.load("dtypes", models / "dtypes.so")
    daemon.load("tuples", models / "tuples.so")
    return daemon
