#!/usr/bin/env python3
"""compare.py [--build DIR] [--rounds N] [--only WORD]: modserd --tvm-rpc against TVM's own server.

One unchanged client of TVM (the Python that runs this: apache-tvm, numpy, tornado, cloudpickle,
psutil) measures both servers in turns, so that what else the machine does hits both. A ratio is
the median over the rounds of modserd's time by TVM's in the same round. CPU is the processor time
of client and server together, which other load changes less.
"""
import argparse
import contextlib
import gc
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/e2e")]

KIB, MIB = 1 << 10, 1 << 20
BOUNDS = {"call": 1.0, "get_function": 1.0, "4 KiB up": 0.55, "4 KiB down": 0.7, "64 MiB up": 0.45,
          "64 MiB down": 0.7, "connect and first call": 0.5, "RPCRunner, a candidate": 0.5}
CROWD = (4, 16)  # processes, and sessions of each: TVM's client has 32 at most
CANDIDATES = 6


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", default="", help="measurements whose name contains this")
    p.add_argument("--calls", nargs=2, type=int, help=argparse.SUPPRESS)
    p.add_argument("--slow", nargs=2, help=argparse.SUPPRESS)
    return p.parse_args()


ARGS = parse_arguments()
os.environ["MSD_BUILD"] = str(ARGS.build)

import harness  # noqa: E402: it reads MSD_BUILD
import numpy as np  # noqa: E402
import tvm  # noqa: E402
from tvm import relax, rpc, te  # noqa: E402
from tvm_rpc import connect, free_port, times  # noqa: E402


def connects(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False


@contextlib.contextmanager
def of_tvm(what, *words):
    """A server or a tracker of TVM, with all its processes; gives its port and its number."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", f"tvm.exec.rpc_{what}", "--host", "127.0.0.1", "--port", str(port),
         "--port-end", str(port + 1), *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True)
    try:
        if what == "tracker":
            harness.until(lambda: connects(port), "it listens")
        yield port, process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def of_modserd(*more):
    with harness.Daemon("--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0" + "".join(more)) as d:
        yield int(d._line().rpartition(":")[2]), d.pid


def array(x, device):
    return (getattr(tvm.runtime, "tensor", None) or tvm.nd.array)(x, device)


def calls(session, _):
    echo = session.get_function("testing.echo")
    times(500, lambda: echo(7))
    return {"call": statistics.median(times(3000, lambda: echo(7)))}


def lookups(session, _):
    return {"get_function": statistics.median(
        times(1500, lambda: session.get_function("testing.echo")))}


def tree(pid):
    """The process, and all that it has started."""
    found = [pid]
    for one in found:
        found += harness.children(one)
    return found


def processor_time(pid):
    """Seconds of this process and of the server's processes."""
    ticks = 0
    for one in tree(pid):
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:13]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def copies(session, pid):
    got = {}
    for name, n_bytes, n in (("4 KiB", 4 * KIB, 500), ("64 MiB", 64 * MIB, 1)):
        host = np.ones(n_bytes, dtype="uint8")
        remote = array(host, session.cpu(0))
        for way, what in (("up", lambda: remote.copyfrom(host)), ("down", remote.numpy)):
            begin = processor_time(pid)
            got[f"{name} {way}"] = statistics.median(times(n, what))
            if n_bytes >= MIB:
                got[f"{name} {way}, CPU"] = (processor_time(pid) - begin) / n
    return got


def connect_and_call(port):
    rpc.connect("127.0.0.1", port).get_function("testing.echo")(1)


def first_calls(port):
    """TVM's server accepts the next client when its last session has ended."""
    connect(port)
    gc.collect()
    times(2, lambda: connect_and_call(port))
    return {"connect and first call": statistics.median(times(8, lambda: connect_and_call(port)))}


def pss(pid):
    """MiB of the server's processes, shared pages in parts."""
    total = 0
    for one in tree(pid):
        for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total / 1024


def memory(port, pid, library):
    """MiB that a session with a Relax VM adds."""
    connect(port)
    gc.collect()
    begin = pss(pid)
    session = connect(port)
    session.upload(str(library))
    device = session.cpu(0)
    vm = relax.VirtualMachine(session.load_module(library.name), device)
    vm["main"](array(np.ones((4, 16), "float32"), device))
    return pss(pid) - begin


def library_of(folder):
    import models_relax

    path = folder / "mlp.so"
    model, _, _ = models_relax.bound(models_relax.Net("float32"), [4, 16], "float32")
    tvm.compile(model, target="llvm").export_library(str(path))
    return path


def slow_library(folder):
    a = te.placeholder((1 << 16,), name="a")
    b = te.compute((1 << 16,), lambda i: te.exp(a[i]), name="b")
    function = te.create_prim_func([a, b]).with_attr("global_symbol", "slow")
    path = folder / "slow.so"
    tvm.compile(tvm.IRModule({"slow": function}), target="llvm").export_library(str(path))
    return path


def call_slowly(port, library):
    """One call of many seconds, which keeps a core busy."""
    session = connect(port)
    session.upload(library)
    x, y = (array(np.ones(1 << 16, "float32"), session.cpu(0)) for _ in range(2))
    evaluate = session.load_module(os.path.basename(library)).time_evaluator(
        "slow", session.cpu(0), number=1, repeat=1, min_repeat_ms=600000)
    print("calling", flush=True)
    with contextlib.suppress(Exception):  # it is killed
        evaluate(x, y)


def call_often(port, n):
    """For each line of input: the times of calls in all sessions, in turns."""
    echoes = [connect(port).get_function("testing.echo") for _ in range(n)]
    print("ready", flush=True)
    for _ in sys.stdin:
        seconds = [t for _ in range(40) for e in echoes for t in times(1, lambda: e(7))]
        print(*seconds, flush=True)


