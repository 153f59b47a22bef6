#!/usr/bin/env python3
"""sentences.py ROOT: comments and documents are written in plain English (CONTRIBUTING.md).

Counts sentences of comments in the product's C that begin with a relative or interrogative pronoun,
odd pronouns in comments and documents, and lines of documents over 100 columns outside tables, code
blocks and links. MOST is what there is: it may fall, and never rises.
"""
import pathlib
import re
import sys

MOST = {"pronoun": 14, "odd": 6, "wide": 2}
WIDTH = 100
PRODUCT = "proto artifact pack graph store runtime daemon client".split()
PRONOUN = re.compile(
    r"(\* )?(what|who|whose|whoever|whom|those (that|who)|that which|"
    r"of (one|those|them|these|it|what|who|a|an|the|each|several|all|many|some))\b", re.I)
ODD = re.compile(r"\b(nobody|somebody|whoever|whom|likewise|aside)\b", re.I)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
WORDS = 4  # what has fewer is no sentence


def sentences(text):
    """(line, sentence) of each comment of C sources."""
    for m in COMMENT.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        said = re.sub(r"\n\s*\*?", " ", m.group()[2:-2])
        for sentence in re.split(r"(?<=[.:;])\s+", said):
            yield line, sentence.strip()


def of_source(text):
    for line, sentence in sentences(text):
        for word in ODD.findall(sentence):
            yield "odd", line, word
        if len(sentence.split()) >= WORDS and PRONOUN.match(sentence):
            yield "pronoun", line, sentence[:60]


def of_document(text):
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        for word in ODD.findall(line):
            yield "odd", number, word
        if line.startswith("```"):
            is_code = not is_code
        elif (not is_code and len(line) > WIDTH and not line.startswith(("|", "    "))
              and "](" not in line):
            yield "wide", number, f"{len(line)} columns"


def faults(root):
    for room in PRODUCT:
        for path in sorted((root / room).rglob("*.[ch]")):
            for kind, line, text in of_source(path.read_text(errors="replace")):
                yield kind, f"{path.relative_to(root)}:{line}: {text}"
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if parts[0].startswith((".", "build")):
            continue
        for kind, line, text in of_document(path.read_text(errors="replace")):
            yield kind, f"{path.relative_to(root)}:{line}: {text}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = {kind: [] for kind in MOST}
    for kind, text in faults(root):
        found[kind].append(text)
    for kind, texts in found.items():
        if len(texts) > MOST[kind]:
            print("\n".join(f"{text} [{kind}]" for text in texts))
    said = ", ".join(f"{len(found[kind])} {kind} (at most {MOST[kind]})" for kind in MOST)
    print(f"sentences: {said}")
    sys.exit(any(len(found[kind]) > MOST[kind] for kind in MOST))


main()
