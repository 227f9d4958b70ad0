#!/usr/bin/env bash
# Kills, stops and resumes trainings for some hours and compares them with uninterrupted ones.
#
#   tests/soak.sh HOURS [WEFT]
#
# One attention mechanism after the other trains a small model twice: once undisturbed, once killed,
# stopped by signals, limited in the size of its files and moved to another folder at random moments,
# each time continued with another number of threads. Where mpirun and a weft with MPI are there, every
# second run has two shards and continues in one or two processes: then the launcher or either process is
# killed. In the end parameters, states and measured losses must be the same bytes. The time between two disturbances is a random share of what the undisturbed
# run took, so that a busy machine tries the same as an idle one. Prints how far it is every ten minutes
# and, in the end, how many times what was done and the number of differences; RANDOM_SEED repeats a
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
[model]
layers = 2
width = 16
heads = 2
dropout = 0.1
[attention.random]
block = 4
[attention.bigbird]
block = 4
random = 1
[optim]
warmup = 10
[train]
steps = 160
batch = 2
accumulate = 2
eval_every = 80
checkpoint_every = 8
TOML

# What must be the same: arrays (without the config, which names the threads) and losses.
arrays() { # RUN
  rm -f model.*
  "$weft" export "$1" -o model.safetensors >/dev/null || return
  local header
  header=$(od -An -t u8 -N 8 model.safetensors)
  tail -c +$((8 + header + 1)) model.safetensors | sha256sum
}
losses() { sed -E 's/"(tokens_per_s|peak_bytes|time)":[^,}]*,?//g' "$1/metrics.jsonl" | sha256sum; }

for i in $(seq 200); do echo "the same words come again and again, $i times"; done >text.txt

# What a mechanism needs besides the settings above: those that read both ways fill in hidden tokens.
settings_of() { # MECHANISM
  case $1 in
    etc | linformer) echo model.causal=false data.kind=text data.path=text.txt data.masking=bert ;;
    *) echo data.held_out=16 ;;
  esac
}

train() { # RUN MECHANISM ARGUMENT... : in $ranks processes
  local run=$1 mechanism=$2 launcher=()
  shift 2
  ((ranks == 1)) || launcher=(mpirun --oversubscribe --bind-to none --mca btl "tcp,self"
    --mca btl_tcp_if_include lo -n "$ranks")
  # A session of its own, by which processes that outlive their launcher are found.
  # shellcheck disable=SC2046 # settings are words
  exec setsid "${launcher[@]}" "$weft" train soak.toml --run "$run" "model.attention=$mechanism" \
    "train.shards=$shards" $(settings_of "$mechanism") "$@" </dev/null
}

milliseconds() { date +%s%3N; }

# One of the processes of a session: of several, the launcher only if it is to be killed.
one_of() { # SESSION SIGNAL
  local all
  mapfile -t all < <(pgrep -s "$1")
  ((ranks == 1)) || [ "$2" = KILL ] || mapfile -t all < <(pgrep -s "$1" | grep -vx "$1")
  ((${#all[@]})) || all=("$1") # too early for a session
  echo "${all[RANDOM % ${#all[@]}]}"
}

# When the launcher is killed its processes end by themselves, or a second run could not claim the directory.
until_gone() { # SESSION
  local polls
  for ((polls = 0; polls < 600; ++polls)); do
    pgrep -s "$1" >/dev/null || return 0
    sleep 0.1
  done
  echo "processes live on a minute after the kill: $(pgrep -a -s "$1")"
  differences=$((differences + 1))
  pkill -KILL -s "$1"
}

# Lets a training go on for a moment, then disturbs it; true when it has finished by itself.
disturb() { # RUN MECHANISM
  local child code signals=(KILL KILL KILL KILL KILL KILL TERM INT HUP USR1) signal
  local threads=$((1 + RANDOM % 2)) limit=unlimited log=log.txt moment victim
  local ranks=$((1 + RANDOM % shards)) # the launcher's own files have no limit
  ((RANDOM % 10 || ranks > 1)) || limit=$((RANDOM % 60)) log=/dev/null # the log is a file as well
  (
    ulimit -f "$limit"
    train "$1" "$2" "threads=$threads" --continue
  ) >>"$log" 2>&1 &
  child=$!
  moment=$((20 + undisturbed * (1 + RANDOM % 30) / 100 + (ranks > 1 ? launch : 0)))
  sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
  signal=${signals[RANDOM % ${#signals[@]}]}
  victim=$(one_of "$child" "$signal")
  kill "-$signal" "$victim" 2>/dev/null || signal=none
  wait "$child" 2>/dev/null
  code=$?
  until_gone "$child"
  ((ranks == 1)) || [ "$signal" = none ] || several=$((several + 1))
  case $signal in
    none) ;;
    KILL) kills=$((kills + 1)) ;;
    *) stops=$((stops + 1)) ;;
  esac
  [ "$signal" = none ] || [ -e "$1/checkpoints/last.json" ] || early=$((early + 1))
  [ "$limit" != 0 ] || [ "$code" != 2 ] || code=5 # not even a claim fits: a directory of no use
  [ "$limit" = unlimited ] || [ "$code" != 5 ] || full=$((full + 1))
  case $code in
    0) return 0 ;;
    5 | 129 | 130 | 137 | 138 | 143) return 1 ;;
    *) echo "exit $code after SIG$signal, $2"; tail -n 5 log.txt; differences=$((differences + 1)); return 0 ;;
  esac
}

kills=0 stops=0 several=0 early=0 full=0 moves=0 runs=0 differences=0 reported=$SECONDS
summary() {
  echo "seed $seed, $SECONDS s: $kills kills, $stops other signals (of both $early before the first" \
    "checkpoint, $several in runs of two processes), $full full disks and $moves moves" \
    "in $runs runs over ${#tried[@]} mechanisms, $differences differences"
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
most=1 # shards, and so processes
! command -v mpirun >/dev/null || [[ $(ldd "$weft") != *libmpi* ]] || most=2
declare -A tried
mapfile -t mechanisms < <("$weft" list attentions | sed -nE 's/^([a-z0-9_]+) .*/\1/p')
for ((i = 0; $(date +%s) < ends; ++i)); do
  mechanism=${mechanisms[i % ${#mechanisms[@]}]}
  rm -rf straight killed moved log.txt
  shards=$((most > 1 ? 1 + i % 2 : 1)) ranks=1
  began=$(milliseconds)
  (train straight "$mechanism" threads=1) >straight.txt 2>&1 || {
    echo "$mechanism does not train:"
    cat straight.txt
    exit 1
  }
  undisturbed=$(($(milliseconds) - began))
  if ((shards > 1)); then # how long it takes to start several
    began=$(milliseconds) ranks=2
    (train begun "$mechanism" threads=1 train.steps=1 --fresh) >straight.txt 2>&1
    launch=$(($(milliseconds) - began))
  fi
  run=killed
  until disturb "$run" "$mechanism"; do
    if ((RANDOM % 5 == 0)) && [ -d "$run" ]; then
      next=$([ "$run" = killed ] && echo moved || echo killed)
      mv -- "$run" "$next" && run=$next moves=$((moves + 1))
    fi
  done
  runs=$((runs + 1)) tried[$mechanism]=1
  for what in arrays losses; do
    [ "$("$what" straight)" = "$("$what" "$run")" ] && continue
    echo "DIFFERENT $what: $mechanism"
    differences=$((differences + 1))
  done
  ((SECONDS - reported < 600)) || { summary; reported=$SECONDS; }
done
summary
[ "$differences" = 0 ] && [ "$runs" -gt 0 ]
