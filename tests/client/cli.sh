#!/usr/bin/env bash
# cli.sh MODSER: exit codes and the two lines of an error, as far as they need no daemon;
# tests/e2e has those that do.
set -uo pipefail
modser=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export MODSER_HOST=unix:$dir/absent.sock
failed=0

expect() { # STATUS WORD...: the status, and two lines on stderr unless it is 0
  local want=$1 status=0 lines
  shift
  "$modser" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
  lines=$(wc -l <"$dir/err")
  if [[ $status != "$want" || $lines != $((want ? 2 : 0)) ]]; then
    echo "cli: modser $*: status $status, $lines lines; expected $want"
    cat "$dir/err"
    failed=1
  fi
}

expect 0 --version
expect 0 --help
expect 2
expect 2 no-such-verb
expect 2 ping --no-such-option
expect 2 ping surplus
expect 2 ls -o x
expect 2 --deadline 0 ping
expect 2 --deadline 2x ping
expect 2 call
expect 2 call no-colon
expect 2 call -- -bad:name
expect 2 call m:f quatsch
expect 2 call m:f ""
expect 2 load x
expect 2 show 'bad name'
expect 2 -H nowhere ping
expect 2 completion fish
expect 3 ping
expect 3 -H tcp://127.0.0.1:1 ping
expect 3 call m:f -17 -inf -- str:-o
expect 4 load x "$dir/absent.so"
expect 4 inspect "$dir/absent.so"
printf '!<arch>\n' >"$dir/x.a"
expect 6 load x "$dir/x.a"
printf 'text' >"$dir/x.so"
expect 6 load x "$dir/x.so"
for verb in ping ls show funcs load unload wait logs inspect convert info call completion help; do
  expect 0 "$verb" --help
  grep -q "usage: modser $verb" "$dir/out" || { echo "cli: $verb --help"; failed=1; }
  for shell in bash zsh; do
    "$modser" completion "$shell" | grep -qw "$verb" ||
      { echo "cli: the completion of $shell lacks $verb"; failed=1; }
  done
done
expect 0 completion bash
bash -n "$dir/out" || failed=1
"$modser" --json ping 2>"$dir/err"
grep -q '^{"error": {"name": "IO", ' "$dir/err" || { echo "cli: --json errors"; failed=1; }
exit "$failed"
