#!/usr/bin/env bash
# How long weft runs takes on 1,000 runs (or as many as the second argument says), and the program's start:
#   tests/many_runs.sh build/release/weft [1000]
set -euo pipefail
weft=$(realpath -- "$1") count=${2:-1000}
config=$(realpath -- "$(dirname -- "$0")/../configs/quickstart.toml")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
"$weft" train "$config" --run runs/0 train.steps=2 train.eval_batches=1 >/dev/null
for ((i = 1; i < count; ++i)); do
  mkdir "runs/$i"
  cp -r runs/0/*.* "runs/$i"
  cp -r --link runs/0/checkpoints "runs/$i"
done
TIMEFORMAT='%R s (%U user, %S system)'
echo "weft --version"; time "$weft" --version >/dev/null
echo "weft runs, $count runs"; time "$weft" runs | tail -1
