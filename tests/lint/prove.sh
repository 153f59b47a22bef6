#!/usr/bin/env bash
# prove.sh NAME: plant what the check NAME is there to find and see that it fails, with a text
# that names the place; and that the same check passes without it. A gate that cannot fail is
# no gate.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
said=$(mktemp)
plants=$(mktemp)
trap 'rm -rf "$dir" "$said" "$plants" "$plants.files"' EXIT
mkdir -p "$dir"/{proto,tests,runtime}
cp "$root/.clang-format" "$root/.clang-tidy" "$dir"
printf '#include <stdint.h>\n\nint fine(int a)\n{\n\treturn a + 1;\n}\n' >"$dir/proto/fine.c"

passes() { "$@" >"$said" 2>&1 || { cat "$said"; echo "refused what is fine: $*"; exit 1; }; }
# fails TEXT COMMAND...
fails() {
  local text=$1
  shift
  if "$@" >"$said" 2>&1; then
    echo "did not find what was planted: $*"
    exit 1
  fi
  grep -qF -- "$text" "$said" ||
    { cat "$said"; echo "does not name '$text': $*"; exit 1; }
}
# plant FILE LINE...
plant() {
  printf '%s\n' "${@:2}" >"$dir/$1"
}

case $1 in
format)
  passes "$here/format.sh" "$dir"
  plant proto/bad.c 'int  bad( int a ){return a;}'
  fails proto/bad.c "$here/format.sh" "$dir"
  ;;
length)
  passes "$here/length.sh" "$dir"
  yes '' | head -n 601 >"$dir/proto/long.c" || true
  fails proto/long.c "$here/length.sh" "$dir"
  echo '#include "proto/long.h"' >"$dir/proto/long.c"
  yes 'int f(void);' | head -n 150 >>"$dir/proto/long.c" || true
  fails "does not begin with what it is for" "$here/length.sh" "$dir"
  plant proto/long.h '/* Happy path: none. */'
  passes "$here/length.sh" "$dir"
  ;;
sentences)
  passes "$here/sentences.py" "$dir"
  yes '/* What follows from it is its own. */' | head -n 15 >"$dir/proto/odd.c" || true
  fails proto/odd.c:15 "$here/sentences.py" "$dir"
  rm "$dir/proto/odd.c"
  yes 'Nobody reads it, for somebody wrote it.' | head -n 7 >"$dir/odd.md" || true
  fails odd.md:7 "$here/sentences.py" "$dir"
  ;;
places)
  passes "$here/places.sh" "$dir"
  plant proto/bad.c "/* see /wor""k/notes */"
  fails proto/bad.c "$here/places.sh" "$dir"
  rm "$dir/proto/bad.c"
  plant tests/bad.c "int f(void) { return usle""ep(1); }"
  fails tests/bad.c "$here/places.sh" "$dir"
  rm "$dir/tests/bad.c"
  plant runtime/bad.c 'int64_t f(void) { return modser_sg_op_int(op, "axis"); }'
  fails runtime/bad.c "$here/places.sh" "$dir"
  ;;
promises)
  plant tests/test_fine.c 'static void expect_two(int a)' '{' '	cr_expect_eq(a, 2);' '}' '' \
    'Test(fine, two_is_two)' '{' '	expect_two(2);' '}'
  plant tests/test_fine.py 'def test_fine():' '    with pytest.raises(ValueError):' '        int("x")'
  passes "$here/promises.py" "$dir"
  plant tests/test_bad.c 'Test(bad, runs)' '{' '	check(2);' '}'
  fails "bad.c:1: bad, runs: nothing" "$here/promises.py" "$dir"
  plant tests/test_bad.c 'static void expect_two(int a)' '{' '	(void)a;' '}'
  fails "bad.c:1: expect_two: nothing" "$here/promises.py" "$dir"
  plant tests/test_bad.c 'Test(bad, is_long)' '{' '	cr_expect(1);' "$(yes '	f();' | head -n 30)" '}'
  fails "bad.c:1: bad, is_long: 31 lines" "$here/promises.py" "$dir"
  rm "$dir/tests/test_bad.c"
  plant tests/test_bad.py 'def test_bad():' '    int("2")'
  fails "bad.py:1: test_bad: nothing" "$here/promises.py" "$dir"
  plant tests/test_bad.py 'def test_bad():' '    expect_two(2)' '' '' 'def expect_two(n):' '    pass'
  fails "bad.py:5: expect_two: nothing" "$here/promises.py" "$dir"
  ;;
