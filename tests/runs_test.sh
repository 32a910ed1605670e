#!/bin/bash
# Complete runs: output, files, and equal bytes for equal inputs:
#   runs_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Help and lists.
for arguments in --help --help-all 'run --help' 'compare --help' 'list --help' 'describe --help' 'bench --help' list \
  'list hardware' 'list networks' 'list dataflows' 'list streams' 'list operations' 'list energy' 'describe keys' \
  'stream --help' 'report --help'; do
  read -ra words <<<"$arguments"
  done_well "${words[@]}"
done
for file in "$configs"/{hardware,networks,streams,energy}/*.yaml; do
  name=$(basename -- "$file" .yaml)
  done_well describe "$name"
  cp "$log/stdout" "$in/described"
  done_well describe "$file"
  # A name with several meanings: all are described.
  described=$(<"$in/described")
  [[ $described == *"$(<"$log/stdout")"* ]] || failed "not how $name is described"
done
for kind in hardware networks streams energy; do
  done_well list "$kind"
  for file in "$configs/$kind"/*.yaml; do
    name=$(basename -- "$file" .yaml)
    grep -q "^$name  *[^ ]" "$log/stdout" || failed "$name is not listed with a description"
  done
done
COLUMNS=500 done_well list dataflows
dataflows=$(awk 'NR > 2 { print $1 }' "$log/stdout")
for dataflow in $dataflows; do done_well describe "$dataflow"; done
done_well describe --set cores=4 edge
grep -q '^cores: 4  *# set on the command line$' "$log/stdout" || failed '--set before the name is lost'
# Description of a key of a machine, a network or a tiling, and of all keys of a section.
described() { # KEY TYPE UNIT DEFAULT RANGE MEANING
  done_well describe "$1"
  printf '  type     %s\n  unit     %s\n  default  %s\n  range    %s\n  meaning  %s\n' "${@:2}" >"$in/want"
  diff <(sed 1d "$log/stdout") "$in/want" >"$log/diff" || failed "$(<"$log/diff")"
}
described vec.lanes 'whole number' 'count, without a unit' 256 '1 to 65536' 'lanes of a VEC engine'
described H 'whole number' 'count, without a unit' required '1 to 65536' 'attention heads'
for key in clock dram.bandwidth causal mac.kind nq; do
  done_well describe $key
  [[ $(wc -l <"$log/stdout") -eq 6 ]] || failed "$(<"$log/stdout")"
done
done_well describe vec
[[ $(grep -c '^vec\.[a-z_]* (of a machine)$' "$log/stdout") -eq $("$attnvp" describe keys | grep -c '^| `vec\.') ]] ||
  failed 'not all keys of vec'

# The output of describe is a machine file.
done_well describe edge-small
sed '/^# address map/,$d' "$log/stdout" >"$in/again.yaml"
done_well describe "$in/again.yaml"
values() { sed '/^# address map/,$d; s/  *#.*//' "$1"; }  # without origins
cmp -s <(values "$log/stdout") <(values "$in/again.yaml") || failed 'describe does not read back what it prints'

# JSON: alone on stdout, all keys of the contract, equal for both data modes and for repeated runs.
numbers='[.cycles, .frequency_hz, .seconds, .golden.max_abs_error, .golden.max_ulp_error, .dram.read_bytes,
  .dram.write_bytes, .l1.read_bytes, .l1.write_bytes, .l1.peak_bytes, .l0.read_bytes, .l0.write_bytes,
  .overwrites.count, .overwrites.reload_bytes, .simulation.wall_seconds, .simulation.events]
  + (.network | [.batch, .heads, .seq_q, .seq_kv, .emb]) + (.energy_pj | [.total, .dram, .l1, .l0, .mac, .vec])
  | all(type == "number" and . >= 0)'
