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

# alive LOG: say from time to time that the command which writes LOG is at work, until killed.
alive() {
  local never began=$SECONDS
  exec {never}<> <(:) # waiting by a process of its own would outlive this one
  while ! read -rt 20 -u "$never" && kill -0 $$ 2>/dev/null; do
    printf '   %d s: %.100s\n' $((SECONDS - began)) "$(tail -n 1 "$1" 2>/dev/null)"
  done
}

# watched LOG COMMAND...: run it with its output in LOG, and show that it lives.
watched() {
  local log=$1 status=0 beat
  shift
  alive "$log" &
  beat=$!
  "$@" >"$log" 2>&1 || status=$?
  kill "$beat" 2>/dev/null || true
  wait "$beat" 2>/dev/null || true
  return "$status"
}

# quietly LOG COMMAND...: the same; the output is shown when it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! watched "$log" "$@"; then
    tail -n 60 "$log" >&2
    die "failed: $*" "the whole output is in $log"
  fi
}

# build DIR CMAKE-OPTION...: configure and build one tree, all of it or the targets in `targets`.
targets=()
build() {
  local dir=$1
  shift
  quietly "$dir/configure.log" "$cmake" -S "$root" -B "$dir" -G Ninja \
    -DMSD_PYTHON="$venv/bin/python" "$@"
  quietly "$dir/build.log" "$cmake" --build "$dir" -j "$jobs" "${targets[@]/#/--target=}"
}
