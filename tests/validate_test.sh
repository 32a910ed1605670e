#!/bin/bash
# Predictions compared with measurements: validate_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Mistakes.
wrong 'need one of them' validate --hw edge
wrong 'nowhere.csv: no such file' validate --data nowhere.csv
wrong "set 'nowhere' is unknown" validate nowhere
wrong 'not both' validate some --data nowhere.csv
printf '# nothing\n' >"$in/empty.csv"
printf 'a,b\n1,2\n' >"$in/unknown.csv"
printf 'a,b\n1,2,3\n' >"$in/ragged.csv"
printf 'a,a\n1,2\n' >"$in/twice.csv"
wrong 'empty.csv: not a table' validate --data "$in/empty.csv"
wrong "unknown.csv:1: columns 'a,b' are of no known set" validate --data "$in/unknown.csv"
wrong 'ragged.csv:2: found 3 cells, the first line has 2' validate --data "$in/ragged.csv"
wrong "twice.csv:1: column 'a' is there twice" validate --data "$in/twice.csv"

# Kernels by the text of --net: the table beside the machine, or a label's value, names the dataflow.
printf 'base: edge\n' >"$in/mine.yaml"
printf 'net,time_us,variant\n"H=1,N=32,E=16",2,plain\ngemm:64x64x64,1,narrow\n' >"$in/kernels.csv"
wrong 'columns net,time_us needs a machine; allowed is --hw NAME or PATH' validate --data "$in/kernels.csv"
printf 'attention: {dataflow: flat, set: [vec.lanes=32]}\ngemm: gemm\nlabels:\n  variant:\n    narrow: {set: [mac.rows=8]}\n' >"$in/mine.kernels.yml"
done_well validate --data "$in/kernels.csv" --hw "$in/mine.yaml" --json "$in/kernels.json"
holds '[.rows[].note] == ["flat --set vec.lanes=32", "gemm --set mac.rows=8"] and all(.rows[]; .unit == "us")' "$in/kernels.json"
holds '[.groups[] | select(.by == "operation") | .value] == ["attention", "gemm"]' "$in/kernels.json"
holds '[.groups[] | select(.by == "variant") | .rows] == [1, 1]' "$in/kernels.json"
"$attnvp" run --hw "$in/mine.yaml" --set mac.rows=8 --net gemm:64x64x64 --dataflow gemm --data timing --json "$in/gemm.json" >/dev/null
[[ $(jq '.rows[1].predicted' "$in/kernels.json") == "$(jq '.seconds * 1e6' "$in/gemm.json")" ]] || failed 'not the time of a run'
done_well validate --data "$in/kernels.csv" --hw "$in/mine.yaml" --set mac.rows=16 --json "$in/kernels.json"
holds '.rows[1].note == "gemm --set mac.rows=8"' "$in/kernels.json"
printf 'net,time_us\n"H=1,N=32,E=16",2\n' >"$in/attention.csv"
done_well validate --data "$in/attention.csv" --hw "$in/mine.yaml" --dataflow mas --json "$in/kernels.json"
holds '.rows[0].note == "mas --set vec.lanes=32"' "$in/kernels.json"
# Tile sizes, reduced to the layer; alternatives, the first that fits applies; settings of the layer.
printf 'net,time_us,variant\n"H=4,HKV=2,N=32,E=16,causal=1",2,masked\n"H=4,HKV=2,N=32,E=16",2,plain\n' >"$in/tiles.csv"
printf 'gemm:64x64x64,1,other\ngemm:2048x2048x1024,1,other\ngemm:1x64x64,1,other\n' >>"$in/tiles.csv"
{
  printf 'attention: {dataflow: flash2, tiling: "nq=4096,nkv=16", rows: head}\ngemv: gemm-panels\n'
  printf 'gemm:\n  - {dataflow: gemm, tiling: "nq=4096,nkv=4096,kd=4096"}\n  - gemm-panels\n'
  printf 'labels:\n  variant:\n    masked: {net: causal=0}\n'
} >"$in/mine.kernels.yml"
done_well validate --data "$in/tiles.csv" --hw "$in/mine.yaml" --json "$in/tiles.json"
holds '[.rows[].note] == ["flash2 with causal=0", "flash2", "gemm", "gemm-panels", "gemm-panels"]' "$in/tiles.json"
holds '.rows[0].predicted == .rows[1].predicted' "$in/tiles.json"
# The first entry that the layer does not exceed; a machine without a table has that of its base.
printf 'attention:\n  - {up_to: nq=16, dataflow: mas}\n  - {up_to: "kd=16,nkv=32", dataflow: flat}\n  - flash2\n' >"$in/mine.kernels.yml"
printf 'base: mine.yaml\n' >"$in/derived.yaml"
printf 'net,time_us\n"H=1,N=16,E=16",2\n"H=1,N=32,E=16",2\n"H=1,N=32,E=32",2\n"H=1,N=48,E=16",2\n' >"$in/sizes.csv"
for machine in mine derived; do
  done_well validate --data "$in/sizes.csv" --hw "$in/$machine.yaml" --json "$in/sizes.json" --markdown page.md
  holds '[.rows[].note] == ["mas", "flat", "flash2", "flash2"]' "$in/sizes.json"
