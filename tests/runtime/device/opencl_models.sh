#!/usr/bin/env bash
# opencl_models.sh ROOT RUN_MODEL [PYTHON]: opencl_models.py in MODSERD_PYTHON, else in PYTHON,
# else in the source tree's virtual environment; exit 77 (skipped) without a Python that has TVM.
set -uo pipefail
python=${MODSERD_PYTHON:-${3:-$1/.venv/bin/python}}
if ! "$python" -c 'import tvm' 2>/dev/null; then
  echo "skip: opencl_models: no Python with apache-tvm at $python (MODSERD_PYTHON)"
  exit 77
fi
exec "$python" "$(dirname "$0")/opencl_models.py" "$2"
