"""The units, under a real systemd: booted by systemd-nspawn (nspawn.sh), which needs root; and
by systemd-analyze alone, which needs nothing."""
import os
import shutil
import subprocess

import guest
import harness
import pytest

RESULTS = harness.ZOO / "results.so"
LEAVES = harness.ZOO / "leaves.so"

GUEST = r"""
pid() { systemctl show -P MainPID modserd; }
until_other() { until [ "$(pid)" != "$1" ] && systemctl -q is-active modserd; do sleep 0.02; done; }
call() { modser --connect-timeout 60s call kept:int; }
systemd-sysusers
mkdir -p /etc/modserd && cp /usr/local/etc/modserd/modserd.conf /etc/modserd/
useradd -M -G modserd member && useradd -M stranger
systemctl daemon-reload
says start 'systemctl start modserd.service && systemctl is-active modserd'
says status 'systemctl show -P StatusText modserd'
says user 'ps -o user= -p $(pid)'
says load 'modser load --keep kept /given/zoo/results.so | head -n 1; call'
says journal 'journalctl --sync; journalctl -o cat --output-fields=MODSERD_MODULE MODSERD_EVENT=module_load MODSERD_MODULE=kept'
says member 'setpriv --reuid member --init-groups modser ping >/dev/null && echo answered'
says stranger 'setpriv --reuid stranger --init-groups modser ping; echo status $?'
group=$(modser info | sed -n 's/^control_group.path\t//p')
if [ "$group" ]; then
  worker_groups() { ls -d $group/worker-* | wc -l; }
  says group 'grep -o "modserd.service/supervisor$" /proc/$(pid)/cgroup; worker_groups'
  says sandbox 'nsenter -t $(pid) -m mkdir $group/../other 2>&1 | grep -o "Read-only file system"'
  says leaves 'modser load bad /given/zoo/leaves.so | head -n 1; modser call bad:many; modser call bad:deaf; worker_groups'
  until [ $(wc -l <$group/worker-2/cgroup.procs) = 22 ]; do sleep 0.02; done
  modser info | grep -q '^control_group.processes.*true' && says bomb 'modser call bad:bomb; modser info | grep max-worker-processes'
  says unloaded 'modser unload bad; until [ $(worker_groups) = 1 ]; do sleep 0.02; done; call'
fi
echo 'max-concurrent-uploads = 5' >>/etc/modserd/modserd.conf
says reload 'systemctl reload modserd && modser info | grep limits.max-concurrent-uploads'
says restart 'systemctl restart modserd && call'
mkdir -p /run/systemd/system/modserd.service.d
printf '[Service]\nWatchdogSec=5\n' >/run/systemd/system/modserd.service.d/test.conf
systemctl daemon-reload && systemctl restart modserd
was=$(pid); kill -STOP $was; until_other $was
rm /run/systemd/system/modserd.service.d/test.conf; systemctl daemon-reload
says hung 'call; [ $(systemctl show -P NRestarts modserd) -ge 1 ] && echo again; journalctl -u modserd | grep -om1 "Watchdog timeout"'
systemctl stop modserd
says socket 'systemctl start modserd.socket && systemctl is-active modserd; call; systemctl is-active modserd'
(while [ ! -e /stop ]; do modser --connect-timeout 60s ping; done) >/pings 2>&1 &
for i in 1 2 3 4 5; do systemctl restart modserd; done
was=$(pid); kill -KILL $was; until_other $was
until [ $(grep -c ok /pings) -ge 5 ]; do modser ping >/dev/null; done
touch /stop; wait
says refused 'grep -c "connect to" /pings'
says answered '[ $(grep -c ok /pings) -ge 5 ] && echo enough'
says wait 'systemctl start modserd-wait@kept.service && systemctl is-active modserd-wait@kept'
says stop 'systemctl stop modserd.service modserd.socket; systemctl is-failed modserd; ls /run/modserd'
"""


@pytest.fixture(scope="module")
def said_by(tmp_path_factory):
    guest.skip_unless_bootable()
    folder = tmp_path_factory.mktemp("guest")
    (folder / "zoo").mkdir()
    shutil.copy(RESULTS, folder / "zoo")
    shutil.copy(LEAVES, folder / "zoo")
    return guest.results(harness.BUILD, GUEST, folder, folder / "zoo")


@pytest.mark.parametrize(
    "what, said",
    [
        ("start", "active"),
        ("status", "0 modules, 0 connections"),
        ("user", "modserd"),
        ("load", "name\tkept -42"),
        ("journal", "kept"),
        ("member", "answered"),
        ("reload", "limits.max-concurrent-uploads\t5"),
        ("restart", "-42"),
        ("hung", "-42 again Watchdog timeout"),
        ("socket", "inactive -42 active"),
        ("refused", "0"),
        ("answered", "enough"),
        ("wait", "active"),
        ("stop", "inactive"),
    ],
)
def test_under_a_real_systemd(said_by, what, said):
    assert said_by[what] == said


@pytest.mark.parametrize(
    "what, said",
    [
        ("group", "modserd.service/supervisor 1"),
        ("sandbox", "Read-only file system"),
        ("leaves", "name\tbad 2"),
        ("unloaded", "-42"),
    ],
)
def test_workers_have_control_groups(said_by, what, said):
    if "group" not in said_by:
        pytest.skip("no unified hierarchy (cgroup v2) here: systemd delegates no group")
    assert said_by[what] == said


def test_a_fork_bomb_ends_at_its_worker(said_by):
    if "bomb" not in said_by:
        pytest.skip("the pids controller is in an old hierarchy here: no number is bounded")
    forked, _, most = said_by["bomb"].split()
    assert 22 < int(forked) < int(most)


def test_who_is_not_in_the_group_cannot_connect(said_by):
    assert said_by["stranger"].endswith("status 3")


@pytest.fixture
def units(folder):
    """Our units with programs that are there, as systemd-analyze wants them."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here: the units are not looked at")
    source = harness.ROOT / "systemd"
    for path in [*source.glob("modserd*.in"), *source.glob("modserd*.service"), source / "modserd.socket"]:
        text = path.read_text().replace("@MSD_BINDIR@", str(harness.BIN))
        name = path.name.removesuffix(".in").replace("@.", "@kept.")
        (folder / name).write_text(text)
    return folder


def analyze(*words):
    env = os.environ | {"LC_ALL": "C"}
    return subprocess.run(
        ["systemd-analyze", *map(str, words)], capture_output=True, text=True, env=env
    )


def test_the_units_have_no_unknown_words(units):
    said = analyze("--man=no", "verify", *units.iterdir())
    assert "modserd" not in said.stderr, said.stderr


@pytest.mark.parametrize("drop_in, most", [(None, 15), ("nvidia", 20), ("dri", 20), ("network", 20),
                                           ("keep-workers", 15)])
def test_the_sandbox_is_as_closed_as_promised(units, drop_in, most):
    if drop_in:
        (units / "modserd.service.d").mkdir()
        conf = harness.ROOT / "systemd" / "drop-ins" / f"{drop_in}.conf"
        shutil.copy(conf, units / "modserd.service.d")
    said = analyze("security", "--offline=true", f"--threshold={most}", units / "modserd.service")
    assert said.returncode == 0, said.stdout[-200:]
