#!/usr/bin/env python3
"""python_client.py [--build DIR] [--rounds N] [--quick]: what the Python client adds.

Everything on one core, as in bench/run and with its servers. "bare" is a Python loop that
sends a frame made before and receives the answer without looking at it: the least that
Python can do. TVM's RPC client and server are bench/tvm_rpc.py.
"""
import argparse
import asyncio
import importlib.machinery
import importlib.util
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "client" / "python"))

import modser  # noqa: E402
import modser.aio  # noqa: E402
import numpy as np  # noqa: E402
from modser._call import call_message  # noqa: E402
from modser._message import pack  # noqa: E402

loader = importlib.machinery.SourceFileLoader("bench_run", str(ROOT / "bench" / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
sys.dont_write_bytecode = True
loader.exec_module(run)

MIB = 1 << 20


def median_us(what, n):
    seconds = []
    for _ in range(n):
        began = time.perf_counter()
        what()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) * 1e6


def bare(address, n):
    message = call_message("trivial:noop", pack("trivial:noop"), (), {})
    frame = message.frame(1)[0]
    answer = bytearray(4096)
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(address[5:])

        def once():
            s.sendall(frame)
            s.recv_into(answer)

        return median_us(once, n)


def cpu_us(what, n):
    began = time.thread_time()
    for _ in range(n):
        what()
    return (time.thread_time() - began) / n * 1e6


def pipelined(function, n):
    began = time.perf_counter()
    for future in [function.submit() for _ in range(n)]:
        future.result()
    return n / (time.perf_counter() - began) / 1e3


async def awaited(address, n):
    async with modser.aio.connect(address) as client:
        noop = client["trivial"].noop
        one = []
        for _ in range(n):
            began = time.perf_counter()
            await noop()
            one.append(time.perf_counter() - began)
        began = time.perf_counter()
        await asyncio.gather(*(noop() for _ in range(n)))
        return statistics.median(one) * 1e6, n / (time.perf_counter() - began) / 1e3


def measure(bench, at, n):
    """One round: {what: figure}."""
    got = {"bare, us": bare(at["daemon", "unix"], n)}
    os.environ["MODSER_DIRECT"] = "on"
    with modser.connect(at["daemon", "unix"]) as client:
        for _ in range(100):
            client["trivial"].noop()
        got["noop() past it, us"] = median_us(client["trivial"].noop, n)
    os.environ["MODSER_DIRECT"] = "off"
    with modser.connect(at["daemon", "unix"]) as client:
        module = client["trivial"]
        row = np.ones(256, "f4")
        into = modser.out(np.empty_like(row))
        got["noop(), us"] = median_us(module.noop, n)
        got["noop(), us of CPU"] = cpu_us(module.noop, n)
        got["take(1 KiB), us"] = median_us(lambda: module.take(row), n)
        got["give(1 KiB), us"] = median_us(lambda: module.give(into), n)
        got["pipelined, k/s"] = pipelined(module.noop, 4 * n)
        got["await noop(), us"], got["gather, k/s"] = asyncio.run(awaited(at["daemon", "unix"], n))
        for mib in bench.args.sizes:
            big = np.ones(mib * MIB, "u1")
            into, new = modser.out(big), modser.out("uint8", big.shape)
            times = max(5, 100 // mib)
            for way, target, calls in [
                ("put", "sink", {"": lambda: module.take(big)}),
                ("get", "sink", {"": lambda: module.give(into), ", new": lambda: module.give(new)}),
            ]:
                raw = bench.tool(0, "bench_call", at["raw", "unix"], way, target, big.size, times)
                got[f"{way} {mib} MiB raw, GB/s"] = big.size / raw["p50_ns"]
                for name, call in calls.items():
                    rate = big.size / median_us(call, times) / 1e3
                    got[f"{way} {mib} MiB{name}, GB/s"] = rate
    return got


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="tiny counts: does it run at all")
    args = parser.parse_args()
    args.sizes = (1, 2) if args.quick else (1, 64)
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        bench = run.Bench(args, pathlib.Path(folder))
        with run.peers(bench, 0) as (at, _):
            n = 50 if args.quick else 3000
            rounds = [measure(bench, at, n) for _ in range(1 if args.quick else args.rounds)]
    print(f"Python client, unix, one core, Python {sys.version.split()[0]}")
    for what in rounds[0]:
        print(f"  {what:24} {statistics.median(r[what] for r in rounds):9.2f}")


main()
