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
    "a trap": ("715", (715, 719)),
    "a misaligned load (716)": ("716", (716,)),
    "a store beyond shared memory": ("outside", (719, 700, 715, 717)),
}
SECONDS_AT_MOST = 3
TRIES = 100  # of a call that may meet the worker which the last one has ended


def faulted(r, words):
    """The driver's word for it, and its number."""
    for _ in range(TRIES):
        said = r.modser("call", *words, check=False)
        if "lost its device before this request" not in said.stderr:
            break
    if "GPU_FAULT" not in said.stderr:
        raise Wrong("no GPU_FAULT: " + said.stderr[-300:])
    code = re.search(r"CUDA_ERROR_\w+ \((\d+)\)", said.stderr)
    if code is None:
        raise Wrong("the fault has no name: " + said.stderr[-300:])
    return code.group(0), int(code.group(1))


def fault(name, numbers):
    """Called twice: the second call waits for a fresh worker, and has a fault of its own."""
    def run(r):
        own = name in ("asserts", "outside")
        words = [f"m:{name}", "out:float32[17]"] if own else [
            "m:addone", "ones:float32[17]", "out:float32[17]"]
        try:
            if r.stand_in:
                r.start(STUB_CUDA_FAULT="1")
            if r.stand_in and not own:
                r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
            else:
                r.load("m", r.kernel("own" if own else name))
            r.load("other", r.kernel("own") if own else r.fixture("tvm-0.27/axpb_cuda.so"))
            others = r.workers("other")
            text, number = faulted(r, words)
            begin = time.monotonic()
            faulted(r, words)
            took = time.monotonic() - begin
            if r.workers("other") != others:
                raise Wrong("another module's worker went with it")
        finally:
            if r.stand_in:
                r.start()
        if not r.stand_in and number not in numbers:
            raise Wrong(f"another error than {numbers}: {text}")
        if took > SECONDS_AT_MOST and not r.stand_in:
            raise Wrong(f"the next answer came after {took:.2f} s")
        return f"{text}; the next call's answer after {took:.2f} s"
    return run


LAUNCH_AT_MOST, COPY_AT_MOST = 1.05, 1 / 0.95  # of the time that the driver alone takes


def beside(program, judges_copies=True):
    """Two figures a thing: what the driver alone takes, and what we do."""
    def run(r):
        said = r.tool(r.file("bin", program), 3 if r.stand_in else 101, timeout=300)
        if said.returncode == 77:
            raise Skip(said.stdout.strip() or said.stderr.strip())
        if said.returncode != 0 and r.stand_in:
            raise Skip("the stand-in cannot run it: " + said.stderr.strip()[-200:])
        if said.returncode != 0:
            raise Wrong(said.stderr[-300:])
        for line in said.stdout.splitlines():
            most = LAUNCH_AT_MOST if line.startswith("launch") else COPY_AT_MOST
            ratio = re.search(r"ratio ([0-9.]+)", line)
            is_judged = judges_copies or line.startswith("launch")
            if ratio and is_judged and not r.stand_in and float(ratio.group(1)) > most:
                raise Wrong(line)
        return said.stdout.strip()
    return run


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


def medians(r, *calls):
    """For each of the calls, made in turns: of three rounds the one between the others."""
    seconds = "100ms" if r.stand_in else "1s"
    rounds = [[quantile(r.asked("bench", "--time", seconds, *words)) for words in calls]
              for _ in range(3)]
    return [sorted(x[i] for x in rounds)[1] for i in range(len(calls))]


def trivial(r):
    """A call of 17 floats, on the device and on the host."""
    words = ("ones:float32[17]", "out:float32[17]")
    r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
    r.load("host", r.fixture("tvm-0.27/addone.so"))
    device, host = medians(r, ("m:addone", *words), ("host:addone", *words))
    return (f"median {device[0]:.1f} us, on the device {device[1]:.1f}; of a function of the host "
            f"{host[0]:.1f}")


