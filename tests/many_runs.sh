#!/usr/bin/env bash
# How long the program takes to start, and weft runs on 1,000 runs (or as many as the second argument
# says): the median and the best wall time of 20 starts and of 5 listings, and the mean of their
# processor time, all in milliseconds.
#
#   tests/many_runs.sh build/release/weft [1000]
set -euo pipefail

weft=$(realpath -- "$1") count=${2:-1000}
config=$(realpath -- "$(dirname -- "$0")/../configs/quickstart.toml")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"

# TIMES COMMAND...
measure() {
  local times=$1 i began TIMEFORMAT='%U %S'
  shift
  "$@" >/dev/null
  { time for ((i = 0; i < times; ++i)); do
    began=${EPOCHREALTIME/./}
    "$@" >/dev/null
    echo $((${EPOCHREALTIME/./} - began))
  done | sort -n >wall; } 2>cpu
  awk -v words="weft ${*:2}" 'NR == FNR { t[FNR] = $1 / 1000; n = FNR; next }
    { printf "%-24s median %5.1f, best %5.1f, processor %5.1f ms\n",
      words, t[int((n + 1) / 2)], t[1], 1000 * ($1 + $2) / n }' wall cpu
}

"$weft" train "$config" --run runs/0 train.steps=2 train.eval_batches=1 >/dev/null
for ((i = 1; i < count; ++i)); do
  mkdir "runs/$i"
  cp -r runs/0/*.* "runs/$i"
  cp -r --link runs/0/checkpoints "runs/$i"
done
measure 20 "$weft" --version
measure 20 "$weft" help train
cp -- "$config" .
measure 20 "$weft" config quickstart.toml
measure 5 "$weft" runs
"$weft" runs | tail -n 1
