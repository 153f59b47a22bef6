# shellcheck shell=bash
# Sourced by the other scripts: where things are, and one line of output for each step.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${MODSERD_VENV:-$root/.venv}
jobs=${MODSERD_JOBS:-$(nproc)}
# Debian's own cmake when a Python environment shadows it with a broken wrapper.
cmake=$(command -v cmake || true)

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# quietly LOG COMMAND...: run it with its output in LOG, which is shown when it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "failed: $*" "the whole output is in $log"
  fi
}

# build DIR CMAKE-OPTION...: configure and build one tree.
build() {
  local dir=$1
  shift
  quietly "$dir/configure.log" "$cmake" -S "$root" -B "$dir" -G Ninja \
    -DMSD_PYTHON="$venv/bin/python" "$@"
  quietly "$dir/build.log" "$cmake" --build "$dir" -j "$jobs"
}
