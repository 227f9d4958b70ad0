#!/usr/bin/env bash
# tests/ranks/without_mpi_test.sh WITHOUT WEFT: what a weft that was built without MPI does. It loads no library of
# MPI, says the same and trains to the same bytes as WEFT, and refuses to be one of several processes, each of
# which would train by itself.
set -uo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
. "$here/checks.sh"
without=$(readlink -f -- "$1") weft=$(readlink -f -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit 1

libraries=$(ldd "$without")
[[ $libraries == *libtbb* ]] || fail "ldd says nothing: $libraries"
! grep -E 'libmpi|libopen-(rte|pal)|libpmix' <<<"$libraries" || fail "libraries of MPI are loaded"

for words in --help "list attentions" "config --keys" "help train"; do
  # shellcheck disable=SC2086 # several words
  cmp <("$weft" $words 2>&1) <("$without" $words 2>&1) || fail "weft $words says something else"
done

cat >base.toml <<'TOML'
threads = 2
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
steps = 4
batch = 4
shards = 2
eval_every = 2
eval_batches = 1
checkpoint_every = 2
TOML
"$weft" train base.toml --run with >out 2>err || fail "with MPI: exit code $? $(cat err)"
"$without" train base.toml --run without >out 2>err || fail "without: exit code $? $(cat err)"
for checkpoint in with/checkpoints/ckpt-*.h5; do
  cmp -- "$checkpoint" "without/${checkpoint#with/}" || fail "$checkpoint has other bytes"
done

# One of two processes, by the variables of mpirun and of srun --mpi=pmix; the first of them says so.
refused() { # WHAT VARIABLE... : NUMBER stands for the number of the process
  local what=$1 rank code
  shift
  for rank in 0 1; do
    env "${@//NUMBER/$rank}" "$without" train base.toml --run several >out 2>err
    code=$?
    ((code == 2)) || fail "$what, process $rank: exit code $code"
    if ((rank == 0)); then
      grep -q 'error: started 2 times, but MPI is not part of this weft' err || fail "$what: $(cat err)"
      grep -q 'WEFT_MPI=ON' err || fail "$what, no advice: $(cat err)"
    else
      [ ! -s err ] || fail "$what, said by both: $(cat err)"
    fi
  done
  [ ! -e several ] || fail "$what: a run was begun"
}
refused mpirun OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=NUMBER
refused "srun --mpi=pmix" SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=NUMBER PMIX_RANK=NUMBER

((failures == 0)) && echo "without MPI: all as it should be"
exit $((failures > 0))
