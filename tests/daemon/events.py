#!/usr/bin/env python3
"""events.py: docs/reference/log-events.md has each event that the daemon logs, and no other."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/log-events.md"
# msd_log(level, event, ...), the audit's write_line(session, event, ...), the log's own line.
LOGGED = re.compile(r'(?:msd_log|write_line|begin_line)\((?:[^()"]|\([^()]*\))*,\s*"([a-z_-]+)"')


def logged():
    files = (ROOT / "daemon").rglob("*.c")
    return {event for path in files for event in LOGGED.findall(path.read_text())}


def described():
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.M)
    return [event for row in rows for event in re.findall(r"`([a-z_-]+)`", row)]


if __name__ == "__main__":
    ours, there = described(), logged()
    faults = [f"not logged: {event}" for event in ours if event not in there]
    faults += [f"not in {PAGE.name}: {event}" for event in sorted(there - set(ours))]
    faults += [f"twice: {event}" for event in sorted(set(ours)) if ours.count(event) > 1]
    print("\n".join(faults + [f"events: {len(ours)}, {len(faults)} faults"]))
    sys.exit(bool(faults))
