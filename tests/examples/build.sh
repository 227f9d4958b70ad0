#!/usr/bin/env bash
# Installs a built tree into a fresh folder, builds the examples against it as a stranger would, by
# find_package and by pkg-config, and runs them; then compiles one file in a project that takes the
# sources of weft in.
#
#   tests/examples/build.sh BUILD_FOLDER
set -euo pipefail

built=$1
examples=$(readlink -f -- "$(dirname -- "$0")")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
prefix=$scratch/prefix

quietly() { # COMMAND... : shows what it printed only if it fails
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; echo "failed: $*" >&2; exit 1; }
}

echo "install"
quietly cmake --install "$built" --prefix "$prefix"
if grep -rnE '#include "(core|autograd|layers|optim|data|experiments)/' "$prefix/include"; then
  echo "a header includes another without weft/" >&2 && exit 1
fi
if find "$prefix" -name '*_f64*' | grep .; then
  echo "the double twins are not to be installed" >&2 && exit 1
fi
"$prefix/bin/weft" --version

echo "find_package"
quietly cmake -S "$examples" -B "$scratch/examples" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-O1 -Wall -Wextra -Werror" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/examples"
"$scratch/examples/train"
"$scratch/examples/own_attention"
printf '[model]\nlayers = 1\nwidth = 16\n[train]\nsteps = 3\n' >"$scratch/tiny.toml"
quietly "$prefix/bin/weft" train "$scratch/tiny.toml" --run "$scratch/run"
"$scratch/examples/generate" "$scratch/run" abc

echo "pkg-config"
PKG_CONFIG_PATH=$(dirname -- "$(find "$prefix" -name weft.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
quietly g++ -std=c++20 -O1 "$examples/generate.cpp" $(pkg-config --cflags --libs weft) \
  -o "$scratch/generate"
"$scratch/generate" "$scratch/run" abc

echo "add_subdirectory"
mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
add_subdirectory("$examples/../.." weft EXCLUDE_FROM_ALL)
add_library(consumer OBJECT consumer.cpp)
target_link_libraries(consumer PRIVATE weft::core)
EOF
printf '#include <weft/core/error.h>\nint answer() { return int(weft::core::Fault::data); }\n' \
  >"$scratch/project/consumer.cpp"
quietly cmake -S "$scratch/project" -B "$scratch/project/build" -G Ninja
quietly ninja -C "$scratch/project/build" CMakeFiles/consumer.dir/consumer.cpp.o
echo "all examples run"
