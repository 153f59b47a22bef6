"""Calls of one module while another of 45 MiB is loaded over and over, and beside a process that
copies and relocates as many bytes: what bench/run has of that."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
MOST = 1.2  # of what is aimed at
# Of so many bytes so many pointers are relocated, 32 each with what says so.
BYTES, POINTERS = 45 * MIB, 1 << 17
DATA = f"""
.section .rodata
.fill {BYTES - 32 * POINTERS}, 1, 7
.section .data.rel.ro, "aw"
1: .rept {POINTERS}
.quad 1b
.endr
.section .note.GNU-stack, "", @progbits
"""
COPY_AND_RELOCATE = """
import ctypes, os, sys, _ctypes
while True:
    fd = os.memfd_create("copy")
    with open(sys.argv[1], "rb") as library:
        os.write(fd, library.read())
    _ctypes.dlclose(ctypes.CDLL(f"/proc/self/fd/{fd}")._handle)
    os.close(fd)
"""
VARIANTS = ("nothing", "a load", "a process")


def make(folder):
    """(a module, a library with the same bytes and without functions); None: no compiler."""
    if shutil.which("cc") is None:
        return None
    data, module, library = (folder / name for name in ("data.s", "large.so", "data.so"))
    data.write_text(DATA)
    for made, *sources in ((module, HERE / "trivial.c", data), (library, data)):
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, *sources], check=True)
    return module, library


@contextlib.contextmanager
def over_and_over(cpu, *command):
    """It runs as long as the block does; all of its session is killed then."""
    p = subprocess.Popen(["taskset", "-c", str(cpu), *map(str, command)],
                         stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
        if p.poll() is not None:
            sys.exit(f"bench: {command[0]} has ended: {p.returncode}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def key(where):
    return where, "unix", "beside"


def measure(bench, where, cpus, address, large):
    """What runs beside the client's calls has the servers' CPU, the first of @cpus."""
    module, library = large
    cpu, client_cpu = cpus
    commands = {
        "a load": ("sh", "-c", 'while "$@"; do :; done', "sh", bench.bin / "modser", "-H", address,
                   "load", "large", module, "--replace"),
        "a process": (sys.executable, "-c", COPY_AND_RELOCATE, library)}
    for variant in VARIANTS:
        command = commands.get(variant)
        with over_and_over(cpu, *command) if command else contextlib.nullcontext():
            got = bench.tool(client_cpu, "bench_call", address, "latency", "trivial:noop",
                             4 * bench.args.calls)
        bench.add(key(where), variant, got["p99_ns"] / 1e3)


def is_measured(bench, where):
    return (key(where), "a load") in bench.samples


def ratio(bench, where):
    return bench.ratio(key(where), "a load", "a process")


def show(bench, where):
    print(f"\ncall of one module beside another's load of {BYTES // MIB} MiB, unix, {where}, p99 us")
    print("".join(f"  {v}: {bench.median(key(where), v):.0f}" for v in VARIANTS)
          + f"   ratio {ratio(bench, where):.2f}")
