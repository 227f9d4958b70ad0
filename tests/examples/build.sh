#!/usr/bin/env bash
# Installs a built tree into a fresh folder, builds the examples against it as a stranger would, by
# find_package and by pkg-config, and runs them; then compiles one file in projects that take the
# sources of weft in, by add_subdirectory and by FetchContent.
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

# WAY LINE...: a project that takes the sources in by these lines of CMake, and compiles one file.
takes_sources_in() {
  echo "$1"
  local project=$scratch/$1
  mkdir "$project"
  {
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES C CXX)\n'
    printf '%s\n' "${@:2}"
    printf 'add_library(consumer OBJECT consumer.cpp)\n'
    printf 'target_link_libraries(consumer PRIVATE weft::core)\n'
  } >"$project/CMakeLists.txt"
  printf '#include <weft/core/error.h>\nint answer() { return int(weft::core::Fault::data); }\n' \
    >"$project/consumer.cpp"
  quietly cmake -S "$project" -B "$project/build" -G Ninja
  quietly ninja -C "$project/build" CMakeFiles/consumer.dir/consumer.cpp.o
}
sources=$(readlink -f -- "$examples/../..")
takes_sources_in add_subdirectory "add_subdirectory(\"$sources\" weft EXCLUDE_FROM_ALL)"
takes_sources_in FetchContent 'include(FetchContent)' \
  "FetchContent_Declare(weft SOURCE_DIR \"$sources\")" 'FetchContent_MakeAvailable(weft)'
echo "all examples run"
