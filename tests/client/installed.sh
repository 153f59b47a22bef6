#!/usr/bin/env bash
# installed.sh CMAKE BUILD SOURCE: what `cmake --install` puts in place is enough to build a
# client by pkg-config and by CMake's find_package(), from another prefix than configured.
set -euo pipefail
cmake=$1 build=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cmake" --install "$build" --prefix "$dir/p" >/dev/null
for file in bin/modser include/modser.h share/man/man1/modser.1 share/man/man8/modserd.8 \
  share/bash-completion/completions/modser; do
  [[ -s $dir/p/$file ]] || { echo "installed: no $file"; exit 1; }
done
[[ $("$dir/p/bin/modser" --version) == "modser "* ]]

pc=$(dirname "$(find "$dir/p" -name modser.pc)")
read -ra flags < <(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs modser)
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/call.c" "${flags[@]}" \
  -Wl,-rpath,"$(dirname "$pc")" -o "$dir/by_pkg_config"
status=0
"$dir/by_pkg_config" 2>/dev/null || status=$?
[[ $status == 2 ]] || { echo "installed: the example ends with $status"; exit 1; }

mkdir "$dir/user"
cp "$source/examples/call.c" "$dir/user/"
cat >"$dir/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(modser 0.1 REQUIRED)
add_executable(call call.c)
target_link_libraries(call PRIVATE modser::modser)
END
"$cmake" -S "$dir/user" -B "$dir/user/b" -DCMAKE_PREFIX_PATH="$dir/p" >/dev/null
"$cmake" --build "$dir/user/b" >/dev/null
echo "installed: found by pkg-config and by CMake"