def helper(*words):
    return subprocess.Popen([sys.executable, __file__, "--build", ARGS.build, *map(str, words)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def p99_of(callers):
    for c in callers:
        c.stdin.write("go\n")
        c.stdin.flush()
    seconds = sorted(float(t) for c in callers for t in c.stdout.readline().split())
    assert len(seconds) == 40 * CROWD[0] * CROWD[1], "a call failed"
    return seconds[len(seconds) * 99 // 100] * 1e6


def crowd(folder):
    """p99 of calls in 64 sessions, alone and beside a session with a long call."""
    library = slow_library(folder)
    with of_modserd(f",sessions={CROWD[0] * CROWD[1] + 1}") as (port, _):
        callers = [helper("--calls", port, CROWD[1]) for _ in range(CROWD[0])]
        for c in callers:
            assert c.stdout.readline() == "ready\n"
        p99_of(callers)
        alone = [p99_of(callers) for _ in range(ARGS.rounds)]
        slow = helper("--slow", port, library)
        assert slow.stdout.readline() == "calling\n"
        beside = [p99_of(callers) for _ in range(ARGS.rounds)]
        print(f"p99 of {CROWD[0] * CROWD[1]} sessions {statistics.median(alone):.0f} us, beside "
              f"one with a long call {statistics.median(beside):.0f} us, no errors")
        for c in (*callers, slow):
            c.kill()
            c.wait()


def candidates(folder):
    from tvm.script import ir as I
    from tvm.script import tirx as T
    from tvm.support import tar

    @I.ir_module
    class Add:
        @T.prim_func(s_tir=True)
        def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32")):
            for i in range(16):
                b[i] = a[i] + T.float32(1)

    path = folder / "candidate.tar"
    tvm.compile(Add, target="llvm").export_library(str(path), fcompile=tar.tar)
    return path


def runner_of(port):
    from tvm.s_tir import meta_schedule as ms

    return ms.runner.RPCRunner(
        ms.runner.RPCConfig("127.0.0.1", port, "board", session_timeout_sec=60),
        ms.runner.EvaluatorConfig(number=1, repeat=1, min_repeat_ms=0), max_workers=1)


def measure(runner, path, n):
    from tvm.s_tir import meta_schedule as ms

    info = [ms.arg_info.TensorInfo("float32", (16,))] * 2
    results = [f.result() for f in runner.run([ms.runner.RunnerInput(str(path), "cpu", info)] * n)]
    assert all(r.error_msg is None for r in results), [r.error_msg for r in results]


def run_candidates(folder, note):
    path = candidates(folder)
    with contextlib.ExitStack() as stack:
        runners = []
        for who in ("tvm", "modserd"):
            port, _ = stack.enter_context(of_tvm("tracker"))
            at = f"127.0.0.1:{port}"
            stack.enter_context(of_tvm("server", "--tracker", at, "--key", "board")
                                if who == "tvm" else of_modserd(f",key=board,tracker={at}"))
            runners.append((who, runner_of(port)))
            measure(runners[-1][1], path, 2)
        for _ in range(ARGS.rounds):
            for who, runner in runners:
                begin = time.perf_counter()
                measure(runner, path, CANDIDATES)
                note(who, {"RPCRunner, a candidate": (time.perf_counter() - begin) / CANDIDATES})


def unit(seconds):
    return f"{seconds * 1e6:10.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:10.1f} ms"


def report(got):
    print(f"{'':26} {'TVM':>13} {'modserd':>13}   ratio  bound")
    for name, by in got.items():
        bound = BOUNDS.get(name)
        ratio = statistics.median(b / a for a, b in zip(by["tvm"], by["modserd"]))
        print(f"{name:26} {unit(statistics.median(by['tvm']))} "
              f"{unit(statistics.median(by['modserd']))}  {ratio:6.2f} {bound or '':6}"
              f"{'  missed' if bound and ratio > bound else ''}")


def is_wanted(*names):
    return any(ARGS.only in name for name in names)


def main():
    got = {}

    def note(who, figures):
        for name, seconds in figures.items():
            if ARGS.only in name:
                got.setdefault(name, {"tvm": [], "modserd": []})[who].append(seconds)

    with tempfile.TemporaryDirectory(prefix="modserd-bench-") as name:
        folder = pathlib.Path(name)
        print(f"apache-tvm {tvm.__version__}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, "
              f"{ARGS.rounds} rounds")
        with of_tvm("server") as theirs, of_modserd() as ours:
            both = (("tvm", theirs), ("modserd", ours))
            for _ in range(ARGS.rounds):
                for what in (calls, lookups, copies):
                    for who, (port, pid) in both:
                        if is_wanted("call", "get_function", "4 KiB up down", "64 MiB up down"):
                            note(who, what(connect(port), pid))
                            gc.collect()
                for who, (port, _) in both:
                    if is_wanted("connect and first call"):
                        note(who, first_calls(port))
            if is_wanted("memory"):
                library = library_of(folder)
                for who, (port, pid) in both:
                    print(f"memory of a session with a Relax VM, {who}: "
                          f"{memory(port, pid, library):.1f} MiB of PSS")
                    gc.collect()
        if is_wanted("RPCRunner, a candidate"):
            run_candidates(folder, note)
        report(got)
        if is_wanted("sessions"):
            crowd(folder)


if __name__ == "__main__":
    if ARGS.calls:
        call_often(*ARGS.calls)
    elif ARGS.slow:
        call_slowly(int(ARGS.slow[0]), ARGS.slow[1])
    else:
        main()
