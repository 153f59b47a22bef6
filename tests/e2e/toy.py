"""Builds plugins/toy.c and other plugins as others do, with copies of the two installed headers
alone."""
import subprocess

import harness

SOURCE = harness.ROOT / "tests" / "e2e" / "plugins" / "toy.c"


def compile_plugin(source, path, headers, *flags):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", headers, *flags, source, "-o", path],
                   check=True)
    return path


def build_other(home, name):
    """The plugin of plugins/@name.c in the folder @home."""
    return compile_plugin(SOURCE.parent / f"{name}.c", home / f"{name}.so", harness.ROOT / "graph")


def build(home, what="", is_earlier=False):
    """The plugin, or one that makes the mistake @what or knows it, in the folder @home; with
    @is_earlier from the header before it had packed functions, which has a shorter modserd_host."""
    path = home / f"toy{what}{'-earlier' if is_earlier else ''}.so"
    if path.exists():
        return path
    headers = home / ("earlier" if is_earlier else "include")
    headers.mkdir(exist_ok=True)
    earlier = SOURCE.parent / "modserd_plugin_5.h"
    for name in ("modser_graph.h", "modserd_plugin.h"):
        (headers / name).write_text((harness.ROOT / "graph" / name).read_text())
    if is_earlier:
        (headers / "modserd_plugin.h").write_text(earlier.read_text())
    return compile_plugin(SOURCE, path, headers, *([f"-DTOY_{what}"] if what else []))
