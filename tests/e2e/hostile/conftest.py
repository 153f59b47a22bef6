"""Fixtures of the attacks; arena.py says how to add one. The daemon's are those of tests/e2e."""
import functools
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import arena as arenas  # noqa: E402
import harness  # noqa: E402
import liars as lying  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture(scope="module")
def shared_arena():
    """One daemon for all attacks of a file, with the zoo's modules."""
    modules = {"faults": harness.ZOO / "faults.so", "results": harness.ZOO / "results.so"}
    with arenas.Arena("--allow-load-tcp", modules=modules) as a:
        yield a


@pytest.fixture
def arena(shared_arena):
    """It must be as before each attack after it."""
    before = shared_arena.state()
    yield shared_arena
    shared_arena.connections.close()
    shared_arena.expect_as_before(before)


@pytest.fixture
def own_arena(folder):
    """A daemon for this attack alone: own_arena(word..., modules=...) starts it. The folder is
    asked for so that it is removed after the daemon's end."""
    started = []

    def start(*words, **more):
        started.append(arenas.Arena(*words, **more))
        return started[-1]

    yield start
    for a in started:
        a.__exit__(None)


@pytest.fixture
def folder():
    path = harness.short_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def start_liars(own_arena, folder):
    return functools.partial(lying.start, own_arena, folder)


@pytest.fixture
def liars(start_liars):
    return start_liars()
