#!/bin/bash
# A new kind of memory is one new folder: a copy of the tree with models/paged_dram builds, and validation,
# documentation, simulation, report, page, sweep and waveform support it. A new dataflow is one file and a line in a
# build list: a renamed one and a new one.
#   new_kind_test.sh ATTNVP SOURCE_DIR BUILD_TYPE
# shellcheck source=changed_tree.sh
. "$(dirname -- "$0")/changed_tree.sh" "$@"

# wrong PATTERN ARG...: refused in one line
wrong() {
  local pattern=$1
  shift
  "$new" "$@" >stdout 2>stderr </dev/null
  same "status of $*" 2 $?
  grep -qE -- "$pattern" stderr || failed "$*: no '$pattern' in: $(<stderr)"
}

cp -r "$source/tests/new_kind/paged_dram" "$copy/models/"
cp "$source/tests/new_kind/staggered.cpp" "$copy/firmware/dataflows/"
sed 's/"softpipe"/"newpipe"/; s/kSoftpipe/kNewpipe/g' "$source/firmware/dataflows/softpipe.cpp" >"$copy/firmware/dataflows/newpipe.cpp"
rm "$copy/firmware/dataflows/softpipe.cpp"
sed -i 's:dataflows/softpipe.cpp:dataflows/newpipe.cpp\n  dataflows/staggered.cpp:' "$copy/firmware/CMakeLists.txt"
build_copy attnvp -DRISCV_GCC=OFF

shape=(--net H=2,N=128,E=64)
paged=("${shape[@]}" --set dram.policy=paged --set "energy=$copy/models/paged_dram/energy.yaml")

### Existing results are unchanged

same 'a run of before' "$("$attnvp" run "${shape[@]}" --json - | jq "$numbers")" "$("$new" run "${shape[@]}" --json - | jq "$numbers")"

### Keys

"$new" describe keys >keys
grep -q '^| `dram.policy` | choice | `fixed` | .*fixed, .*paged.* | timing of the DRAM; .*paged has one open row.* |$' keys ||
  failed 'describe keys: no policy paged'
grep -qF '| `dram.row` | bytes | `2 KiB` | a power of two from 64 B to 1 MiB |' keys || failed 'describe keys: no dram.row'
"$new" describe edge --set dram.activate='10 ns' | grep '^  activate: 10 ns' >/dev/null || failed 'describe edge: no dram.activate'
wrong "key 'dram.row': found '100 B'; allowed is a power of two" run --set 'dram.row=100 B'
wrong "dram.rowe.* did you mean 'dram.row" run --set 'dram.rowe=1 KiB'

wrong "found 'rtl'; allowed: model .*without Verilator" run --vec rtl # the copy has none

### A run: slower, golden, with its own row of energy

"$new" run "${paged[@]}" --json paged.json --vcd paged.vcd >paged.txt || failed 'the run'
"$new" run "${shape[@]}" --json fixed.json >fixed.txt
same 'golden' true "$(jq .golden.passed paged.json)"
(($(jq .cycles paged.json) > $(jq .cycles fixed.json))) || failed 'opening rows takes no time'
same 'DRAM reads' "$(jq .dram.read_bytes fixed.json)" "$(jq .dram.read_bytes paged.json)"
rows=$(jq '.counters["attnvp.dram"].activations' paged.json)
((rows > 0)) || failed 'no row was opened'
same 'energy of rows' "$((rows * 1200))" "$(jq '.energy_pj.row_buffer' paged.json | sed 's/\.0$//')"
same 'order of parts' '["total","dram","row_buffer","l1","l0","mac","vec"]' "$(jq -c '.energy_pj | keys_unsorted' paged.json)"
same 'sum of parts' true "$(jq '.energy_pj | (([to_entries[] | select(.key != "total").value] | add) - .total) / .total | fabs < 1e-12' paged.json)"
grep -qE '^row_buffer +[0-9.]+ [a-z]J +[0-9.]+%$' paged.txt || failed "the report has no row: $(<paged.txt)"
grep -q row_buffer fixed.txt && failed 'the report of a machine without rows has a row for them'
grep -q 'energy for action\|has no energies' <("$new" run "${shape[@]}" --set dram.policy=paged 2>&1) || failed 'a count without an energy'

### Page, sweep, waveform

"$new" report paged.json fixed.json -o page.html >/dev/null || failed 'the page'
grep -oE '"energy_pj":\{[^}]*\}' page.html | head -1 | grep '"row_buffer":' >/dev/null || failed 'the page has no row_buffer'
cat >rows.yaml <<YAML
# both policies
network: H=2,N=128,E=64
dataflow: mas
axes:
  dram.policy: [fixed, paged]
  dram.activate: [0 ns, 30 ns]
set:
  energy: $copy/models/paged_dram/energy.yaml
YAML
"$new" sweep rows.yaml >sweep.txt 2>&1 || failed "the sweep: $(<sweep.txt)"
python3 - "$rows" <<'PYTHON' || failed 'the table of the sweep'
import sqlite3, sys
database = sqlite3.connect("rows.db")
database.row_factory = sqlite3.Row
rows = database.execute("SELECT * FROM jobs").fetchall()
assert len(rows) == 4, len(rows)
for row in rows:
    paged = row["dram.policy"] == "paged"
    assert row["status"] == "done", row["error"]
    assert row["energy_pj.row_buffer"] == (1200 * int(sys.argv[1]) if paged else None), row["energy_pj.row_buffer"]
cycles = {row["dram.activate"]: row["cycles"] for row in rows if row["dram.policy"] == "paged"}
assert cycles[0] < cycles[30e-9], cycles
PYTHON
grep -q 'attnvp\.dram\.open_row' paged.gtkw || failed 'the waveform does not show the open row'

### Dataflows: run, checked, compared, searched with a bound, swept

"$new" compare "${shape[@]}" --json compared.json >/dev/null 2>&1 || failed 'compare'
for name in newpipe staggered; do
  same "golden of $name" true "$(jq ".[] | select(.dataflow == \"$name\") | .golden.passed" compared.json)"
  "$new" search "${shape[@]}" --dataflow "$name" --budget 20 --json search.json >/dev/null 2>&1 || failed "search of $name"
  same "bound of $name" true "$(jq '.best >= .lower_bound and .lower_bound > 0' search.json)"
  "$new" schedule "${shape[@]}" --dataflow "$name" >schedule.txt
  grep -q '^core0.vec .* softmax' schedule.txt || failed "schedule of $name"
  "$new" describe "$name" >described.txt
  grep -q 'nq' described.txt || failed "describe $name"
done
same 'another name, the same run' "$("$attnvp" run "${shape[@]}" --dataflow softpipe --json - | jq .cycles)" \
  "$("$new" run "${shape[@]}" --dataflow newpipe --json - | jq .cycles)"
wrong "softpipe.*allowed.*newpipe" run --dataflow softpipe
printf 'network: H=2,N=128,E=64\naxes:\n  dataflow: [newpipe, staggered]\n' >dataflows.yaml
"$new" sweep dataflows.yaml >sweep.txt 2>&1 || failed "the sweep of dataflows: $(<sweep.txt)"

((failures == 0)) && echo 'all as it should be'
exit $((failures > 0))
