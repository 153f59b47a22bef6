#!/usr/bin/env python3
"""texts.py ROOT DOCUMENT...: each error that a document explains is one that a program has.

What is looked for stands in backticks in the first cell of tables whose first column is called
"text". An ellipsis stands for names and numbers; what is between must come in this order within
one string of the sources, whose formats count as ellipses.
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\\n]|\\.)*")*')
FORMAT = re.compile(r"%(?:\.\*|\.?\d+)?[-0-9.]*(?:ll|z|l|j)?[a-zA-Z]|\$\{\w+\}|\{\w+[^}]*\}")
SOURCES = ("*.[ch]", "*.py", "*.cmake")
TOPS = ("proto", "artifact", "pack", "graph", "store", "runtime", "daemon", "client", "cmake")


def strings_of(root):
    """Every text that the programs can say, each once."""
    found = set()
    for top in TOPS:
        for pattern in SOURCES:
            for path in (root / top).rglob(pattern):
                for literal in LITERAL.findall(path.read_text(errors="replace")):
                    joined = re.sub(r'"\s*(?:PRI\w+\s*)?"', "", literal)[1:-1]
                    found.add(FORMAT.sub("\u2026", joined.replace('\\"', '"')))
    return found


def explained(text):
    """The texts in the first cells of the tables that explain texts, with their lines."""
    is_ours = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            is_ours = False
        elif line.startswith("| text |"):
            is_ours = True
        elif is_ours:
            for code in re.findall(r"`([^`]+)`", line.split("|")[1]):
                yield number, code


def is_said(code, strings):
    pieces = [re.escape(piece) for piece in code.split("\u2026") if piece.strip()]
    wanted = re.compile(".*".join(pieces), re.S)
    return any(wanted.search(text) for text in strings)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    strings, wrong, seen = strings_of(root), [], 0
    for document in sys.argv[2:]:
        for number, code in explained((root / document).read_text()):
            seen += 1
            if not is_said(code, strings):
                wrong.append(f"{document}:{number}: no program says: {code}")
    if not seen:
        wrong.append("the documents explain nothing")
    print("\n".join(wrong) if wrong else f"{seen} texts are said")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
