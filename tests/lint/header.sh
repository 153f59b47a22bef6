#!/usr/bin/env bash
# header.sh HEADER...: each public header compiles alone, as strict C99 and as C++.
set -euo pipefail
strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only)
for header in "$@"; do
  [[ -f $header ]] || { echo "header: no $header"; exit 1; }
  gcc -std=c99 "${strict[@]}" -Wstrict-prototypes -x c -include "$header" /dev/null
  g++ -std=c++11 "${strict[@]}" -x c++ -include "$header" /dev/null
done
echo "header: $# headers"
