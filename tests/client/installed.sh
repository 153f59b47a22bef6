#!/usr/bin/env bash
# installed.sh CMAKE BUILD SOURCE: what `cmake --install` puts in place is enough to build the
# examples by pkg-config and by CMake's find_package(), shared and static, from another prefix
# than configured; the manual has every function of the library.
set -euo pipefail
cmake=$1 build=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cmake" --install "$build" --prefix "$dir/p" >/dev/null
for file in bin/modser include/modser.h share/man/man1/modser.1 share/man/man3/modser.3 \
  share/man/man8/modserd.8 share/bash-completion/completions/modser; do
  [[ -s $dir/p/$file ]] || { echo "installed: no $file"; exit 1; }
done
[[ $("$dir/p/bin/modser" --version) == "modser "* ]]
examples=$dir/p/share/doc/libmodser-dev/examples

while read -r function; do
  grep -qE "\\.BR .*\\b$function\\b" "$dir/p/share/man/man3/modser.3" ||
    { echo "installed: modser(3) lacks $function"; exit 1; }
done < <(grep -oE 'modser_[a-z_]+;' "$source/client/modser.map" | tr -d ';')

pc=$(dirname "$(find "$dir/p" -name modser.pc)")
export PKG_CONFIG_PATH=$pc
# builds NAME FLAG...: an example by itself, with its usage as the proof that it starts.
builds() {
  local status=0
  cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror "$examples/$1.c" \
    "${@:2}" -o "$dir/$1"
  MODSER_HOST=unix:$dir/none "$dir/$1" 2>/dev/null || status=$?
  [[ $status == 1 || $status == 2 ]] || { echo "installed: $1 ends with $status"; exit 1; }
}
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$pc pkg-config --libs modser >/dev/null ||
  { echo "installed: the shared library needs other packages"; exit 1; }
for name in call model poll; do
  read -ra flags < <(pkg-config --cflags --libs modser)
  builds "$name" "${flags[@]}" -Wl,-rpath,"$(dirname "$pc")"
done
read -ra flags < <(pkg-config --cflags --libs modser libuv)
builds uv "${flags[@]}" -Wl,-rpath,"$(dirname "$pc")"
read -ra flags < <(pkg-config --static --cflags --libs modser)
builds call -Wl,-Bstatic "${flags[@]}" -Wl,-Bdynamic
! ldd "$dir/call" | grep -q modser || { echo "installed: libmodser.a was not taken"; exit 1; }
read -ra flags < <(pkg-config --cflags --libs modser_pack)
builds pack_library "${flags[@]}"

mkdir "$dir/user"
cp "$examples"/*.c "$dir/user/"
cat >"$dir/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(modser 0.1 REQUIRED)
add_executable(call call.c)
target_link_libraries(call PRIVATE modser::modser)
add_executable(call_static call.c)
target_link_libraries(call_static PRIVATE modser::modser_static)
add_executable(pack_library pack_library.c)
target_link_libraries(pack_library PRIVATE modser::modser_pack modser::modser_graph)
END
"$cmake" -S "$dir/user" -B "$dir/user/b" -DCMAKE_PREFIX_PATH="$dir/p" >/dev/null
"$cmake" --build "$dir/user/b" >/dev/null
echo "installed: found by pkg-config and by CMake"
