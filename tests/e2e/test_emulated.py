"""Control groups as a service of Debian 12 has them, with every controller, and the sandbox of
modules, on Debian's own kernel."""
import pathlib
import re
import shlex
import sys

import emulated
import harness

TESTS = pathlib.Path(__file__).parent
WANTED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "msgpack", "numpy")
# Linux has 127.0.0.1 there as soon as it is up.
LOOPBACK = """import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 73))
"""
COMMAND = """export HOME=/root MSD_BUILD={build} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={site}
{python} -c {loopback}
exec {python} -m pytest -q -rs --color=no -p no:cacheprovider {test}
"""


def run(tmp_path, test, *more):
    """What pytest said of this test there. @more: what it needs beside the programs."""
    emulated.skip_unless_emulated()
    words = {
        "build": harness.BUILD,
        "site": next(p for p in sys.path if p.endswith("-packages")),
        "python": pathlib.Path(sys.executable).resolve(),
        "test": TESTS / "hostile" / test,
        "loopback": LOOPBACK,
    }
    status, out = emulated.run(
        tmp_path, COMMAND.format(**{k: shlex.quote(str(v)) for k, v in words.items()}),
        WANTED, [TESTS, harness.BIN, harness.ZOO, *more])
    assert status == 0, out
    return out


def test_a_workers_limits_hold_where_all_controllers_are_unified(tmp_path):
    out = run(tmp_path, "test_control_groups.py")
    assert re.search(r"^\d+ passed in", out, re.M), out  # and none skipped


def test_the_sandbox_holds_on_the_oldest_kernel(tmp_path):
    """Its Landlock cannot keep files from being cut off; all else of the table it refuses, and
    who connects is known without SO_PEERPIDFD."""
    out = run(tmp_path, "test_sandbox.py", harness.ROOT / "docs", harness.ROOT / "tests/modules")
    assert re.search(r"^\d+ passed", out, re.M), out
    skipped = re.findall(r"^SKIPPED .*?: (.*)$", out, re.M)
    assert set(skipped) <= {"this kernel's Landlock knows nothing of cutting off",
                            "no libseccomp.so.2: a kernel without its parts is not tried"}, out
