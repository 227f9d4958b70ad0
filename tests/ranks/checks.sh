# Sourced by the tests of runs in several processes, here and on Slurm.

failures=0
skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
until_true() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do ((SECONDS < end)) || return 1; sleep 0.05; done
}
newest() { printf '%s\n' "$1"/checkpoints/ckpt-*.h5 | tail -n 1; } # RUN: its last checkpoint
