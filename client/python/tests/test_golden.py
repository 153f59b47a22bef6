"""Byte for byte: what the client says and understands, without a daemon."""
import re

import numpy as np
import transcript
from conftest import ROOT
from harness import PATIENCE

import modser

DOCUMENT = ROOT / "proto" / "PROTOCOL.md"


def dumps():
    """The hex dumps of PROTOCOL.md by their names."""
    found = {}
    for name, block in re.findall(r"```hexdump (\w+)\n(.*?)```", DOCUMENT.read_text(), re.S):
        rows = [re.sub(r"\s*;.*", "", line)[8:] for line in block.splitlines()]
        found[name] = bytes.fromhex("".join(rows))
    return found


def play(folder, turns):
    return transcript.Player(folder, turns)


def test_document_call_and_response(folder):
    doc = dumps()
    player = play(folder, [(">", doc["call"]), ("<", doc["response"])])
    with modser.connect(player.address, deadline=None) as client:
        future = client["add"].addone.submit(np.float32([1, 2, 3, 4]), modser.out("float32", (4,)))
        assert future.result(PATIENCE).tolist() == [2, 3, 4, 5]
        assert future.exec_ns == 1500
    player.join(PATIENCE)
    assert player.wrong is None


def test_document_error(folder):
    doc = dumps()
    player = play(folder, [(">", doc["call"]), ("<", doc["error"])])
    with modser.connect(player.address) as client:
        out = modser.out("float32", (4,))
        future = client["add"].addone.submit(np.float32([1, 2, 3, 4]), out)
        error = future.exception(PATIENCE)
    assert type(error) is modser.NotFound
    assert (error.code, error.name) == (7, "NOT_FOUND")
    assert error.message == "no module is called add"
    player.join(PATIENCE)
    assert player.wrong is None


def test_recorded_session(folder):
    player = play(folder, transcript.read())
    with modser.connect(player.address, deadline=None) as client:
        transcript.session(client, modser, np)
    player.join(PATIENCE)
    assert player.wrong is None


def test_replies_in_single_bytes(folder):
    """Where a stream is cut makes no difference."""
    turns = []
    for side, data in transcript.read():
        step = 1 if side == "<" else len(data)
        turns += [(side, data[at : at + step]) for at in range(0, len(data), step)]
    player = play(folder, turns)
    with modser.connect(player.address) as client:
        transcript.session(client, modser, np)
    player.join(PATIENCE)
    assert player.wrong is None
