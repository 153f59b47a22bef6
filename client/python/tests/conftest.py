"""Fixtures: the daemon and the compiled models are those of tests/e2e."""
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
E2E = ROOT / "tests" / "e2e"
# MODSER_INSTALLED=1 tests the package that is installed instead of the checkout's.
sys.path[:0] = [str(E2E)] if os.environ.get("MODSER_INSTALLED") else [str(HERE.parent), str(E2E)]

spec = importlib.util.spec_from_file_location("e2e_conftest", E2E / "conftest.py")
e2e = importlib.util.module_from_spec(spec)
spec.loader.exec_module(e2e)
cases, models, fixtures = e2e.cases, e2e.models, e2e.fixtures
daemon, own_daemon, folder, pki = e2e.daemon, e2e.own_daemon, e2e.folder, e2e.pki

import harness  # noqa: E402
import pytest  # noqa: E402

import modser  # noqa: E402


@pytest.fixture(scope="module")
def served(daemon):
    """A daemon with the modules of tests/modules that return and that misbehave."""
    with modser.connect(daemon.host, deadline=harness.PATIENCE) as client:
        client.load("results", harness.ZOO / "results.so")
        client.load("faults", harness.ZOO / "faults.so")
    return daemon


@pytest.fixture
def client(served):
    with modser.connect(served.host, deadline=harness.PATIENCE) as c:
        yield c
