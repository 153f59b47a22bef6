#!/usr/bin/env bash
# symbols.sh LIBRARY MAP HEADER: the library exports what the map lists and the header
# declares, and nothing else.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
listed=$(sed -n 's/^[[:space:]]*\(modser_[a-z_0-9]*\);$/\1/p' "$2" | sort)
declared=$(tr '\n' ' ' <"$3" | grep -oE 'MODSER_(GRAPH_)?API(_VOID)? [a-z][^;(]*\(' |
  sed -E 's/.*[ *](modser_[a-z_0-9]+)\($/\1/' | sort)
diff <(echo "$exported") <(echo "$listed") || { echo "symbols: exported < > in $2"; exit 1; }
diff <(echo "$listed") <(echo "$declared") || { echo "symbols: in $2 < > in $3"; exit 1; }
echo "symbols: $(echo "$exported" | wc -l)"
