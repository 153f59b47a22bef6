#!/usr/bin/env python3
"""count.py BUILD MOST: a trivial call costs no more user instructions than MOST says.

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


def count(build):
    """{(process, in flight): instructions a call}"""
    with tempfile.TemporaryDirectory(prefix="modserd-count-") as folder:
        file = pathlib.Path(folder) / "counts.json"
        subprocess.run([sys.executable, ROOT / "bench/instructions", "--build", build,
                        "--calls", "2000", "--json", file], check=True)
        return {(row["process"], row["in_flight"]): row["instructions"]
                for row in json.loads(file.read_text())}


def main():
    build, most = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text())
    if shutil.which("valgrind") is None:
        print("skipped: instructions a call: valgrind is not there (Debian package valgrind)")
        return SKIPPED
    limits = {(row["process"], row["in_flight"]): row["instructions"] for row in most}
    least = {}
    for _ in range(COUNTS):
        least = {at: min(n, least.get(at, n)) for at, n in count(build).items()}
        assert least.keys() == limits.keys(), f"{sys.argv[2]} has other rows"
        over = [f"{process}, {depth} in flight: {least[process, depth]}, at most {n}"
                for (process, depth), n in limits.items() if least[process, depth] > n]
        if not over:
            return 0
    print("more instructions a call than tests/count/most.json has:", *over, sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
