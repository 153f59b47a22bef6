#!/usr/bin/env python3
"""links.py ROOT: each link in a document leads to a file or a folder, and to a heading of it.

Headings are named as GitHub names them: small letters, hyphens for spaces, no punctuation.
"""
import functools
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.S | re.M)
BLOCK = re.compile(r"^```.*?^```", re.S | re.M)
HEADING = re.compile(r"^#+ +(.+?) *$", re.M)


@functools.lru_cache(None)
def anchors(path):
    headings = HEADING.findall(BLOCK.sub("", path.read_text()))
    plain = (re.sub(r"\]\([^)]*\)", "", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def complaints(root, document):
    blank = lambda code: re.sub(r"[^\n]", " ", code.group())
    text = CODE.sub(blank, document.read_text())
    for m in LINK.finditer(text):
        path, _, heading = m[1].partition("#")
        if ":" in path:
            continue
        target = (document.parent / path).resolve() if path else document
        if not target.exists():
            why = "no such file"
        elif heading and heading not in anchors(target):
            why = "no such heading"
        else:
            continue
        yield f"{document.relative_to(root)}:{text.count(chr(10), 0, m.start()) + 1}: {m[1]}: {why}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=False).stdout.splitlines()
    documents = [root / n for n in listed] or sorted(root.rglob("*.md"))
    documents = [d for d in documents if d.is_file()]
    bad = [text for d in documents for text in complaints(root, d)]
    print("\n".join(bad + [f"links: {len(documents)} documents, {len(bad)} faults"]))
    sys.exit(bool(bad) or not documents)


main()
