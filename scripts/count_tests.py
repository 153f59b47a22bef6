#!/usr/bin/env python3
"""Count single tests in ctest's JUnit reports; the last line is `N passed, N failed, N skipped`.

A ctest case is one process, which may hold many tests: the summaries of Criterion and pytest in
its output are counted instead of the case itself. Failures and skips are named before, and last
`FLAKY name` for each that failed and passed when it was run once more: what was run again stands in
again.xml beside the report.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

CRITERION = re.compile(
    r"Synthesis: Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)"
)
PYTEST = re.compile(r"^=* ?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.M)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def inside(output):
    """(passed, failed, skipped) that the output of one process reports, or None."""
    passed = failed = skipped = 0
    found = False
    for tested, good, bad, crashed in CRITERION.findall(output):
        found = True
        passed += int(good)
        failed += int(bad) + int(crashed)
    for line in PYTEST.findall(output):
        found = True
        counts = {word: int(n) for n, word in re.findall(r"(\d+) ([a-z]+)", line)}
        passed += counts.get("passed", 0)
        failed += counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
        skipped += counts.get("skipped", 0)
    return (passed, failed, skipped) if found else None


def cases(path):
    """(case, whether it failed before) of the report; those that were run again as they ended then."""
    second = pathlib.Path(path).with_name("again.xml")
    again = {}
    if second.exists():
        again = {c.get("name"): c for c in xml.parse(second).getroot().iter("testcase")}
    for case in xml.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        yield again.get(name, case), name in again


def count(path, flaky):
    total = [0, 0, 0]
    for case, is_second in cases(path):
        output = COLOUR.sub("", case.findtext("system-out") or "")
        name = f"{path.split('/')[-2]}: {case.get('name')}"
        status = case.get("status")
        if status in ("notrun", "disabled") or case.find("skipped") is not None:
            print(f"skipped: {name}")
            total[2] += 1
            continue
        passed, failed, skipped = inside(output) or (0, 0, 0)
        ok = case.find("failure") is None and status != "fail"
        if not ok and not failed:
            failed = 1  # the process failed apart from its tests
        elif ok and not passed + failed + skipped:
            passed = 1
        if not ok:
            print(f"FAILED: {name}")
        elif is_second:
            flaky.append(case.get("name"))
        for line in re.findall(r"^(?:SKIPPED|skip(?:ped)?:).*", output, re.M):
            print(f"{name}: {line}")
        total = [a + b for a, b in zip(total, (passed, failed, skipped))]
    return total


def main():
    total, flaky = [0, 0, 0], []
    for path in sys.argv[1:]:
        try:
            total = [a + b for a, b in zip(total, count(path, flaky))]
        except (OSError, xml.ParseError) as error:
            print(f"FAILED: no report {path}: {error}")
            total[1] += 1
    for name in flaky:
        print(f"FLAKY {name}")
    print("{} passed, {} failed, {} skipped".format(*total))
    sys.exit(total[1] > 0 or total[0] == 0)


if __name__ == "__main__":
    main()
