#!/usr/bin/env python3
"""onnx_suite.py RUN_GRAPH [DATA]: run ONNX's own test models, as Debian's libonnx-testdata has
them, and compare what comes out; then what modser writes of them, which ONNX's checker sees, too,
where it is installed. Counts the models that need operators with a row alone, names every one that
fails with its reason, and fails when there are fewer than there were. All files' messages, packed
again, are the same bytes. modser and repack_onnx lie beside RUN_GRAPH."""
import concurrent.futures
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import onnxfile  # noqa: E402 (it lies in another folder)
import operators  # noqa: E402 (after the path)

try:
    import onnx
except ImportError:  # then what is written is run alone
    onnx = None

DATA = "/usr/share/libonnx-testdata/data"
WANTED = {"node": 866, "pytorch-converted": 82, "pytorch-operator": 35, "simple": 7}
STORED = {"node": 866, "pytorch-converted": 82, "pytorch-operator": 35, "simple": 7}
KNOWN = set(operators.rows())


def read(folder, what, n):
    return [onnxfile.tensor((folder / f"{what}_{i}.pb").read_bytes()) for i in range(n)]


def feed(model, arrays):
    """What run_graph reads: open extents, then elements."""
    raw = b""
    for (_, kind, shape), x in zip(model.inputs, arrays):
        raw += b"".join(struct.pack("<q", n) for n, known in zip(x.shape, shape or [])
                        if known is None)
        if kind == onnxfile.BFLOAT16 and x.dtype != "<u2":  # else its bits
            x = (x.view("<u4") >> 16).astype("<u2")
        raw += np.ascontiguousarray(x).tobytes()
    return raw


def noise(want):
    """What rounding leaves of numbers that cancel out, by the largest (an inverse DFT)."""
    if want.dtype.kind != "f" or want.size == 0:
        return 0
    return float(np.finfo(want.dtype).eps) * float(np.abs(want[np.isfinite(want)]).max(initial=0))


def fits(end, x):
    _, kind, shape = end
    if kind in onnxfile.PACKED:  # several in a byte
        return True
    return shape is None or len(shape) == x.ndim and all(
        known in (None, n) for known, n in zip(shape, x.shape))


def compare(model, raw, wanted, rtol, atol):
    at = 0
    for (name, kind, _), want in zip(model.outputs, wanted):
        is_bfloat = kind == onnxfile.BFLOAT16
        if is_bfloat and want.dtype == "<u2":
            want = (want.astype("<u4") << 16).view("<f4")
        size = want.size * (2 if is_bfloat else want.itemsize)
        if len(raw) < at + size:
            return f"{name}: {len(raw) - at} bytes, expected {size}"
        got = np.frombuffer(raw[at:at + size], "<u2" if is_bfloat else want.dtype)
        if is_bfloat:
            got = (got.astype("<u4") << 16).view("<f4")
        at += size
        got = got.reshape(want.shape)
        if kind == onnxfile.FLOAT8_E5M2:  # NaN has several patterns of bits
            got, want = (np.where((x & 0x7F) > 0x7C, 0x7F, x) for x in (got, want))
        if is_bfloat:  # models of the tests round to it after each step
            rtol = max(rtol, 2**-7)
        if not np.allclose(got, want, rtol=rtol, atol=atol + noise(want), equal_nan=True):
            return f"{name}: other numbers"
    return None if at == len(raw) else f"{len(raw) - at} bytes more than expected"


def compute(run, path, model, arrays, *words):
    return subprocess.run([run, str(path), *words], input=feed(model, arrays), capture_output=True,
                          timeout=300)


def same_without_passes(run, path, model, arrays, done):
    """Bit for bit, where no batch norm became a convolution's."""
    plain = compute(run, path, model, arrays, "plain")
    return plain.stdout == done.stdout or b"batch norm" in done.stderr and plain.returncode == 0


def check(run, folder, path, known=KNOWN, rtol=1e-3, atol=1e-7):
    model = onnxfile.Model(path.read_bytes())
    if known is not None and not set(model.operators) <= known:
        return None
    if any(kind is None for _, kind, _ in model.inputs + model.outputs):
        return "no tensors go in or come out"
    for case in sorted(folder.glob("test_data_set_*")):
        arrays = read(case, "input", len(model.inputs))
        wanted = read(case, "output", len(model.outputs))
        if any(x is None for x in arrays + wanted):
            return "numpy has no such elements"
        if not all(fits(end, x) for end, x in zip(model.inputs, arrays)):
            return "its data have not the shapes that it says"
        done = compute(run, path, model, arrays)
        if done.returncode != 0:
            return done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"
        fault = compare(model, done.stdout, wanted, rtol, atol)
        if not fault and not same_without_passes(run, path, model, arrays, done):
            fault = "passes change the numbers"
        if fault:
            return fault
    return ""


def check_stored(run, folder):
    """None: it is refused, which opset 17 may be the reason for."""
    with tempfile.TemporaryDirectory() as where:
        path = pathlib.Path(where) / "again.onnx"
        done = subprocess.run([pathlib.Path(run).parent / "modser", "convert",
                               folder / "model.onnx", "-o", path], capture_output=True, text=True,
                              timeout=300)
        if done.returncode != 0:
            return None if "opset 17" in done.stderr else done.stderr.splitlines()[0]
        if onnx is not None:
            try:
                onnx.checker.check_model(str(path), full_check=True)
            except Exception as e:  # of several classes
                return f"onnx.checker: {e}"
        return check(run, folder, path)


def main():
    run, data = sys.argv[1], pathlib.Path((sys.argv + [DATA])[2])
    if not data.is_dir():
        print(f"onnx_suite: {data} is not there; Debian has it as libonnx-testdata")
        sys.exit(77)
    files = sorted(data.glob("*/*/model.onnx"))
    repack = pathlib.Path(run).parent / "repack_onnx"
    worse = subprocess.run([repack, *files], check=False).returncode != 0
    print(f"{len(files)} messages packed again")
    for suite, wanted in WANTED.items():
        folders = sorted(p.parent for p in (data / suite).glob("*/model.onnx"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda f: check(run, f, f / "model.onnx"), folders))
            passing = [f for f, r in zip(folders, results) if r == ""]
            stored = list(pool.map(lambda f: check_stored(run, f), passing))
        known = [(f, r) for f, r in zip(folders, results) if r is not None]
        passed = sum(r == "" for _, r in known)
        for folder, reason in known:
            if reason:
                print(f"{suite}/{folder.name}: {reason}")
        print(f"{suite}: {passed} of {len(known)} (of {len(folders)} with all operators)")
        for folder, reason in zip(passing, stored):
            if reason:
                print(f"{suite}/{folder.name}, stored: {reason}")
        n = stored.count("")
        print(f"{suite}, stored: {n} of {len(stored)}, {stored.count(None)} refused")
        worse = worse or passed < wanted or n < STORED[suite]
    sys.exit(worse)


if __name__ == "__main__":
    main()
