#!/usr/bin/env bash
# tests/slurm/sweep_test.sh WEFT: a sweep of 12 trials over three nodes of Slurm, of which one is lost; one
# trial is killed, one signalled, one diverges. The same command again submits exactly what is open, no trial
# is trained twice, and the report is that of a sweep on one machine. Skipped (77) without root or Slurm.
set -uo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
. "$here/../ranks/checks.sh"
weft=$(readlink -f -- "$1")
[ "$(id -u)" = 0 ] || skip "needs root"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch squeue scontrol unshare; do
  command -v $program >/dev/null || skip "$program is not installed"
done
unshare --uts true 2>/dev/null || skip "this root may not make namespaces"
. "$here/cluster.sh"

scratch=$(mktemp -d)
chmod 755 "$scratch"
cluster=$scratch/cluster
mkdir "$cluster"
trap 'stop_cluster "$cluster"; sleep 0.5; rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit 1
fail() {
  echo "FAILED: $*"
  "$weft" sweep s.toml --status
  tail -n 5 sweeps/s/slurm/*/*.out sweeps/s/logs/*.log cluster/log/slurmctld.log 2>/dev/null
  exit 1
}

# Eleven trials that take some seconds each and one that diverges at once. Every checkpoint_every steps
# there is something to continue from.
cat >base.toml <<'TOML'
[data]
length = 16
held_out = 8
[model]
layers = 1
width = 8
heads = 2
[optim]
kind = "sgd"
clip = 0.0
warmup = 2
[train]
steps = 10000
batch = 2
eval_every = 5000
checkpoint_every = 500
TOML
cat >s.toml <<'TOML'
base = "base.toml"
[[list]]
optim.lr = 1e-3
[[list]]
optim.lr = 1000.0
TOML
for lr in 2 3 4 5 6 7 8 9 10 11; do printf '[[list]]\noptim.lr = %se-3\n' $lr; done >>s.toml

start_cluster "$cluster" 3 || fail "no cluster: $(tail -n 3 "$cluster"/log/*.log)"
submit() { "$weft" sweep s.toml --slurm "-c1 -t5" -j 6; }
submit || fail "the first submission"
state_of() { "$weft" sweep s.toml --status | awk -v id="$1" '$2 == id { print $1 }'; }
trials=($(cut -d' ' -f1 sweeps/s/slurm/1/trials.txt))
[ ${#trials[@]} = 12 ] || fail "12 trials, not ${#trials[@]}"
diverging=${trials[1]}
has_saved() { [ -f "sweeps/s/trials/$1/checkpoints/last.json" ]; }
holder() { sed -n 's/.*"process": *\([0-9]*\).*/\1/p' "sweeps/s/trials/$1/claim" 2>/dev/null; }
task_of() { squeue -r -h -o '%A %K %N' | awk -v i="$1" '$2 == i { print $1, $3 }'; }
again() { scontrol update jobid="$1" StartTime=now 2>/dev/null; } # it would wait for two minutes

# Three trials pause as soon as they have saved: on a fast machine they would be over before their turn.
declare -A paused=()
three_pause() {
  for i in 0 2 5; do
    [ -z "${paused[$i]-}" ] && has_saved "${trials[i]}" || continue
    kill -STOP "$(holder "${trials[i]}")" || fail "trial $i is over already"
    paused[$i]=yes
  done
  [ ${#paused[@]} = 3 ]
}
until_true 60 three_pause || fail "no checkpoint of ${trials[0]}, ${trials[2]} or ${trials[5]}"

# One is killed, one gets the signal that announces the time limit.
read -r killed_job _ < <(task_of 0)
kill -9 "$(holder "${trials[0]}")"
read -r signalled_job _ < <(task_of 2)
signalled=$(holder "${trials[2]}")
timeout 2 scancel --batch --signal=USR1 "$signalled_job" 2>/dev/null # it would ask again when the job is over
kill -CONT "$signalled"
# One node is lost with all that it runs.
read -r _ node < <(task_of 5)
lost=()
count_lost() { mapfile -t -O ${#lost[@]} lost < <(squeue -r -h -w "$node" -o %F_%K); }
count_lost
stop_node "$cluster" "$node"
echo "lost $node with jobs ${lost[*]}"

# What was killed or signalled requeues itself. What the node ran Slurm requeues: that is cancelled, as where
# requeue is off. It may have been given more before Slurm noticed that it is gone.
ended() {
  count_lost
  scancel "${lost[@]}" 2>/dev/null
  for job in "$killed_job" "$signalled_job"; do again "$job"; done
  [ -z "$(squeue -h)" ]
}
until_true 100 ended || fail "the queue is not empty"
open=()
for id in "${trials[@]}"; do
  case $(state_of "$id") in done | failed | diverged) ;; *) open+=("$id") ;; esac
done
((${#open[@]} >= 1)) || fail "nothing was lost with the node"
[ "$(state_of "$diverging")" = diverged ] || fail "the diverging trial is $(state_of "$diverging")"
submit || fail "the second submission"
[ "$(cut -d' ' -f1 sweeps/s/slurm/2/trials.txt | tr '\n' ' ')" = "${open[*]} " ] ||
  fail "submitted $(cat sweeps/s/slurm/2/trials.txt), open were ${open[*]}"
submit | grep -q "nothing to submit" || fail "the third submission submits again"
until_true 60 eval '[ -z "$(squeue -h)" ]' || fail "the queue is not empty"
"$weft" sweep s.toml --status | grep -qx "12 trials: 11 done, 1 diverged" || fail "not all are done"

# No trial was trained twice: each was started once, or once more for each end from outside, and every
# later start continued from a checkpoint.
for id in "${trials[@]}"; do
  starts=$(grep -c '"time"' "sweeps/s/trials/$id/env.json")
  resumed=$(grep -c 'resumed step' "sweeps/s/logs/$id.log")
  [ "$((starts - resumed))" = 1 ] || fail "$id: $starts starts, $resumed of them resumed"
done
for i in 0 2; do
  [ "$(grep -c '"time"' "sweeps/s/trials/${trials[i]}/env.json")" = 2 ] || 
    fail "trial $i had no second life"
done
grep -q "is not finite" <("$weft" sweep s.toml --status) || fail "no reason for the failure"

"$weft" sweep s.toml --dir local -j 2 >local.out
"$weft" report sweeps/s -o slurm.md >/dev/null && "$weft" report local -o local.md >/dev/null || fail "no report"
cmp slurm.md local.md || { diff slurm.md local.md | head -20; fail "the reports differ"; }
echo "passed in $SECONDS s, submitted again: ${#open[@]}"
