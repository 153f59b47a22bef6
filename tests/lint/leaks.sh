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
# Reports decide, not the exit code.
export LSAN_OPTIONS="${LSAN_OPTIONS:-}:exitcode=0:report_objects=0:print_suppressions=0:suppressions=$(dirname "$(realpath "$0")")/leaks.supp"
"$@"
status=$?
# A file may also hold a warning: that a size was too large to allocate, which tests ask for. And
# Criterion's runner may lose 48 bytes of its own, when a room has many suites: then no frame of the
# report lies outside its library.
is_fault() {
  grep -qE 'runtime error: ' "$1" && return
  grep -q 'ERROR: ' "$1" || return
  ! grep -q 'ERROR: LeakSanitizer' "$1" ||
    grep -E '^ +#[0-9]+ ' "$1" | grep -qvE '__interceptor_|libcriterion'
}
for report in "$prefix".*; do
  [[ -e $report ]] && is_fault "$report" || continue
  cat "$report"
  echo "leaks: a sanitizer reported, see above"
  status=1
done
exit "$status"
