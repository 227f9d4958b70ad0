#!/usr/bin/env bash
# tests/ranks/measure_overlap.sh WEFT [ROUNDS] [SETTING...]: how much of an exchange at 1 Gbit/s two hosts hide behind
# their arithmetic, with 8,192 tokens each. In turns with cables of 1 Gbit/s and without a limit, a line for each:
# RATE, best ms of a step, ms that the first host waited (median), MB that it sent.
set -euo pipefail
weft=$(readlink -f -- "$1")
rounds=${2:-3}
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/hosts.sh"
PATH=$PATH:/usr/sbin:/sbin
trap stop_hosts EXIT
start_hosts 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ((round = 1; round <= rounds; round++)); do
  for rate in none 1gbit; do
    [ "$rate" = none ] || limit_cables 2 "$rate"
    on_hosts 2 "$weft" bench step "$here/../../configs/bench/step.toml" train.batch=32 train.shards=2 threads=1 \
      --steps 9 --json "${@:3}" </dev/null |
      python3 -c "import json, sys
b = json.load(sys.stdin)
print('$rate', round(1e3 * b['step_s']), round(1e3 * b.get('waited_s', 0), 1), round(b.get('sent_bytes', 0) / 1e6, 2))"
    [ "$rate" = none ] || limit_cables 2 none
  done
done
