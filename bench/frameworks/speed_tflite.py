#!/usr/bin/env python3
"""speed_tflite.py PREFIX FOLDER [--only PART] [--python P] [--beside PREFIX2] [--rounds N] [--seconds S]

Processor time of one call on one thread, for each TensorFlow Lite file of FOLDER/manifest.json
(make_tensorflow.py): by PREFIX/bin/modserd, by TensorFlow Lite's interpreter with XNNPACK and
without, and by another build (--beside). They run in turns; a ratio is the median of the rounds'.
--python: an interpreter that has tensorflow or ai_edge_litert. Needs the client in PYTHONPATH."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import modser
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "engines"))
import speed  # noqa: E402

CHILD = r"""
import sys, json, time, numpy as np
try:
    from ai_edge_litert import interpreter as lite
except ImportError:
    from tensorflow import lite
kinds = lite.OpResolverType if hasattr(lite, "OpResolverType") else lite.experimental.OpResolverType
for line in sys.stdin:
    m = json.loads(line)
    if "open" in m:
        s = lite.Interpreter(model_path=m["open"], num_threads=1, experimental_op_resolver_type=
            kinds.AUTO if m["xnnpack"] else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        s.allocate_tensors()
        s.set_tensor(s.get_input_details()[0]["index"], np.load(m["x"]))
    t = time.perf_counter_ns()
    for _ in range(m.get("n", 0)):
        s.invoke()
    print(time.perf_counter_ns() - t, flush=True)
"""


class Peer(speed.Peer):
    def __init__(self, python):
        self.p = subprocess.Popen([python, "-c", CHILD], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


class Served:
    def __init__(self, prefix, folder, name):
        folder = pathlib.Path(folder) / name
        folder.mkdir()
        self.daemon = speed.Daemon(prefix, 1, str(folder))
        self.client = modser.connect(f"unix:{self.daemon.sock}")

    def open(self, path, x):
        self.module, self.x = self.client.load("m", path, replace=True), x
        self.pid = self.daemon.pids("m")[0]
        self.module.run(x)

    def cpu(self, n):
        before = speed.cpu_ns(self.pid)
        for _ in range(n):
            self.module.run(self.x)
        return (speed.cpu_ns(self.pid) - before) / n


class Lite:
    def __init__(self, python, xnnpack):
        self.peer, self.xnnpack = Peer(python), xnnpack

    def open(self, path, x):
        file = tempfile.mktemp(suffix=".npy")
        np.save(file, x)
        self.peer.ask(open=path, x=file, xnnpack=self.xnnpack)
        pathlib.Path(file).unlink()

    def cpu(self, n):
        return self.peer.cpu(n)[0]


def times_of(sides, path, x, a):
    counts = []
    for side in sides.values():
        side.open(path, x)
        side.cpu(1)
        t = time.perf_counter_ns()
        side.cpu(2)
        counts.append(speed.rounds_of((time.perf_counter_ns() - t) / 2, a.seconds))
    return [[side.cpu(n) for side, n in zip(sides.values(), counts)] for _ in range(a.rounds)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("prefix")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--only", default="")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--beside")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=0.2)
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="speed.") as folder:
        sides = {"modserd": Served(a.prefix, folder, "own"), "XNNPACK": Lite(a.python, True),
                 "kernels": Lite(a.python, False)}
        if a.beside:
            sides["beside"] = Served(a.beside, folder, "beside")
        names = list(sides)
        print("| network | " + " | ".join(f"{n} ms" for n in names) + " | "
              + " | ".join(f"of {n}" for n in names[1:]) + " |\n|" + "---|" * (2 * len(names)))
        all_ratios = []
        for row in json.loads((a.folder / "manifest.json").read_text()):
            path = a.folder / row["files"][0]
            if path.suffix != ".tflite" or not any(k in row["name"] for k in a.only.split(",")):
                continue
            try:
                rows = times_of(sides, str(path), np.load(a.folder / row["inputs"][0]["npy"]), a)
            except modser.Error as error:
                print(f"{row['name']} left out: {' '.join(str(error).split())}", file=sys.stderr)
                continue
            ms = [statistics.median(r[i] for r in rows) / 1e6 for i in range(len(names))]
            ratios = [statistics.median(r[0] / r[i] for r in rows) for i in range(1, len(names))]
            all_ratios.append(ratios)
            print(f"| {row['name']} | " + " | ".join(f"{v:.2f}" for v in ms) + " | "
                  + " | ".join(f"{v:.2f}" for v in ratios) + " |", flush=True)
        means = np.exp(np.log(np.array(all_ratios)).mean(axis=0))
        print("| geometric mean |" + " |" * len(names) + " " + " | ".join(f"{v:.2f}" for v in means) + " |")


if __name__ == "__main__":
    main()
