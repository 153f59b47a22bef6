"""A systemd on an emulated machine (emulated.py): Debian's own kernel, control groups that are unified,
with every controller, and what the build installs. What guest.py has from systemd-nspawn, from there."""
import pathlib
import re
import shutil
import subprocess
import sys

import emulated
import guest
import harness
import pytest

SYSTEMD = pathlib.Path("/lib/systemd")
PROGRAMS = tuple("bash cp env grep head journalctl kill ls modprobe pgrep sed systemctl systemd-sysusers"
                 " tail timeout tr umount wc".split())
WANTED = ("msgpack",)
NEVER_READ = (".a", ".h", ".md", ".html")
UNIT = """[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
TimeoutStartSec=infinity
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
ExecStart=/bin/bash /script
ExecStopPost=/bin/systemctl poweroff --force --force
"""
BEGIN = """export PATH=/usr/local/bin:/usr/bin:/bin:/sbin HOME=/root PYTHONPATH={site}
mkdir -p /tmp /var/lib /var/cache /var/tmp
systemctl start systemd-journald.service
"""
END = "\necho said: all\n"
KERNEL = ("console=ttyS0 quiet panic=-1 rdinit=/lib/systemd/systemd systemd.unit=script.service"
          " systemd.unified_cgroup_hierarchy=1 systemd.show_status=0")


def skip_unless_bootable():
    emulated.skip_unless_emulated()
    if not (SYSTEMD / "systemd").exists():
        pytest.skip("no systemd (package systemd): none is booted")


def installed(folder):
    subprocess.run(["cmake", "--install", harness.BUILD], check=True, stdout=subprocess.DEVNULL,
                   env=harness.environment() | {"DESTDIR": str(folder)})
    paths = [p for p in folder.rglob("*") if p.is_file() and p.suffix not in NEVER_READ]
    return {f"/{p.relative_to(folder)}": p.resolve() for p in paths}


def systemd():
    """Where both names of a folder are one, units and scripts may say either."""
    programs = {name: shutil.which(name) for name in PROGRAMS}
    both = {f"{folder}/{name}": pathlib.Path(path).resolve()
            for name, path in programs.items() if path for folder in ("/bin", "/usr/bin")}
    found = [p for p in SYSTEMD.iterdir() if p.name in ("systemd", "systemd-journald", "systemd-shutdown")]
    found += [p for p in (SYSTEMD / "system").rglob("*") if p.is_file()]
    return both | {str(p): p.resolve() for p in found}


def results(script, tmp_path, *folders):
    """What @script said there, by name; @folders are in its /given."""
    made = {
        "/script": guest.SAYS + BEGIN.format(site=next(p for p in sys.path if p.endswith("-packages")))
        + script + END,
        "/etc/systemd/system/script.service": UNIT,
        "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "/etc/os-release": "ID=debian\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\n",
        "/etc/group": "root:x:0:\n",
    }
    system = systemd() | installed(tmp_path / "installed")
    for folder in folders:
        system |= {f"/given/{folder.name}/{p.relative_to(folder)}": p for p in emulated.tree(folder)}
    system |= {str(p): p.resolve() for p in emulated.needed(set(system.values()))}
    for i, (path, text) in enumerate(made.items()):
        system[path] = tmp_path / f"made-{i}"
        system[path].write_text(text)
    machine = emulated.Machine(tmp_path, "", WANTED, (), more=system)
    said = subprocess.run(machine.words("-append", KERNEL, mebibytes=3072), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=emulated.BOOT_S)
    out = said.stdout.replace("\r\n", "\n")
    assert re.search("^said: all$", out, re.M), f"{out}\n{said.stderr}"
    print(out)
    pairs = [line.partition(": ") for line in out.splitlines()]
    return {name: result.strip() for name, _, result in pairs}
