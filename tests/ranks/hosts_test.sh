#!/usr/bin/env bash
# tests/ranks/hosts_test.sh WEFT: one run on three hosts, which are network namespaces. It gives the bits of one
# process; a cut cable ends it soon, and it goes on without the host that was cut off. Skipped (77) without root,
# mpirun or namespaces, or where weft is without MPI.
set -uo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
. "$here/checks.sh"
weft=$(readlink -f -- "$1")
. "$here/hosts.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v mpirun >/dev/null || skip "mpirun is not installed"
[[ $(ldd "$weft") == *libmpi* ]] || skip "this weft was built without MPI"
[ "$(id -u)" = 0 ] || skip "only root can make network namespaces"
command -v ip >/dev/null || skip "ip is not installed"

scratch=$(mktemp -d)
trap 'stop_hosts; rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit 1
start_hosts 3 2>err || skip "network namespaces cannot be made here: $(cat err)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

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
eval_every = 0
eval_batches = 1
checkpoint_every = 20
TOML

on_hosts 3 "$weft" train base.toml --run three >out 2>err </dev/null ||
  fail "three hosts: exit code $? $(cat err)"
"$weft" train base.toml --run one >/dev/null 2>err || fail "one process: $(cat err)"
cmp -- "$(newest one)" "$(newest three)" || fail "three hosts give other bits than one process"

on_hosts 3 "$weft" train base.toml train.steps=1000000 --run cut >out 2>err </dev/null &
launched=$!
until_true 30 test -f cut/checkpoints/last.json || fail "nothing was saved: $(cat err)"
cut_cable 2
begin=$SECONDS
until_true 60 eval "! kill -0 $launched 2>/dev/null" || { fail "a cut cable does not end the run"; kill -KILL "$launched"; }
wait "$launched"
code=$?
((code != 0)) || fail "a cut cable: exit code 0"
echo "a cut cable ended the run after $((SECONDS - begin)) s with exit code $code"
# The host with the run directory still works; what is left on the other is ended with it.
gone() { ! ip netns pids "$hosts_prefix-h1" | grep -q .; }
until_true 20 gone || fail "processes outlive the run: $(ip netns pids "$hosts_prefix-h1")"
saved=$(sed -n 's/.*"step": *\([0-9]*\).*/\1/p' cut/checkpoints/last.json | head -n 1)
end=$((saved + 5))
"$weft" train base.toml "train.steps=$end" --run cut --continue >out 2>err || fail "going on: $(cat err)"
"$weft" train base.toml "train.steps=$end" --run uncut >out 2>err
cmp -- "$(newest cut)" "$(newest uncut)" || fail "a run that was cut off and continued has other bits"

((failures == 0)) && echo "hosts: all as it should be"
exit $((failures > 0))
