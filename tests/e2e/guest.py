"""A booted systemd for tests: nspawn.sh runs a script in it, which says `name: result`."""
import os
import pathlib
import shutil

import harness
import pytest

RIG = pathlib.Path(__file__).with_name("nspawn.sh")
# `says NAME COMMAND`: what the command prints, on one line.
SAYS = r"""says() { echo "$1: $(eval "$2" 2>&1 | tr '\n' ' ')"; }
"""


def skip_unless_bootable():
    if harness.SANITIZED:
        pytest.skip("a sanitizer needs calls that the unit's sandbox refuses")
    if os.geteuid() != 0:
        pytest.skip("not root: no systemd is booted")
    if not shutil.which("systemd-nspawn") or not shutil.which("unshare"):
        pytest.skip("no systemd-nspawn (package systemd-container): no systemd is booted")


def results(build, script, tmp_path, *folders):
    """What a booted system said, by name; @folders are in its /given."""
    path = tmp_path / "script"
    path.write_text(SAYS + script)
    said = harness.run(RIG, build, path, *folders)
    if said.status != 0 and "Operation not permitted" in said.err + said.out:
        pytest.skip(f"systemd-nspawn is not allowed here: {said.err.strip()}")
    assert said.status == 0, said
    print(said.out)
    pairs = [line.partition(": ") for line in said.out.splitlines()]
    return {name: result.strip() for name, _, result in pairs}
