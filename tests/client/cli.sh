#!/usr/bin/env bash
# cli.sh MODSER MANUAL: exit codes and the two lines of an error, as far as they need no daemon;
# tests/e2e has those that do.
set -uo pipefail
modser=$(realpath "$1") manual=$(realpath "$2")
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
expect 2 lod x y
grep -q "did you mean load?" "$dir/err" || { echo "cli: lod: no load is offered"; failed=1; }
for pair in stop:unload run:call start:load images:store status:ls; do
  expect 2 "${pair%:*}" x
  grep -q "did you mean ${pair#*:}?" "$dir/err" || { echo "cli: ${pair%:*}: no ${pair#*:} is offered"; failed=1; }
done
expect 2 ping --no-such-option
expect 2 ping surplus
expect 2 ls -o x
expect 2 --deadline 0 ping
expect 2 --deadline 2x ping
expect 2 --deadline 2 ping
expect 2 call
expect 2 call -- -bad:name
expect 2 call m:f quatsch
expect 2 call m:f ""
expect 2 load x
expect 2 show 'bad name'
expect 2 -H nowhere ping
expect 2 completion tcsh
expect 2 call m:f 'then'
expect 2 call m:f 1 as
expect 2 call m:f 1 as p 2
expect 2 call m:f 1 as p 'then' m:g q
expect 3 call m:f 1 as p 'then' m:g p x=p 'then' p 1
expect 2 session m
expect 2 session m run 'then'
expect 2 session m 'then' run
expect 2 session m set_input data 'then' run
expect 2 session -- -bad run
expect 3 session m set_input str:data 1 'then' run
expect 3 ping
expect 3 -H tcp://127.0.0.1:1 ping
expect 3 call m:f -17 -inf -- str:-o
expect 4 load x "$dir/absent.so"
expect 4 inspect "$dir/absent.so"
expect 4 inspect absent
grep -q "modser show NAME" "$dir/err" || { echo "cli: inspect absent: no show is offered"; failed=1; }
printf '!<arch>\n' >"$dir/x.a"
expect 8 load x "$dir/x.a"
printf 'text' >"$dir/x.so"
expect 8 load x "$dir/x.so"
touch "$dir/swapped.so"
(cd "$dir" && "$modser" load swapped.so name) 2>"$dir/err"
grep -q 'the NAME comes first' "$dir/err" || { echo "cli: load FILE NAME"; failed=1; }
expect 2 call m:f "$dir/swapped.so"
grep -q "write a file as @$dir/swapped.so" "$dir/err" || { echo "cli: FILE for @FILE"; failed=1; }
expect 2 loda
grep -q 'to do: use one of load ' "$dir/err" || { echo "cli: an unknown verb"; failed=1; }
verbs=$("$modser" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[[ $verbs == *call*ping*help* ]] || { echo "cli: the verbs of \`modser help\`: $verbs"; failed=1; }
for verb in $verbs; do
  expect 0 "$verb" --help
  grep -qE "^usage: modser $verb( [^ ].*)?$" "$dir/out" || { echo "cli: $verb --help"; failed=1; }
done
# own VERB: the options that --help lists as the verb's own, as letters where they have one.
own() {
  "$modser" "$1" --help | sed -n '/^Options:/,/--json/p' |
    sed -nE 's/^  (-.), .*/\1/p; s/^      (--[a-z0-9-]+)( .*|$)/\1/p' |
    grep -vxE -- '-H|--(token-file|tls-ca|tls-cert|tls-key|json)' | sort -u
}
for verb in $verbs; do
  "$modser" "$verb" --help >"$dir/help"
  grep -qx '    0  success' "$dir/help" || { echo "cli: $verb: no exit codes"; failed=1; }
  in_usage=$(head -n 1 "$dir/help" | grep -oE '[[ |](-[a-zA-Z]|--[a-z0-9-]+)' | tr -d '[ |' | sort -u)
  [[ $in_usage == "$(own "$verb")" ]] ||
    { echo "cli: $verb: usage and options differ: $in_usage / $(own "$verb")"; failed=1; }
  for option in $(own "$verb"); do
    "$modser" "$verb" "$option" 1 >/dev/null 2>"$dir/err" </dev/null
    ! grep -q 'does not take\|unknown option' "$dir/err" ||
      { echo "cli: $verb does not take $option"; failed=1; }
    grep -qF -- "${option//-/\\-}" "$manual" ||
      { echo "cli: modser(1) lacks $option of $verb"; failed=1; }
  done
done
for words in "call --replace x" "ls --workers 1" "inspect --sha256 1 x"; do
  # shellcheck disable=SC2086
  expect 2 $words
  grep -q 'does not have the option' "$dir/err" || { echo "cli: $words"; failed=1; }
done
for shell in bash fish zsh; do
  expect 0 completion "$shell"
  ! command -v "$shell" >/dev/null || "$shell" -n "$dir/out" || failed=1
done
# A sentence in the place of what to do has no end of line's spaces, and a full disk is told.
for words in "ls x" "show" "help a b" "call" "ping --nothing" "load --graph"; do
  # shellcheck disable=SC2086
  expect 2 $words
  ! grep -n ' $' "$dir/err" || failed=1
done
expect_full() { # WORD...: what is printed does not fit
  local status=0
  "$modser" "$@" 2>"$dir/err" >/dev/full || status=$?
  if [[ $status != 2 ]] || ! grep -q 'standard output: No space left' "$dir/err"; then
    echo "cli: modser $* >/dev/full: status $status"
    failed=1
  fi
}
expect_full help
expect_full completion bash
"$modser" --json ping 2>"$dir/err"
grep -q '^{"error": {"name": "IO", ' "$dir/err" || { echo "cli: --json errors"; failed=1; }
exit "$failed"
