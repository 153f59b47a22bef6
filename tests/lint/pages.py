#!/usr/bin/env python3
"""pages.py ROOT: docs/README.md lists each page of docs/, and pages for users stay short.

A page of start, how-to, reference and explanation, and of measurements, has at most WORDS words. Longer pages are mostly
tables; LONGER names them, and a page that has become shorter leaves it.
"""
import pathlib
import re
import sys

WORDS = 1200
PARTS = ("start", "how-to", "reference", "explanation", "internals/benchmarks")
LONGER = {"how-to/troubleshooting.md", "reference/operators.md", "reference/options.md",
          "reference/parameters.md", "reference/static-graph.md",
          "reference/sandbox.md", "reference/tvm-releases.md"}


def complaints(docs):
    contents = set(re.findall(r"\]\(([^)#]+)\)", (docs / "README.md").read_text()))
    for page in sorted(docs.rglob("*.md")):
        name = page.relative_to(docs).as_posix()
        n_words = len(page.read_text().split())
        if name != "README.md" and name not in contents:
            yield f"docs/README.md does not list {name}"
        if name.startswith(PARTS) and (n_words > WORDS) != (name in LONGER):
            yield f"docs/{name}: {n_words} words; {WORDS} are enough, or LONGER names the page"


def main():
    docs = pathlib.Path(sys.argv[1]).resolve() / "docs"
    bad = list(complaints(docs))
    print("\n".join(bad + [f"pages: {len(bad)} faults"]))
    sys.exit(bool(bad))


main()
