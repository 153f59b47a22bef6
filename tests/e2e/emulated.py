"""Debian's own kernel, emulated: for tests of what the kernel of this machine has not, or not as a
service finds it. The system is this Python with the programs of the build, all in memory, at the
same paths as here; it boots in some twenty seconds of a processor.
"""
import importlib.metadata
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import sysconfig

import harness
import pytest

PACKAGE = "linux-image-cloud-amd64"
PROGRAMS = tuple(f"/bin/{name}" for name in ("sh", "sleep", "mount", "mkdir", "ln", "cat"))
PROGRAMS += ("/usr/bin/true",)
# What is not in the guest: other projects' tests, and what opens windows.
LEFT_OUT = re.compile(r"(^|/)(test|idlelib|tkinter|turtledemo|ensurepip|site-packages|config-[^/]*"
                      r"|__pycache__)/|\.a$")
# A boot, some tests, nobody else to be waited for; a machine that is busy with other tests.
BOOT_S = 1500
INIT = r"""#!/bin/sh
export PATH=/usr/bin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp && mount -t tmpfs shm /dev/shm && mount -t tmpfs tmp /tmp
ln -s /proc/self/fd /dev/fd
cd / && sh /command >/dev/ttyS0 2>&1
echo "ended: $?" >/dev/ttyS0
echo o >/proc/sysrq-trigger
while :; do sleep 1000; done
"""


def skip_unless_emulated():
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"), ("apt-get", "apt")):
        if not shutil.which(program):
            pytest.skip(f"no {program} (package {package}): no kernel is emulated")
    if harness.SANITIZED:
        pytest.skip("a sanitizer needs more memory than the emulated machine has")


def kernel(folder):
    """That of Debian's PACKAGE, unpacked into @folder: it is not to be this machine's own."""
    folder.mkdir()

    def apt(*words):
        return subprocess.run(words, cwd=folder, capture_output=True, text=True)

    named = re.search(r"Depends: (linux-image-\S+)", apt("apt-cache", "depends", PACKAGE).stdout)
    said = apt("apt-get", "download", named[1]) if named else None
    if said is None or said.returncode != 0:
        pytest.skip(f"{PACKAGE} cannot be had: {said and said.stderr.strip()}")
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return next((folder / "boot").glob("vmlinuz-*"))


def of_packages(names):
    """The files of what pip installed, without what is for its own sake."""
    for name in names:
        for file in importlib.metadata.files(name):
            path = pathlib.Path(file.locate()).resolve()
            if path.suffix == ".py" or ".so" in path.name or ".dist-info" in str(path):
                yield path


def needed(paths):
    """The shared libraries of all of @paths that are code."""
    found = set()
    code = [p for p in paths if p.suffix == ".so" or p.stat().st_mode & 0o111]
    for path in code:
        said = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        found |= set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, re.M))
    return {pathlib.Path(p) for p in found}


def tree(folder):
    paths = pathlib.Path(folder).rglob("*")
    return [p for p in paths if p.is_file() and not LEFT_OUT.search(str(p.relative_to(folder)))]


def files(packages, folders):
    """{path in the guest: path here} of a system that has all of them."""
    paths = set(tree(sysconfig.get_paths()["stdlib"])) | set(of_packages(packages))
    for folder in folders:
        paths |= set(tree(folder))
    paths |= {pathlib.Path(p) for p in PROGRAMS}
    paths.add(pathlib.Path(sys.executable).resolve())
    return {str(p): p.resolve() for p in paths | needed(paths)}


def archive(path, system, command):
    """Write @path, in the form in which a kernel takes its first file system (cpio, newc)."""
    with open(path, "wb") as out:
        def put(name, mode, data=b""):
            name = name.encode() + b"\0"
            put.inode += 1
            fields = (put.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
            out.write(b"070701" + b"".join(b"%08X" % f for f in fields) + name)
            out.write(b"\0" * (-(110 + len(name)) % 4) + data + b"\0" * (-len(data) % 4))

        put.inode = 0
        names = set(system) | {f"/{n}/." for n in ("proc", "sys", "dev", "etc")}
        folders = {str(f) for n in names for f in pathlib.PurePath(n).parents} | {
            "/proc", "/sys", "/dev", "/etc", "/root"}
        for folder in sorted(folders - {"/"}):
            put(folder[1:], stat.S_IFDIR | 0o755)
        for name, source in sorted(system.items()):
            put(name[1:], stat.S_IFREG | source.stat().st_mode & 0o777, source.read_bytes())
        put("init", stat.S_IFREG | 0o755, INIT.encode())
        put("command", stat.S_IFREG | 0o644, command.encode())
        put("etc/passwd", stat.S_IFREG | 0o644, b"root:x:0:0:root:/root:/bin/sh\n")
        put("TRAILER!!!", 0)


class Machine:
    """An emulated machine whose system runs @command, a line for a shell."""

    def __init__(self, folder, command, packages, folders, drivers=(), more=None):
        """@drivers: modules of its kernel, which are below /drivers there; @more: {path in the
        guest: path here}."""
        self.image = kernel(folder / "kernel")
        self.system = folder / "system"
        system = files(packages, folders) | (more or {})
        for name in drivers:
            (module,) = (folder / "kernel/lib/modules").rglob(f"{name}.ko")
            system[f"/drivers/{name}.ko"] = module
        archive(self.system, system, command)

    def words(self, *more, mebibytes=1536):
        """The command that starts it, its serial line being standard output."""
        return ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m",
                str(mebibytes), "-kernel", self.image, "-initrd", self.system, "-nographic",
                "-no-reboot", "-nodefaults", "-serial", "stdio",
                "-append", "console=ttyS0 quiet panic=-1 rdinit=/init", *more]


def run(folder, command, packages, folders):
    """(exit status, output) of @command, a line for a shell, on an emulated machine."""
    machine = Machine(folder, command, packages, folders)
    said = subprocess.run(machine.words(), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=BOOT_S)
    out = said.stdout.replace("\r\n", "\n")
    ended = re.search(r"^ended: (\d+)$", out, re.M)
    assert ended, f"{out}\n{said.stderr}"
    return int(ended[1]), out[:ended.start()]
