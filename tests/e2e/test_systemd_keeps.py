"""--keep-workers under a real systemd, booted by systemd-nspawn (nspawn.sh), which needs root. That it
takes 100 ms is measured by hand (docs/how-to/keep-workers.md); here other tests run beside it."""
import pathlib
import shlex
import shutil
import sys

import guest
import harness
import pytest

RESTARTS = 10
MOST_MS = 2000

GUEST = r"""
pid() { systemctl show -P MainPID modserd; }
workers() { pgrep -f 'modserd-worker --name' | tr '\n' ' '; }
until_gone() { while kill -0 $1 2>/dev/null && ! grep -q '^State:.Z' /proc/$1/status; do sleep 0.02; done; }
systemd-sysusers
mkdir -p /etc/modserd /run/systemd/system/modserd.service.d
cp /usr/local/etc/modserd/modserd.conf /etc/modserd/
echo 'keep-workers = yes' >>/etc/modserd/modserd.conf
cp /usr/local/share/modserd/drop-ins/keep-workers.conf /run/systemd/system/modserd.service.d/
systemctl daemon-reload
says start 'systemctl start modserd.socket modserd.service && systemctl is-active modserd modserd-workers'
says load 'modser load --keep --workers 2 kept /given/zoo/results.so | head -n 1'
was=$(workers)
says stored 'systemctl show -P NFileDescriptorStore modserd'
says restarts '@RESTARTS@'
main=$(pid); kill -KILL $main; until [ "$(pid)" != $main ] && systemctl -q is-active modserd; do sleep 0.02; done
says killed 'modser --connect-timeout 60s call kept:int; [ "$(workers)" = "$was" ] && echo same'
says faults 'modser load --keep faults /given/zoo/faults.so | head -n 1'
modser call faults:loop >/dev/null 2>&1 &
says leaves 'modser load bad /given/zoo/leaves.so | head -n 1; modser call bad:many'
all=$(workers)
group=$(modser info | sed -n 's/^control_group.path\t//p')
says group 'echo $group'
if [ "$group" ]; then
  until [ $(cat $group/worker-*/cgroup.procs | wc -l) -gt 20 ]; do sleep 0.02; done
  all="$all $(cat $group/worker-*/cgroup.procs)"
fi
says stop 'systemctl stop modserd.socket modserd.service; systemctl is-active modserd'
for p in $all; do until_gone $p; done
says gone 'workers; echo none'
says again 'systemctl start modserd.socket modserd.service; modser --connect-timeout 60s call kept:int; [ "$(workers)" != "$was" ] && echo others'
"""


SAID = [
    ("start", "active active"),
    ("load", "name\tkept"),
    ("stored", "9"),
    ("killed", "-42 same"),
    ("faults", "name\tfaults"),
    ("leaves", "name\tbad"),
    ("stop", "inactive"),
    ("gone", "none"),
    ("again", "-42 others"),
]


def given(folder, python, most_ms):
    """The guest's script; what it needs is then in the folder zoo of @folder."""
    (folder / "zoo").mkdir()
    for name in ("results", "faults", "leaves"):
        shutil.copy(harness.ZOO / f"{name}.so", folder / "zoo")
    shutil.copy(pathlib.Path(__file__).with_name("restarts.py"), folder / "zoo")
    command = shlex.join([str(python), "/given/zoo/restarts.py", str(RESTARTS), str(most_ms)])
    return GUEST.replace("@RESTARTS@", command)


@pytest.fixture(scope="module")
def said_by(tmp_path_factory):
    guest.skip_unless_bootable()
    folder = tmp_path_factory.mktemp("guest")
    script = given(folder, sys.executable, MOST_MS)
    return guest.results(harness.BUILD, script, folder, folder / "zoo")


@pytest.mark.parametrize("what, said", SAID)
def test_under_a_real_systemd(said_by, what, said):
    assert said_by[what] == said


def test_restarts_under_load(said_by):
    assert said_by["restarts"].startswith(f"same {RESTARTS} refused 0 in time"), said_by["restarts"]
