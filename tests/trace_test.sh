#!/bin/bash
# Files of a run, checked without a display: waveforms as VCD and FST, saved views, timelines and report pages.
#   trace_test.sh ATTNVP SOURCE_DIR
. "${BASH_SOURCE%/*}/folder.sh" "$1" "$2"
run() { "$attnvp" run --data timing "$@" >/dev/null || failed "attnvp run $*"; }
same() { cmp -s -- "$1" "$2" || failed "$1 and $2 differ"; }
refused() { # STATUS PATTERN ARG...
  local want=$1 pattern=$2 message
  shift 2
  message=$("$attnvp" "$@" 2>&1 >/dev/null)
  [[ $? -eq $want && $message =~ $pattern ]] || failed "attnvp $*: $message"
}

# FST: equal bytes for equal runs, and the same waveform as the VCD.
small=(--net H=2,N=64,E=32)
run "${small[@]}" --vcd a.fst && mv a.fst b.fst
run "${small[@]}" --vcd a.fst
same a.fst b.fst
run "${small[@]}" --vcd a.vcd
fst2vcd a.fst >back.vcd || failed 'fst2vcd cannot read a.fst'
# TIME NAME VALUE of every change; leading zeros do not count, and real numbers are compared in 6 digits.
changes() {
  awk '$1 == "$scope" { path = path "." $3; next }
       $1 == "$upscope" { sub(/[.][^.]*$/, "", path); next }
       $1 == "$var" { name[$4] = path "." $5; next }
       /^#/ { time = substr($1, 2); next }
       /^b/ { value = substr($1, 2); sub(/^0+/, "", value); print time, name[$2], value == "" ? 0 : value; next }
       /^r/ { printf "%s %s %.6g\n", time, name[$2], substr($1, 2); next }
       /^[01z]/ { print time, name[substr($1, 2)], substr($1, 1, 1) }' "$1" | sed 's/ zz*$/ z/' | sort
}
changes a.vcd >a.changes
changes back.vcd >back.changes
same a.changes back.changes
[[ $(wc -l <a.changes) -gt 500 ]] || failed 'a waveform with hardly any change'
[[ $(grep -c '^\$var' a.vcd) -eq $(grep -c '^\$var' back.vcd) ]] || failed 'FST has lost signals'
[[ $(ls) == *a.gtkw*a.names* ]] || failed "no view beside a waveform: $(ls)"

# A selection of scopes or times gives a smaller file.
run "${small[@]}" --vcd part.vcd --trace-scope core1.mac --trace-scope dram --trace-from 500 --trace-to '1 us'
[[ $(wc -c <part.vcd) -lt $(($(wc -c <a.vcd) / 4)) ]] || failed 'a scope and a window save nothing'