done
# The page: its plot has a panel for times.
grep -q '^## Machines$' page.md && grep -q '^## Where not to trust it$' page.md && grep -q '^### sizes$' page.md || failed 'a page without sections'
grep -qF '](page.svg)' page.md && grep -q 'measured, us' page.svg || failed 'no plot beside the page'
rm -- page.md page.svg
# An entry for layers with an odd number of heads of Q for one of K.
printf 'attention:\n  - {group: odd, dataflow: mas}\n  - flat\n' >"$in/mine.kernels.yml"
printf 'net,time_us\n"H=4,HKV=2,N=16,E=16",2\n"H=6,HKV=2,N=16,E=16",2\n"H=2,N=16,E=16",2\n' >"$in/groups.csv"
done_well validate --data "$in/groups.csv" --hw "$in/mine.yaml" --json "$in/groups.json"
holds '[.rows[].note] == ["flat", "mas", "mas"]' "$in/groups.json"
printf 'attention: {group: three, dataflow: mas}\n' >"$in/mine.kernels.yml"
wrong "key 'attention.group': found 'three'; allowed are any, odd" validate --data "$in/groups.csv" --hw "$in/mine.yaml"
printf 'attention: {up_to: "size=16", dataflow: mas}\n' >"$in/mine.kernels.yml"
wrong "'size'" validate --data "$in/sizes.csv" --hw "$in/mine.yaml"
printf 'attention: {tiling: "nq=16"}\n' >"$in/mine.kernels.yml"
wrong "mine.kernels.yml:1: 'attention.tiling' is of no dataflow" validate --data "$in/kernels.csv" --hw "$in/mine.yaml"
printf 'attention: {dataflow: flat, rows: all}\n' >"$in/mine.kernels.yml"
wrong "key 'attention.rows': found 'all'; allowed are head, group" validate --data "$in/kernels.csv" --hw "$in/mine.yaml"
printf 'convolution: flat\n' >"$in/mine.kernels.yml"
wrong "mine.kernels.yml:1: key 'convolution' is unknown" validate --data "$in/kernels.csv" --hw "$in/mine.yaml"
printf 'attention: flat\nattention: mas\n' >"$in/mine.kernels.yml"
wrong 'mine.kernels.yml:' validate --data "$in/kernels.csv" --hw "$in/mine.yaml"
printf 'labels: {variant: {narrow: {sets: [a=1]}}}\n' >"$in/mine.kernels.yml"
wrong "mine.kernels.yml:1: key 'sets' is unknown; did you mean 'set'" validate --data "$in/kernels.csv" --hw "$in/mine.yaml"
rm "$in/mine.kernels.yml"
printf 'net,time_us\nconv:3x3,2\n' >"$in/kernels.csv"
wrong 'kernels.csv:2: ' validate --data "$in/kernels.csv" --hw edge
printf 'net,time_us\ngemm:64x64x64,0\n' >"$in/kernels.csv"
wrong "kernels.csv:2: found '0'; allowed is a number above 0" validate --data "$in/kernels.csv" --hw edge

