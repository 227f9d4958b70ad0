#!/usr/bin/env bash
# Lets system calls fail under weft's commands, one at a time, and checks what is left.
#
#   tests/faults/faults.sh WEFT SHIM [--full [COMMAND...]]
#
# For each command, kind of call and error the n-th call fails, for n = 1, 2, ... until the command
# makes fewer. After each: no crash; exit code 0 only when the results are those of an undisturbed
# run, else a documented one with a message; what was there before is intact; the same command again,
# undisturbed, ends in the same bytes. Without --full every kind of call is tried at a few n, with
# errors in turn. Ends in a table of calls x errors; SIGTERM ends it early, with the table so far.
# CALLS="flock mmap" in the environment tries these kinds of call only.
set -uo pipefail

weft=$(readlink -f -- "$1") shim=$(readlink -f -- "$2")
full=${3-}
read -ra commands <<<"${*:4}"
((${#commands[@]})) || commands=(train sweep export prepare report)
read -ra calls_to_try <<<"${CALLS:-open write print fsync rename link flock mmap fork memory}"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
stopped=0
trap 'stopped=1' TERM
cd -- "$scratch"

declare -A errors=([ENOSPC]=28 [EIO]=5 [EINTR]=4 [ENOSYS]=38 [EDQUOT]=122 [short]=0 [EAGAIN]=11 [ENOMEM]=12
  [EPERM]=1)
declare -A kinds=([open]="ENOSPC EIO EINTR EDQUOT" [write]="ENOSPC EIO EINTR EDQUOT short"
  [print]="ENOSPC EIO EDQUOT" [fsync]="EIO EINTR ENOSPC EDQUOT" [rename]="EIO ENOSPC EDQUOT"
  [link]="EIO ENOSPC EPERM" [flock]="ENOSYS EIO EINTR"
  [mmap]="ENOMEM" [fork]="EAGAIN ENOMEM" [memory]="ENOMEM")

cat >base.toml <<'TOML'
threads = 1
[data]
length = 16
held_out = 8
[model]
layers = 1
width = 8
heads = 2
[optim]
warmup = 2
[train]
steps = 6
batch = 2
eval_every = 3
checkpoint_every = 2
TOML
printf 'base = "base.toml"\n[grid]\nmodel.attention = ["dense", "local"]\n' >s.toml
for i in $(seq 200); do echo "the same words come again and again, $i times"; done >text.txt

# Each command: how it is run, how it is tried again after a failure, and what it leaves that must
# be the same bytes every time (times and speeds differ between runs and are left out).
run_train() { "$weft" train base.toml --run run; }
again_train() { "$weft" train base.toml --run run --resume || "$weft" train base.toml --run run --fresh; }
left_train() { without_times run/metrics.jsonl; sha run/checkpoints/*.h5 run/checkpoints/*.json run/config.toml; }

run_sweep() { "$weft" sweep s.toml; }
again_sweep() { "$weft" sweep s.toml --retry failed; }
left_sweep() { sha sweeps/s/scores/*.json sweeps/s/configs/*.toml sweeps/s/trials/*/checkpoints/*; }

run_export() { "$weft" export before -o model.safetensors; }
again_export() { "$weft" export before -o model.safetensors --force; }
left_export() { sha model.safetensors model.md model.py; }

run_prepare() { "$weft" data prepare text.txt -o text.h5; }
again_prepare() { "$weft" data prepare text.txt -o text.h5 --force; }
left_prepare() { sha text.h5; }

run_report() { "$weft" report done -o r.html,t.md,t.csv,t.tex,pictures/; }
again_report() { run_report; }
left_report() { sha r.html t.md t.csv t.tex pictures/*.svg; }

sha() { sha256sum -- "$@" 2>&1; }
without_times() { sed -E 's/"(tokens_per_s|peak_bytes|time)":[^,}]*,?//g' "$1"; }
clear_results() { rm -rf run sweeps model.* text.h5 r.html t.* t-times.* pictures; }
kept() { find before done -type f ! -name lock -print0 | sort -z | xargs -0 sha256sum; }

"$weft" train base.toml --run before >/dev/null && "$weft" sweep s.toml --dir done >/dev/null ||
  { echo "the commands fail without any fault"; exit 1; }
kept_before=$(kept)

declare -A tried failures
total=0 bad=0
complain() { # WHAT
  echo "FAILED $command, call $n of $call, $name: $1"
  sed 's/^/    /' err.txt | head -5
  failures[$call,$name]=$((${failures[$call,$name]:-0} + 1)) bad=$((bad + 1))
}

attempt() { # the outcome is in $code, whether the call came in $reached
  clear_results
  head -c 8 /dev/zero >counter
  (export FAULT_CALL=$call FAULT_AT=$n FAULT_ERROR=${errors[$name]} FAULT_COUNTER=$scratch/counter
    LD_PRELOAD=$shim; export LD_PRELOAD
    "run_$command") >out.txt 2>err.txt
  code=$?
  local count
  count=$(od -An -t d8 counter)
  reached=$((count >= n && n > 0)) calls=$count
}

judge() {
  tried[$call,$name]=$((${tried[$call,$name]:-0} + 1)) total=$((total + 1))
  case $code in
    0)
      [ "$("left_$command")" = "${expected[$command]}" ] || complain "exit 0, but other results"
      [ "$call" != print ] || complain "exit 0, but what it printed was lost"
      ;;
    1 | 2 | 4 | 5 | 6) grep -qE '^error: |FAILED|failed' err.txt out.txt || complain "exit $code without a word" ;;
    *) complain "exit $code" ;;
  esac
  [ "$command $call $code" != "train memory 6" ] || ! grep -qs '"running"' run/status.json ||
    complain "status.json still says that it runs"
  [ "$(kept)" = "$kept_before" ] || { complain "what was there before has changed"; kept_before=$(kept); }
  [ "$code" = 0 ] && return
  "again_$command" >out.txt 2>err.txt || complain "the second try ends with $?"
  [ "$("left_$command")" = "${expected[$command]}" ] || complain "the second try has other results"
}

declare -A expected
for command in "${commands[@]}"; do
  clear_results
  "run_$command" >/dev/null 2>&1
  expected[$command]=$("left_$command")
  for call in "${calls_to_try[@]}"; do
    n=0 name=EIO
    attempt
    [ "$code" = 0 ] || complain "exit $code undisturbed"
    most=$calls
    read -ra names <<<"${kinds[$call]}"
    step=1
    [ "$full" = --full ] || step=$((most / 2 + 1))
    turn=0
    for ((first = 1; first <= most; first += step)); do
      n=$first
      if [ "$full" = --full ]; then chosen=("${names[@]}"); else chosen=("${names[turn++ % ${#names[@]}]}"); fi
      for name in "${chosen[@]}"; do
        attempt
        ((reached)) && judge
        ((stopped)) && break 4
      done
    done
  done
done

# Where every lock fails, as on a file system that has none, a claim still keeps a second process out.
without_locks() {
  FAULT_CALL=flock FAULT_AT=-1 FAULT_ERROR=${errors[ENOSYS]} FAULT_COUNTER=$scratch/counter LD_PRELOAD=$shim \
    "$weft" train base.toml --run run "$@"
}
try_without_locks() {
  clear_results
  head -c 8 /dev/zero >counter
  without_locks train.steps=1000000 >out.txt 2>&1 &
  for _ in $(seq 600); do [ ! -f run/checkpoints/last.json ] || break; sleep 0.05; done
  command=train call=flock n=all name=ENOSYS
  without_locks --resume >out.txt 2>err.txt
  code=$?
  [ "$code" = 2 ] && grep -q "another process is training there" err.txt ||
    complain "a second process in a run without locks ended with $code"
  kill -TERM "$(sed -n 's/.*"process": *\([0-9]*\).*/\1/p' run/claim)"
  wait
  [ ! -e run/claim ] || complain "a claim was left behind"
}
if ((stopped)); then
  echo "stopped in $command, call $n of $call: what follows was not tried"
else
  try_without_locks
fi

echo
printf '%-8s' call
for name in ENOSPC EIO EINTR ENOSYS EDQUOT EPERM EAGAIN ENOMEM short; do printf '%10s' "$name"; done
echo "   (tried/failed)"
for call in open write print fsync rename link flock mmap fork memory; do
  printf '%-8s' "$call"
  for name in ENOSPC EIO EINTR ENOSYS EDQUOT EPERM EAGAIN ENOMEM short; do
    printf '%10s' "${tried[$call,$name]:+${tried[$call,$name]}/${failures[$call,$name]:-0}}"
  done
  echo
done
echo "$total faults, $bad failures"
[ "$bad" = 0 ]
