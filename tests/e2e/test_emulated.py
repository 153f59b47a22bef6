"""Control groups as a service of Debian 12 has them, with every controller, on Debian's own kernel."""
import pathlib
import re
import shlex
import sys

import emulated
import harness

TESTS = pathlib.Path(__file__).parent
WANTED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "msgpack", "numpy")
COMMAND = """export HOME=/root MSD_BUILD={build} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={site}
exec {python} -m pytest -q -rs --color=no -p no:cacheprovider {test}
"""


def test_a_workers_limits_hold_where_all_controllers_are_unified(tmp_path):
    emulated.skip_unless_emulated()
    words = {
        "build": harness.BUILD,
        "site": next(p for p in sys.path if p.endswith("-packages")),
        "python": pathlib.Path(sys.executable).resolve(),
        "test": TESTS / "hostile" / "test_control_groups.py",
    }
    status, out = emulated.run(
        tmp_path, COMMAND.format(**{k: shlex.quote(str(v)) for k, v in words.items()}),
        WANTED, [TESTS, harness.BIN, harness.ZOO])
    assert status == 0, out
    assert re.search(r"^\d+ passed in", out, re.M), out  # and none skipped
