#!/usr/bin/env bash
# places.sh ROOT: no path of one machine, no sleep in a test, and no parameter that is read by its
# name in an operator or a kernel.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
source "$(dirname "$0")/files.sh"
cd "$1"
mapfile -t files < <(own_files . '*')
((${#files[@]})) || { echo "places: no files found below $1"; exit 1; }
bad=0
# The brackets keep this file from finding itself.
if printf '%s\0' "${files[@]}" |
  xargs -0 grep -HnIE '(^|[^A-Za-z0-9_.])/(wor[k]|far[m]|roo[t]|hom[e]/[a-z]+)/'; then
  echo "places: a path of one machine"
  bad=1
fi
mapfile -t tests < <(own_files . '*.c' '*.py' | grep -E '^tests/' | grep -v '^tests/modules/' || true)
if ((${#tests[@]})) &&
  printf '%s\0' "${tests[@]}" | xargs -0 grep -HnE '\b(usleep|nanosleep|sleep) ?\('; then
  echo "places: a test sleeps; wait for the event, with a deadline"
  bad=1
fi
mapfile -t readers < <(own_files . '*.c' | grep -E '^(graph/op|runtime)/' || true)
if ((${#readers[@]})) &&
  printf '%s\0' "${readers[@]}" | xargs -0 grep -HnE '\bmodser_sg_op_(int|float|param) ?\('; then
  echo "places: a parameter read by its name; read the struct (graph/op/params.h)"
  bad=1
fi
((bad)) || echo "places: ${#files[@]} files"
exit "$bad"
