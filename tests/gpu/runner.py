"""A daemon on this machine's GPU, or on the stand-in driver, and what is asked of it."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import numpy as np


class Skip(Exception):
    """The row cannot run here, and why."""


class Wrong(Exception):
    """What came is not what was expected."""


def close(got, want, tolerance=1e-4):
    """How far off floats are; anything else is alike or Wrong."""
    if got.shape != want.shape or got.dtype != want.dtype:
        raise Wrong(f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}")
    if want.dtype.kind != "f":
        if got.tobytes() != want.tobytes():
            raise Wrong("other values")
        return 0.0
    if not np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True):
        raise Wrong(f"off by {float(np.nanmax(np.abs(got - want))):.3g}")
    return float(np.nanmax(np.abs(got - want))) if want.size else 0.0


def off(*worst):
    return f"off by at most {max(worst):.2g}"


def out_of(like):
    return f"out:{like.dtype}[{','.join(map(str, like.shape))}]"


# What a load says when this machine cannot have the code: no faults of ours.
NOT_FOR_HERE = ("no NVRTC", "NO_BINARY_FOR_GPU", "UNSUPPORTED_PTX_VERSION",
                "is of CUDA 13 or later")


class Runner:
    def __init__(self, here, stand_in):
        self.here = here
        self.stand_in = stand_in
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="modserd-gpu-"))
        self.daemon = None
        self.sandbox = "auto"
        self.n = 0

    def environment(self, **more):
        env = dict(os.environ, LD_LIBRARY_PATH=f"{self.here}/lib", MODSERD_CACHE=f"{self.at}/cache",
                   MODSER_HOST=f"unix:{self.at}/m.sock", MODSERD_LOG="debug")
        if os.environ.get("LD_LIBRARY_PATH"):
            env["LD_LIBRARY_PATH"] += ":" + os.environ["LD_LIBRARY_PATH"]
        if self.stand_in:
            env |= {"MODSERD_LIBCUDA": str(self.stand_in), "STUB_CUDA_IDLE": "1",
                    "STUB_CUDA_LOG": f"{self.at}/driver.log"}
        return env | more

    def tool(self, *words, timeout=120, **more):
        return subprocess.run([str(w) for w in words], capture_output=True, text=True,
                              timeout=timeout, env=self.environment(**more))

    def start(self, **more):
        self.stop()
        self.daemon = subprocess.Popen(
            [self.here / "bin/modserd", "--listen", f"unix:{self.at}/m.sock", "--store", "none",
             "--sandbox", self.sandbox,
             *(["--may-write", self.at] if self.stand_in else [])],  # for the stand-in's log
            env=self.environment(**more), stdout=subprocess.DEVNULL,
            stderr=open(self.at / "daemon.log", "a"))
        end = time.monotonic() + 30
        while self.modser("ping", check=False).returncode != 0:
            if time.monotonic() > end or self.daemon.poll() is not None:
                raise Wrong("modserd did not start: " + (self.at / "daemon.log").read_text()[-500:])

    def stop(self):
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(60)
            self.daemon = None

    def modser(self, *words, check=True):
        said = self.tool(self.here / "bin/modser", *words)
        if check and said.returncode != 0:
            raise Wrong((said.stderr or said.stdout).strip()[-400:])
        return said

    def asked(self, *words):
        return json.loads(self.modser("--json", *words).stdout)

    def file(self, *parts):
        path = self.here.joinpath(*parts)
        if not path.exists():
            raise Skip(f"the bundle has no {'/'.join(parts)}")
        return path

    def fixture(self, name):
        return self.file("fixtures", name)

    def kernel(self, name):
        """A library of bundle's own; those of PTX the stand-in does not know."""
        if self.stand_in and name != "own":
            raise Skip("the stand-in knows no such kernel")
        return self.file("kernels", f"{name}.so")

    def load(self, name, file, *options):
        try:
            self.modser("load", "--replace", *options, name, file)
        except Wrong as why:
            if any(text in str(why) for text in NOT_FOR_HERE):
                raise Skip(str(why)) from None
            raise

    def call(self, function, *args, results=1, options=()):
        words = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                self.n += 1
                np.save(self.at / f"in{self.n}.npy", arg)
                arg = f"@{self.at}/in{self.n}.npy"
            words.append(arg)
        paths = [self.at / f"out{i}.npy" for i in range(results)]
        for path in paths:
            words += ["-o", path]
        self.modser("call", *options, function, *words)
        return [np.load(path) for path in paths]

    def addone(self, name="m", *options):
        x = np.arange(17, dtype="float32")
        (got,) = self.call(f"{name}:addone", x, out_of(x), options=options)
        return close(got, x + 1)

    def workers(self, name="m"):
        """The processes of a module."""
        return [pathlib.Path(f"/proc/{pid}") for pid in self.asked("show", name)["pids"]]

    def capability(self):
        """90 for a device of 9.0; 0: it is not known."""
        text = self.modser("devices").stdout
        found = re.search(r"cuda:0.*?\b(\d+)\.(\d)\b", text)
        return 10 * int(found.group(1)) + int(found.group(2)) if found else 0

    def n_devices(self):
        return len(set(re.findall(r"cuda:\d+", self.modser("devices").stdout)))
