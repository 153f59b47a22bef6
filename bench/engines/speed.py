#!/usr/bin/env python3
"""speed.py PREFIX [--rounds N] [--models FOLDER] [--only a,b] [--plugin FILE] [--seconds S] [--json FILE]

Serves ONNX models (made by make_models.py, seeded) by PREFIX/bin/modserd and runs the same files
in ONNX Runtime, in turns, in one machine's same seconds:
  one thread  modserd --threads 1, the worker process's own CPU time (all its threads, by
              /proc/PID/task/*/schedstat, ns), beside a child process that runs ONNX Runtime
              (intra_op 1, no spinning), its CPU time the same way;
  two threads modserd --threads 2 and intra_op 2: wall time of a call through the Python client
              (with its array in and out), beside session.run() in the child process.
modserd's turn begins when ONNX Runtime's threads, which spin after a run, have gone to sleep.
Prints for each model: ms of both, the ratio (median of the rounds' ratios; below 1 is faster
than ONNX Runtime), the largest difference of outputs, and a geometric mean last.
Needs bench/requirements.txt, and the modser Python client (found beside, or --client)."""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SPINNING = 0.2  # seconds
ORDER = ["resnet18", "resnet50", "mobilenet_v2", "yolo", "bert", "lstm", "qdq", "mlp"]


def need_runtime():
    """Stop if what this compares with is absent."""
    absent = [m for m in ("numpy", "onnx", "onnxruntime") if importlib.util.find_spec(m) is None]
    if absent:
        sys.exit(f"{', '.join(absent)} is absent: pip install -r bench/requirements.txt")


def cpu_ns(pid):
    total = 0
    for t in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{t}/schedstat") as f:
                total += int(f.read().split()[0])
        except OSError:
            pass
    return total


CHILD = r"""
import sys, json, numpy as np, onnxruntime as ort
def session(path, threads):
    o = ort.SessionOptions(); o.intra_op_num_threads = threads; o.inter_op_num_threads = 1
    o.log_severity_level = 3
    o.add_session_config_entry("session.intra_op.allow_spinning", "1" if threads > 1 else "0")
    return ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])
s = feed = None
for line in sys.stdin:
    m = json.loads(line)
    if "open" in m:
        s = session(m["open"], m["threads"]); feed = {s.get_inputs()[0].name: np.load(m["x"])}
        np.save(m["y"], s.run(None, feed)[0])
    import time
    t = time.perf_counter_ns()
    for _ in range(m.get("n", 0)):
        s.run(None, feed)
    print(time.perf_counter_ns() - t, flush=True)
"""


class Peer:
    def __init__(self):
        self.p = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **m):
        self.p.stdin.write(json.dumps(m) + "\n"); self.p.stdin.flush()
        return int(self.p.stdout.readline())

    def cpu(self, n):
        before = cpu_ns(self.p.pid); wall = self.ask(n=n)
        return (cpu_ns(self.p.pid) - before) / n, wall / n

    def close(self):
        self.p.stdin.close(); self.p.wait()


class Daemon:
    def __init__(self, prefix, threads, folder, plugin=None, log=None):
        self.sock = f"{folder}/s{threads}.sock"
        (pathlib.Path(folder) / "empty.conf").touch()
        args = [f"{prefix}/bin/modserd", "--config", f"{folder}/empty.conf", "--listen", f"unix:{self.sock}",
                "--threads", str(threads), "--store", "none"]
        for one in plugin or []:
            args += ["--plugin", one]
        env = dict(os.environ, MODSER_HOST="")
        self.p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=log or subprocess.DEVNULL, env=env)
        self.p.stdout.readline()
        self.modser = [f"{prefix}/bin/modser", "-H", f"unix:{self.sock}"]

    def pids(self, name):
        return json.loads(subprocess.check_output([*self.modser, "show", "--json", name]))["pids"]

    def close(self):
        self.p.terminate(); self.p.wait()


def call(module, name, x):
    y = module.run(**{name: x})
    return y[0] if isinstance(y, tuple) else y


