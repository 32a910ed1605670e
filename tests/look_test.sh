#!/bin/bash
# Real GTKWave and a real browser: that they show what they should. Needs gtkwave, xvfb, imagemagick and chromium.
#   look_test.sh ATTNVP SOURCE_DIR [PICTURES]   the pictures go to that folder, when one is given
set -uo pipefail

attnvp=$(realpath -- "$1")
root=$(realpath -- "$2")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
pictures=$(realpath -m -- "${3-$folder}")
mkdir -p -- "$pictures"
cd -- "$folder" || exit 1

failures=0
failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*" >&2
}

# pixels PICTURE COLOUR: how many have it, within 6%
pixels() {
  convert "$1" -alpha off -fuzz 6% -fill black +opaque "$2" -fill white -opaque "$2" -format '%[fx:mean*w*h]' info: |
    awk '{ printf "%d", $1 }'
}

# gtkwave_picture PICTURE HEIGHT ARG...: GTKWave, started in another folder than the files'
gtkwave_picture() {
  local picture=$1 height=$2
  shift 2
  (cd / && xvfb-run -a -s "-screen 0 1500x${height}x24" bash -c '
    picture=$1; shift
    gtkwave "$@" >/dev/null 2>&1 &
    for _ in {1..40}; do
      sleep 0.5
      import -window root "$picture"
      # Drawn, once two pictures in a row have colours and are the same.
      if [[ $(identify -format %k "$picture") -gt 20 ]] && cmp -s "$picture" "$picture.before"; then break; fi
      cp "$picture" "$picture.before"
    done
    rm -f "$picture.before"
    kill $!' _ "$picture" "$@")
}

# Each run's own view and the saved ones: engines at work show in their colours, which only names have.
mkdir traces && cp -r "$root/traces/views" traces/
declare -A more=([mas-overwrite]='--hw overwrite-v --dataflow mas:overwrite=on --tiling overwrite')
for name in layerwise softpipe flat tileflow mas mas-overwrite; do
  read -ra arguments <<<"${more[$name]-"--dataflow $name"}"
  "$attnvp" run --data timing --net bert-base "${arguments[@]}" --vcd "traces/$name.vcd" >/dev/null || failed "run $name"
  height=600
  [[ $name == layerwise || $name == softpipe ]] && height=450
  gtkwave_picture "$pictures/$name.png" $height "$folder/traces/views/$name.gtkw"
  for colour in 'rgb(58,95,205)' 'rgb(46,139,87)' 'rgb(104,34,139)'; do # QK^T, PV, softmax
    [[ $name == softpipe && $colour == 'rgb(46,139,87)' ]] && continue  # later
    [[ $(pixels "$pictures/$name.png" "$colour") -gt 100 ]] || failed "$name: GTKWave shows none of $colour"
  done
done
gtkwave_picture "$pictures/run.png" 1050 "$folder/traces/mas.gtkw"
[[ $(pixels "$pictures/run.png" 'rgb(46,139,87)') -gt 5000 ]] || failed "a run's own view shows no PV"
"$attnvp" run --data timing --net bert-base --vcd traces/fst.fst >/dev/null
gtkwave_picture "$folder/fst.png" 1050 "$folder/traces/fst.gtkw"
[[ $(pixels "$folder/fst.png" 'rgb(46,139,87)') -gt 5000 ]] || failed 'the view of an FST shows no PV'

# The VEC engine's RTL beside the model's state, cycle by cycle, where it was built.
if "$attnvp" run --net H=2,N=64,E=32 --vec rtl --vcd traces/rtl.vcd >/dev/null 2>&1; then
  gtkwave_picture "$pictures/rtl.png" 450 "$folder/traces/views/rtl.gtkw"
  [[ $(pixels "$pictures/rtl.png" 'rgb(104,34,139)') -gt 100 ]] || failed 'rtl: GTKWave shows no softmax'
  [[ $(pixels "$pictures/rtl.png" 'rgb(0,255,0)') -gt 1000 ]] || failed 'rtl: GTKWave shows no clock'
fi

[[ $(pixels "$pictures/run.png" 'rgb(255,0,255)') -eq 0 ]] || failed 'colours are not told apart'

# The page: no message on the console, tables with the JSON's numbers, charts that are not blank, zoom by keyboard.
for dataflow in layerwise softpipe flat tileflow mas; do
  "$attnvp" run --net bert-base --dataflow $dataflow --timeline $dataflow.timeline.json --json $dataflow.json >/dev/null
done
"$attnvp" report mas.json flat.json layerwise.json softpipe.json tileflow.json -o report.html >/dev/null || failed report
browser() { # PAGE ARG...
  local page=$1
  shift
  chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr \
    --hide-scrollbars --virtual-time-budget=5000 "$@" "file://$page" 2>log
  grep CONSOLE log && failed "$page: something on the console"
}
# What a visitor would do, and what comes of it, as JSON at the end of the page.
cp report.html visited.html
cat >>visited.html <<'EOF'
<script>
const seen = {};
const cells = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row => [...row.cells].map(c => c.textContent));
for (const id of ['compare', 'energy-table', 'utilisation-table', 'traffic-table', 'cycles-table', 'roofline-table']) seen[id] = cells(id);
const blank = canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size < 8;
seen.blank = [...document.querySelectorAll('canvas')].filter(blank).map(c => c.id);
seen.charts = document.querySelectorAll('canvas').length;
seen.unlabelled = [...document.querySelectorAll('canvas')].filter(c => !c.getAttribute('aria-label')).length +
  [...document.querySelectorAll('button, select, input')].filter(c => !(c.textContent.trim() || c.ariaLabel || c.labels.length)).length;
