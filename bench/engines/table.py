#!/usr/bin/env python3
"""table.py BENCH_GRAPH FOLDER [ROUNDS] [LAYER,...]: single layers in process, one thread, processor
time, in turns with ONNX Runtime.

BENCH_GRAPH is bench_graph of the build: it prints the median microseconds of some runs of a file.
make_models.py and make_layers.py write FOLDER."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from speed import Peer, need_runtime  # noqa: E402

need_runtime()
import numpy as np  # noqa: E402
import onnx  # noqa: E402


def measure(peer, bench, path, folder, rounds):
    given = onnx.load(path).graph.input[0]
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim]
    np.save(f"{folder}/x.npy", np.random.default_rng(1).normal(0, 1, shape).astype("float32"))
    peer.ask(open=str(path), threads=1, x=f"{folder}/x.npy", y=f"{folder}/y.npy")
    first, _ = peer.cpu(3)
    n = max(3, min(300, int(3e7 / first)))
    own, theirs = [], []
    for _ in range(rounds):
        text = subprocess.check_output([bench, str(path), str(max(5, n // 4))], text=True,
                                       env=dict(os.environ, TVM_NUM_THREADS="1"))
        own.append(float(text))
        theirs.append(peer.cpu(n)[0] / 1e3)
    return own, theirs


def main():
    bench, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    only = sys.argv[4].split(",") if len(sys.argv) > 4 else None
    peer, ratios = Peer(), []
    with tempfile.TemporaryDirectory(prefix="table.") as room:
        for path in sorted(folder.glob("layer_*.onnx")):
            name = path.stem[6:]
            if only and name not in only:
                continue
            own, theirs = measure(peer, bench, path, room, rounds)
            ratios.append(statistics.median(a / b for a, b in zip(own, theirs)))
            print(f"{name:26} {statistics.median(own):10.1f} us  "
                  f"ONNX Runtime {statistics.median(theirs):9.1f} us  ratio {ratios[-1]:7.2f}",
                  flush=True)
    peer.close()
    print(f"geometric mean {float(np.exp(np.mean(np.log(ratios)))):.2f}")


if __name__ == "__main__":
    main()
