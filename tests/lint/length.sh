#!/usr/bin/env bash
# length.sh ROOT: no source file over 600 lines; those over 400 are named.
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
echo "length: ${#files[@]} files"