# Runs of a whole layer.
done_well compare "${small[@]}" --data timing --json -
for dataflow in $(jq -r ".[].dataflow" "$log/stdout"); do
  for data in full timing full2; do
    done_well run --net H=3,NQ=40,NKV=72,E=24 --dataflow "$dataflow" --data "${data%2}" --json -
    cp "$log/stdout" "$in/$data.json"
    all_hold "$in/$data.json" "$numbers" \
      '.schema == 1 and .hardware == "edge" and .network.name == "H=3,NQ=40,NKV=72,E=24"' \
      ".dataflow == \"$dataflow\" and (.tiling | type == \"object\" and length > 0)" \
      '.utilization | [.mac, .vec, .dma, .dram] | all(. > 0 and . <= 1)' \
      '.cycles > 0 and (.seconds - .cycles / .frequency_hz | fabs) < 1e-12' \
      '.energy_pj | .total > 0 and ((del(.total) | add) / .total - 1 | fabs) < 1e-9'
  done
  holds '.golden == {checked: true, passed: true} + (.golden | {max_abs_error, max_ulp_error})' "$in/full.json"
  holds '.golden.checked == false and .golden.passed == null' "$in/timing.json"
  for data in full timing; do jq 'del(.simulation, .golden, .command, .seed)' "$in/$data.json" >"$in/$data.rest"; done
  same "$in/full.rest" "$in/timing.rest"
  for data in full full2; do grep -vE '"(wall_seconds|events)":' "$in/$data.json" >"$in/$data.rest"; done
  same "$in/full.rest" "$in/full2.rest"
done
done_well run "${small[@]}" --json "$in/file.json"
grep -q '^cycles ' "$log/stdout" || failed 'no text beside a JSON file'
holds '.schema == 1' "$in/file.json"
done_well compare "${small[@]}" --json -
holds 'length >= 7 and all(.schema == 1 and .golden.passed) and (map(.cycles) | . == sort)' "$log/stdout"
holds 'all(.cycles as $n | .time | all(add == $n))' "$log/stdout"
done_well compare "${small[@]}" --jobs 1 --json -
done_well compare "${small[@]}"
[[ $(awk 'NR == 5 { print $3 }' "$log/stdout") == 1.00x ]] || failed 'the first row is not what the others are relative to'

# `auto` chooses the fastest dataflow of compare, reports the others, and keeps given tile sizes.
for job in '--net H=4,N=200,E=32' '--net H=8,HKV=2,N=160,E=32,causal=1' '--hw cluster3 --net H=4,NQ=1,NKV=2048,E=64'; do
  # shellcheck disable=SC2086
  done_well compare $job --data timing --json -
  best=$(jq '.[0].cycles' "$log/stdout")
  # shellcheck disable=SC2086
  done_well run $job --dataflow auto --data timing --json -
  holds ".cycles <= 1.02 * $best and .auto.least_cycles <= .cycles and (.auto.beaten | length) > 0" "$log/stdout"
done
done_well run "${small[@]}" --dataflow auto --tiling nq=32
grep -q '^auto: .* beats ' "$log/stdout" || failed 'auto does not say what it beat'
grep -q 'nq=32' "$log/stdout" || failed 'auto does not keep the tiling that was given'

done_well run --net bert-large --data timing --set 'l1.port_bandwidth=4 B/cycle' --json -
holds '.bound.resource == "l1_port"' "$log/stdout"
done_well run "${small[@]}" --data timing --set dram.policy=cached --set 'dram.l2_bandwidth=1 GB/s' --json -
holds '.bound.resource == "l2"' "$log/stdout"
done_well run --net bert-large --data timing --set control.access_cycles=1000 --json -
holds '.bound.resource == "control"' "$log/stdout"
done_well compare "${small[@]}" --dataflow flat:prefetch=off,overlap=off,flat --json -
holds 'map(.dataflow) == ["flat", "flat:prefetch=off,overlap=off"]' "$log/stdout"

# VEC engines in RTL, if the build has them.
run run "${small[@]}" --vec rtl --out "$in/rtl.npy"
if [[ $status -eq 0 ]]; then
  done_well run "${small[@]}" --out "$in/model.npy"
  same "$in/rtl.npy" "$in/model.npy"
  done_well run "${small[@]}" --vec rtl --json -
  holds '.counters["attnvp.cluster0.core0.vec.rtl"].clocked_cycles > 0' "$log/stdout"
  done_well compare "${small[@]}" --vec rtl --dataflow mas,cascade
  for i in 1 2; do done_well run "${small[@]}" --vec rtl --data timing --vcd "$in/rtl$i.vcd"; done
  same "$in/rtl1.vcd" "$in/rtl2.vcd"
  wrong 'found vec.lanes 64 at vec.softmax_lane_cycles 32; allowed are 4, 8 elements' run --vec rtl --set vec.lanes=64
