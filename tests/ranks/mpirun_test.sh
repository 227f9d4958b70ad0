#!/usr/bin/env bash
# tests/ranks/mpirun_test.sh WEFT: one run in several processes of MPI. Any number of them, with any number of
# threads, ends in the same checkpoint; it resumes at another number; signals and kills lose nothing, and
# mistakes are said once. Skipped (77) where mpirun is missing or weft is without MPI.
set -uo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
. "$here/checks.sh"
weft=$(readlink -f -- "$1")
command -v mpirun >/dev/null || skip "mpirun is not installed"
[[ $(ldd "$weft") == *libmpi* ]] || skip "this weft was built without MPI"

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
options=(--oversubscribe --bind-to none --mca btl "tcp,self" --mca btl_tcp_if_include lo)
run() { # RANKS ARGUMENT... : leaves $code, and what was printed in out and err
  local ranks=$1
  shift
  mpirun "${options[@]}" -n "$ranks" "$weft" "$@" >out 2>err </dev/null
  code=$?
}
said() { grep -c -- "$1" err; }
rank_of_run() { # RANK DIRECTORY: its process
  local pid
  for pid in $(pgrep -f -- "--run $2"); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"; then
      echo "$pid"
    fi
  done
}

cat >base.toml <<'TOML'
[data]
length = 32
held_out = 8
[model]
layers = 1
width = 16
heads = 2
dropout = 0.1
[optim]
warmup = 1
[train]
steps = 6
batch = 6
shards = 3
eval_every = 3
eval_batches = 1
checkpoint_every = 3
TOML

# Every mechanism of the registry, ten to a model, one in each layer.
mapfile -t names < <("$weft" list attentions | awk '$1 ~ /^[a-z_0-9]+$/ {print $1}')
fitting=()
for name in "${names[@]}"; do
  [ "$name" != bp ] || continue # has rows of its own, which no layer beside it has
  "$weft" config base.toml "model.attention=$name" >/dev/null 2>&1 && fitting+=("$name")
