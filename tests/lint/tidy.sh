#!/usr/bin/env bash
# tidy.sh ROOT BUILD [FILE...]: clang-tidy over the project's own sources in BUILD's
# compile_commands.json, or over those FILEs (headers are looked at with the sources that
# include them). A file that passed is not looked at again until it, a
# header or the configuration changes: what passed is remembered in BUILD/tidy.
# MODSERD_TIDY_NODES is the analyzer's effort per function: 10,000 by default, which takes two
# fifths of the time of 50,000, the effort of the slow tests.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
source "$(dirname "$0")/files.sh"
root=$(cd "$1" && pwd -P)
build=$(cd "$2" && pwd -P)
shift 2
files=()
for f in "$@"; do
  [[ $f == *.h ]] || files+=("$f")
done
if ((!$#)); then
  mapfile -t files < <(cd "$root" && own_files . '*.c' |
    while read -r f; do
      if grep -qF "\"$root/$f\"" "$build/compile_commands.json"; then printf '%s\n' "$f"; fi
    done)
fi
((${#files[@]})) || { echo "tidy: no files of $root in $build/compile_commands.json"; exit 1; }
mkdir -p "$build/tidy/once"
"$(dirname "$0")/meanings.py" "$build" "$build/tidy/once/compile_commands.json"
nodes=${MODSERD_TIDY_NODES:-10000}
common=$(cd "$root" && { echo "$nodes"; own_files . '*.h' | xargs -r cat; own_files . '*.clang-tidy' | xargs cat; } | sha256sum)

check() {
  local root=$1 build=$2 common=$3 file=$4 key output model=() less
  read -ra less <<<"$effort"
  if [[ -e $root/tests/lint/tidy_model.h && $file =~ ^(proto|artifact|pack|graph|store|runtime|daemon|client)/ &&
    ! $file =~ ^(proto/(diag|scan)|runtime/value/error)[.]c$ ]]; then
    model=("--extra-arg=-include$root/tests/lint/tidy_model.h")
  fi
  key=$({ echo "$common $file"; cat "$root/$file"; } | sha256sum | cut -c1-32)
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
printf '%s\0' "${files[@]}" |
  xargs -0 -P "${MODSERD_JOBS:-$(nproc)}" -I{} bash -c 'check "$@"' _ "$root" "$build" "$common" {} ||
  { echo "tidy: see above"; exit 1; }
echo "tidy: ${#files[@]} files"
