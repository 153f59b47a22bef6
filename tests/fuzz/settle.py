"""What the makers of corpora do with what they made."""
import pathlib
import sys


def settle(script, wanted, there=()):
    """Write @wanted, {path: bytes}, and remove what else is @there, paths; with --check say which
    files differ, and end with 1."""
    there = set(there)
    if "--check" in sys.argv[1:]:
        stale = sorted(f"{path.parent.name}/{path.name}" for path in there | wanted.keys()
                       if path not in wanted or not path.exists()
                       or path.read_bytes() != wanted[path])
        sys.exit(f"run tests/fuzz/{pathlib.Path(script).name} for: {' '.join(stale)}" if stale else 0)
    for path in there - wanted.keys():
        path.unlink()
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
