"""A machine without power, and with it again: the store on its disk. More rounds: power_cut.py."""
import shutil

import emulated
import power_cut
import pytest

SEED = 20261123


def test_after_each_power_cut_it_serves_what_it_had_said_to_be_kept(tmp_path):
    emulated.skip_unless_emulated()
    if not shutil.which("mkfs.ext4"):
        pytest.skip("no mkfs.ext4 (package e2fsprogs): no disk")
    assert power_cut.cut(tmp_path, 4, SEED) > 0
