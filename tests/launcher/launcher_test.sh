#!/usr/bin/env bash
# Tests of the launcher ./weft, run in a scratch tree whose path has spaces, with stand-ins for
# apt-get, sudo, dpkg-query, id, cmake, ninja and ctest that write down how they were called.
# Each test is a function whose name is the sentence that must hold.
# shellcheck disable=SC2016,SC2317  # stand-ins expand their own text; tests are called by name
set -u

launcher=$(readlink -f -- "$(dirname -- "$0")/../../weft")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

stand_in() { # NAME BODY
  printf '#!/usr/bin/env bash\necho "%s $*" >>"$CALLS"\n%s\n' "$1" "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}

# A fresh tree for each test: nothing built, every package installed, the caller is root.
prepare() {
  rm -rf -- "${scratch:?}"/*
  root="$scratch/a tree with spaces" tools=$scratch/tools
  mkdir -p "$root"/{cmake,core,autograd,layers,optim,data,experiments} "$tools" "$scratch/elsewhere"
  cp -- "$launcher" "$root/weft"
  touch "$root"/{CMakeLists.txt,CMakePresets.json,core/tensor.cpp}
  export CALLS=$scratch/calls MISSING='' USER_ID=0 APT='true' SUDO='false' NINJA='true' ROOT=$root
  : >"$CALLS"
  stand_in id 'echo "$USER_ID"'
  stand_in dpkg-query 'shift 3; for p; do [[ " $MISSING " == *" $p "* ]] || echo "installed $p"; done'
  stand_in apt-get 'eval "$APT"'
  stand_in sudo '$SUDO || exit 1; case $1 in -n|-v) ;; *) exec "$@" ;; esac'
  stand_in cmake 'preset=release tests=OFF
    for a; do case $a in asan) preset=asan ;; -DWEFT_TESTS=ON) tests=ON ;; esac; done
    mkdir -p "$ROOT/build/$preset"; touch "$ROOT/build/$preset/build.ninja"
    printf "CMAKE_HOME_DIRECTORY:INTERNAL=%s\nWEFT_TESTS:BOOL=%s\n" "$ROOT" "$tests" \
      >"$ROOT/build/$preset/CMakeCache.txt"'
  stand_in ninja '[[ " $* " != *" -t "* ]] || { echo "core_tests: phony"; exit; }
    echo "[1/1] compiled loudly"; eval "$NINJA" || exit
    printf "#!/bin/sh\necho \$\$ >\"\$CALLS.pid\"; pwd; printf \"<%%s>\" \"\$@\"; exit 7\n" >"$2/weft"; chmod +x "$2/weft"'
  stand_in ctest 'echo "100% tests passed ${WEFT_ISA-}"'
}

weft() { # ARGUMENT... : runs the launcher; leaves $out, $err and $code
  out=$(cd "$scratch/elsewhere" && PATH="$tools:/usr/bin:/bin" "${WEFT:-$root/weft}" "$@" \
    2>"$scratch/err" </dev/null)
  code=$?
  err=$(cat "$scratch/err")
}

called() { grep -q -- "$1" "$CALLS"; }
times_called() { grep -c -- "$1" "$CALLS"; }
expect() { # WHAT_WAS_WANTED CONDITION...
  local wanted=$1
  shift
  "$@" || { complaint+="    wanted: $wanted"$'\n'; }
}

it_hands_over_arguments_folder_output_and_exit_code() {
  weft bench step 'a config.toml' --json
  expect "the program's output only" \
    [ "$out" = "$scratch/elsewhere"$'\n''<bench><step><a config.toml><--json>' ]
  expect "the program's exit code" [ "$code" = 7 ]
  expect "a note that it builds" grep -q 'building' <<<"$err"
  expect "no compiler chatter" [ "$(grep -c loudly <<<"$err")" = 0 ]
}

it_becomes_the_program_so_that_signals_reach_it() {
  PATH="$tools:/usr/bin:/bin" "$root/weft" list >/dev/null 2>&1 &
  local launched=$!
  wait "$launched"
  expect "one process" [ "$(cat "$CALLS.pid")" = "$launched" ]
}

it_builds_the_program_without_tests() {
  weft list
  expect "cmake without tests" called '^cmake --preset release --fresh -DWEFT_TESTS=OFF'
  expect "ninja with the target weft alone" called '^ninja .* weft$'
  expect "no look at the test packages" [ "$(times_called 'libgtest-dev')" = 0 ]
}

it_touches_no_tool_when_nothing_changed() {
  weft list
  : >"$CALLS"
  weft list
  expect "no call" [ ! -s "$CALLS" ]
  expect "no note" [ -z "$err" ]
}

it_rebuilds_after_a_change_an_addition_and_a_removal() {
  weft list
  echo '// changed' >>"$root/core/tensor.cpp" && weft list
  touch "$root/layers/new.cpp" && weft list
  rm "$root/layers/new.cpp" && weft list
  expect "four builds" [ "$(times_called '^ninja')" = 4 ]
  expect "one configuration" [ "$(times_called '^cmake')" = 1 ]
}

it_notices_a_file_replaced_by_an_older_one() {
  weft list
  cp -p "$launcher" "$scratch/older" && touch -d '2001-01-01' "$scratch/older"
  mv "$scratch/older" "$root/core/tensor.cpp" && weft list
  expect "two builds" [ "$(times_called '^ninja')" = 2 ]
}

it_builds_again_after_a_failed_build() {
  NINJA='echo "tensor.cpp: error: wrong"; false' weft list
  expect "exit code 1" [ "$code" = 1 ]
  expect "the compiler's error" grep -q 'tensor.cpp: error: wrong' <<<"$err"
  expect "the log's place" grep -q 'build/compile.log' <<<"$err"
  expect "nothing on standard output" [ -z "$out" ]
  weft list
  expect "the program to run" [ "$code" = 7 ]
}

it_starts_afresh_where_the_tree_was_configured_elsewhere() {
  weft list
  echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else' >"$root/build/release/CMakeCache.txt"
  touch "$root/core/tensor.cpp" && weft list
  expect "two fresh configurations" [ "$(times_called '^cmake.*--fresh')" = 2 ]
}

it_works_through_a_symbolic_link() {
  ln -s "$root/weft" "$scratch/link"
  WEFT=$scratch/link weft list
  expect "the program's answer" [ "$out" = "$scratch/elsewhere"$'\n''<list>' ]
}

it_installs_only_what_is_missing() {
  MISSING='libtbb-dev cmake' weft list
  expect "one installation" called '^apt-get .*install --no-install-recommends cmake libtbb-dev$'
  expect "no update of the lists" [ "$(times_called '^apt-get .* update')" = 0 ]
  expect "a note of what" grep -q 'installing missing packages (2): cmake libtbb-dev' <<<"$err"
  expect "the program to run" [ "$code" = 7 ]
}

it_updates_the_package_lists_when_they_lack_a_package() {
  APT='[[ $* == *update* ]] && touch "$CALLS.lists"; [ -f "$CALLS.lists" ]' MISSING=cmake weft list
  expect "an update" [ "$(times_called '^apt-get .* update')" = 1 ]
  expect "two installations" [ "$(times_called '^apt-get .* install')" = 2 ]
  expect "the program to run" [ "$code" = 7 ]
}

it_uses_sudo_when_the_caller_is_not_root() {
  USER_ID=1000 SUDO=true MISSING=cmake weft list
  expect "sudo" called '^sudo env .*apt-get .*install'
  expect "the program to run" [ "$code" = 7 ]
}

it_says_what_to_install_when_it_may_not() {
  USER_ID=1000 MISSING='cmake libtbb-dev' weft list
  expect "exit code 2" [ "$code" = 2 ]
  expect "the command" \
    grep -q 'sudo apt-get install --no-install-recommends cmake libtbb-dev$' <<<"$err"
  expect "no apt-get" [ "$(times_called '^apt-get')" = 0 ]
  expect "no build" [ "$(times_called '^ninja')" = 0 ]
}

it_says_so_when_the_network_is_absent() {
  APT='echo "Temporary failure resolving packages.example"; false' MISSING=cmake weft list
  expect "exit code 2" [ "$code" = 2 ]
  expect "the reason" grep -q 'package servers cannot be reached' <<<"$err"
  expect "the command" grep -q 'apt-get install --no-install-recommends cmake$' <<<"$err"
}

it_says_so_when_apt_is_locked() {
  APT='echo "E: Could not get lock /var/lib/dpkg/lock-frontend"; false' MISSING=cmake weft list
  expect "exit code 2" [ "$code" = 2 ]
  expect "the reason" grep -q 'another package manager is at work' <<<"$err"
}

it_lets_one_build_at_a_time_through() {
  NINJA='mkdir "$CALLS.busy" && sleep 0.3 && rmdir "$CALLS.busy"'
  local i pids=()
  for i in 1 2 3; do
    (
      weft list
      [ "$code" = 7 ]
    ) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do expect "each launcher to run the program" wait "$i"; done
  expect "one build, whose result the others use" [ "$(times_called '^ninja')" = 1 ]
}

it_lets_the_first_process_of_a_run_build_for_all() {
  NINJA='sleep 0.3'
  local i pids=()
  for i in 2 1 0; do
    (
      export OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=$i
      weft list
      [ "$code" = 7 ]
    ) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do expect "each process to run the program" wait "$i"; done
  expect "one build" [ "$(times_called '^ninja')" = 1 ]
  expect "one look at the packages" [ "$(times_called '^dpkg-query')" = 1 ]
}

it_says_so_when_no_first_process_builds_here() {
  OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 WEFT_BUILD_SECONDS=0 weft list
  expect "exit code 1" [ "$code" = 1 ]
  expect "what to do" grep -q 'run ./weft --version once on each' <<<"$err"
}

it_looks_for_mpi_where_processes_are_started_together() {
  PMIX_RANK=0 weft list
  expect "the package looked at" called '^dpkg-query .*libopenmpi-dev'
}

it_configures_again_when_mpi_came_later() {
  PMIX_RANK=0 weft list
  printf 'WEFT_MPI:STRING=AUTO\n' >>"$root/build/release/CMakeCache.txt"
  touch "$root/core/tensor.cpp" && PMIX_RANK=0 weft list
  expect "two configurations" [ "$(times_called '^cmake')" = 2 ]
}

it_runs_all_three_stages_of_the_tests() {
  weft test
  expect "the test packages looked at" called '^dpkg-query .*libgtest-dev'
  expect "everything built" called '^ninja .*release .* all$'
  expect "known sanitizer targets built" called '^ninja .*asan .* weft core_tests$'
  expect "three runs of ctest" [ "$(times_called '^ctest')" = 3 ]
  expect "one on the baseline" [ "$(grep -c 'passed baseline' <<<"$out")" = 1 ]
  expect "a summary" [ "$(grep -c '^weft test: passed' <<<"$out")" = 3 ]
  expect "exit code 0" [ "$code" = 0 ]
}

it_fails_when_a_stage_fails() {
  stand_in ctest '[ "${WEFT_ISA-}" != baseline ]'
  weft test
  expect "exit code 1" [ "$code" = 1 ]
  expect "the stage" grep -q '^weft test: FAILED .* baseline' <<<"$out"
}

it_hands_extra_arguments_to_one_quick_ctest() {
  weft test -R Rng
  expect "one run of ctest" [ "$(times_called '^ctest')" = 1 ]
  expect "the arguments" called '^ctest .* -R Rng$'
}

it_keeps_the_tests_configured_once_they_were() {
  weft test -R Rng
  touch "$root/core/tensor.cpp" && weft list
  expect "one configuration" [ "$(times_called '^cmake')" = 1 ]
}

failures=0
for sentence in $(compgen -A function it_ | sort); do
  prepare
  complaint=
  "$sentence"
  if [ -z "$complaint" ]; then
    echo "ok    ${sentence//_/ }"
  else
    failures=$((failures + 1))
    printf 'FAIL  %s\n%s    exit code %s, stderr:\n%s\n' "${sentence//_/ }" "$complaint" \
      "${code-}" "${err-}"
  fi
done
exit $((failures > 0))
