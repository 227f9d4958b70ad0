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

# The reader beside an export computes what weft predicts, whatever the form of a dense model.
number=0
for form in 'model.positions=learned' 'model.positions=sinusoidal model.norm=rms' \
  'model.positions=rotary model.tie=false model.activation=gelu_tanh' \
  'model.positions=none model.norm_place=post model.activation=relu'; do
  number=$((number + 1))
  # shellcheck disable=SC2086
  "$program" train run.toml --run "dense$number" model.attention=dense train.tensorboard=false $form >/dev/null
  "$program" export "dense$number" -o "dense$number.npz" >/dev/null
  [ "$(wc -l <"dense$number.py")" -le 80 ]
done
for i in $(seq 60); do printf '%s\ttext number %d of the %s kind\n' "k$((i % 3))" "$i" "k$((i % 3))"; done >labelled.tsv
for pool in cls mean; do
  "$program" train run.toml --run "class-$pool" model.attention=dense train.tensorboard=false data.kind=labelled \
    data.path=labelled.tsv data.length=24 model.task=classify "model.pool=$pool" >/dev/null
  "$program" export "class-$pool" -o "class-$pool.safetensors" >/dev/null
  cut -f2 labelled.tsv | "$program" predict "class-$pool" --json >"class-$pool.jsonl"
done
for i in 1 2 3 4; do
  printf 'Zeile 1: w\n' | "$program" predict "dense$i" --tokens 6 --json >"dense$i.jsonl"
done
"$python" "$(dirname -- "$reader")/reader_in_python.py" .
