#!/usr/bin/env bash
# Lets Python read what weft writes: checkpoint and prepared text with h5py, an exported model and
# an event file with numpy and the standard library, values compared with one another.
# Exits with 77, which ctest shows as skipped, where h5py or numpy is not installed.
#
#   tests/files_in_python.sh PROGRAM
set -euo pipefail

program=$(readlink -f -- "$1")
reader=$(readlink -f -- "$(dirname -- "$0")/files_in_python.py")
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import h5py, numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: h5py or numpy is not installed (apt-get install python3-h5py python3-numpy)"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
for i in $(seq 300); do printf 'Zeile %d: “wörter” und Zahlen %d\n' "$i" $((i * i % 89)); done >text.txt
cat >run.toml <<'TOML'
# A model with states that trains in a moment.
[data]
kind = "text"
length = 16
path = "text.h5"
[model]
layers = 2
width = 8
heads = 2
attention = ["dense", "routing"]
[attention.routing]
clusters = 2
[optim]
warmup = 2
[train]
steps = 12
batch = 2
eval_every = 4
tensorboard = true
TOML
"$program" data prepare text.txt -o text.h5 --units characters --fractions 0.8,0.1,0.1 >/dev/null
"$program" train run.toml --run run >/dev/null
"$program" export run -o model.safetensors >/dev/null
"$python" "$reader" .
