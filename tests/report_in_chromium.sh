#!/usr/bin/env bash
# Opens a report in headless Chromium, in light and in dark: no console message, no request to
# anywhere, every mark of the file in the page, and a picture that is not blank.
# Exits with 77, which ctest shows as skipped, where Chromium is not installed (it is large).
#
#   tests/report_in_chromium.sh PROGRAM
set -euo pipefail

program=$(readlink -f -- "$1")
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
  echo "skipped: Chromium is not installed (apt-get install chromium)"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
cat >base.toml <<'TOML'
# A model that trains in a moment.
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
steps = 12
batch = 2
eval_every = 4
TOML
cat >small.toml <<'TOML'
base = "base.toml"
seeds = 2
[grid]
model.attention = ["dense", "local", "routing", "adaptive_span"]
data.length = [16, 32]
TOML
"$program" sweep small.toml >/dev/null
"$program" report sweeps/small -o report.html >/dev/null 2>&1

visit() { # LOG ARGUMENT...
  local log=$1
  shift
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --hide-scrollbars --enable-logging=stderr --v=0 --window-size=1280,4000 \
    --user-data-dir="$scratch/profile" "$@" "file://$scratch/report.html" 2>"$log"
}

fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}

visit dom.log --dump-dom >dom.html
! grep -q 'CONSOLE' dom.log || fail "the console says: $(grep CONSOLE dom.log)"
in_file=$(grep -o 'class="mark"' report.html | wc -l)
in_page=$(grep -o 'class="mark"' dom.html | wc -l)
((in_file > 0 && in_file == in_page)) || fail "$in_file marks in the file, $in_page in the page"

visit light.log --screenshot=light.png >/dev/null
visit dark.log --blink-settings=preferredColorScheme=0 --screenshot=dark.png >/dev/null
for picture in light dark; do
  size=$(stat -c %s "$picture.png")
  ((size > 50000)) || fail "$picture.png has only $size bytes: the page looks blank"
done
if cmp -s light.png dark.png; then fail "light and dark look the same"; fi
echo "ok: $in_page marks, light and dark"
