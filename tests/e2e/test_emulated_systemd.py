"""--keep-workers on Debian's own kernel, where control groups are unified: the workers' groups outlive the
daemon that made them, and the next one is put into the service's."""
import pathlib
import sys

import emulated_systemd
from test_systemd_keeps import RESTARTS, SAID, given

MOST_MS = 120_000  # emulated; how long it takes is measured elsewhere


def test_workers_outlive_restarts_where_all_controllers_are_unified(tmp_path):
    emulated_systemd.skip_unless_bootable()
    script = given(tmp_path, pathlib.Path(sys.executable).resolve(), MOST_MS)
    said = emulated_systemd.results(script, tmp_path, tmp_path / "zoo")
    assert said["group"] == "/sys/fs/cgroup/system.slice/modserd.service"
    assert {what: said.get(what) for what, _ in SAID} == dict(SAID)
    assert said["restarts"].startswith(f"same {RESTARTS} refused 0 in time"), said["restarts"]
