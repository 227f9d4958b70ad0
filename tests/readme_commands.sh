#!/usr/bin/env bash
# Runs what README.md tells people to type: each line of its ```sh blocks, in order, in
# a scratch folder where ./weft and configs are those of this tree. The first that fails, or takes
# longer than WEFT_README_SECONDS (default 300), fails the whole. `./weft test` is left out: it runs
# in its own right, and runs this only through .ci/run.
#
#   tests/readme_commands.sh          run them
#   tests/readme_commands.sh --list   print them
set -euo pipefail

root=$(readlink -f -- "$(dirname -- "$0")/..")
limit=${WEFT_README_SECONDS:-300}

# Lines that end in a backslash continue in the next one.
commands() {
  awk '/^```/ { inside = ($0 == "```sh"); next }
       inside { line = line $0 }
       inside && /\\$/ { sub(/\\$/, "", line); next }
       inside { if (line != "") print line; line = "" }' "$root/README.md" |
    grep -vE '^\./weft test( |$)' || true
}

mapfile -t lines < <(commands)
if ((${#lines[@]} == 0)); then
  echo "README.md holds no command in a block marked sh: mark them so that they are run" >&2
  exit 1
fi
if [ "${1-}" = --list ]; then
  printf '%s\n' "${lines[@]}"
  exit
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
ln -s -- "$root/weft" "$root/configs" "$scratch/"
cd -- "$scratch"

for line in "${lines[@]}"; do
  began=$SECONDS code=0
  timeout "$limit" bash -c "$line" >output.log 2>&1 </dev/null || code=$?
  if ((code != 0)); then
    tail -n 30 output.log
    ((code != 124)) || echo "it took longer than $limit s"
    printf 'FAIL  %s   (exit code %d)\nmend the command in README.md or the program\n' "$line" "$code"
    exit 1
  fi
  printf 'ok    %4d s  %s\n' $((SECONDS - began)) "$line"
done
