"""The examples of a fleet on engines that take their time: etcd, and Ray Serve. Ray is not among what
scripts/setup installs: MSD_RAY_PYTHON names a Python that has ray[serve], numpy and msgpack."""
import importlib.util
import os
import shutil
import sys

import harness
import pytest

EXAMPLES = harness.ROOT / "examples/fleet"
RAY_PYTHON = os.environ.get("MSD_RAY_PYTHON") or (
    sys.executable if importlib.util.find_spec("ray") else None)


@pytest.mark.skipif(not all(map(shutil.which, ["haproxy", "etcd", "etcdctl"])),
                    reason="no haproxy or no etcd: no daemon announces itself")
def test_daemons_come_and_go_by_etcd_and_get_other_bytes_in_two_phases():
    more = {"BIN": str(harness.BIN), "LOAD": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    done = harness.run(EXAMPLES / "etcd/run", harness.ZOO / "results.so", "int",
                       env=harness.environment() | more, timeout=4 * harness.PATIENCE)
    assert done.status == 0 and " failed, all when one was killed\n" in done.out, done
    assert "called two, too: its unit says so, and callers go to the first" in done.out, done
    assert "the first has ended, and the second has the name" in done.out, done
    assert "NOT_VERIFIED" in done.out and "50 percent: 1 of 2 serve it" in done.out, done


@pytest.mark.skipif(not RAY_PYTHON, reason="no ray in this Python and no MSD_RAY_PYTHON: Ray Serve is not run")
def test_replicas_of_ray_serve_each_have_a_daemon(models):
    more = {"BIN": str(harness.BIN), "PYTHONDONTWRITEBYTECODE": "1"}
    done = harness.run(RAY_PYTHON, EXAMPLES / "ray/run", models / "mlp.so", "main", "16",
                       env=harness.environment() | more, timeout=4 * harness.PATIENCE)
    assert done.status == 0 and "each the answer that it gets alone: True" in done.out, done
    assert "one of another shape among them fails alone: True" in done.out, done
    assert "scaled by Ray: 1 daemon, 2 under load, 1 after it" in done.out, done
    assert "two replicas, 2 daemons" in done.out and "another replica: True" in done.out, done
