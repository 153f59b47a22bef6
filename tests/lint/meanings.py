#!/usr/bin/env python3
"""meanings.py BUILD RET: BUILD's compile_commands.json, each source once for each meaning.

A source that several libraries have is compiled several times, and would be looked at as often.
What can give it another meaning is a macro that is defined for it; not whether its code may be
moved, nor the macro by which CMake says that a shared library is made.
"""
import json
import pathlib
import shlex
import sys


def meaning(entry):
    words = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    return entry["file"], frozenset(w for w in words
                                    if w.startswith("-D") and not w.endswith("_EXPORTS"))


def main():
    build, ret = map(pathlib.Path, sys.argv[1:])
    once = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        once.setdefault(meaning(entry), entry)
    ret.write_text(json.dumps(list(once.values())))


main()