header=part,mapping,page,refresh,request_buffer,pattern,read_share,bytes_per_request,pending,requests,percent_of_peak
dram() { printf '%s\n%s\n' "$header" "$1" >"$in/dram.csv"; }
dram DDR9,lpddr4_1Gbx16_robaco,Open,1,8,32,1,32,,100,50
wrong "dram.csv:2: column 'part': 'DDR9' is not in" validate --data "$in/dram.csv"
dram LPDDR4-3200-x16,lpddr4_1Gbx16_robaco,Ajar,1,8,32,1,32,,100,50
wrong "dram.csv:2: column 'page': found 'Ajar'; allowed: Open, Closed" validate --data "$in/dram.csv"
dram LPDDR4-3200-x16,nowhere,Open,1,8,32,1,32,,100,50
wrong "dram.csv:2: column 'mapping': field 'nowhere' is unknown" validate --data "$in/dram.csv"
dram LPDDR4-3200-x16,lpddr4_1Gbx16_robaco,Open,1,8,x,1,32,,100,50
wrong "dram.csv:2: found 'x'; allowed is a number" validate --data "$in/dram.csv"
dram LPDDR4-3200-x16,lpddr4_1Gbx16_robaco,Open,1,8,32,1.5,32,,100,50
wrong "dram.csv:2: column 'read_share': found 1.5; allowed is 0 to 1" validate --data "$in/dram.csv"
dram LPDDR4-3200-x16,lpddr4_1Gbx16_robaco,Open,1,8,32,1,32,,100,0
wrong "dram.csv:2: found '0'; allowed is a number above 0" validate --data "$in/dram.csv"

# Power: a kernel is predicted by energies that are fitted to the other kernels, so that its own watts do not matter.
sed -n '1,4p' "$configs/validation/gv100-power.csv" >"$in/power.csv"
done_well validate --data "$in/power.csv" --json "$in/power.json"
sed -i 's/,[^,]*$/,99/; 2s/,99$/,watts/' "$in/power.csv"
done_well validate --data "$in/power.csv" --json "$in/other.json"
[[ $(jq -c '[.rows[].predicted]' "$in/power.json") == "$(jq -c '[.rows[].predicted]' "$in/other.json")" ]] || failed 'a row predicts itself'
holds '.rows[0].note == "fitted to 24 others" and .rows[0].unit == "W"' "$in/power.json"
sed 's/^btree,k1/mine,k1/' "$in/power.csv" >"$in/held.csv"
done_well validate --data "$in/held.csv" --json "$in/held.json"
holds '.rows[0].note == "fitted to 25 others"' "$in/held.json"
done_well calibrate --data "$configs/validation/gv100-power.csv"
grep -q '^leave one out  10\.' "$log/stdout" || failed 'no error of kernels that are left out'
wrong 'has energies, which are fitted without keys' calibrate --data "$in/power.csv" --key clock
wrong "--key is required" calibrate --data "$in/dram.csv"
wrong "power.csv:3: column 'Num_Idle_SMs': it is above" validate --data "$in/power.csv" --hw gv100 --set clusters=1

# Decoding steps: joules per token by the predicted time, further results beside; models and tasks that nobody knows.
{ grep '^model' "$configs/validation/h100-decode.csv"; grep 'Llama.*,7.98,' "$configs/validation/h100-decode.csv"; } >"$in/steps-a.csv"
done_well validate --data "$in/steps-a.csv" --json "$in/steps-a.json"
holds '.set == "steps-a" and .hardware == "h100" and (.rows | length) == 1 and .rows[0].unit == "J"' "$in/steps-a.json"
holds '.rows[0].low < .rows[0].predicted and .rows[0].predicted < .rows[0].high and .within_range == 1' "$in/steps-a.json"
holds '.with_measured_time.mape < 0.15 and .watts.rows[0].unit == "W" and .step_time.rows[0].unit == "ms"' "$in/steps-a.json"
# Watts times the mean time of a step are the joules of its tokens.
holds '(.watts_with_measured_time.rows[0].predicted / 1069.6 / .with_measured_time.rows[0].predicted - 1) | . < 1e-3 and . > -1e-3' "$in/steps-a.json"
sed 's/^meta-llama/another/' "$in/steps-a.csv" >"$in/steps-b.csv"
wrong "steps-b.csv:2: column 'model': found 'another/Llama-3.1-8B-Instruct'" validate --data "$in/steps-b.csv"
sed 's/lm-arena-chat/poems/' "$in/steps-a.csv" >"$in/steps-b.csv"
wrong "steps-b.csv:2: column 'task': found 'poems'; allowed: gpqa, lm-arena-chat" validate --data "$in/steps-b.csv"
printf 'base: edge\n' >"$in/idle.yaml"
printf 'host: {idle: 2}\n' >"$in/idle.kernels.yml"
wrong "idle.kernels.yml:1: key 'host.idle': allowed is 0 to 1" validate --data "$in/steps-a.csv" --hw "$in/idle.yaml"
printf 'host: {step: 1 mm}\n' >"$in/idle.kernels.yml"
wrong "idle.kernels.yml:1: key 'host.step'" validate --data "$in/steps-a.csv" --hw "$in/idle.yaml"

