#!/usr/bin/env bash
# Runs what has several threads under ThreadSanitizer: tests of the parts, then the program.
#
#   tests/races/races.sh BUILD
#
# BUILD is a folder of the preset tsan with the targets weft, core_tests, data_tests and race_probe. A
# race ends the process that has it with exit code 66 and a report. suppressions.txt lists what is known
# of libraries that are not built with ThreadSanitizer. The loops run on four threads, so that they meet
# on two cores too.
set -uo pipefail

here=$(dirname -- "$(readlink -f -- "$0")")
build=$(readlink -f -- "$1") root=$(readlink -f -- "$here/../..")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
export TSAN_OPTIONS="suppressions=$here/suppressions.txt halt_on_error=1 exitcode=66 ${TSAN_OPTIONS-}"

failed=0 done=0
try() { # COMMAND...
  local began=$SECONDS
  "$@" >out.txt 2>&1
  local code=$?
  done=$((done + 1))
  [ "$code" = 0 ] && return
  failed=$((failed + 1))
  echo "FAILED with exit code $code after $((SECONDS - began)) s: $*"
  head -n 60 out.txt
}

# The page of a run, asked for once.
watched_once() {
  "$build/weft" watch run-dense --port 0 >watch.txt &
  local server=$! port='' code
  for _ in $(seq 200); do
    port=$(sed -nE 's#.*http://127\.0\.0\.1:([0-9]+).*#\1#p' watch.txt | head -n 1)
    [ -z "$port" ] || break
    sleep 0.1
  done
  exec 3<>"/dev/tcp/127.0.0.1/$port" &&
    printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&3 && grep -q run-dense <&3
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

try "$build/tests/core_tests" --gtest_brief=1 --gtest_filter='Parallel*:Memory*:Gemm*:Rng*:Simd*:*Solve*'
try "$build/tests/data_tests" --gtest_brief=1 --gtest_filter='Prefetch*:NearDuplicates*:*Text*'
mapfile -t mechanisms < <("$build/weft" list attentions | sed -nE 's/^([a-z0-9_]+) .*/\1/p')
((${#mechanisms[@]} > 20)) || { echo "weft list attentions lists only ${#mechanisms[@]}"; exit 1; }
for mechanism in "${mechanisms[@]}"; do
  case $mechanism in
    etc | linformer) both=(model.causal=false data.kind=text data.path=text.txt data.masking=bert) ;; # no causal form
    *) both=() ;;
  esac
  try "$build/weft" train base.toml "model.attention=$mechanism" "${both[@]}" --run "run-$mechanism"
done
try "$build/weft" train base.toml train.recompute=true --run recomputed
try "$build/weft" train base.toml model.reversible=true --run reversed
try "$build/weft" train base.toml data.kind=text data.path=text.txt --run text
try "$build/weft" train run-dense --resume train.steps=6
try "$build/weft" eval run-dense
try "$build/weft" generate text --prompt "the same" --tokens 8
try "$build/weft" data prepare text.txt -o text.h5
try "$build/weft" data dedup text.txt -o once.txt
try "$build/weft" sweep s.toml -j 2
try "$build/weft" bench step base.toml
try watched_once

echo "$done runs under ThreadSanitizer, $failed failed"
[ "$failed" = 0 ]
