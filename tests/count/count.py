#!/usr/bin/env python3
"""count.py BUILD MOST [--http]: a call costs no more user instructions than MOST says.

Counted by bench/instructions, of a Release build by gcc, so that it gates: a count does not
depend on how busy the machine is. How many frames share a read with 128 calls in flight does
a little, and a stranger's turn of the processor can only make that fewer; hence the least of
a few counts is compared.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
COUNTS = 3


def read(rows):
    """{what was counted: instructions a call}"""
    return {tuple(f"{k} {v}" for k, v in row.items() if k != "instructions"): row["instructions"]
            for row in rows}


def count(build, words):
    with tempfile.TemporaryDirectory(prefix="modserd-count-") as folder:
        file = pathlib.Path(folder) / "counts.json"
        subprocess.run([sys.executable, ROOT / "bench/instructions", "--build", build,
                        "--calls", "2000", "--json", file, *words], check=True)
        return read(json.loads(file.read_text()))


def main():
    build, words = sys.argv[1], sys.argv[3:]
    most = json.loads(pathlib.Path(sys.argv[2]).read_text())
    if shutil.which("valgrind") is None:
        print("skipped: instructions a call: valgrind is not there (Debian package valgrind)")
        return SKIPPED
    limits = read(row for row in most if words or "http" not in row)
    least = {}
    for _ in range(COUNTS):
        least = {at: min(n, least.get(at, n)) for at, n in count(build, words).items()}
        assert least.keys() == limits.keys(), f"{sys.argv[2]} has other rows"
        over = [f"{', '.join(what)}: {least[what]}, at most {n}"
                for what, n in limits.items() if least[what] > n]
        if not over:
            return 0
    print("more instructions a call than tests/count/most.json has:", *over, sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
