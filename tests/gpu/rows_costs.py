"""Rows about faults and about what things cost."""
import os
import re
import shutil
import time

from runner import Skip, Wrong

# What provokes each, and which numbers a driver may give it: they changed between releases.
FAULTS = {
    "a store to an address that nobody has (700)": ("700", (700,)),
    "an assertion on the device (710)": ("asserts", (710,)),
    "a trap (715)": ("715", (715, 719)),
    "a misaligned load (716)": ("716", (716,)),
    "a store beyond shared memory (719)": ("outside", (719, 700, 717)),
}
SECONDS_AT_MOST = 3


def fault(name, numbers):
    def run(r):
        own = name in ("asserts", "outside")
        if r.stand_in and not own:
            r.start(STUB_CUDA_FAULT="1")
            r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
        else:
            r.load("m", r.kernel("own" if own else name))
        words = [f"m:{name}", "out:float32[17]"] if own else [
            "m:addone", "ones:float32[17]", "out:float32[17]"]
        r.load("other", r.fixture("tvm-0.27/axpb_cuda.so"))
        others = r.workers("other")
        said = r.modser("call", *words, check=False)
        begin = time.monotonic()
        if "GPU_FAULT" not in said.stderr:
            raise Wrong("no GPU_FAULT: " + said.stderr[-300:])
        code = re.search(r"CUDA_ERROR_\w+ \((\d+)\)", said.stderr)
        if not r.stand_in and (code is None or int(code.group(1)) not in numbers):
            raise Wrong(f"another error than {numbers}: " + said.stderr[-300:])
        r.modser("wait", "m")
        # The same module can be called again, by a kernel that does not fault where it has one.
        if own:
            r.call("m:chain", "ones:float32[17]", "out:float32[17]")
        took = time.monotonic() - begin
        if not own and not r.stand_in:
            r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
            r.addone()
        if r.workers("other") != others:
            raise Wrong("another module's worker went with it")
        if r.stand_in and not own:
            r.start()
        if took > SECONDS_AT_MOST and not r.stand_in:
            raise Wrong(f"the next answer came after {took:.2f} s")
        return f"{code.group(0) if code else ''}; next answer after {took:.2f} s"
    return run


def bench(r):
    """Two lines a thing: what the driver alone takes, and what we do."""
    said = r.tool(r.file("bin", "bench_cuda"), 3 if r.stand_in else 101, timeout=300)
    if said.returncode == 77:
        raise Skip(said.stdout.strip() or said.stderr.strip())
    if said.returncode != 0 and r.stand_in:
        raise Skip("the stand-in cannot run it: " + said.stderr.strip()[-200:])
    if said.returncode != 0:
        raise Wrong(said.stderr[-300:])
    return said.stdout.strip()


def memory(r):
    """Of the host by the kernel, of the device by nvidia-smi, for a worker with one kernel."""
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
    r.addone()
    (worker,) = r.workers()
    text = re.search(r"VmRSS:\s*(.*)", (worker / "status").read_text()).group(1) + " of the host"
    if shutil.which("nvidia-smi") is not None and not r.stand_in:
        said = r.tool("nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader")
        of_device = dict(line.split(", ") for line in said.stdout.splitlines() if ", " in line)
        text += f", {of_device.get(worker.name, '?')} of the device"
    return text


def cpu_seconds(process):
    return sum(map(int, (process / "stat").read_text().split()[13:15])) / os.sysconf("SC_CLK_TCK")


def waiting(r):
    """A kernel of a second or so: the worker sleeps meanwhile."""
    r.load("m", r.kernel("spin"))
    took = []
    for _ in range(2):  # the first opens the context
        (worker,) = r.workers()
        before, begin = cpu_seconds(worker), time.monotonic()
        r.modser("call", "m:addone", "ones:float32[17]", "out:float32[17]")
        took = [time.monotonic() - begin, cpu_seconds(worker) - before]
    if took[1] > took[0] / 2:
        raise Wrong(f"{took[1]:.2f} s of CPU in {took[0]:.2f} s")
    return f"{took[1]:.2f} s of CPU in {took[0]:.2f} s"


def quantile(said):
    """Microseconds of the median call, and of what ran in it."""
    return [said["p50_ns"] / 1e3, said["execution_p50_ns"] / 1e3]


def latency(file, function, *args):
    """A model's calls beside those of the trivial one, in turns."""
    def run(r):
        parts = file.split("/")
        r.load("net", r.file(*parts))
        r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
        seconds = "100ms" if r.stand_in else "1s"
        rounds = []
        for _ in range(3):
            rounds.append([quantile(r.asked("bench", "--time", seconds, *words)) for words in (
                ("m:addone", "ones:float32[17]", "out:float32[17]"), (f"net:{function}", *args))])
        trivial, net = (sorted(x[i] for x in rounds)[1] for i in (0, 1))
        return (f"median {net[0]:.0f} us, on the device {net[1]:.0f}; the trivial call "
                f"{trivial[0]:.0f}; the difference {net[0] - trivial[0]:.0f}")
    return run


def built(r):
    """What the worker says of how long the driver compiled."""
    shutil.rmtree(r.at / "cache", ignore_errors=True)
    r.load("m", r.fixture("tvm-0.27/addone_cuda_ptx.so"))
    cold = r.asked("show", "m")["built_ms"]
    r.load("m", r.fixture("tvm-0.27/addone_cuda_ptx.so"))
    kept = r.asked("show", "m")["built_ms"]
    if cold < 1 or kept != 0:
        raise Wrong(f"{cold} ms, and {kept} ms from the cache")
    return f"{cold} ms"


ROWS = (
    [(what, f"GPU_FAULT, the next answer < {SECONDS_AT_MOST} s, no other module's", fault(*how))
     for what, how in FAULTS.items()]
    + [("PTX compiled by the driver", "how long it took", built),
       ("memory of a worker", "a figure", memory),
       ("CPU while a kernel runs long", "less than half of the time", waiting),
       ("latency of a small ResNet-18", "a figure", latency(
           "fixtures/tvm-0.27/convnet_small_cuda.so", "forward", "ones:float32[1,3,32,32]")),
       ("latency of a transformer's block", "a figure", latency(
           "models/compiled/transformer.so", "forward", "ones:float32[64,128]")),
       ("launches and copies beside the driver's own", "launch <= 1.05, copies >= 0.95", bench)]
)
