#!/usr/bin/env bash
# Runs what has several threads under ThreadSanitizer: tests of the parts, then the program.
#
#   tests/races/races.sh BUILD
#
# BUILD is a folder of the preset tsan with the targets weft, race_tests and race_probe. A race ends the
# process that has it with exit code 66 and a report. suppressions.txt lists what is known of libraries
# that are not built with ThreadSanitizer. The loops run on four threads, so that they meet on two cores
# too. Each run is printed with the seconds that it took.
set -uo pipefail

here=$(dirname -- "$(readlink -f -- "$0")")
build=$(readlink -f -- "$1") root=$(readlink -f -- "$here/../..")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
export TSAN_OPTIONS="suppressions=$here/suppressions.txt halt_on_error=1 exitcode=66 ${TSAN_OPTIONS-}"

failed=0 done=0
try() { # COMMAND...
  local began=${EPOCHREALTIME/./} words code verdict=passed
  "$@" >out.txt 2>&1 </dev/null
  code=$?
  done=$((done + 1))
  [ "$code" = 0 ] || { failed=$((failed + 1)) verdict="FAILED with exit code $code"; }
  words=${*//"$build/"/}
  printf '%7.1f s  %s: %s\n' "$(((${EPOCHREALTIME/./} - began) / 100000))e-1" "$verdict" "$words"
  [ "$code" = 0 ] || head -n 60 out.txt
}

# The page of a run, asked for once.
watched_once() {
  "$build/weft" watch run-0 --port 0 >watch.txt &
  local server=$! port='' code
  for _ in $(seq 200); do
    port=$(sed -nE 's#.*http://127\.0\.0\.1:([0-9]+).*#\1#p' watch.txt | head -n 1)
    [ -z "$port" ] || break
    sleep 0.1
  done
  exec 3<>"/dev/tcp/127.0.0.1/$port" &&
    printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&3 && grep -q run-0 <&3
  code=$?
  kill -INT "$server"
  wait "$server" && return "$code"
}

cat >base.toml <<'TOML'
threads = 4
[data]
length = 64
[model]
layers = 1
width = 32
heads = 4
dropout = 0.1
[attention.random]
block = 8
[attention.bigbird]
block = 8
random = 1
[optim]
warmup = 2
[train]
steps = 4
batch = 4
accumulate = 2
eval_every = 2
checkpoint_every = 2
TOML
printf 'base = "base.toml"\n[grid]\nmodel.attention = ["dense", "local", "linear"]\n' >s.toml
for i in $(seq 300); do echo "the same words come again and again, $i times"; done >text.txt

# A race on purpose must be found, or nothing would be.
"$build/tests/race_probe" >out.txt 2>&1
[ $? = 66 ] || { echo "the race of race_probe is not found"; head -n 20 out.txt; exit 1; }

# All but two that take a minute here and do what others do at other sizes.
try "$build/tests/race_tests" --gtest_brief=1 \
  --gtest_filter='-SliceSum.gives_the_bits*:NearDuplicates.a_hundred_thousand*'

# Every mechanism, eight to a model, one in each layer. Some cannot be in a model with others and run alone:
# bp adds rows of its own, and two have no causal form.
mapfile -t mechanisms < <("$build/weft" list attentions | sed -nE 's/^([a-z0-9_]+) .*/\1/p')
((${#mechanisms[@]} > 20)) || { echo "weft list attentions lists only ${#mechanisms[@]}"; exit 1; }
both_ways=(model.causal=false data.kind=text data.path=text.txt data.masking=bert)
together=()
for mechanism in "${mechanisms[@]}"; do
  case $mechanism in
    bp) try "$build/weft" train base.toml model.attention=bp --run run-bp ;;
    etc | linformer)
      try "$build/weft" train base.toml "model.attention=$mechanism" "${both_ways[@]}" --run "run-$mechanism"
      ;;
    *) together+=("$mechanism") ;;
  esac
done
for ((i = 0; i < ${#together[@]}; i += 8)); do
  layers=("${together[@]:i:8}")
  printf -v list ',"%s"' "${layers[@]}"
  try "$build/weft" train base.toml "model.layers=${#layers[@]}" "model.attention=[${list:1}]" --run "run-$i"
done
try "$build/weft" train base.toml train.recompute=true --run recomputed
try "$build/weft" train base.toml model.reversible=true --run reversed
try "$build/weft" train base.toml data.kind=text data.path=text.txt --run text
try "$build/weft" train run-0 --resume train.steps=6
try "$build/weft" eval run-0
try "$build/weft" generate text --prompt "the same" --tokens 8
try "$build/weft" data prepare text.txt -o text.h5
try "$build/weft" data dedup text.txt -o once.txt
try "$build/weft" sweep s.toml -j 2
try "$build/weft" bench step base.toml
try watched_once

# The thread that talks to MPI, beside those that train: gradients and values in several pieces.
if command -v mpirun >/dev/null && [[ $(ldd "$build/weft") == *libmpi* ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  ranks=(mpirun --oversubscribe --bind-to none --mca btl "tcp,self" --mca btl_tcp_if_include lo -n 2)
  several=(threads=2 train.shards=2 model.layers=2 model.width=128)
  try "${ranks[@]}" "$build/weft" train base.toml "${several[@]}" --run several
  try "${ranks[@]}" "$build/weft" train several train.steps=6 --resume
  try "${ranks[@]}" "$build/weft" eval several
else
  echo "skipped: several processes, for want of mpirun or of MPI in weft"
fi

echo "$done runs under ThreadSanitizer in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
