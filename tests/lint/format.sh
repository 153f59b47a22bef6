#!/usr/bin/env bash
# format.sh ROOT: every C file is as clang-format 14 with ROOT/.clang-format writes it.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
source "$(dirname "$0")/files.sh"
cd "$1"
mapfile -t files < <(own_files . '*.c' '*.h')
((${#files[@]})) || { echo "format: no files found below $1"; exit 1; }
clang-format --version | grep -q 'version 14\.' ||
  { echo "format: clang-format 14 is wanted, this is $(clang-format --version)"; exit 1; }
printf '%s\0' "${files[@]}" | xargs -0 -n 200 -P "${MODSERD_JOBS:-$(nproc)}" clang-format --style=file --dry-run -Werror
echo "format: ${#files[@]} files"
