#!/usr/bin/env bash
# Kills, stops and resumes trainings for some hours and compares them with uninterrupted ones.
#
#   tests/soak.sh HOURS [WEFT]
#
# One attention mechanism after the other trains a small model twice: once undisturbed, once killed,
# stopped by signals, limited in the size of its files and moved to another folder at random moments,
# each time resumed with another number of threads. In the end parameters, states and measured losses
# must be the same bytes. Ends in the number of disturbances and of differences; RANDOM_SEED repeats a
# sequence of them.
set -uo pipefail

hours=${1:?say for how many hours, such as 0.5}
root=$(readlink -f -- "$(dirname -- "$0")/..")
weft=$(readlink -f -- "${2:-$root/build/release/weft}")
seed=${RANDOM_SEED:-$$}
RANDOM=$seed
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
ends=$(($(date +%s) + $(awk -v hours="$hours" 'BEGIN { print int(hours * 3600) }')))

cat >soak.toml <<'TOML'
[data]
length = 32
held_out = 16
[model]
layers = 2
width = 32
heads = 4
dropout = 0.1
[optim]
warmup = 10
[train]
steps = 300
batch = 4
accumulate = 2
eval_every = 100
checkpoint_every = 10
TOML

# What must be the same: arrays (without the config, which names the threads) and losses.
arrays() { # RUN
  rm -f model.safetensors
  "$weft" export "$1" -o model.safetensors >/dev/null || return
  local header
  header=$(od -An -t u8 -N 8 model.safetensors)
  tail -c +$((8 + header + 1)) model.safetensors | sha256sum
}
losses() { sed -E 's/"(tokens_per_s|peak_bytes)":[^,}]*,?//g' "$1/metrics.jsonl" | sha256sum; }

train() { # RUN MECHANISM ARGUMENT...
  local run=$1 mechanism=$2
  shift 2
  exec "$weft" train soak.toml --run "$run" "model.attention=$mechanism" "$@"
}

# Lets a training go on for a moment, then disturbs it; true when it has finished by itself.
disturb() { # RUN MECHANISM
  local resume=() child code signals=(KILL KILL KILL TERM INT HUP USR1) signal
  [ ! -d "$1" ] || resume=(--resume)
  (
    ((RANDOM % 10)) || ulimit -f $((RANDOM % 60))
    train "$1" "$2" "threads=$((1 + RANDOM % 2))" "${resume[@]}"
  ) >>log.txt 2>&1 &
  child=$!
  sleep "0.$((10 + RANDOM % 80))"
  signal=${signals[RANDOM % ${#signals[@]}]}
  kill "-$signal" "$child" 2>/dev/null && disturbed=$((disturbed + 1))
  wait "$child" 2>/dev/null
  code=$?
  case $code in
    0) return 0 ;;
    5 | 129 | 130 | 137 | 138 | 143) return 1 ;;
    *) echo "exit $code after SIG$signal, $2"; tail -n 5 log.txt; differences=$((differences + 1)); return 0 ;;
  esac
}

disturbed=0 runs=0 differences=0
mapfile -t mechanisms < <("$weft" list attentions | sed -nE 's/^([a-z0-9_]+):.*/\1/p')
for ((i = 0; $(date +%s) < ends; ++i)); do
  mechanism=${mechanisms[i % ${#mechanisms[@]}]}
  rm -rf straight killed moved log.txt
  (train straight "$mechanism" threads=1) >straight.txt 2>&1 || {
    ((i >= ${#mechanisms[@]})) || echo "left out $mechanism: it needs other settings"
    continue
  }
  run=killed
  until disturb "$run" "$mechanism"; do
    if ((RANDOM % 5 == 0)) && [ -d "$run" ]; then
      next=$([ "$run" = killed ] && echo moved || echo killed)
      mv -- "$run" "$next" && run=$next
    fi
  done
  runs=$((runs + 1))
  for what in arrays losses; do
    [ "$("$what" straight)" = "$("$what" "$run")" ] && continue
    echo "DIFFERENT $what: $mechanism"
    differences=$((differences + 1))
  done
done
echo "seed $seed: $disturbed disturbances of $runs runs over ${#mechanisms[@]} mechanisms, $differences differences"
[ "$differences" = 0 ] && [ "$runs" -gt 0 ]