layers)
  passes "$here/layers.py" "$dir"
  # Each rule by itself: what it refuses is planted and must be named.
  "$here/layers.py" --plants >"$plants"
  while read -r file line; do
    mkdir -p "$dir/${file%/*}"
    plant "$file" "$line"
  done <"$plants"
  "$here/layers.py" "$dir" >"$said" 2>&1 && { echo "did not find what was planted"; exit 1; }
  cut -d ' ' -f 1 "$plants" | sort >"$plants.files"
  missed=$(sed -n 's/:1: .*//p' "$said" | sort -u | comm -23 "$plants.files" -)
  [[ -z $missed ]] || { echo "missed what was planted: $missed"; exit 1; }
  (cd "$dir" && xargs rm <"$plants.files")
  for i in 1 2 3 4; do
    plant "proto/round$i.h" "#include \"proto/round$((i % 4 + 1)).h\""
  done
  fails "proto/round1: a circle of 4" "$here/layers.py" "$dir"
  rm "$dir/proto/round4.h"
  plant proto/bad.c '#include "err.h"'
  fails proto/bad.c:1 "$here/layers.py" "$dir"
  ;;
calls)
  rows=()
  for i in 1 2 3 4; do
    plant "proto/round$i.c" "int round$((i % 4 + 1))(void); int round$i(void);" \
      "int round$i(void) { return round$((i % 4 + 1))(); }"
    cc -c -o "$dir/round$i.o" "$dir/proto/round$i.c"
    rows+=("{\"directory\": \"$dir\", \"file\": \"proto/round$i.c\", \"command\": \"cc -c -o round$i.o proto/round$i.c\"}")
  done
  mkdir "$dir/build"
  (IFS=,; echo "[${rows[*]}]") >"$dir/build/compile_commands.json"
  fails "proto/round1.c: 4 sources call each other" "$here/calls.py" "$dir" "$dir/build"
  (IFS=,; echo "[${rows[*]:0:3}]") >"$dir/build/compile_commands.json"
  passes "$here/calls.py" "$dir" "$dir/build"
  ;;
texts)
  plant proto/said.c 'const char *a = "no module is "' '	"called %s" PRIu64 " (%.*s)";'
  plant page.md '| text | cause |' '|---|---|' '| `no module is called … (…)` | a |' 'end'
  passes "$here/texts.py" "$dir" page.md
  sed -i 's/called/named/' "$dir/page.md"
  fails "page.md:3: no program says: no module is named" "$here/texts.py" "$dir" page.md
  plant page.md 'nothing is explained here'
  fails "explain nothing" "$here/texts.py" "$dir" page.md
  ;;
pages)
  mkdir -p "$dir/docs/start" "$dir/docs/internals"
  plant docs/README.md '[page](start/page.md)'
  plant docs/start/page.md 'Short.'
  passes "$here/pages.py" "$dir"
  yes 'many words in' | head -n 500 >"$dir/docs/start/page.md" || true
  fails "docs/start/page.md: 1500 words" "$here/pages.py" "$dir"
  plant docs/start/page.md 'Short.'
  plant docs/internals/new.md 'New.'
  fails "does not list internals/new.md" "$here/pages.py" "$dir"
  ;;
links)
  mkdir "$dir/docs"
  plant docs/page.md '# One Page' 'See [it](#one-page), [code](../proto/) and `a[0](../b)`.'
  passes "$here/links.py" "$dir"
  plant docs/page.md '' '[gone](gone.md)'
  fails "docs/page.md:2: gone.md: no such file" "$here/links.py" "$dir"
  plant docs/page.md '# Page' '[gone](#gone)'
  fails "docs/page.md:2: #gone: no such heading" "$here/links.py" "$dir"
  ;;
