# shellcheck shell=bash
# Sourced by the lint tests. own_files ROOT GLOB...: the project's own files below ROOT that
# match, one per line, relative to ROOT. In a checkout these are what git tracks or would
# track; elsewhere (an unpacked archive, a planted directory) all but build trees.
own_files() {
  local root=$1
  shift
  local match=() g
  if [[ $(git -C "$root" rev-parse --show-toplevel 2>/dev/null) == "$(cd "$root" && pwd -P)" ]]
  then
    git -C "$root" ls-files -co --exclude-standard -- "$@" |
      while IFS= read -r g; do [[ -f $root/$g ]] && printf '%s\n' "$g"; done | sort -u
    return
  fi
  for g in "$@"; do match+=(-o -name "$g"); done
  (cd "$root" && find . \( -name 'build*' -o -name .venv -o -name .git \) -prune -o \
    -type f \( "${match[@]:1}" \) -print | sed 's|^\./||' | sort)
}