# Power over time: a result for each state of the GPU; the energy of a step's course; a figure of both.
course() { { grep '^time_s' "$configs/validation/rtxa6000-power.csv"; printf '%s\n' "$@"; } >"$in/rtxa6000-mine.csv"; }
course 0,asleep,0,0,0,33 1,changes,1,16,1,150 2,decode,2,16,80,299 3,idle,0,0,0,90
done_well validate --data "$in/rtxa6000-mine.csv" --json "$in/course.json" --svg course.svg
holds '.set == "rtxa6000-mine" and .hardware == "rtxa6000" and [.rows[].row] == [3] and .rows[0].unit == "W"' "$in/course.json"
holds '[.asleep, .changes, .idle | .rows[0].row] == [1, 2, 4] and .step_time.rows[0].measured == 25' "$in/course.json"
holds '.rows[0].predicted > .idle.rows[0].predicted and .asleep.rows[0].predicted == .idle.rows[0].predicted' "$in/course.json"
for text in 'limit, 300 W' 'A step of 2 requests' 'One layer of it' '>down</text>'; do
  grep -qF "$text" course.svg || failed "no '$text' in the figure"
done
rm -- course.svg
course 0,idle,0,0,0,90
done_well validate --data "$in/rtxa6000-mine.csv" --svg course.svg # no step
rm -- course.svg
course 0,resting,0,0,0,90
wrong "rtxa6000-mine.csv:2: column 'state': found 'resting'; allowed: decode, idle, asleep, changes" validate --data "$in/rtxa6000-mine.csv"
course 0,decode,0,0,0,90
wrong "column 'requests': found 0; allowed for state 'decode' is from 1" validate --data "$in/rtxa6000-mine.csv"
wrong '--svg: the set has no power over time' validate dram-curves --svg none.svg
wrong 'need one of them' validate --svg none.svg

# A table as spreadsheets write it; a flag that is none; a key that cannot be fitted.
printf 'kernel,head_dim,causal,seq_len,tflops\nfa2,64,2,512,300\n' >"$in/flash.csv"
wrong "flash.csv:2: column 'causal': found 2; allowed are 0 and 1" validate --data "$in/flash.csv"
printf '\xef\xbb\xbf"op","m",n,k,ms,gelem_per_s\r\n"gemm","64",512,512,"0.19",\r\n' >"$in/marked.csv"
printf 'op,m,n,k,ms,gelem_per_s\ngemm,64,512,512,0.19,\n' >"$in/plain.csv"
for name in marked plain; do
  done_well validate --data "$in/$name.csv" --json $name.json
  jq 'del(.command)' $name.json >"$log/$name"
done
same "$log/marked" "$log/plain"
rm -- marked.json plain.json
for key in dram.policy control.lists name l1.kind; do
  wrong "^attnvp: --key '$key': not a number; allowed are keys such as dram.bandwidth$" calibrate --data "$in/plain.csv" --key $key
done
wrong "--key 'l1.sise': the key is unknown; did you mean 'l1.size'" calibrate --data "$in/plain.csv" --key l1.sise
wrong "--key 'cores': it is given twice" calibrate --data "$in/plain.csv" --key cores --key cores
run calibrate --data "$in/plain.csv" --key l1.size # in bytes, within its range
[[ $status -eq 0 ]] && grep -q '^  l1.size: calibrated' "$log/stdout" || failed "status $status: $(<"$log/stderr")"

