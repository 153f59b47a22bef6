#!/usr/bin/env bash
# leaks.sh PREFIX COMMAND...: run COMMAND and fail also when a sanitizer wrote a report.
# Criterion runs each test in a child process, prints what LeakSanitizer says there and passes
# all the same; so the reports go to files PREFIX.<pid>, and a file is a failure.
set -uo pipefail
prefix=$1
shift
mkdir -p "$(dirname "$prefix")"
rm -f "$prefix".*
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$prefix:detect_leaks=1:allocator_may_return_null=1"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:log_path=$prefix:print_stacktrace=1"
export LSAN_OPTIONS="${LSAN_OPTIONS:-}:report_objects=0:print_suppressions=0:suppressions=$(dirname "$(realpath "$0")")/leaks.supp"
"$@"
status=$?
# A file may also hold a warning: that a size was too large to allocate, which tests ask for.
if compgen -G "$prefix.*" >/dev/null && grep -qE 'ERROR: |runtime error: ' "$prefix".*; then
  cat "$prefix".*
  echo "leaks: a sanitizer reported, see above"
  exit 1
fi
exit "$status"
