#!/bin/bash
# Pages in a browser, at several widths. Needs chromium and imagemagick.
#   pages_test.sh ATTNVP SOURCE_DIR [PICTURES [DB]]   PICTURES: folder for the pictures; DB: database of a sweep to show
. "$(dirname -- "$0")/looking.sh" "$@"

# Visible contents as JSON at the end of the page.
cat >tell.html <<'EOF'
<script>
function told(seen) {
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = '\n' + JSON.stringify(seen) + '\n';
  document.body.append(out);
}
</script>
EOF
seen_in() { # PAGE ARG...
  local page=$1
  shift
  browser "$folder/$page" "$@" --dump-dom >dom.html
  sed -n '/<pre id="seen">/,/<\/pre>/p' dom.html | sed '1d;$d' | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >seen.json
}

# holds CONDITION WHAT: condition on the visible contents; $run and $many are runs' JSON.
holds() {
  jq -e --slurpfile run mas.json --slurpfile many "$([[ -f many.json ]] && echo many.json || echo mas.json)" "$1" seen.json >/dev/null ||
    failed "not so on the page: $1: $(jq -c "$2" seen.json)"
}

# The page: no message on the console, tables with the JSON's numbers, charts that are not blank, zoom by keyboard.
for dataflow in layerwise softpipe flat tileflow mas; do
  "$attnvp" run --net bert-base --dataflow $dataflow --timeline $dataflow.timeline.json --json $dataflow.json >/dev/null
done
"$attnvp" report mas.json flat.json layerwise.json softpipe.json tileflow.json -o report.html >/dev/null || failed report
# What a visitor would do, and what comes of it, as JSON at the end of the page.
cat report.html tell.html - >visited.html <<'EOF'
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
told(seen);
</script>
EOF
seen_in visited.html
holds '.charts == 8 and .blank == [] and .unlabelled == 0 and .focused' '{charts, blank, unlabelled, focused}'
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
# Roofs: a run that is bound by DRAM is close to DRAM's, one bound by its arrays to MAC's, and none is above its lowest.
holds '[.["roofline-table"][] | {key: .[0], value: .[8:]}] | from_entries
  | .mas[0] == "MAC" and .layerwise[0] == "DRAM" and ([.[][1] | rtrimstr("%") | tonumber] | all(. > 20 and . <= 100))' '.["roofline-table"]'

# A machine of many cores: rows in the order that people count in, sums per window where bars are too many.
"$attnvp" run --data timing --net H=16,N=512,E=64 --set cores=12 --dataflow flat --tiling nq=16,nkv=32 --timeline many.timeline.json --json many.json >/dev/null
"$attnvp" report many.json -o many.html >/dev/null || failed 'report of many cores'
cat many.html tell.html - >visited.html <<'EOF'
<script>
const rows = () => charts.gantt.data.labels;
const seen = {rows: rows(), text: document.getElementById('gantt-window').textContent, gantt: [...document.querySelectorAll('#gantt-table tbody tr')].map(row => [...row.cells].map(c => c.textContent))};
show(0, 3000);
seen.zoomed = document.getElementById('gantt-window').textContent;
told(seen);
</script>
EOF
seen_in visited.html
holds '.rows[0:4] == ["core0.mac", "core0.vec", "core1.mac", "core1.vec"] and (.rows | index("core10.mac")) > (.rows | index("core9.vec"))' .rows
holds '(.text | test("each column sums up")) and (.zoomed | test("sums up") | not)' '{text, zoomed}'
holds '(.gantt[] | select(.[0] == "cluster0.core11.mac") | .[2] | gsub(","; "") | tonumber) == $many[0].counters["attnvp.cluster0.core11.mac"].busy_cycles' .gantt

# A sweep's page. What is selected in one view is selected in all.
cat >small.yaml <<'EOF'
hardware: edge-16nm
network: H=4,N=256,E=64
dataflow: [flat, mas]
axes:
  cores: [1, 2, 4]
  vec.lanes: [64, 256]
  l1.size: [256 KiB, 512 KiB, 1 MiB, 8 MiB]
