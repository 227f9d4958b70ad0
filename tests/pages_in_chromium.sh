#!/usr/bin/env bash
# Opens the pages of runs, of what their heads read, and of sweeps, in headless Chromium, from files and live,
# in light and dark, at 400 and 1,600 pixels: no console message, every mark in the page, no picture blank;
# nothing wider than the page, and no letter of a chart outside of it or on another one.
# Exits with 77, which ctest shows as skipped, where Chromium is not installed.
#
#   tests/pages_in_chromium.sh PROGRAM [FOLDER]    keeps the screenshots in FOLDER
set -euo pipefail

program=$(readlink -f -- "$1")
kept=${2:+$(readlink -f -- "$2")}
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
  echo "skipped: Chromium is not installed (apt-get install chromium)"
  exit 77
fi

scratch=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf -- "$scratch"
}
trap finish EXIT
cd -- "$scratch"
cat >small.toml <<'TOML'
[data]
length = 32
held_out = 8
[model]
layers = 2
width = 16
heads = 2
[optim]
warmup = 2
[train]
steps = 30
batch = 2
eval_every = 10
[sample]
tokens = 16
TOML
"$program" train small.toml --run spans model.attention=adaptive_span >/dev/null
"$program" train small.toml --run clusters model.attention=routing optim.lr=1e-3 >/dev/null

visit() { # ADDRESS LOG ARGUMENT...
  local address=$1 log=$2
  shift 2
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --hide-scrollbars --enable-logging=stderr --v=0 --user-data-dir="$scratch/profile" "$@" \
    "$address" 2>"$log"
}

fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}

# Counts, with the page in a frame of that width: how far it scrolls to the side, what sticks out of it,
# letters that their chart cuts off, and pairs of names that cover each other.
fits() { # NAME ADDRESS WIDTH
  cat >frame.html <<HTML
<!DOCTYPE html><html><body><iframe id="f" style="width:$3px;height:2400px;border:0" src="$2"></iframe>
<pre id="found"></pre><script>
addEventListener("load", () => {
  const page = document.getElementById("f").contentDocument, root = page.documentElement;
  const box = e => e.getBoundingClientRect(), seen = e => box(e).width > 0;
  const wide = [...page.querySelectorAll("main *")].filter(e => seen(e) && !e.closest(".scroll, svg") &&
    box(e).right > root.clientWidth + 1);
  const texts = [...page.querySelectorAll("svg text")].filter(seen);
  const cut = texts.filter(e => {
    const own = box(e), all = box(e.ownerSVGElement);
    return own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 1 || own.bottom > all.bottom + 1;
  });
  const covered = texts.filter((a, i) => texts.slice(0, i).some(b => a.ownerSVGElement === b.ownerSVGElement &&
    Math.min(box(a).right, box(b).right) - Math.max(box(a).left, box(b).left) > 2 &&
    Math.min(box(a).bottom, box(b).bottom) - Math.max(box(a).top, box(b).top) > box(a).height / 2));
  const list = all => [all.length, ...all.map(e => e.outerHTML.slice(0, 120))].join(" ");
  document.getElementById("found").textContent = "page of " + page.querySelectorAll("main *").length +
    "; scrolls " + (root.scrollWidth - root.clientWidth) + "; wide " + list(wide) + "; cut " + list(cut) +
    "; covered " + list(covered) + ";";
});
</script></body></html>
HTML
  visit "file://$scratch/frame.html" frame.log --dump-dom --allow-file-access-from-files --window-size=1700,2600 >frame.dom
  grep -q 'page of [1-9]' frame.dom || fail "$1 cannot be measured: $(tail -n 3 frame.log)"
  grep -q 'scrolls 0; wide 0; cut 0; covered 0;' frame.dom ||
    fail "$1 at $3 pixels: $(grep -o 'page of .*' frame.dom)"
}

check() { # NAME ADDRESS WANTED PATTERN
  local name=$1 address=$2 wanted=$3 pattern=$4 found width scheme size
  visit "$address" dom.log --dump-dom --window-size=1600,4000 >dom.html
  ! grep -q 'CONSOLE' dom.log || fail "$name: the console says: $(grep CONSOLE dom.log)"
  found=$(grep -o -- "$pattern" dom.html | wc -l)
  ((wanted > 0 && found == wanted)) || fail "$name: $found of $wanted $pattern in the page"
  for width in 400 1600; do
    [[ $address == http* ]] || fits "$name" "$address" "$width" # what is served forbids frames
    for scheme in light dark; do
      local settings=()
      [ "$scheme" = light ] || settings=(--blink-settings=preferredColorScheme=0)
      visit "$address" shot.log --window-size="$width,2400" --screenshot="$name-$width-$scheme.png" \
        "${settings[@]}" >/dev/null
      size=$(stat -c %s "$name-$width-$scheme.png")
      ((size > 20000)) || fail "$name-$width-$scheme.png has only $size bytes: it looks blank"
    done
    if cmp -s "$name-$width-light.png" "$name-$width-dark.png"; then
      fail "$name: light and dark look the same at $width pixels"
    fi
  done
  [ -z "$kept" ] || cp -- "$name"-*.png "$kept/"
}

tiles() { grep -o '<g class="weights">' "$1" | wc -l; }
marks() { grep -o 'class="mark"' "$1" | wc -l; }

"$program" report spans -o run.html >/dev/null 2>&1
check run "file://$scratch/run.html" "$(marks run.html)" 'class="mark"'
"$program" report spans clusters -o runs.html >/dev/null 2>&1
check runs "file://$scratch/runs.html" "$(marks runs.html)" 'class="mark"'

"$program" train small.toml --run buckets model.attention=lsh attention.lsh.buckets=4 attention.lsh.chunk=8 >/dev/null
for shown in spans clusters buckets; do
  "$program" show "$shown" -o "show-$shown.html" >/dev/null 2>&1
  (($(tiles "show-$shown.html") == 4)) || fail "show-$shown.html has not one square for each of 4 heads"
  check "show-$shown" "file://$scratch/show-$shown.html" "$(grep -o 'class="tile"' "show-$shown.html" | wc -l)" 'class="tile"'
done

cat >sweep.toml <<'TOML'
base = "small.toml"
seeds = 2
[grid]
model.attention = ["dense", "local"]
TOML
"$program" sweep sweep.toml attention.local.window=8 >/dev/null
"$program" report sweeps/sweep -o report.html >/dev/null 2>&1
check report "file://$scratch/report.html" "$(marks report.html)" 'class="mark"'

# NAME PLACE WANTED: the page that is served of a run or a sweep.
check_live() {
  "$program" watch "$2" --port 0 >watch.txt &
  server=$!
  for _ in $(seq 100); do
    ! grep -q http watch.txt || break
    sleep 0.1
  done
  check "$1" "$(grep -o 'http://[0-9.:]*/' watch.txt)" "$3" 'class="mark"'
  kill -INT "$server"
  wait "$server" || fail "weft watch did not end cleanly"
  server=
}
check_live live spans "$(marks run.html)"
# The trials' own page draws the same curves.
"$program" report sweeps/sweep/trials -o trials.html >/dev/null 2>&1
check_live live-sweep sweeps/sweep "$(marks trials.html)"
echo "ok: pages of runs, of what they read, of a sweep, and live pages, at 400 and 1,600 pixels, light and dark"
