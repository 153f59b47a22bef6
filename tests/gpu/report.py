"""All rows, one after another, and the report of them."""
import platform
import shutil
import subprocess
import time

import rows_costs
import rows_launches
import rows_values
from runner import Runner, Skip, Wrong

ROWS = rows_values.ROWS + rows_launches.ROWS + rows_costs.ROWS
VERDICTS = ("ok", "skipped", "FAILED")


def row(r, what, expected, check):
    begin = time.monotonic()
    try:
        verdict, got = "ok", str(check(r))
    except Skip as why:
        verdict, got = "skipped", str(why)
    except (Wrong, OSError, KeyError, ValueError, subprocess.SubprocessError) as why:
        verdict, got = "FAILED", f"{type(why).__name__}: {why}"
    took = time.monotonic() - begin
    print(f"{verdict:8} {took:7.2f} s  {what}: {got.splitlines()[0] if got else ''}", flush=True)
    return what, expected, verdict, got.replace("\n", "; ").replace("|", "/"), took


def violations(r):
    """What the stand-in found wrong with the calls that it got."""
    log = r.at / "driver.log"
    lines = log.read_text().splitlines()
    found = [line for line in lines if line.startswith("violation")]
    if "cuLaunchKernelEx" not in lines:
        raise Wrong("the workers' calls are not in its log")
    if found:
        raise Wrong(f"{len(found)}: {found[0]}")
    return "none"


def run(here, report, stand_in):
    """The exit status."""
    r = Runner(here, stand_in)
    begin = time.monotonic()
    rows = []
    try:
        r.start()
        for what, expected, check in ROWS:
            rows.append(row(r, what, expected, check))
            if check is rows_values.sandbox and rows[-1][2] == "FAILED":
                r.sandbox = "trusted"  # the others are about the driver
                r.start()
        if stand_in:
            rows.append(row(r, "calls that a driver would not take", "none", violations))
    finally:
        r.stop()
        shutil.rmtree(r.at, ignore_errors=True)
    counts = ", ".join(f"{sum(x[2] == v for x in rows)} {v}" for v in VERDICTS)
    lines = [f"# A run on {'the stand-in driver' if stand_in else 'a GPU'}", "",
             f"{platform.platform()}, {time.monotonic() - begin:.0f} s: {counts}", "",
             "| what | expected | verdict | got | s |", "|---|---|---|---|---|"]
    lines += [f"| {w} | {e} | {v} | {g} | {t:.2f} |" for w, e, v, g, t in rows]
    with open(report, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{report}: {counts}", flush=True)
    return 1 if any(x[2] == "FAILED" for x in rows) else 0