done
((${#fitting[@]} >= 25)) || fail "only ${#fitting[@]} mechanisms fit: ${fitting[*]}"

compare() { # WHAT DIRECTORY DIRECTORY : every array and fact of the newest checkpoints, bit by bit
  cmp -- "$(newest "$2")" "$(newest "$3")" || fail "$1"
}

# The number of threads is a setting, which checkpoints keep: 1 for those compared with 1, 2 with 2.
all_alike() { # NAME SETTING...
  local name=$1 ranks threads
  shift
  for threads in 1 2; do
    "$weft" train base.toml --run "$name" --fresh "threads=$threads" "$@" >out 2>err ||
      { fail "$name alone"; cat err; return; }
    ranks=$((4 - threads))
    run "$ranks" train base.toml --run "$name-$ranks" "threads=$threads" "$@"
    ((code == 0)) || { fail "$name with $ranks ranks: exit code $code"; cat err; continue; }
    compare "$name with $ranks ranks of $threads threads" "$name" "$name-$ranks"
  done
}
for ((i = 0; i < ${#fitting[@]}; i += 10)); do
  group=("${fitting[@]:i:10}")
  list=$(printf ',"%s"' "${group[@]}")
  all_alike "mechanisms-$i" "model.layers=${#group[@]}" "model.attention=[${list:1}]"
done
all_alike accumulated train.accumulate=2 model.reversible=true
all_alike normalised model.norm=batch model.allow_leaky_norm=true
# Gradients and values in many pieces, which overlap with the sweep and with the next step.
all_alike pieces model.layers=3 model.width=256
# Sequences cut into chunks: windows and sums, and all keys, with gradients in many pieces.
all_alike chunks train.batch=2 train.shards=1 train.chunks=4 model.layers=2 \
  'model.attention=["local","linear"]' attention.local.window=9
all_alike chunks_of_rows train.batch=2 train.shards=2 train.chunks=2 model.layers=2 model.width=256 \
  model.reversible=true
all_alike streams data.stream=96 model.attention=adaptive_span model.segment_memory=true \
  model.positions=none

# Saved by two, resumed by one and by three.
for ranks in 1 3; do
  run 2 train base.toml --run "resumed-$ranks" optim.schedule=constant train.steps=3
  run "$ranks" train "resumed-$ranks" train.steps=6
  ((code == 0)) || { fail "resuming with $ranks ranks: exit code $code"; cat err; }
done
"$weft" train base.toml --run straight optim.schedule=constant >out 2>err
compare "saved by 2, resumed by 1" straight resumed-1
compare "saved by 2, resumed by 3" straight resumed-3

# A signal to any rank stops all after a step; a killed one ends them, and nothing is lost.
long=(train base.toml train.steps=1000000 train.eval_every=0 train.checkpoint_every=20 threads=1)
started() { [ "$(cat "$1/metrics.jsonl" 2>/dev/null | wc -l)" -gt 30 ]; }
begin_long() { # DIRECTORY MPIRUN_OPTION... : in the background
  mpirun "${options[@]}" "${@:2}" -n 3 "$weft" "${long[@]}" --run "$1" >out 2>err </dev/null &
  launched=$!
  until_true 30 started "$1" || fail "$1 did not start"
}
begin_long stopped
kill -TERM "$(rank_of_run 1 stopped)"
wait "$launched"
code=$?
((code == 143)) || fail "TERM to a rank: exit code $code"
grep -q '"stopped"' stopped/status.json || fail "TERM to a rank: $(cat stopped/status.json)"
step=$(sed -n 's/.*saved step \([0-9]*\).*/\1/p' out | tail -n 1)
tail -n 1 stopped/metrics.jsonl | grep -q "\"step\":$step\b" || fail "saved step $step is not the last one"

begin_long killed
until_true 20 test -f killed/checkpoints/last.json || fail "nothing was saved"
kill -KILL "$(rank_of_run 2 killed)"
wait "$launched"
code=$?
((code == 137)) || fail "KILL of a rank: exit code $code"
gone() { ! pgrep -f -- "--run killed" >/dev/null; } # the first rank may save once more before it ends
until_true 20 gone || fail "ranks outlive the one that was killed"
saved=$(sed -n 's/.*"step": *\([0-9]*\).*/\1/p' killed/checkpoints/last.json | head -n 1)
end=$((saved + 5))
run 2 train killed "train.steps=$end" --resume
((code == 0)) || { fail "resuming what was killed: exit code $code"; cat err; }
"$weft" train base.toml --run unkilled threads=1 train.eval_every=0 train.checkpoint_every=20 "train.steps=$end" >out 2>err
compare "killed and resumed" unkilled killed

# A rank that hangs is named while the others wait for it; when it continues, all do.
begin_long standing -x WEFT_SILENCE_SECONDS=1
still=$(rank_of_run 2 standing)
earlier=$(wc -l <err)
kill -STOP "$still"
silences() { tail -n "+$((earlier + 1))" err | sed -nE 's/^rank 2 has sent nothing for ([0-9]+) s: .*/\1/p'; }
named_twice() { (($(silences | wc -l) >= 2)); }
until_true 60 named_twice || fail "a rank that hangs is not named: $(cat err)"
silences | sort -n -u -c || fail "it is not named once in a second: $(cat err)"
(($(silences | head -n 1) >= 1)) || fail "it is named too early: $(cat err)"
before=$(wc -l <standing/metrics.jsonl)
kill -CONT "$still"
goes_on() { (($(wc -l <standing/metrics.jsonl) > before + 5)); }
until_true 30 goes_on || fail "the run does not go on after a pause"
kill -TERM "$still"
ended() { ! kill -0 "$launched" 2>/dev/null; }
until_true 30 ended || { fail "the run does not end after a pause"; kill -KILL "$launched"; }
wait "$launched"
code=$?
((code == 143)) || fail "TERM to a rank that hung: exit code $code"

# Mistakes are reported once, by name, with the program's exit codes.
expect_once() { # WHAT CODE TEXT
  ((code == $2)) || fail "$1: exit code $code instead of $2: $(cat err)"
  (($(said "$3") == 1)) || fail "$1: \"$3\" was said $(said "$3") times: $(cat err)"
}
run 4 train base.toml
expect_once "more ranks than shards" 2 'error: .*train.shards=4'
run 2 train base.toml train.stepz=3
expect_once "a wrong setting" 2 'error: 1 problem'
run 2 train base.toml --nonsense
expect_once "a wrong option" 2 'error: .*nonsense'
run 2 plan base.toml
expect_once "a verb for one process" 2 'error: .*runs in one process'
run 2 train base.toml --run diverged optim.kind=sgd optim.lr=1000 optim.clip=0 train.steps=300
expect_once "divergence" 3 'error: .*not finite'
grep -q '"diverged"' diverged/status.json || fail "divergence: $(cat diverged/status.json)"
mkdir elsewhere
yes 'to be or not to be' | head -n 200 >text.txt
sed -e 's/^held_out.*/kind = "text"\npath = "text.txt"/' base.toml >text.toml
mpirun "${options[@]}" -n 1 "$weft" train text.toml --run data : \
  -n 1 --wdir "$scratch/elsewhere" "$weft" train text.toml --run data >out 2>err </dev/null
code=$?
expect_once "data missing on one rank" 4 'rank 1 on .*error: .*text.txt'
yes 'not to be but to be' | head -n 200 >elsewhere/text.txt
mpirun "${options[@]}" -n 1 "$weft" train text.toml --run data : \
  -n 1 --wdir "$scratch/elsewhere" "$weft" train text.toml --run data >out 2>err </dev/null
code=$?
expect_once "other data on one rank" 2 'error: rank 1 on .* rank 0 on .* in data: .*the same files'
mpirun "${options[@]}" -n 1 "$weft" train base.toml --run blas : \
  -n 1 -x OPENBLAS_CORETYPE=Prescott "$weft" train base.toml --run blas >out 2>err </dev/null
code=$?
expect_once "another BLAS core" 2 'error: rank 1 on .* rank 0 on .* in BLAS core: .* OPENBLAS_CORETYPE'
[ ! -e data/metrics.jsonl ] && [ ! -e blas/metrics.jsonl ] || fail "a run was begun by ranks that differ"
if grep -q avx2 /proc/cpuinfo; then
  mpirun "${options[@]}" -n 1 "$weft" train base.toml --run isa : \
    -n 1 -x WEFT_ISA=baseline "$weft" train base.toml --run isa >out 2>err </dev/null
  code=$?
  expect_once "another instruction set" 2 'error: rank 1 on .* rank 0 on .* WEFT_ISA=baseline'
  [ ! -e isa/metrics.jsonl ] || fail "another instruction set: a run was begun"
fi
env PMI_SIZE=2 PMI_RANK=0 "$weft" train base.toml >out 2>err
code=$?
expect_once "a launcher of another MPI" 2 'error: started 2 times'
env PMI_SIZE=2 PMI_RANK=1 "$weft" train base.toml >out 2>err
code=$?
((code == 2)) && [ ! -s err ] || fail "a launcher of another MPI, second process: $code $(cat err)"

# A launcher that binds each rank to one processor, though it has two threads.
binding() { # POLICY
  mpirun --oversubscribe --bind-to "$1" --mca btl "tcp,self" --mca btl_tcp_if_include lo -n 2 "$weft" \
    train base.toml --run bound --fresh threads=2 train.steps=1 train.eval_every=0 >out 2>err </dev/null
}
if (($(nproc) >= 2)) && binding core; then
  (($(grep -c 'warning: rank 0 on .* is bound to 1 of .* --bind-to none' out) == 1)) ||
    fail "no warning of the launcher's binding: $(cat out err)"
  binding none && ! grep -q 'is bound to' out || fail "a warning of a binding that is none: $(cat out err)"
fi

# What else computes works together too.
"$weft" eval straight >alone 2>err
run 2 eval straight
((code == 0)) && cmp -s alone out || fail "eval: $code $(diff alone out | head -n 5) $(cat err)"
"$weft" eval chunks >alone 2>err
run 3 eval chunks
((code == 0)) && cmp -s alone out || fail "eval of chunks: $code $(diff alone out | head -n 5) $(cat err)"
run 2 verify-resume base.toml --steps 4 --at 2
((code == 0)) && (($(grep -c PASS out) == 2)) || fail "verify-resume: $code $(cat out err)"
run 2 bench step base.toml --steps 1
((code == 0)) && (($(grep -c 'tokens/s' out) == 1)) || fail "bench step: $code $(cat out err)"
run 2 audit base.toml
((code == 0)) && (($(wc -l <out) >= 1)) || fail "audit: $code $(cat out err)"

((failures == 0)) && echo "ranks: all as it should be"
exit $((failures > 0))
