#!/usr/bin/env python3
"""tvm_rpc.py: the same figures of TVM's own RPC server, over TCP, for comparison.

Starts `python -m tvm.exec.rpc_server` with the Python that runs this (apache-tvm, numpy and
cloudpickle are needed) and inherits its placement.
"""
import socket
import statistics
import subprocess
import sys
import time

import numpy as np
import tvm
from tvm import rpc


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connect(port):
    """The server takes seconds to start, and says nothing that could be waited for."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return rpc.connect("127.0.0.1", port)
        except Exception:  # noqa: BLE001: releases raise different exceptions
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def times(n, what):
    seconds = []
    for _ in range(n):
        begin = time.perf_counter()
        what()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds)


def main():
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "tvm.exec.rpc_server", "--host", "127.0.0.1", "--port",
         str(port), "--port-end", str(port + 1)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        session = connect(port)
        echo = session.get_function("testing.echo")
        times(500, lambda: echo(7))
        v = times(5000, lambda: echo(7))
        print(f"TVM's RPC server {tvm.__version__}, tcp, one core, Python client")
        print(f"  call         p50 {v[len(v) // 2] * 1e6:9.1f} us   "
              f"p99 {v[len(v) * 99 // 100] * 1e6:9.1f} us")
        for mib, n in ((1, 10), (64, 2)):
            host = np.ones(mib << 20, dtype="uint8")
            remote = tvm.runtime.empty(host.shape, "uint8", session.cpu(0))
            for way, what in (("put", lambda: remote.copyfrom(host)), ("get", remote.numpy)):
                seconds = statistics.median(times(n, what))
                print(f"  {way} {mib:2} MiB   {host.nbytes / seconds / 1e9:9.3f} GB/s")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
