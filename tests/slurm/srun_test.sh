#!/usr/bin/env bash
# tests/slurm/srun_test.sh WEFT: one run that srun starts on three nodes of Slurm, one process on each. It gives the
# bits of one process; a killed process ends it, and the same command with --continue finishes it. Skipped (77)
# without root, Slurm with PMIx, or MPI in weft.
set -uo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
. "$here/../ranks/checks.sh"
weft=$(readlink -f -- "$1")
[ "$(id -u)" = 0 ] || skip "needs root"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun scancel unshare; do
  command -v $program >/dev/null || skip "$program is not installed"
done
[[ $(ldd "$weft") == *libmpi* ]] || skip "this weft was built without MPI"
unshare --uts true 2>/dev/null || skip "this root may not make namespaces"
. "$here/cluster.sh"

scratch=$(mktemp -d)
chmod 755 "$scratch"
cluster=$scratch/cluster
mkdir "$cluster"
trap 'stop_cluster "$cluster"; sleep 0.5; rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit 1

cat >base.toml <<'TOML'
threads = 1
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
schedule = "constant"
[train]
steps = 6
batch = 6
shards = 3
eval_every = 3
eval_batches = 1
checkpoint_every = 20
TOML

start_cluster "$cluster" 3 || { echo "FAILED: no cluster: $(tail -n 3 "$cluster"/log/*.log)"; exit 1; }
srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm has no PMIx"
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo # all nodes are this machine
on_nodes() { # OPTIONS ARGUMENT... : leaves what was printed in out and err
  # shellcheck disable=SC2086 # options are words
  timeout -k 5 90 srun $1 -N3 -n3 -c1 -t2 "$weft" "${@:2}" >out 2>err </dev/null
}
together="--mpi=pmix -K"

on_nodes "$together" train base.toml --run three || fail "three nodes: exit code $? $(cat err)"
"$weft" train base.toml --run one >/dev/null 2>err || fail "one process: $(cat err)"
cmp -- "$(newest one)" "$(newest three)" || fail "three nodes give other bits than one process"
cmp <(grep -o '"loss":[^,]*' one/metrics.jsonl) <(grep -o '"loss":[^,]*' three/metrics.jsonl) ||
  fail "three nodes measure other losses than one process"

# Without MPI between them each would train by itself. (With -K, one that leaves could silence the first.)
on_nodes --mpi=none train base.toml --run apart
code=$?
((code == 2)) || fail "srun without PMIx: exit code $code"
(($(grep -c 'error: started 3 times, .*srun --mpi=pmix' err) == 1)) || fail "srun without PMIx: $(cat err)"
[ ! -e apart ] || fail "srun without PMIx: a run was begun"

# A process that is killed.
of_rank() { # RANK
  local pid
  for pid in $(pgrep -f -- "train base.toml train.steps=1000000 --run lost-rank"); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "PMIX_RANK=$1"; then echo "$pid"; fi
  done
}
on_nodes "$together" train base.toml train.steps=1000000 --run lost-rank &
launched=$!
until_true 40 test -f lost-rank/checkpoints/last.json || fail "nothing was saved: $(cat err)"
kill -KILL "$(of_rank 1)" || fail "no second process: $(pgrep -af -- "--run lost-rank")"
ended() { ! kill -0 "$launched" 2>/dev/null; }
until_true 60 ended || { fail "the run outlives a killed process"; scancel -u root; }
wait "$launched"
code=$?
((code != 0)) || fail "a killed process: exit code 0"
gone() { ! pgrep -f -- "--run lost-rank" >/dev/null; }
until_true 20 gone || fail "processes outlive the run: $(pgrep -af -- "--run lost-rank")"
echo "a killed process ended the run with exit code $code"

saved=$(sed -n 's/.*"step": *\([0-9]*\).*/\1/p' lost-rank/checkpoints/last.json | head -n 1)
end=$((saved + 5))
on_nodes "$together" train base.toml "train.steps=$end" --run lost-rank --continue || fail "going on: exit code $? $(cat err)"
grep -q "resumed step $saved" out || fail "it did not go on: $(cat out)"
"$weft" train base.toml "train.steps=$end" --run whole >out 2>err || fail "one process: $(cat err)"
cmp -- "$(newest lost-rank)" "$(newest whole)" || fail "a run that was killed and continued has other bits"

((failures == 0)) && echo "srun: all as it should be, $SECONDS s"
exit $((failures > 0))