else
  wrong "found 'rtl'; allowed: model .*without Verilator" run "${small[@]}" --vec rtl
fi

# A fixed tiling, given in both forms, is used.
printf '# small blocks\nnq: 8\nkv: 1\n' >"$in/tiles.yaml"
for tiling in nq=8,kv=1 "$in/tiles.yaml"; do
  done_well run "${small[@]}" --tiling "$tiling" --json -
  holds '.tiling.nq == 8 and .tiling.kv == 1' "$log/stdout"
done

# Waveforms: equal bytes for equal runs; cycles do not depend on them.
for i in 1 2; do
  done_well run "${small[@]}" --vcd "$in/$i.vcd" --json -
  jq .cycles "$log/stdout" >"$in/$i.cycles"
done
same "$in/1.vcd" "$in/2.vcd"
done_well run "${small[@]}" --json -
jq .cycles "$log/stdout" | cmp -s - "$in/1.cycles" || failed 'a waveform costs cycles'
grep -q '^\$enddefinitions' "$in/1.vcd" || failed 'not a VCD file'

# Streaming graphs: a run, a repeated run, and a deadlock with its report and exit status.
for i in 1 2; do done_well stream naive --n 16 --d 4 --json "$in/s$i.json" --vcd "$in/s$i.vcd" --dot "$in/s$i.dot"; done
same "$in/s1.vcd" "$in/s2.vcd"
same "$in/s1.dot" "$in/s2.dot"
for i in 1 2; do jq 'del(.simulation, .command)' "$in/s$i.json" >"$in/s$i.rest"; done
same "$in/s1.rest" "$in/s2.rest"
holds '.cycles == 596 and .golden.passed and .deadlock == false' "$in/s1.json"
holds '.channels.long == {depth: 50, peak: 40, transfers: 256, element_bytes: 4}' "$in/s1.json"
holds '.energy_pj | .total > 0 and ((.channels + .nodes) / .total - 1 | fabs) < 1e-9' "$in/s1.json"
done_well stream memory-free --n 16 --unbounded --depth score=12 --json -
holds '.cycles == 558 and .channels.score.depth == 12 and .channels.q.depth == null' "$log/stdout"
run stream naive --n 16 --depth long=15 --vcd "$in/s3.vcd" --json -
[[ $status -eq 1 ]] || failed "exit status $status, not 1"
grep -q "^attnvp: naive at N=16, d=1: deadlock at cycle .*score waits for room in 'long'.*frees it: long=16" "$log/stderr" ||
  failed "no deadlock in: $(<"$log/stderr")"
[[ $(wc -l <"$log/stderr") -eq 1 ]] || failed 'stderr is not one line'
holds '.deadlock and .golden.passed == false and .circle == ["score", "div", "row_sum"] and .freed_by.long == 16' \
  "$log/stdout"
room=$(awk '/waits for room/ { for (n = $1; n > 0; n = int(n / 2)) bits = n % 2 bits; print bits }' "$in/s3.names")
[[ -n $room ]] && grep -q "^b$room " "$in/s3.vcd" || failed 'the waveform does not show the deadlock'

# Tensors in and out.
done_well run "${small[@]}" --out "$in/o.npy"
[[ $(wc -c <"$in/o.npy") -eq $((128 + 2 * 48 * 16 * 2)) ]] || failed 'O has the wrong size'
for i in 1 2; do done_well run "${small[@]}" --q "$in/o.npy" --k "$in/o.npy" --v "$in/o.npy" --out "$in/o$i.npy"; done
same "$in/o1.npy" "$in/o2.npy"
done_well run "${small[@]}" --seed 2 --out "$in/seed2.npy"
cmp -s "$in/o.npy" "$in/seed2.npy" && failed 'the seed has no effect'
npy "$in/zero.npy" '<f2' '2, 48, 16' 3072
npy "$in/zero4.npy" '<f4' '1, 2, 48, 16' 6144
done_well run "${small[@]}" --q "$in/zero.npy" --v "$in/zero4.npy" --out "$in/o3.npy"
tail -c 3072 "$in/o3.npy" | tr -d '\0' | grep -q . && failed 'V = 0 gives another O than 0'
printf 'old' >"$in/o3.npy" && chmod 640 "$in/o3.npy"
done_well run "${small[@]}" --out "$in/o3.npy"
same "$in/o.npy" "$in/o3.npy"