# Every saved view names only signals and values of its dataflow's waveform.
declare -A more=([mas-overwrite]='--hw overwrite-v --dataflow mas:overwrite=on --tiling overwrite' [rtl]='--vec rtl --trace-to 100000')
mapping_of() { # NAMES
  printf '# Numbers of the waveforms as names, for Surfer.\nName = attnvp\nBits = 6\n'
  awk '/^[0-9]/ && $1 < 64 { code = $1; sub(/^[0-9]+ /, ""); sub(/^[?][^?]*[?]/, ""); print /[^ ]/ ? code " " $0 : code "[weak] -" }' "$1"
}
views=0
for view in "$root"/traces/views/*.gtkw; do
  name=$(basename -- "$view" .gtkw)
  [[ $name == rtl ]] && ! "$attnvp" run "${small[@]}" --vec rtl >/dev/null 2>&1 && continue # not built
  read -ra arguments <<<"${more[$name]-"--dataflow $name"}"
  if [[ $name == mas-overwrite ]]; then net=bert-base; else net=H=4,N=128,E=64; fi
  run --net "$net" "${arguments[@]}" --vcd "$name.vcd"
  awk '$1 == "$enddefinitions" { exit }
       $1 == "$scope" { path[++depth] = $3 } $1 == "$upscope" { --depth }
       $1 == "$var" { text = path[1]; for (i = 2; i <= depth; ++i) text = text "." path[i]
                      print text "." $5 ($2 == "wire" && $3 > 1 ? "[" $3 - 1 ":0]" : "") }' "$name.vcd" | sort >have
  grep -oE '(^|[ ])attnvp\.[^ ]*' "$view" | tr -d ' ' | sort -u >want
  [[ -s want && -z $(comm -13 have want) ]] || failed "$view: not in the waveform: $(comm -13 have want)"
  same "$name.names" "$root/traces/views/names"
  same "$name.idle" "$root/traces/views/idle"
  # Surfer: its commands exist, they add existing signals, and its mapping has the names.
  sed -n 's/^variable_add //p' "$name.sucl" | sort >want
  [[ -s want && -z $(comm -13 <(sed 's/[[].*//' have | sort) want) ]] || failed "$name.sucl: not in the waveform: $(comm -13 have want)"
  grep -vE '^((load_file|divider_add|variable_add) [^ ]+|item_set_format (attnvp|Unsigned)|item_focus a|item_unfocus|zoom_fit|zoom_in|cursor_set [0-9]+)$' "$name.sucl" &&
    failed "$name.sucl has other commands"
  mapping_of "$name.names" >want
  same want "$root/traces/views/surfer-mapping"
  views=$((views + 1))
done
[[ $views -ge 6 ]] || failed "only $views views"

# A wait has the same name and length in waveform and timeline.
run --net bert-base --dataflow mas --vcd waits.vcd --timeline waits.json
awk -v code="$(sed -n 's/ K from DRAM$//p' waits.names)" -v period=266667 '
  function number(bits, n, i) { for (i = 2; i <= length(bits); ++i) n = 2 * n + substr(bits, i, 1); return n }
  $1 == "$scope" { path = path "." $3 } $1 == "$upscope" { sub(/\.[^.]*$/, "", path) }
  $1 == "$var" && $5 == "waits_for" && path == ".attnvp.cluster0.core0.mac" { id = $4 }
  /^#/ { time = substr($1, 2) }
  /^b/ && $2 == id { if (on) sum += time - from; on = $1 != "bz" && number($1) == code; from = time }
  END { print sum / period }' waits.vcd >have
jq '.traceEvents | (map(select(.name == "thread_name" and .args.name == "mac waits"))[0].tid) as $mac
  | map(select(.ph == "X" and .tid == $mac and .name == "waits for K from DRAM").dur) | add' waits.json >want
[[ $(<want) -gt 0 ]] || failed 'no wait for K'
same have want
grep -q '{waits_for} attnvp.cluster0.core0.mac.waits_for\[' waits.gtkw || failed 'the view does not show what is waited for'

# Report: self-contained, with the numbers of the runs, equal for equal runs.
for dataflow in flat mas; do run --net bert-base --dataflow $dataflow --timeline $dataflow.timeline.json --json $dataflow.json; done
run "${small[@]}" --json plain.json
"$attnvp" report flat.json mas.json plain.json -o page.html >/dev/null || failed 'attnvp report'
grep -qE '<(script|link|img|iframe)[^>]*(src|href)=|@import|url\(' page.html && failed 'the page loads something'
sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>|\1|p' page.html >data.json
for i in 0 1 2; do
  files=(flat.json mas.json plain.json)
  jq -S 'del(.counters, .simulation, .timeline)' "${files[i]}" >want
  jq -S ".runs[$i] | del(.label, .timeline, .macs)" data.json >have
  same have want
