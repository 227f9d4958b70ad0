#!/usr/bin/env bash
# Every kind of chart, of sweeps and of runs, as SVG is drawn alike by Chromium and by librsvg, and weft's
# own PNG and PDF likewise. Exits with 77, which ctest shows as skipped, where one of them is not
# installed; without pdftoppm the PDFs alone are left out, which it says.
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
"$program" train base.toml --run spans model.attention=adaptive_span >/dev/null
"$program" report spans -o run/ --pictures svg,pdf,png >/dev/null 2>&1

fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}

size_of() { # PNG: its width and height
  python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read()[16:24]))' "$1"
}

same() { # WHAT A.png B.png COLOUR...
  local what=$1
  shift
  "$here/picture_difference.py" "$@" >difference.txt 2>&1 || fail "$what: $(cat difference.txt)"
}

compare() { # PICTURE: PICTURE.svg, .png and .pdf
  local picture=$1 colours width height
  mapfile -t colours < <(grep -o 'stroke="#[0-9a-f]*"' "$picture.svg" | grep -o '#[0-9a-f]*' | sort -u)
  # At twice the size, as weft's PNG: a line as thin as a pixel may lie between two rows of them.
  rsvg-convert -z 2 "$picture.svg" -o rsvg.png
  read -r width height < <(size_of rsvg.png)
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --hide-scrollbars --force-device-scale-factor=2 --window-size="$((width / 2)),$((height / 2))" \
    --user-data-dir="$scratch/profile" --screenshot="$scratch/browser.png" \
    "file://$scratch/$picture.svg" >/dev/null 2>&1 || fail "Chromium cannot draw $picture.svg"
  same "$picture.svg" browser.png rsvg.png "${colours[@]}"
  same "$picture.png" "$picture.png" rsvg.png
  [ "$(head -c 4 "$picture.pdf")" = "%PDF" ] || fail "$picture.pdf is no PDF"
  if command -v pdftoppm >/dev/null; then
    read -r width height < <(size_of "$picture.png")
    pdftoppm -png -singlefile -scale-to-x "$width" -scale-to-y "$height" "$picture.pdf" pdf ||
      fail "pdftoppm cannot draw $picture.pdf"
    same "$picture.pdf" pdf.png "$picture.png" "${colours[@]}"
  fi
  compared=$((compared + 1))
}

compared=0
# One of each kind; the names of the others differ in the task alone.
for kind in curves speed flops recall spans clusters-used time-length memory-length; do
  svg=$(find pictures -name "*$kind.svg" | sort | head -n 1)
  [ -n "$svg" ] || fail "no picture of $kind in: $(ls pictures)"
  compare "${svg%.svg}"
done
for kind in loss lr gradient_norm tokens_per_s peak_bytes spans; do
  [ -f "run/$kind.svg" ] || fail "no picture of $kind in: $(ls run)"
done
for svg in run/*.svg; do compare "${svg%.svg}"; done
command -v pdftoppm >/dev/null || echo "left out: PDFs, which need pdftoppm (apt-get install poppler-utils)"
echo "ok: $compared pictures"
