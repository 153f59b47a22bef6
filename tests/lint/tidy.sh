#!/usr/bin/env bash
# tidy.sh ROOT BUILD [--differing | FILE...]: clang-tidy over the project's own sources in BUILD's
# compile_commands.json, over those that differ from what was checked last (differing.py), or over
# FILEs. Headers are looked at with the sources that include them. A file that passed is not looked
# at again until it, a header that it includes or the configuration changes: BUILD/tidy remembers
# what passed.
# MODSERD_TIDY_NODES is the analyzer's effort per function: 10,000 by default, which takes two
# fifths of the time of 50,000, the effort of `scripts/test nightly`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd -P)
build=$(cd "$2" && pwd -P)
shift 2
nodes=${MODSERD_TIDY_NODES:-10000}
list=$("$here/tidy_files.py" "$root" "$build" "$nodes" "$@")
mkdir -p "$build/tidy/once"
"$here/meanings.py" "$build" "$build/tidy/once/compile_commands.json"

check() {
  local root=$1 build=$2 key=${3% *} file=${3#* } output model=() less
  read -ra less <<<"$effort"
  if [[ -e $root/tests/lint/tidy_model.h && $file =~ ^(proto|artifact|pack|graph|store|runtime|daemon|client)/ &&
    ! $file =~ ^(proto/(base/diag|scan)|runtime/value/error)[.]c$ ]]; then
    model=("--extra-arg=-include$root/tests/lint/tidy_model.h")
  fi
  [[ -e $build/tidy/$key ]] && return
  if output=$(cd "$root" && clang-tidy --quiet -p "$build/tidy/once" \
    --extra-arg=-Wno-unknown-warning-option "${less[@]}" "${model[@]}" "$file" 2>/dev/null); then
    : >"$build/tidy/$key"
  else
    printf '%s\n' "$output"
    return 1
  fi
}
effort=$(printf -- '--extra-arg=%s ' -Xclang -analyzer-config -Xclang "max-nodes=$nodes")
export effort
export -f check
printf '%s' "$list" |
  xargs -r -d '\n' -P "${MODSERD_JOBS:-$(nproc)}" -I{} bash -c 'check "$@"' _ "$root" "$build" {} ||
  { echo "tidy: see above"; exit 1; }
echo "tidy: $(printf '%s' "$list" | grep -c '') files"
