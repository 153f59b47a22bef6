"""Rows about launches, memory and workers."""
import re
import shutil

import numpy as np

from runner import Skip, Wrong, close, out_of

KIB = 1024
# Shared memory that a block may ask for (programming guide, "Technical Specifications per
# Compute Capability"), by capability.
SHARED_KIB = {75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 103: 227, 110: 227,
              120: 99, 121: 99}


def needs_90(r):
    if 0 < r.capability() < 90:
        raise Skip(f"a device of {r.capability() / 10}")


def clusters(size):
    def run(r):
        needs_90(r)
        if size > 8 and r.capability() >= 120:
            raise Skip("devices of 12.0 have clusters of 8 blocks at most")
        r.load("own", r.kernel("own"))
        n = 4 * size
        (got,) = r.call("own:cluster", f"out:float32[{n}]", str(size))
        close(got, (np.arange(n) % size + 100 * size).astype("float32"))
        return f"{n // size} clusters"
    return run


def cooperative(r):
    r.load("own", r.kernel("own"))
    for _ in range(2):  # the barrier's state begins at zero each time
        (got,) = r.call("own:barrier", "out:float32[32]")
        close(got, np.full(32, 32, "float32"))
    return "32 blocks met, twice"


def dependent(r):
    r.load("own", r.kernel("own"))
    x = np.arange(100000, dtype="float32")
    (got,) = r.call("own:chain", x, out_of(x))
    close(got, (x + 1) * 2)
    return "two kernels"


def shared(kib):
    def run(r):
        most = SHARED_KIB.get(r.capability())
        if most is not None and most < kib:
            raise Skip(f"the device has {most} KiB for a block")
        r.load("own", r.kernel("own"))
        n = kib * KIB // 4
        (got,) = r.call("own:shared", f"out:float32[{n}]")
        close(got, np.arange(n, dtype="float32")[::-1].copy())
        return f"{n} floats"
    return run


def too_much_shared(r):
    """Refused, by its size, and the worker goes on."""
    kib = SHARED_KIB.get(r.capability(), 227) + 1
    r.load("own", r.kernel("own"))
    before = r.workers("own")
    said = r.modser("call", "own:shared", f"out:float32[{kib * KIB // 4}]", check=False)
    if said.returncode == 0 or f"{kib * KIB} bytes" not in said.stderr:
        raise Wrong("not refused by its size: " + said.stderr[-300:])
    if "GPU_FAULT" in said.stderr:
        raise Wrong("it is taken for a fault: " + said.stderr[-300:])
    r.call("own:shared", "out:float32[64]")
    if r.workers("own") != before:
        raise Wrong("the worker is another one")
    return re.search(r"CUDA_ERROR_\w+ \(\d+\)", said.stderr).group(0)


def tensor_map(r):
    needs_90(r)
    r.load("own", r.kernel("own"))
    x = np.arange(128 * 64, dtype="float32").reshape(128, 64)
    (got,) = r.call("own:tiles", x, out_of(x))
    close(got, x)
    return "32 tiles"


def pinned(r, name):
    """Megabytes that a module's workers have pinned; they say which range cannot be."""
    said = r.modser("logs", name).stdout
    if "cannot be pinned" in said:
        raise Wrong(re.search(r".*cannot be pinned.*", said).group(0))
    return sum(map(int, re.findall(r"pinned (\d+) bytes", said))) / (1 << 20)


def pinning(r):
    """The segments of a call of 8 MiB, in and out."""
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
    x = np.zeros(2 << 20, "float32")
    r.call("m:addone", x, out_of(x))
    mib = pinned(r, "m")
    if mib < 16:
        raise Wrong(f"{mib:.1f} MiB are pinned")
    return f"{mib:.0f} MiB, no range refused"


def two_workers(r):
    """Both pin the segments of one pool, each for its own process."""
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"), "--workers", 2)
    said = r.asked("bench", "-c", 4, "--time", "500ms", "m:addone", "ones:float32[65536]",
                   "out:float32[65536]")
    x = np.zeros(65536, "float32")
    r.call("m:addone", x, out_of(x))
    if len(r.workers()) != 2 or pinned(r, "m") <= 0:
        raise Wrong("there are not two workers that pin")
    return f"{said['per_second']} calls of 256 KiB a second, {pinned(r, 'm'):.0f} MiB pinned"


def spread(r):
    """Two workers, each on its device; on a machine with one, both on that."""
    places = ["cuda:0", "cuda:1" if r.n_devices() > 1 else "cuda:0"]
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"), "--workers", 2, "--device", ",".join(places))
    for _ in range(8):
        r.addone()
    said = r.asked("show", "m")["devices"]
    if said != places:
        raise Wrong(f"workers on {said}")
    return ", ".join(said)


def second_device(r):
    if r.n_devices() < 2:
        raise Skip("one device")
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
    r.addone("m", "--device", "cuda:1")
    return "the same values"


def findings(text):
    """The first lines of what the sanitizer found, else the end."""
    found = [line for line in text.splitlines()
             if re.match(r"=+ +(Program hit|Invalid|Error|Error:|.* error)", line)]
    return "; ".join(dict.fromkeys(found))[:1500] or text[-500:]


def promises(r, *before):
    """tests/runtime/cuda/test_cuda_gpu.c: launches, memory near its end, faults, logs."""
    program = r.file("bin", "test_cuda_gpu")
    if r.stand_in:
        raise Skip("the stand-in has no such kernels")
    words = [*before, program, "--jobs", "1"] + (["--filter", "cuda_gpu/modules*"] if before else [])
    said = r.tool(*words, timeout=300, MODSERD_FIXTURES=f"{r.here}/fixtures")
    if said.returncode != 0:
        raise Wrong(findings(said.stdout + said.stderr))
    return (said.stdout + said.stderr).strip().splitlines()[-1]


def sanitized(r):
    tool = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if tool is None:
        raise Skip("no compute-sanitizer")
    # The last parameter of a kernel is found by asking for one more: an error of the driver's.
    return promises(r, tool, "--target-processes", "all", "--error-exitcode", "9",
                    "--report-api-errors", "no")


ROWS = [
    ("clusters of 2", "each block's rank", clusters(2)),
    ("clusters of 16", "each block's rank", clusters(16)),
    ("a cooperative launch, TVM's barrier", "all blocks have met", cooperative),
    ("a programmatic dependent launch", "(a + 1) * 2", dependent),
    ("100 KiB of shared memory", "all of it comes back", shared(100)),
    ("227 KiB of shared memory", "all of it comes back", shared(227)),
    ("1 KiB more than the device has", "refused by its size, no fault", too_much_shared),
    ("a tensor map", "a copy, tile by tile", tensor_map),
    ("pinned segments", "as many bytes as the call has", pinning),
    ("two workers over one pool", "both pin, both answer", two_workers),
    ("workers spread over devices", "one on each", spread),
    ("kernels on the second device", "the same values", second_device),
    ("launches, memory near its end, faults", "tests/runtime/cuda/test_cuda_gpu.c", promises),
    ("three modules under compute-sanitizer", "no finding", sanitized),
]
