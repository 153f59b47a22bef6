"""All rows, one after another, and the report of them."""
import pathlib
import platform
import shutil
import time

import rows_costs
import rows_launches
import rows_opencl
import rows_rpc
import rows_values
from runner import Runner, Skip, Wrong

ROWS = rows_values.ROWS + rows_launches.ROWS + rows_costs.ROWS + rows_opencl.ROWS + rows_rpc.ROWS
VERDICTS = ("ok", "skipped", "FAILED")


def row(r, what, expected, check):
    begin = time.monotonic()
    try:
        verdict, got = "ok", str(check(r))
    except Skip as why:
        verdict, got = "skipped", str(why)
    except Exception as why:  # a row that breaks is one line of the report, not its end
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


def write(report, stand_in, rows, seconds):
    """The table, and how many rows had which verdict."""
    counts = ", ".join(f"{sum(x[2] == v for x in rows)} {v}" for v in VERDICTS)
    lines = [f"# A run on {'the stand-in driver' if stand_in else 'a GPU'}", "",
             f"{platform.platform()}, {seconds:.0f} s: {counts}", "",
             "| what | expected | verdict | got | s |", "|---|---|---|---|---|"]
    lines += [f"| {w} | {e} | {v} | {g} | {t:.2f} |" for w, e, v, g, t in rows]
    report.write_text("\n".join(lines) + "\n")
    return counts


def run(here, report, stand_in):
    """The exit status. Whatever ends the run, the report has the rows until then; the daemon's
    log lies beside it."""
    r = Runner(here, stand_in)
    report = pathlib.Path(report)
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
        counts = write(report, stand_in, rows, time.monotonic() - begin)
        shutil.copyfile(r.at / "daemon.log", report.with_suffix(".log"))
        r.stop()
        shutil.rmtree(r.at, ignore_errors=True)
    print(f"{report}: {counts}", flush=True)
    return 1 if any(x[2] == "FAILED" for x in rows) else 0