# DRAM compared with a cycle-accurate simulator: 95% of the rows within 5%, all within 10%.
done_well validate dram-curves --json dram.json --csv dram.csv --html dram.html
holds '.set == "dram-curves" and (.rows | length) == 120 and .mape < 0.01 and .spearman > 0.999' dram.json
holds '[.rows[] | (.predicted / .measured - 1) | if . < 0 then -. else . end] |
  (map(select(. > 0.1)) | length) == 0 and (map(select(. > 0.05)) | length) <= 6' dram.json
[[ $(wc -l <dram.csv) -eq 121 ]] || failed "dram.csv has $(wc -l <dram.csv) lines"
grep -q '</svg>' dram.html || failed "no plot in dram.html"
rm -- dram.json dram.csv dram.html
# Equal inputs give equal bytes, with some of the rows.
grep -v '^#' "$configs/validation/dram-curves.csv" | head -n 13 >"$in/dram.csv"
for n in 1 2; do
  done_well validate --data "$in/dram.csv" --json rows.json
  mv -- rows.json "$in/rows$n.json"
done
same "$in/rows1.json" "$in/rows2.json"

# Attention kernels on GPUs: the small rows.
{ grep -v '^#' "$configs/validation/attention.csv" | head -n 1
  grep -E '^(0,0,1,16|0,0,2,128|0,0,16,64|0,0,4,1024|16,256,0,0|256,64,0,0|512,16,0,0),' \
    "$configs/validation/attention.csv"; } >"$in/attention.csv"
done_well validate --data "$in/attention.csv" --net llama3.1-8b --json attention.json
holds '.set == "attention" and .hardware == "rtx4090" and (.rows | length) == 7 and .mape < 0.1' attention.json
done_well validate --data "$in/attention.csv" --hw rtxpro6000 --json blackwell.json
holds '.hardware == "rtxpro6000" and (.rows | length) == 7 and ([.rows[].predicted] | max) < 60' blackwell.json
rm -- attention.json blackwell.json

# Pairs of GEMMs in RTL, all rows; steps and FlashAttention on GPUs, the small rows.
done_well validate chains --json chains.json
holds '.set == "chains" and .hardware == "tileflow-accelerator" and (.rows | length) == 76 and .mape < 0.02' chains.json
grep -E '^(op|gemm,8192,64|gemm,8192,256|softmax,64,|softmax,256,)' "$configs/validation/gemm-softmax.csv" >"$in/steps.csv"
done_well validate --data "$in/steps.csv" --json steps.json --html steps.html
holds '.set == "gemm-softmax" and .hardware == "a100-80gb" and (.rows | length) == 4 and .mape < 0.12' steps.json
grep -E '^(kernel|fa2,128,1,512)' "$configs/validation/flash.csv" >"$in/flash.csv"
done_well validate --data "$in/flash.csv" --json flash.json
holds '.set == "flash" and .hardware == "h100" and (.rows | length) == 1 and .mape < 0.15' flash.json
rm -- chains.json steps.json steps.html flash.json
printf 'kernel,head_dim,causal,seq_len,tflops\nfa9,64,0,512,300\n' >"$in/flash.csv"
wrong "flash.csv:2: column 'kernel': found 'fa9'; allowed: fa2, fa3" validate --data "$in/flash.csv"

# Calibration restores a changed value.
grep -E '^(M,N|512,64,64,512,16,)' "$configs/validation/chains.csv" >"$in/pairs.csv"
"$attnvp" calibrate --data "$in/pairs.csv" --set dram.latency=12ns --key dram.latency >fit.txt 2>/dev/null ||
  failed "calibrate failed"
grep -q 'dram.latency: calibrated to set chains; mean error of the set 0\.' fit.txt || failed "a poor fit: $(cat fit.txt)"
rm -- fit.txt
wrong 'the key is unknown' calibrate --data "$in/pairs.csv" --key dram.colour
wrong 'at most 3' calibrate --data "$in/pairs.csv" --key clock --key clock --key clock --key clock

finish
