"""MultiBoxPrior of an MXNet symbol. The boxes are computed here, position by position, in the order
that MXNet's documentation gives: each size with the first ratio, then the first size with each
further ratio."""
import json
import struct

import numpy as np
import pytest

NO_ARRAYS = struct.pack("<4Q", 0x112, 0, 0, 0)


def write(folder, attributes):
    symbol = {"nodes": [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "_contrib_MultiBoxPrior", "name": "boxes", "attrs": attributes,
         "inputs": [[0, 0, 0]]}],
        "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    (folder / "m-symbol.json").write_text(json.dumps(symbol))
    (folder / "m-0000.params").write_bytes(NO_ARRAYS)
    return folder / "m-symbol.json", folder / "m-0000.params"


def boxes(rows, columns, sizes, ratios, steps, offsets):
    pairs = [(s, ratios[0]) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]
    for i in range(rows):
        for k in range(columns):
            y, x = (i + offsets[0]) * steps[0], (k + offsets[1]) * steps[1]
            for size, ratio in pairs:
                w = size * rows / columns * ratio ** 0.5 / 2
                h = size / ratio ** 0.5 / 2
                yield x - w, y - h, x + w, y + h


@pytest.mark.parametrize("attributes, clip, given", [
    ({"sizes": "(0.3, 0.7)", "ratios": "(2, 1, 0.5)"}, False,
     ((.3, .7), (2, 1, .5), (1 / 3, 1 / 5), (.5, .5))),
    ({"sizes": "(0.4,)", "ratios": "(1, 3)", "steps": "(0.2, 0.1)", "offsets": "(0.25, 0.75)",
      "clip": "True"}, True, ((.4,), (1, 3), (.2, .1), (.25, .75))),
    ({}, False, ((1,), (1,), (1 / 3, 1 / 5), (.5, .5)))])
def test_priors_have_the_boxes_of_the_documentation(daemon, tmp_path, attributes, clip, given):
    files = write(tmp_path, attributes)
    daemon.ok("load", "--replace", "--input", "data=float32[1,2,3,5]", "m", *files)
    np.save(tmp_path / "x.npy", np.zeros((1, 2, 3, 5), np.float32))
    daemon.ok("call", "m:run", f"@{tmp_path}/x.npy", "-o", tmp_path / "y.npy")
    want = np.array(list(boxes(3, 5, *given)))[None]
    y = np.load(tmp_path / "y.npy")
    assert y.shape == want.shape
    assert np.abs(y - (want.clip(0, 1) if clip else want)).max() < 1e-6


@pytest.mark.parametrize("attributes, text", [
    ({"sizes": "(0.3, big)"}, 'sizes is "(0.3, big)", expected at most 64 numbers'),
    ({"sizes": str((0.5,) * 65)}, "expected at most 64 numbers"),
    ({"ratios": "(1, 0)"}, "ratio 1 is not above 0"),
    ({"steps": "(0.5,)"}, "it has no sizes, ratios, or pair of steps"),
    ({"sizes": "()"}, "it has no sizes, ratios, or pair of steps")])
def test_bad_priors_are_refused(daemon, tmp_path, attributes, text):
    files = write(tmp_path, attributes)
    said = daemon.modser("load", "--replace", "--input", "data=float32[1,2,3,5]", "m", *files)
    assert said.status != 0 and text in said.err, said