def rounds_of(est_ns, seconds):
    return max(1, int(seconds * 1e9 / max(est_ns, 1)))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("prefix"); p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=0.25, help="of each side in a round")
    p.add_argument("--models", default=str(HERE / "models")); p.add_argument("--only")
    p.add_argument("--plugin", action="append"); p.add_argument("--json")
    p.add_argument("--threads", default="1,2"); p.add_argument("--client", default="client/python")
    a = p.parse_args()
    need_runtime()
    import numpy as np
    try:
        import modser
    except ImportError:
        sys.path.insert(0, a.client); import modser
    import onnx
    folder = tempfile.mkdtemp(prefix="speed.")
    names = a.only.split(",") if a.only else ORDER
    if not all((pathlib.Path(a.models) / f"{n}.onnx").exists() for n in names):
        subprocess.run([sys.executable, str(HERE / "make_models.py"), a.models], check=True)
    out, peer = {}, Peer()
    try:
        for threads in map(int, a.threads.split(",")):
            kind = "processor time, one thread" if threads == 1 else f"wall time, {threads} threads"
            print(f"{kind}: {'':14}modserd ms  ONNX Runtime ms    ratio (quartiles)   max difference", flush=True)
            d = Daemon(a.prefix, threads, folder, a.plugin)
            client = modser.connect(f"unix:{d.sock}")
            ratios = []
            for name in names:
                path = str(pathlib.Path(a.models) / f"{name}.onnx")
                i = onnx.load(path, load_external_data=False).graph.input[0]
                shape = [x.dim_value for x in i.type.tensor_type.shape.dim]
                x = np.random.default_rng(3).normal(0, 1, shape).astype("float32")
                xf, yf = f"{folder}/x.npy", f"{folder}/y.npy"
                np.save(xf, x)
                peer.ask(open=path, threads=threads, x=xf, y=yf)
                want = np.load(yf)
                try:
                    m = client.load("m", path, replace=True)
                    y = call(m, i.name, x)
                except Exception as e:
                    print(f"  {name:26} failed: {e}", flush=True); out[f"{name}/{threads}"] = None; ratios.append(float("inf")); continue
                worst = float(np.abs(y - want).max() / (np.abs(want).max() + 1e-30))
                pid = d.pids("m")[0]
                t = time.perf_counter_ns(); call(m, i.name, x); own = time.perf_counter_ns() - t
                _, ort = peer.cpu(2)
                n_own, n_ort = rounds_of(own, a.seconds), rounds_of(ort, a.seconds)
                rows = []
                for _ in range(a.rounds):
                    time.sleep(SPINNING)
                    before, t = cpu_ns(pid), time.perf_counter_ns()
                    for _ in range(n_own):
                        call(m, i.name, x)
                    wall, cpu = (time.perf_counter_ns() - t) / n_own, (cpu_ns(pid) - before) / n_own
                    pc, pw = peer.cpu(n_ort)
                    rows.append((cpu, pc) if threads == 1 else (wall, pw))
                r = sorted(o / q for o, q in rows)
                med = statistics.median(r); ratios.append(med)
                q = (r[len(r) // 4], r[-1 - len(r) // 4])
                o, q2 = statistics.median(x for x, _ in rows) / 1e6, statistics.median(y for _, y in rows) / 1e6
                print(f"  {name:30} {o:14.3f} {q2:16.3f} {med:8.2f} ({q[0]:.2f}-{q[1]:.2f}) {worst:14.1e}", flush=True)
                out[f"{name}/{threads}"] = dict(ms=o, ort_ms=q2, ratio=med, quartiles=q, difference=worst)
            g = float(np.exp(np.mean(np.log(ratios))))
            print(f"  geometric mean of {len(ratios)}: {g:.2f}", flush=True); out[f"geomean/{threads}"] = g
            client.close(); d.close()
    finally:
        peer.close()
        if a.json:
            pathlib.Path(a.json).write_text(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