done
# The time table equals that of the run.
grep -qF "$(jq -r '.bound.advice[0].text' mas.json | sed 's/"/\\"/g')" data.json || failed 'the page lacks what bounds mas'
jq -e '.runs | map(.time["attnvp.cluster0.core0.mac"].useful > 0) | all' data.json >/dev/null || failed 'accounts of time'
for id in time bounds origin; do grep -q "id=\"$id\"" page.html || failed "the page has no $id"; done
jq -e '.runs | map(.label) == ["flat bert-base", "mas bert-base", "mas H=2,N=64,E=32"]' data.json >/dev/null || failed 'labels'
jq -e '.runs | (map(has("timeline")) == [true, true, false]) and (.[1].macs == 402653184)' data.json >/dev/null ||
  failed 'timelines or MACs of the page'
# Busy time of the page's slices is the report's.
jq -e '.runs[1] | .timeline as $t | ($t.tracks | index("cluster0.core0.mac")) as $mac
  | [$t.slices[] | select(.[0] == $mac) | .[2] - .[1]] | add' data.json >have
jq '.counters["attnvp.cluster0.core0.mac"].busy_cycles' mas.json >want
same have want
mkdir other && cp mas.json mas.timeline.json other/
(cd other && run --net bert-base --dataflow mas --timeline mas.timeline.json --json mas.json)
"$attnvp" report flat.json other/mas.json plain.json -o again.html >/dev/null
sed -i '/<meta name="attnvp:command"/d' page.html again.html # it names the files
same page.html again.html
# Findings of the checker are marked at their commands: firmware that ends without waiting for its stores.
if command -v riscv64-unknown-elf-gcc >/dev/null; then
"$attnvp" new firmware careless >/dev/null
sed -i 's|  attention.finish();.*||' careless/dataflow.cpp
cache=() # the objects of the runtime may be those of another test
command -v ccache >/dev/null && cache=("CC=ccache riscv64-unknown-elf-gcc")
CCACHE_NOHASHDIR=1 make -s -C careless "${cache[@]}" >make.log 2>&1 || failed "$(<make.log)"
"$attnvp" run --firmware careless/careless.elf --net H=2,N=70,E=16 --data timing --check --vcd found.vcd --timeline found.timeline.json \
  --json found.json >found.txt
[[ $? -eq 1 ]] || failed 'run --check with findings does not fail'
grep -q 'dataflow.cpp:' found.txt || failed 'findings name no source line'
grep -q ' finding \$end' found.vcd && grep -q '{finding}' found.gtkw || failed 'the waveform marks no finding'
jq -e '[.traceEvents[] | select(.args.finding? != null and .tid != null)] | length >= 1' found.timeline.json >/dev/null ||
  failed 'the timeline marks no finding'
"$attnvp" report found.json -o found.html >/dev/null
sed -n 's/.*<script type="application\/json" id="data">//p' found.html | sed 's/<\/script>.*//' >found.data
jq -e '.runs[0] | (.check.findings | length > 0) and (.timeline.found | length > 0)' found.data >/dev/null ||
  failed 'the page marks no finding'
fi
"$attnvp" compare --data timing "${small[@]}" --json all.json >/dev/null
"$attnvp" report all.json -o all.html >/dev/null || failed 'a comparison has no page'

printf '{"schema": 2}' >wrong.json
printf 'no JSON' >text.json
printf '[]' >none.json
jq '.cycles = 7' mas.json >lies.json
jq 'del(.energy_pj.l0)' mas.json >lacks.json
refused 2 'nowhere.json: no such file' report nowhere.json
refused 2 'wrong.json: not a run.s JSON: "schema": 1 is missing' report wrong.json
refused 2 'text.json: not JSON' report text.json
refused 2 'none.json: holds no run' report none.json
refused 2 'a timeline of [0-9]* cycles, the run that names it has 7' report lies.json
refused 2 'a part of energy_pj is missing' report lacks.json
refused 2 'mas.timeline.json: not a run.s JSON' report mas.timeline.json
refused 2 'cannot be written' report mas.json -o nowhere/page.html
[[ -e report.html ]] && failed 'a page of a report that failed'

[[ $failures -eq 0 ]] && echo 'all well'
exit $((failures > 0))