# Tiling search: deterministic except for its own wall time. --tiling reads its file; --tiling auto uses its result.
for i in 1 2; do
  done_well search "${small[@]}" --budget 30 --json "$in/search$i.json" --csv "$in/search$i.csv" --svg "$in/search$i.svg" \
    --save "$in/best.yaml"
  holds '.best >= .lower_bound and .evaluations > 0 and .evaluations <= 31' "$in/search$i.json"
  jq 'del(.simulation)' "$in/search$i.json" >"$in/search$i.same"
done
same "$in/search1.same" "$in/search2.same"
same "$in/search1.csv" "$in/search2.csv"
same "$in/search1.svg" "$in/search2.svg"
best=$(jq .cycles "$in/search1.json")
done_well run "${small[@]}" --tiling "$in/best.yaml" --json -
holds ".cycles == $best" "$log/stdout"
done_well run "${small[@]}" --tiling auto --data timing --json -
holds ".cycles <= $best" "$log/stdout"
done_well compare "${small[@]}" --tiling auto --data timing
# Protocol checkers before all targets do not change results.
for kind in dram.policy=fixed dram.policy=banked dram.policy=cached interconnect.kind=mesh l1.kind=banked dma.in_order=false; do
  for check in off on; do
    done_well run "${small[@]}" --set $kind --set simulation.protocol_check=$check --json checked.json
    jq 'del(.simulation, .command, .overrides, .machine_hash)' checked.json >"$in/$check"
    rm checked.json
  done
  same "$in/off" "$in/on"
done
# A dataflow that refuses the job does not stop the others.
run compare --net H=1,N=512,E=16 --set 'dram.size=1 MiB' --dataflow layerwise --dataflow flat --dataflow mas
[[ $status -eq 1 ]] || failed "exit status $status, not 1"
grep -q '^attnvp: .* with layerwise: the tensors need' "$log/stderr" || failed "stderr: $(<"$log/stderr")"
[[ $(grep -cE '^(flat|mas) +[0-9,]+ ' "$log/stdout") -eq 2 ]] || failed "not the other two: $(<"$log/stdout")"
for strategy in grid mcts; do done_well search "${small[@]}" --strategy $strategy --budget 20 --objective edp; done
# An array multiplies the types that its rates name.
wrong 'PEs do not multiply int8 .keys mac.._rate.; allowed: fp16, bf16, fp8_e4m3, fp8_e5m2$' run --set mac.int8_rate=0 --net H=1,N=64,E=16,type=int8
wrong 'PEs do not multiply fp16 .*; allowed: int8$' run --set mac.fp16_rate=0 --set mac.bf16_rate=0 --set mac.fp8_rate=0 --net H=1,N=64,E=16
done_well run --set mac.fp16_rate=0 --set mac.bf16_rate=0 --set mac.fp8_rate=0 --net gemm:64x64x64,type=int8 --dataflow gemm
wrong "--objective.*(cycles|energy|edp)" search --objective speed
wrong '--strategy' search --strategy luck
wrong "nowhere/x.*cannot be written" search "${small[@]}" --svg nowhere/x
wrong 'unknown' search "${small[@]}" --dataflow nothing --csv c.csv
machine 'L0 is too small' search "${small[@]}" --set 'l0.size=64 B' --csv c.csv
wrong 'paper|subcommand|command' reproduce nothing
done_well reproduce streaming --longest 64 --markdown page.md --json page.json --csv page.csv
[[ $(ls page*) == $'page-depth.svg\npage-memory.svg\npage-throughput.svg\npage.csv\npage.json\npage.md' ]] || failed "$(ls)"
holds '.golden == {checked: true, runs: 9, passed: 9} and (.entries[0] | .ours == 596 and .dataflow == "naive")' page.json
rm page*

finish
