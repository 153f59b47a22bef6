"""compare.py PREFIX FOLDER... [--only PART] [--engine NAME] [--no-onnx] [--times]

Loads each case of FOLDER/manifest.json into PREFIX/bin/modserd, calls it and compares all outputs with
the framework's. Then `modser convert` writes it as ONNX, and ONNX Runtime must give the same numbers.
Needs the client (client/python in PYTHONPATH), numpy, msgpack, and onnxruntime unless --no-onnx.
A line for each case, then `N passed, N failed`; the exit code is 1 after a failure."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import modser
import numpy as np


def difference(got, want, row):
    """A text, or None if all outputs agree."""
    if len(got) != len(want):
        return f"{len(got)} outputs, not {len(want)}"
    for i, (a, b) in enumerate(zip(got, want)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return f"output {i}: shape {list(a.shape)}, not {list(b.shape)}"
        if a.dtype != b.dtype and not a.dtype.kind == b.dtype.kind == "i":
            return f"output {i}: {a.dtype}, not {b.dtype}"
        a, b = a.astype("float64"), b.astype("float64")
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return f"output {i}: not finite at other places"
        a, b = np.nan_to_num(a), np.nan_to_num(b)
        worst = np.abs(a - b).max(initial=0)
        room = row["atol"] + row["rtol"] * np.abs(b).max(initial=0)
        if worst > room:
            return f"output {i}: off by {worst:.3g}, {room:.3g} is allowed"
    return None


class Daemon:
    def __init__(self, prefix):
        self.prefix = pathlib.Path(prefix)
        self.home = tempfile.mkdtemp(prefix="frameworks.")
        self.address = f"unix:{self.home}/m.sock"
        (pathlib.Path(self.home) / "empty.conf").touch()
        self.process = subprocess.Popen(
            [self.prefix / "bin/modserd", "--config", f"{self.home}/empty.conf", "--listen",
             self.address, "--store", "none"], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.client = modser.connect(self.address)

    def modser(self, *words):
        environment = {k: v for k, v in os.environ.items() if k != "MODSER_HOST"}
        done = subprocess.run([self.prefix / "bin/modser", "-H", self.address, *words],
                              capture_output=True, text=True, env=environment, timeout=300)
        if done.returncode != 0:
            raise ValueError(f"{words[0]} ({done.returncode}): "
                             + " ".join((done.stderr + done.stdout).split()))
        return done.stdout


def run_served(daemon, row, files, feeds, engine):
    words = row["load"] + (["--engine", engine] if engine else [])
    daemon.modser("load", "--replace", *words, "m", *files)
    result = daemon.client["m"].run(**feeds)
    return list(result) if isinstance(result, tuple) else [result]


def run_converted(daemon, row, files, feeds):
    import onnxruntime

    onnx = daemon.home + "/net.onnx"
    daemon.modser("convert", *row["load"], *files, "-o", onnx)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # without its sums of bytes, which saturate at 16 bits on many processors
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    named = {i.name: feeds[i.name] if i.name in feeds else None for i in session.get_inputs()}
    return session.run(None, named)


def try_case(daemon, folder, row, arguments):
    files = [str(folder / name) for name in row["files"]]
    feeds = {i["name"]: np.load(folder / i["npy"]) for i in row["inputs"]}
    want = [np.load(folder / o["npy"]) for o in row["outputs"]]
    try:
        why = difference(run_served(daemon, row, files, feeds, arguments.engine), want, row)
    except (modser.Error, ValueError) as error:
        why = str(error)
    if why is not None or arguments.no_onnx:
        return why
    try:
        why = difference(run_converted(daemon, row, files, feeds), want, row)
    except Exception as error:  # ONNX Runtime has many
        why = " ".join(str(error).split())
    return None if why is None else f"ONNX: {why}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("prefix")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--engine")
    parser.add_argument("--no-onnx", action="store_true")
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    daemon = Daemon(arguments.prefix)
    failed = passed = 0
    try:
        for folder in arguments.folders:
            for row in json.loads((folder / "manifest.json").read_text()):
                if arguments.only not in row["name"]:
                    continue
                start = time.monotonic()
                why = try_case(daemon, folder, row, arguments)
                passed, failed = passed + (why is None), failed + (why is not None)
                note = f" {time.monotonic() - start:.1f} s" if arguments.times else ""
                print(("ok     " if why is None else "FAILED ") + f"{folder.name}/{row['name']}"
                      + note + ("" if why is None else f": {why[:400]}"), flush=True)
    finally:
        daemon.process.terminate()
        daemon.process.wait()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