bounds)
  mkdir "$dir/tests/e2e"
  plant tests/e2e/CMakeLists.txt 'msd_add_e2e(fine)'
  plant tests/e2e/test_fine.py 'def test_fine():' '    assert True'
  cp "$dir/tests/e2e/test_fine.py" "$dir/tests/e2e/test_forgotten.py"
  row() { plant page.md '| resource | who | bound | default | at the bound | test |' '|---|---|---|---|---|---|' "$@"; }
  row '| bytes | client | 1 | | `BUSY` | `tests/e2e/test_fine.py` |' \
    '| years | client | 1 | | `BUSY` | not over the wire: a year is long |' '' '| call | why |' '|---|---|' '| a | b |'
  passes "$here/bounds.py" "$dir" page.md
  row '| bytes | client | 1 | | `BUSY` | `tests/` |'
  fails "page.md:3: bytes: no test drives it over the wire" "$here/bounds.py" "$dir" page.md
  row '| bytes | client | 1 | | `BUSY` | `tests/e2e/test_absent.py` |'
  fails "page.md:3: bytes: tests/e2e/test_absent.py is no test" "$here/bounds.py" "$dir" page.md
  row '| bytes | client | 1 | | `BUSY` | `tests/e2e/test_forgotten.py` |'
  fails "page.md:3: bytes: tests/e2e/test_forgotten.py is no test" "$here/bounds.py" "$dir" page.md
  row '| bytes | client | 1 | | `tests/e2e/test_fine.py` |'
  fails "page.md:3: bytes: expected 6 cells" "$here/bounds.py" "$dir" page.md
  row '' '| bytes | client | 1 | | `BUSY` | |'
  fails "page.md:4: bytes: no test drives" "$here/bounds.py" "$dir" page.md
  plant page.md 'nothing is bounded here'
  fails "0 rows" "$here/bounds.py" "$dir" page.md
  ;;
names)
  plant page.md 'In `proto/` the function `fine()` of `proto/{fine,fine}.c` is fine; `/etc/passwd` is no matter.'
  passes "$here/names.py" "$dir" page.md
  plant page.md 'See' '`proto/absent.c`.'
  fails "page.md:2: no file or folder proto/absent.c" "$here/names.py" "$dir" page.md
  plant page.md 'Call `absent()`.'
  fails "page.md:1: no function absent" "$here/names.py" "$dir" page.md
  plant page.md
  plant proto/good.c '/* Beside it are fine.c, proto/fine.c and, of others, dlpack.h. */'
  passes "$here/names.py" "$dir" page.md
  plant proto/bad.c '/* The rest is' ' * in absent.c. */'
  fails "proto/bad.c:2: no file absent.c" "$here/names.py" "$dir" page.md
  plant proto/bad.c '/* See absent(). */'
  plant page.md 'Call `absent()`.'
  fails "page.md:1: no function absent" "$here/names.py" "$dir" page.md
  ;;
tidy)
  printf '[{"directory": "%s", "command": "cc -c %s", "file": "%s"},\n{"directory": "%s", "command": "cc -c %s", "file": "%s"}]\n' \
    "$dir" "$dir/proto/"{fine.c,fine.c} "$dir" "$dir/proto/"{bad.c,bad.c} \
    >"$dir/compile_commands.json"
  passes "$here/tidy.sh" "$dir" "$dir"
  plant proto/bad.c 'int bad(int a)' '{' '	int *p = 0;' '	return a ? *p : 0;' '}'
  fails proto/bad.c "$here/tidy.sh" "$dir" "$dir"
  plant proto/bad.c '#include <stdio.h>' '' 'void bad(void)' '{' '	fflush(stdout);' '}'
  fails cert-err33-c "$here/tidy.sh" "$dir" "$dir"
  plant proto/bad.c 'int bad(int a)' '{' '	if (a > 1)' '		return a +' '		       1;' \
    '	return a;' '}'
  fails braces-around-statements "$here/tidy.sh" "$dir" "$dir"
  plant proto/bad.c 'int bad(int a, int n)' '{' \
    '	for (int i = 0; i < n; i++) {' '		for (int k = 0; k < n; k++) {' \
    '			if (a > i && a < k) {' '				while (a > 0) {' \
    '					if (a == n || a == k)' '						a -= i;' \
    '					if (a == 3)' '						a -= k;' \
    '					a--;' '				}' '			}' '		}' '	}' \
    '	return a;' '}'
  fails cognitive-complexity "$here/tidy.sh" "$dir" "$dir"
  ;;