const box = document.getElementById('gantt-box');
const press = key => box.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const where = () => [gantt.from, gantt.to];
box.focus();
seen.focused = document.activeElement === box;
seen.all = where();
seen.gantt = cells('gantt-table');
press('+');
seen.zoomed = where();
press('ArrowRight');
seen.moved = where();
press('0');
seen.again = where();
const mouse = (type, x) => document.getElementById('gantt').dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0,
  clientX: document.getElementById('gantt').getBoundingClientRect().left + x, clientY: document.getElementById('gantt').getBoundingClientRect().top + 60}));
mouse('pointerdown', 400); mouse('pointermove', 600); mouse('pointerup', 600);
seen.dragged = where();
const out = document.createElement('pre');
out.id = 'seen';
out.textContent = '\n' + JSON.stringify(seen) + '\n';
document.body.append(out);
</script>
EOF
browser "$folder/visited.html" --dump-dom >dom.html
sed -n '/<pre id="seen">/,/<\/pre>/p' dom.html | sed '1d;$d' | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >seen.json
holds() { jq -e --slurpfile run mas.json "$1" seen.json >/dev/null || failed "not so on the page: $1: $(jq -c "$2" seen.json)"; }
holds '.charts == 6 and .blank == [] and .unlabelled == 0 and .focused' '{charts, blank, unlabelled, focused}'
holds '.compare | length == 5' .compare
holds '.compare[0][1] | gsub(","; "") | tonumber == $run[0].cycles' '.compare[0]'
holds '.["cycles-table"][0] == ["mas", .compare[0][1]]' '.["cycles-table"]'
holds '[.["utilisation-table"][0][1:][] | rtrimstr("%") | tonumber] as $page
  | [$run[0].utilization | .mac, .vec, .dma, .dram] | [., $page] | transpose | all(100 * .[0] - .[1] | fabs <= 0.0501)' '.["utilisation-table"]'
holds 'def joules: capture("(?<n>[0-9.]+) (?<p>.?)J") | (.n | tonumber) * {"m": 1e9, "u": 1e6, "n": 1e3}[.p];
  [.["energy-table"][0][1:][] | joules] as $page
  | [$run[0].energy_pj | .dram, .l1, .l0, .mac, .vec] | [., $page] | transpose | all(.[0] / .[1] / 1e0 - 1 | fabs < 0.006)' '.["energy-table"]'
holds '[.["roofline-table"][0][2] | tonumber] | .[0] / (402653184 / $run[0].cycles) - 1 | fabs < 0.001' '.["roofline-table"]'
holds '(.gantt[] | select(.[0] == "cluster0.core0.mac") | .[2] | gsub(","; "") | tonumber)
  == $run[0].counters["attnvp.cluster0.core0.mac"].busy_cycles' .gantt
holds '.all == [0, $run[0].cycles] and .zoomed[1] - .zoomed[0] == $run[0].cycles / 2 and .moved[0] > .zoomed[0] and .again == .all' \
  '{all, zoomed, moved, again}'
holds '.dragged[0] > .all[0] and .dragged[1] < .all[1]' .dragged
browser "$folder/report.html" --window-size=1280,2560 --screenshot="$pictures/report.png"
browser "$folder/report.html" --window-size=1280,2560 --blink-settings=preferredColorScheme=0 --screenshot="$pictures/report-dark.png"
for colour in '#0072b2' '#d55e00' '#009e73' '#a3527f'; do
  [[ $(pixels "$pictures/report.png" "$colour") -gt 1000 ]] || failed "the page shows none of $colour"
done
[[ $(pixels "$pictures/report-dark.png" '#14171b') -gt 100000 ]] || failed 'the page is not dark where that is asked for'

# For the documentation: without the windows' title bars, which show where the files are.
if [[ $pictures != "$folder" ]]; then
  for picture in "$pictures"/{layerwise,softpipe,flat,tileflow,mas,mas-overwrite,rtl,run}.png; do
    [[ -f $picture ]] || continue
    convert "$picture" -crop +4+97 +repage "$picture"
  done
  convert "$pictures/report-dark.png" -crop 1280x960+0+0 +repage "$pictures/report-dark.png"
  for picture in "$pictures"/*.png; do convert "$picture" +dither -colors 48 -define png:compression-level=9 "PNG8:$picture"; done
fi
[[ $failures -eq 0 ]] && echo 'all well'
exit $((failures > 0))
