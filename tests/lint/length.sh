#!/usr/bin/env bash
# length.sh ROOT: no source file over 600 lines; those over 400 are named; a .c of more than 150,
# tests apart, begins with what it is for, or its header tells its happy path.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
source "$(dirname "$0")/files.sh"
cd "$1"
mapfile -t files < <(own_files . '*.c' '*.h' '*.py' '*.sh')
((${#files[@]})) || { echo "length: no files found below $1"; exit 1; }
wc -l "${files[@]}" | awk '
  $2 == "total" && NF == 2 { next }
  $1 > 600 { print "length: " $2 " has " $1 " lines; 600 is the most"; bad = 1; next }
  $1 > 400 { print "length: warning: " $2 " has " $1 " lines; aim below 400" }
  END { exit bad }'
bad=0
mapfile -t rooms < <(printf '%s\n' "${files[@]}" | grep '\.c$' | grep -v '^tests/' || true)
for file in "${rooms[@]}"; do
  (($(wc -l <"$file") <= 150)) && continue
  [[ $(grep -vm1 -e '^#include' -e '^$' "$file") == /\** ]] && continue
  grep -qs 'Happy path' "${file%.c}.h" && continue
  echo "length: $file has more than 150 lines and does not begin with what it is for"
  bad=1
done
echo "length: ${#files[@]} files"
exit "$bad"
