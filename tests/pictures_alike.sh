#!/usr/bin/env bash
# Every kind of chart as SVG is drawn alike by Chromium and by librsvg, and weft's own PNG likewise.
# Exits with 77, which ctest shows as skipped, where one of them is not installed.
#
#   tests/pictures_alike.sh PROGRAM
set -euo pipefail

program=$(readlink -f -- "$1")
here=$(dirname -- "$(readlink -f -- "$0")")
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ] || ! command -v rsvg-convert >/dev/null || ! command -v python3 >/dev/null; then
  echo "skipped: needs chromium, rsvg-convert (librsvg2-bin) and python3"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
cat >base.toml <<'TOML'
[data]
length = 16
held_out = 8
[model]
layers = 2
width = 8
heads = 2
[optim]
warmup = 2
[train]
steps = 8
batch = 2
eval_every = 4
TOML
cat >small.toml <<'TOML'
base = "base.toml"
seeds = 2
[grid]
model.attention = ["dense", "routing", "adaptive_span"]
data.length = [16, 32]
TOML
"$program" sweep small.toml >/dev/null
"$program" report sweeps/small -o pictures/ --pictures svg,pdf,png >/dev/null 2>&1

fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}

# One of each kind; the names of the others differ in the task alone.
kinds="curves speed flops recall spans clusters_used time-length memory-length"
compared=0
for kind in $kinds; do
  svg=$(find pictures -name "*$kind.svg" | sort | head -n 1)
  [ -n "$svg" ] || continue
  picture=${svg%.svg}
  size=$(grep -o 'width="[0-9.]*" height="[0-9.]*"' "$svg" | head -n 1 | grep -o '[0-9]*\.' | tr -d '\n' | tr . ' ')
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --hide-scrollbars --force-device-scale-factor=1 --window-size="${size/ /,}" \
    --user-data-dir="$scratch/profile" --screenshot="$scratch/browser.png" \
    "file://$scratch/$svg" >/dev/null 2>&1 || fail "Chromium cannot draw $svg"
  rsvg-convert "$svg" -o rsvg.png
  # shellcheck disable=SC2046 # one argument a colour
  "$here/picture_difference.py" browser.png rsvg.png $(grep -o 'stroke="#[0-9a-f]*"' "$svg" |
    grep -o '#[0-9a-f]*' | sort -u) >difference.txt 2>&1 || fail "$svg: $(cat difference.txt)"
  rsvg-convert -z 2 "$svg" -o rsvg2.png
  "$here/picture_difference.py" "$picture.png" rsvg2.png >difference.txt 2>&1 ||
    fail "$picture.png: $(cat difference.txt)"
  [ "$(head -c 4 "$picture.pdf")" = "%PDF" ] || fail "$picture.pdf is no PDF"
  compared=$((compared + 1))
done
((compared >= 7)) || fail "only $compared kinds of charts in: $(ls pictures)"
echo "ok: $compared kinds of charts"
