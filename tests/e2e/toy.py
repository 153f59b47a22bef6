"""Builds plugins/toy.c as others do, with copies of the two installed headers alone."""
import subprocess

import harness

SOURCE = harness.ROOT / "tests" / "e2e" / "plugins" / "toy.c"


def build(home, what=""):
    """The plugin, or one that makes the mistake @what or knows it, in the folder @home."""
    path = home / f"toy{what}.so"
    if path.exists():
        return path
    headers = home / "include"
    headers.mkdir(exist_ok=True)
    for name in ("modser_graph.h", "modserd_plugin.h"):
        (headers / name).write_text((harness.ROOT / "graph" / name).read_text())
    flag = [f"-DTOY_{what}"] if what else []
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", headers, *flag, SOURCE, "-o", path],
                   check=True)
    return path