def latency(file, n, function, *args):
    """A model's calls beside those that move @n floats in and out and add one, in turns."""
    def run(r):
        r.load("net", r.file(*file.split("/")))
        r.load("m", r.fixture("tvm-0.27/addone_cuda.so"))
        plain, net = medians(r, ("m:addone", f"ones:float32[{n}]", f"out:float32[{n}]"),
                             (f"net:{function}", *args))
        return (f"median {net[0]:.0f} us, on the device {net[1]:.0f}; a call of as many bytes "
                f"{plain[0]:.0f}; the difference {net[0] - plain[0]:.0f}")
    return run


def rate(r, workers, *options):
    """Calls a second of 32 connections with rows of 128 floats."""
    r.load("net", r.file("models", "compiled", "batched.so"), "--workers", workers, *options)
    said = r.asked("bench", "-c", 32, "--time", "100ms" if r.stand_in else "1s", "net:forward",
                   "ones:float32[1,128]")
    return f"{said['per_second']} ({said['p50_ns'] / 1e3:.0f} us)"


def throughput(r):
    return ", ".join(f"{n} worker{'s'[:n > 1]} {rate(r, n)}" for n in (1, 2, 4))


def joined(r):
    return (f"one by one {rate(r, 1)}, joined {rate(r, 1, '--batch', 32)}, "
            f"within 1ms {rate(r, 1, '--batch', 32, '--within', '1ms')}")


def graphs(r):
    """Two blocks of a transformer as graphs, beside the same launched one by one."""
    r.load("graph", r.file("models", "compiled", "captured.so"))
    r.load("single", r.file("models", "compiled", "uncaptured.so"))
    graph, single = medians(r, *[(f"{n}:forward", "ones:float32[64,32]") for n in ("graph", "single")])
    said = r.modser("logs", "graph").stdout
    if "CUDA graph" in said:
        raise Wrong(re.search(r".*CUDA graph.*", said).group(0))
    if r.stand_in and "cuGraphLaunch" not in (r.at / "driver.log").read_text().splitlines():
        raise Wrong("no graph was launched")
    if not r.stand_in and graph[1] >= single[1]:
        raise Wrong(f"{graph[1]:.0f} us on the device as graphs, {single[1]:.0f} one by one")
    return (f"median {graph[0]:.0f} us, on the device {graph[1]:.0f}; launched one by one "
            f"{single[0]:.0f}, on the device {single[1]:.0f}")


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


def gauges(r):
    """What the daemon tells of the card, beside nvidia-smi."""
    if r.stand_in or shutil.which("nvidia-smi") is None:
        raise Skip("no nvidia-smi")
    end = time.monotonic() + 30
    found = None
    while found is None:  # the first scrape starts who reads them
        text = r.modser("metrics").stdout
        found = re.search(r"modserd_device_memory_bytes{.*} ([0-9.e+]+)", text)
        if found is None and time.monotonic() > end:
            raise Wrong("no figures of a device")
    said = r.tool("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits").stdout
    if abs(float(found.group(1)) / (1 << 20) - float(said.split()[0])) > 1:
        raise Wrong(f"{found.group(1)} bytes, where nvidia-smi has {said.split()[0]} MiB")
    return "; ".join(re.findall(r"modserd_device_(.*)", re.sub("#.*", "", text)))


ROWS = (
    [(what, f"GPU_FAULT, the next answer < {SECONDS_AT_MOST} s, no other module's", fault(*how))
     for what, how in FAULTS.items()]
    + [("PTX compiled by the driver", "how long it took", built),
       ("memory of a worker", "a figure", memory),
       ("the card's figures", "nvidia-smi's memory", gauges),
       ("CPU while a kernel runs long", "less than half of the time", waiting),
       ("latency of the trivial call", "a figure", trivial),
       ("latency of a small ResNet-18", "a figure", latency(
           "fixtures/tvm-0.27/convnet_small_cuda.so", 3072, "forward", "ones:float32[1,3,32,32]")),
       ("latency of a transformer's block", "a figure", latency(
           "models/compiled/transformer.so", 8192, "forward", "ones:float32[64,128]")),
       ("calls a second (median), 32 connections", "a figure", throughput),
       ("the same, joined", "a figure", joined),
       ("CUDA graphs", "faster on the device, and all regions are captured", graphs),
       ("launches and copies beside the driver's own", "launch <= 1.05, copies >= 0.95", beside("bench_cuda"))]
)