EOF
"$attnvp" sweep small.yaml --db small.db >/dev/null && "$attnvp" pareto small.db --versus mas,flat --html front.html >/dev/null || failed 'the front'
cat front.html tell.html - >visited.html <<'EOF'
<script>
const seen = {};
const count = () => document.getElementById('count').textContent;
const table = () => document.querySelectorAll('#jobs tbody tr').length;
const overlaid = () => charts['effect-0'].data.datasets.length;
const click = what => document.querySelector(what).click();
const look = () => ({count: count(), table: table(), datasets: overlaid()});
click('#all-jobs');
seen.all = look();
seen.axes = [charts.front.options.scales.x.title.text, charts.front.options.scales.y.title.text];
[...document.querySelectorAll('[data-level]')].find(chip => chip.textContent === 'mas').click();
seen.mas = look();
seen.dataflows = [...new Set([...document.querySelectorAll('#jobs tbody tr')].map(row => row.cells[row.cells.length - 1].textContent))];
const box = document.getElementById('front-box');
box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
seen.cleared = look();
const place = document.getElementById('front').getBoundingClientRect(), area = charts.front.chartArea;
const mouse = (type, x, y) => document.getElementById('front').dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, clientX: place.left + x, clientY: place.top + y}));
const half = (area.left + area.right) / 2;
mouse('pointerdown', area.left, area.top); mouse('pointermove', half, area.bottom); mouse('pointerup', half, area.bottom);
seen.brushed = look();
const least = charts.front.scales.x.getValueForPixel(half);
seen.expected = jobs.filter(job => value(job, 0) <= least).length;
click('#clear');
[...document.querySelectorAll('#jobs tbody tr')].pop().click();
seen.clicked = [document.getElementById('command').textContent, location.hash.length];
box.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
seen.moved = document.getElementById('which').textContent;
told(seen);
</script>
EOF
seen_in visited.html
holds '.all.table == 48 and .all.datasets == 2 and (.all.count | startswith("48 jobs"))' .all
holds '.axes == ["Cycles (thousands)", "Energy (uJ)"]' .axes
holds '.mas.table == 24 and .mas.datasets == 4 and (.mas.count | startswith("24 of 48 jobs selected")) and .dataflows == ["mas"]' '{mas, dataflows}'
holds '.cleared == .all' .cleared
holds '.brushed.table == .expected and .expected > 0 and .expected < 48 and .brushed.datasets == 4' '{brushed, expected}'
holds '(.clicked[0] | startswith("attnvp run --hw edge-16nm")) and .clicked[1] > 8 and .moved == "on the front"' '{clicked, moved}'

# No element exceeds the page at any width; wider elements scroll.
"$attnvp" validate dram-curves --html validate.html >/dev/null || failed 'the page of predictions'
# In a frame, because windows are at least 500 pixels wide.
frame() { printf '<iframe src="visited.html" style="border: 0; width: %spx; height: 1000px"></iframe><script>onmessage = e => told(e.data);</script>' "$1"; }
pages=(report many front validate)
"$attnvp" run --cpu riscv --data timing --net H=2,N=64,E=32 --profile profile.html >/dev/null 2>&1 && pages+=(profile) # where firmware was built
for page in "${pages[@]}"; do
  for width in 400 1000 1400; do
    cat "$page.html" tell.html - >visited.html <<'EOF'
<script>
setTimeout(() => {
  const inScroll = e => e.parentElement.closest('.scroll, pre');
  const out = [...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && !inScroll(e) && !e.closest('.skip') && (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  const clipped = [...document.querySelectorAll('canvas')].filter(c => c.offsetWidth > c.parentElement.clientWidth + 1 || c.offsetHeight > c.parentElement.clientHeight + 1);
  parent.postMessage({width: innerWidth, page: document.documentElement.scrollWidth, out: [...out, ...clipped].map(e => e.outerHTML.slice(0, 80)).slice(0, 5)}, '*');
}, 1000);
</script>
EOF
    { cat tell.html && frame "$width"; } >framed.html
    seen_in framed.html --window-size=1500,1100
    holds ".width == $width and .page <= $width and .out == []" "[\"$page\", .]"
  done
done

picture() {
  local name=$1 page=$2 height=$3
  shift 3
  browser "$folder/$page.html" --window-size="1280,$height" "$@" --screenshot="$pictures/$name.png"
}
dark=--blink-settings=preferredColorScheme=0
[[ -n ${4-} ]] && { "$attnvp" pareto "$4" --html front.html >/dev/null || failed "$4"; }
picture report report 3700
picture report-dark report 1000 $dark
picture many many 1800 $dark
picture front front 1250
picture front-dark front 1250 $dark
picture predictions validate 1100
[[ -f profile.html ]] && picture profile profile 800
for colour in '#0072b2' '#d55e00' '#009e73' '#a3527f'; do
  [[ $(pixels "$pictures/report.png" "$colour") -gt 1000 ]] || failed "the page shows none of $colour"
done
for name in report-dark front-dark; do
  [[ $(pixels "$pictures/$name.png" '#14171b') -gt 50000 ]] || failed "$name is not dark where that is asked for"
done
[[ $(pixels "$pictures/many.png" '#2bc79a') -gt 1000 ]] || failed 'windows show no PV'
[[ -n $documented ]] && small_files "$pictures"/{report,report-dark,many,front,front-dark,predictions,profile}.png
finish
