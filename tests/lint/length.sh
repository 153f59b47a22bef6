#!/usr/bin/env bash
# length.sh ROOT: no source file has more than 600 lines, and files over 500 are named. Headers are
# exempt: one public header may describe a whole interface. A .c of more than 150 lines, except in
# tests, begins with its purpose, or its header tells its happy path.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
source "$(dirname "$0")/files.sh"
cd "$1"
mapfile -t files < <(own_files . '*.c' '*.h' '*.py' '*.sh')
((${#files[@]})) || { echo "length: no files found below $1"; exit 1; }
printf '%s\n' "${files[@]}" | grep -v '\.h$' | xargs wc -l | awk '
  $2 == "total" && NF == 2 { next }
  $1 > 600 { print "length: " $2 " has " $1 " lines; 600 is the most"; bad = 1; next }
  $1 > 500 { print "length: warning: " $2 " has " $1 " lines; aim below 500" }
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