includes)
  printf '[{"directory": "%s", "command": "cc -I. -c %s", "file": "%s"}]\n' \
    "$dir" "$dir/proto/bad.c" "$dir/proto/bad.c" >"$dir/compile_commands.json"
  plant proto/two.h 'int two(void);'
  plant proto/bad.c '#include <stdlib.h>' '' '#include "proto/two.h"' '' \
    'int bad(void)' '{' '	abort();' '	return two();' '}'
  passes "$here/includes.py" "$dir" "$dir"
  plant proto/bad.c '#include <stdlib.h>' '' 'int bad(void)' '{' '	return 2;' '}'
  fails "proto/bad.c:1: stdlib.h is not used" "$here/includes.py" "$dir" "$dir"
  plant proto/bad.c '#include "proto/two.h"' '' 'int bad(void)' '{' '	return 2;' '}'
  fails "proto/bad.c:1: proto/two.h is not used" "$here/includes.py" "$dir" "$dir"
  plant proto/bad.h '#include <stdlib.h>' '#include "proto/two.h"' 'int bad(void);'
  plant proto/bad.c '#include "proto/bad.h"' '' 'int bad(void)' '{' '	return 2;' '}'
  fails "proto/bad.h:1: stdlib.h is not used" "$here/includes.py" "$dir" "$dir"
  fails "proto/bad.h:2: proto/two.h is not used" "$here/includes.py" "$dir" "$dir"
  plant proto/bad.h 'size_t bad(void);'
  plant proto/bad.c '#include <stdlib.h>' '#include "proto/bad.h"' '' 'size_t bad(void)' '{' \
    '	return strtoul("2", NULL, 10);' '}'
  fails "proto/bad.h: does not compile alone" "$here/includes.py" "$dir" "$dir"
  ;;
whole)
  commit() { git -C "$dir" -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$1"; }
  git -C "$dir" init -q
  mkdir "$dir/tests/lint"
  git -C "$dir" add proto
  commit first
  passes "$here/differing.py" "$dir" # of a commit that is not known
  grep -qx proto/fine.c "$said"
  git -C "$dir" rev-parse HEAD >"$dir/tests/lint/whole"
  plant proto/new.c 'int new(void);'
  passes "$here/differing.py" "$dir"
  [[ $(<"$said") == proto/new.c ]] || { cat "$said"; exit 1; }
  sed -i 's/a + 1/a + 2/' "$dir/proto/fine.c"
  passes "$here/differing.py" "$dir"
  grep -qx proto/fine.c "$said"
  printf '[{"directory": "%s", "command": "cc -c %s", "file": "%s"}]\n' \
    "$dir" "$dir/proto/"{fine.c,fine.c} >"$dir/compile_commands.json"
  git -C "$dir" checkout -q proto/fine.c
  plant proto/new.h 'int new(void);'
  sed -i '1i #include "new.h"' "$dir/proto/fine.c"
  git -C "$dir" add proto
  commit second
  git -C "$dir" rev-parse HEAD >"$dir/tests/lint/whole"
  passes "$here/tidy_files.py" "$dir" "$dir" 1 --differing
  [[ ! -s $said ]] || { cat "$said"; exit 1; }
  plant proto/new.h 'int new(void), newer(void);'
  passes "$here/tidy_files.py" "$dir" "$dir" 1 --differing
  grep -q ' proto/fine.c$' "$said"
  for i in {1..151}; do commit "$i"; done
  fails "scripts/test nightly" "$here/differing.py" "$dir" --age
  ;;
header)
  plant good.h 'int f(void);'
  passes "$here/header.sh" "$dir/good.h"
  plant bad.h 'int f(int class, void (*)(int n, int a[static n]));'
  fails bad.h "$here/header.sh" "$dir/bad.h"
  plant bad.h 'struct empty { };'
  fails bad.h "$here/header.sh" "$dir/bad.h"
  ;;
leaks)
  fails "77 byte(s)" "$here/leaks.sh" "$dir/report" "$2"
  passes "$2"
  ;;
*)
  echo "prove.sh: no such check: $1"
  exit 1
  ;;
esac
echo "$1: fails when it should, passes when it should"
