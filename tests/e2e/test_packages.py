"""The Debian packages: made, then installed, upgraded, removed and purged under a real systemd."""
import re
import shutil
import subprocess

import guest
import harness
import pytest

RESULTS = harness.ZOO / "results.so"
MAIN = '#include <modser.h>\n#include <stdio.h>\nint main(void) { puts(modser_version()); }\n'

GUEST = r"""
install() { dpkg -i "$@" >/dpkg.log 2>&1 || { cat /dpkg.log; false; }; }
version() { modser info | sed -n 's/^version\t//p'; }
says install 'install /given/old/modser_*.deb /given/old/modserd_*.deb && echo ok'
says active 'systemctl is-active modserd.service modserd.socket; systemctl is-enabled modserd.service'
says serves 'modser ping >/dev/null && modser load --keep kept /given/zoo/results.so | head -n 1; modser call kept:int'
echo 'max-concurrent-uploads = 5' >>/etc/modserd/modserd.conf
says reload 'systemctl reload modserd && modser info | grep limits.max-concurrent-uploads'
was=$(systemctl show -P MainPID modserd)
says upgrade 'install /given/new/modser_*.deb /given/new/modserd_*.deb && dpkg-query -W -f "\${Version}" modserd'
says restarted '[ $was != $(systemctl show -P MainPID modserd) ] && echo yes'
says kept 'modser call kept:int; modser info | grep limits.max-concurrent-uploads'
says develop 'install /given/old/libmodser-dev_*.deb && cc /given/zoo/main.c -o /main $(pkg-config --cflags --libs modser) && /main'
says python 'install --ignore-depends=python3-numpy,python3-msgpack /given/old/python3-modser_*.deb; cd /; /usr/bin/python3 -c "import importlib.util as u; print(u.find_spec(\"modser\").origin)"'
says remove 'dpkg -r modserd >/dev/null; systemctl is-active modserd.service modserd.socket; ls /etc/modserd /var/lib/modserd'
says purge 'dpkg -P modserd modser libmodser-dev python3-modser >/dev/null && ls -d /etc/modserd /var/lib/modserd /usr/lib/systemd/system/modserd* /usr/lib/sysusers.d/modserd* /usr/bin/modser* /usr/libexec/modserd'
says failed 'systemctl --failed --no-legend'
"""


def newer(package, folder):
    """The same package as the next version."""
    tree = folder / package.stem
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 99.0", control.read_text()))
    subprocess.run(["dpkg-deb", "-b", tree, folder], check=True, capture_output=True)
    shutil.rmtree(tree)


@pytest.fixture(scope="module")
def said_by(tmp_path_factory):
    guest.skip_unless_bootable()
    folder = tmp_path_factory.mktemp("packages")
    said = harness.run(harness.ROOT / "scripts" / "package", folder / "build", timeout=1500)
    assert said.status == 0, said
    shutil.copytree(folder / "build" / "packages", folder / "old", ignore=lambda at, names: [
        name for name in names if not name.endswith(".deb")
    ])
    for name in ("new", "zoo"):
        (folder / name).mkdir()
    for package in (folder / "old").glob("modser*_amd64.deb"):
        newer(package, folder / "new")
    shutil.copy(RESULTS, folder / "zoo")
    (folder / "zoo" / "main.c").write_text(MAIN)
    return guest.results("-", GUEST, folder, *(folder / name for name in ("old", "new", "zoo")))


@pytest.mark.parametrize(
    "what, said",
    [
        ("install", "ok"),
        ("active", "active active enabled"),
        ("serves", "name\tkept -42"),
        ("reload", "limits.max-concurrent-uploads\t5"),
        ("upgrade", "99.0"),
        ("restarted", "yes"),
        ("kept", "-42 limits.max-concurrent-uploads\t5"),
        ("develop", "0.1.0"),
        ("python", "/usr/lib/python3/dist-packages/modser/__init__.py"),
        ("failed", ""),
    ],
)
def test_packages(said_by, what, said):
    assert said_by[what] == said


def test_removing_leaves_configuration_and_store(said_by):
    assert said_by["remove"].startswith("inactive inactive")
    assert "modserd.conf" in said_by["remove"] and "sha256" in said_by["remove"]


def test_purging_leaves_nothing(said_by):
    lines = said_by["purge"].split("ls: cannot access")
    assert len(lines) == 7 and all("No such file" in line for line in lines[1:]), lines
