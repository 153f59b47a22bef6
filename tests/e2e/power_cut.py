#!/usr/bin/env python3
"""power_cut.py [--rounds N] [--seed S]: a machine that keeps editions of a module in the store on its
disk loses its power at random moments. When it has it again, the store has no fault, and the daemon
serves the last edition that it had said to be kept, or the one that it was keeping.

The machine is an emulated one (emulated.py), whose end by kill -9 takes what its kernel had not written.
MSD_BUILD names the build, as for the tests. The seed is printed, for the same choices again.
"""
import argparse
import ctypes
import hashlib
import itertools
import os
import pathlib
import random
import re
import select
import shlex
import subprocess
import sys
import tempfile

import emulated
import harness

TESTS = pathlib.Path(__file__).parent
PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "msgpack", "numpy")
DRIVERS = ("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci",
           "virtio_blk")
MODULE = harness.ZOO / "results.so"
EDITION_BYTES = 1 << 20
DISK_BYTES = 512 << 20
MOST_MS = 1500  # until a cut, some updates of an emulated machine
COMMAND = """export HOME=/root MSD_BUILD={build} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={site}
exec {python} {script} --guest
"""


def edition(n):
    """The module, and behind it what is only in its edition @n."""
    return MODULE.read_bytes() + random.Random(n).randbytes(EDITION_BYTES)


def say(*words):
    print(*words, flush=True)


def insert(name):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/drivers/{name}.ko", "rb") as f:
        if libc.syscall(313, f.fileno(), b"", 0) != 0:  # finit_module of x86-64
            raise OSError(ctypes.get_errno(), name)


def serving(daemon):
    """Which edition it serves; 0: it has none yet."""
    if "m" not in daemon.ok("ls", "--json").out:
        return 0
    daemon.ok("wait", "m")
    assert daemon.ok("call", "m:int").out == "-42\n"
    sha256 = re.search(r"[0-9a-f]{64}", daemon.ok("show", "m").out)[0]
    return next(n for n in itertools.count(1)
                if hashlib.sha256(edition(n)).hexdigest() == sha256)


def guest():
    """On the machine: looks at what is there, then keeps one edition after the other."""
    for name in DRIVERS:
        insert(name)
    harness.until(lambda: os.path.exists("/dev/vda"), "the disk is there")
    os.mkdir("/disk")
    subprocess.run(["mount", "-t", "ext4", "/dev/vda", "/disk"], check=True)
    with harness.Daemon("--store", "/disk/store") as daemon:
        say("faults:", daemon.modser("store", "verify").status)
        last = serving(daemon)
        say("serving", last)
        for n in itertools.count(last + 1):
            path = pathlib.Path(f"/tmp/{n}.so")
            path.write_bytes(edition(n))
            daemon.ok("load", "--keep", "--replace", "m", path)
            path.unlink()
            say("kept", n)


class Rounds:
    def __init__(self, folder, seed):
        site = next(p for p in sys.path if p.endswith("-packages"))
        words = {"build": harness.BUILD, "site": site, "python": pathlib.Path(sys.executable).resolve(),
                 "script": pathlib.Path(__file__).resolve()}
        self.machine = emulated.Machine(
            folder, COMMAND.format(**{k: shlex.quote(str(v)) for k, v in words.items()}),
            PACKAGES, [TESTS, harness.BIN, harness.ZOO], DRIVERS)
        self.disk = folder / "disk"
        with open(self.disk, "wb") as f:
            f.truncate(DISK_BYTES)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.disk], check=True)
        self.random = random.Random(seed)
        self.kept = 0  # the last edition that it had said to be kept

    def round(self):
        """The power is there, then not. What the machine said."""
        drive = f"file={self.disk},format=raw,if=virtio,cache=writeback"
        words = self.machine.words("-drive", drive)
        # Editions before the cut. One at least: an edition whose starts are cut three times in a
        # row is given up, for it may have been what took the machine down.
        wait_for = self.random.randrange(1, 4)
        said = []
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as qemu:
            try:
                self.hear(qemu.stdout, said, wait_for)
                select.select([], [], [], self.random.random() * MOST_MS / 1000)
            finally:
                qemu.kill()
            for line in qemu.stdout:
                self.take(line.decode(errors="replace"), said)

    def hear(self, lines, said, wait_for):
        """Until it serves and has kept so many more."""
        for line in lines:
            self.take(line.decode(errors="replace"), said)
            if any(s.startswith("serving") for s in said):
                if sum(s.startswith("kept") for s in said) >= wait_for:
                    return
        raise AssertionError("it ended by itself:\n" + "\n".join(said))

    def take(self, line, said):
        said.append(line.strip())
        if match := re.fullmatch(r"faults: (\d+)", said[-1]):
            assert match[1] == "0", said
        if match := re.fullmatch(r"serving (\d+)", said[-1]):
            assert int(match[1]) in (self.kept, self.kept + 1), (self.kept, said)
            self.kept = int(match[1])
        if match := re.fullmatch(r"kept (\d+)", said[-1]):
            assert int(match[1]) == self.kept + 1, (self.kept, said)
            self.kept += 1


def cut(folder, rounds, seed):
    """Raises AssertionError, with what the machine said. How many editions there were in the end."""
    all_rounds = Rounds(folder, seed)
    for _ in range(rounds):
        all_rounds.round()
    return all_rounds.kept


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    p.add_argument("--guest", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.guest:
        guest()
        return
    say("seed", args.seed)
    with tempfile.TemporaryDirectory() as folder:
        say(args.rounds, "cuts,", cut(pathlib.Path(folder), args.rounds, args.seed), "editions")


if __name__ == "__main__":
    main()
