#!/bin/bash
# The command line from end to end: cli_test.sh ATTNVP SOURCE_DIR
# Mistakes: the right exit status, one line on stderr that starts with "attnvp: ", nothing on stdout, no file left.
# Runs: what they print, what they write, and that equal inputs give equal bytes.
set -uo pipefail

attnvp=$(realpath -- "$1")
configs=$(realpath -- "$2")/configs
unset ATTNVP_CONFIGS

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/in" "$folder/here" "$folder/log"
cd -- "$folder/here" || exit 1
in=$folder/in
log=$folder/log

checks=0
failures=0
failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n  %s\n' "$command" "$*" >&2
}
run() { # ARG...: sets status; stdout and stderr go to $log
  checks=$((checks + 1))
  command=$(printf '%q ' attnvp "$@")
  timeout 120 "$attnvp" "$@" >"$log/stdout" 2>"$log/stderr" </dev/null
  status=$?
}

# refused STATUS PATTERN ARG...: PATTERN, a regular expression, is in the message.
refused() {
  local want=$1 pattern=$2
  shift 2
  run "$@"
  [[ $status -eq $want ]] || failed "exit status $status, not $want: $(<"$log/stderr")"
  [[ $(wc -l <"$log/stderr") -eq 1 ]] || failed "stderr is not one line: $(<"$log/stderr")"
  grep -q '^attnvp: ' "$log/stderr" || failed "stderr does not start with 'attnvp: ': $(<"$log/stderr")"
  grep -qE -- "$pattern" "$log/stderr" || failed "no '$pattern' in: $(<"$log/stderr")"
  [[ -s $log/stdout ]] && failed "something on stdout: $(head -1 "$log/stdout")"
  [[ -z $(ls -A) ]] || failed "left behind: $(ls -A)"
  rm -rf -- "$folder/here/"* "$folder/here/".attnvp*
}
wrong() { refused 2 "$@"; }    # usage or configuration
machine() { refused 1 "$@"; }  # the simulated machine or firmware

done_well() { # ARG...
  run "$@"
  [[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
  [[ -s $log/stderr ]] && failed "something on stderr: $(<"$log/stderr")"
  [[ -s $log/stdout ]] || failed "nothing on stdout"
}
same() { cmp -s -- "$1" "$2" || failed "$1 and $2 differ"; }
holds() { jq -e "$1" "$2" >"$log/jq" 2>&1 || failed "not so in $2: $1: $(head -3 "$log/jq")"; }

small=(--net 'H=2,N=48,E=16')

# npy FILE TYPE SHAPE BYTES: version 1.0 with so many zero bytes of data
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  local length=117  # 10 bytes before it and a newline after it: 128
  { printf '\x93NUMPY\x01\x00\x76\x00' && printf "%-${length}s\n" "$header" && head -c "$4" /dev/zero; } >"$1"
}

### Mistakes

# Files that are not there, or not what they should be.
wrong "'nowhere' is not in .*edge" run --hw nowhere
wrong "'edgy' is not in .*did you mean 'edge'" run --hw edgy
wrong 'nowhere.yaml: no such file' run --hw ./nowhere.yaml
wrong "'nowhere' is not in .*bert-base" run --net nowhere
wrong 'nowhere.yaml: no such file' run --net ./nowhere.yaml
wrong "'nowhere' is not in .*overwrite" run --tiling nowhere
for option in --q --k --v; do
  wrong 'nowhere.npy: cannot be read: no such file' run "${small[@]}" "$option" nowhere.npy
  wrong 'not a regular file' run "${small[@]}" "$option" "$in"
done
wrong 'not a regular file' run --hw "$in/"
wrong 'not a regular file' run --tiling "$in"
for option in --tiling --json --vcd --timeline --trace-scope --trace-from --trace-to --out --q --k --v; do wrong "$option: found ''" run "$option" ''; done
wrong "'' is not in" run --hw ''
wrong "'' is not in" run --net ''
wrong "dataflow '' is unknown" run --dataflow ''

# Broken configurations, by line.
printf 'base: edge\nl1:\n  size: [5\n' >"$in/broken.yaml"
printf 'base: edge\nl1:\n  sise: 2 MiB\n' >"$in/unknown.yaml"
printf 'base: edge\n\ndram:\n  bandwidth: 30 MHz\n' >"$in/unit.yaml"
printf 'base: edge\ncores: 2\ncores: 3\n' >"$in/twice.yaml"
printf 'base: ./loop.yaml\n' >"$in/loop.yaml"
printf '\0\1\2' >"$in/binary.yaml"
: >"$in/empty.yaml"
wrong 'broken.yaml:[0-9]+: not valid YAML' run --hw "$in/broken.yaml"
wrong "unknown.yaml:3: key 'l1.sise' is unknown; did you mean 'l1.size'" run --hw "$in/unknown.yaml"
wrong "unit.yaml:4: key 'dram.bandwidth': .*unknown unit 'MHz'" run --hw "$in/unit.yaml"
wrong "twice.yaml:3: key 'cores' is given twice" run --hw "$in/twice.yaml"
wrong 'loop.yaml' run --hw "$in/loop.yaml"
wrong 'not a text file' run --hw "$in/binary.yaml"
wrong 'holds no keys' run --hw "$in/empty.yaml"
for option in --net --tiling; do wrong 'broken.yaml:[0-9]+: not valid YAML' run "$option" "$in/broken.yaml"; done
wrong "did you mean 'l1.size'" run --set l1.sise=1
wrong "unknown unit 'GHz'" run --set 'l1.size=2 GHz'
wrong 'has no unit' run --set l1.size=2
wrong 'is negative' run --set 'l1.size=-1 MiB'
wrong 'out of range' run --set 'l1.size=1e30 GiB'
wrong "found '0 B'; allowed is 1 KiB to 4 GiB" run --set 'l1.size=0 B'
wrong "found '0'; allowed is 1 to 64" run --set cores=0
wrong 'is negative' run --set cores=-1
wrong "found '1000000'; allowed is 1 to 64" run --set cores=1000000
wrong "'l0.size'.*allowed is less than l1.size" run --set 'l1.size=8 KiB'
wrong "has no '='" run --set l1
wrong "has no key before '='" run --set =1
wrong "'nowhere' is not in .*energy" run --set energy=nowhere

# Shapes.
wrong "key 'H': found '0'" run --net H=0,N=1,E=1
wrong "key 'N': .*negative" run --net H=1,N=-4,E=1
wrong "key 'E' is missing" run --net H=1,N=4
wrong "key 'X' is unknown" run --net X=1
wrong 'out of range' run --net H=1,N=99999999999999999999,E=1
wrong 'multiply-accumulates' run --net H=65536,N=4194304,E=4096
wrong 'need [0-9]+ bytes of DRAM' run --set 'dram.size=1 MiB'
wrong 'need [0-9]+ bytes of DRAM' run --data timing --net H=1024,N=65536,E=128

# Dataflows, tilings, options.
wrong "dataflow 'maz' is unknown; did you mean 'mas'\\?$" run --dataflow maz
wrong "dataflow 'nothing' is unknown; allowed: .*mas" compare --dataflow nothing
wrong "'layerwise' has no options" run --dataflow layerwise:speed=9
wrong "option 'prefetsh' is unknown; did you mean 'prefetch'" run --dataflow flat:prefetsh=on
wrong "found 'perhaps'; allowed are on, off" run --dataflow flat:prefetch=perhaps
wrong 'given twice' run --dataflow flat:prefetch=on,prefetch=off
wrong 'key=value is expected' run --dataflow flat:
wrong "key 'nqq' is unknown; did you mean 'nq'" run --tiling nqq=4
wrong "key 'nq': found '0'" run --tiling nq=0
wrong "key 'nq': .*whole number" run --tiling nq=1.5
wrong "key 'kv': found '9'" run --tiling kv=9
wrong "option '--jsno' is unknown; did you mean '--json'" run --jsno x.json
wrong "option '--frobnicate' is unknown; allowed: .*--hw" run --frobnicate=1
wrong "option '--frobnicate' is unknown" --frobnicate
wrong "option '--first' is unknown" run --first --second
wrong "'nowhere' is not in .*hardware" run --hw nowhere --net nowhere
wrong "command 'comparee' is unknown; did you mean 'compare'" comparee
wrong "command 'frobnicate' is unknown; allowed: run, compare" frobnicate
wrong 'a command is missing; allowed: run, compare'
wrong "argument 'extra' is one too many" run extra
wrong '--hw needs a value' run --hw
wrong '--net is given more than once' run --net xlm --net xlm
wrong "--data: found 'half'; allowed: full, timing" run --data half
wrong "--vec: found 'x'" run --vec x
wrong "--cpu: found 'x'" run --cpu x
for seed in x -1 1.5 18446744073709551616; do wrong "--seed: found '$seed'" run "--seed=$seed"; done
wrong "found 'things'; allowed: hardware" list things
wrong "'nowhere' is not in .*hardware" bench --hw nowhere
wrong '--seconds: ' bench --seconds 0
wrong 'describe needs an argument' describe
wrong "'edgee' is no machine, .* did you mean 'edge'" describe edgee
wrong "is for machines, which 'mas' is not" describe mas --set cores=2
wrong "unknown.yaml:3: key 'l1.sise' is unknown" describe "$in/unknown.yaml"
for option in --out --q --k --v; do wrong "$option needs --data full" run --data timing "$option" x.npy; done

# Streaming graphs.
printf 'nodes:\n  k: {op: source, tensor: K}\n  o: {op: outptu}\n' >"$in/graph.yaml"
wrong "graph.yaml:3: node 'o': key 'op': operation 'outptu' is unknown; did you mean 'output'" stream "$in/graph.yaml"
wrong "graph.yaml:3: node 'o'" describe "$in/graph.yaml"
wrong "'naiv' is not in .*did you mean 'naive'" stream naiv
wrong 'nowhere.yaml: no such file' stream ./nowhere.yaml
wrong 'stream needs an argument' stream
for n in 0 -1 x 1.5 1048577; do wrong "--n: found '$n'; allowed is 1 to 1048576" stream naive "--n=$n"; done
wrong "--d: found '4097'; allowed is 1 to 4096" stream naive --d 4097
wrong "channel 'log' is unknown; did you mean 'long'" stream naive --depth log=4
wrong "'N-64', which is 0 for N=64" stream naive --depth long=N-64
wrong "has no '='" stream naive --depth long
wrong "option '--deth' is unknown; did you mean '--depth'" stream naive --deth long=4
for option in --json --vcd --dot; do
  wrong 'nowhere/x: cannot be written: No such file' stream naive --n 4 "$option" nowhere/x
  wrong "$option: found ''" stream naive "$option" ''
done
wrong '--vcd and --json are both to write' stream naive --n 4 --vcd same --json ./same

# Tensors.
npy "$in/shape.npy" '<f2' '2, 48, 17' 3264
npy "$in/type.npy" '<i2' '2, 48, 16' 3072
npy "$in/big.npy" '>f2' '2, 48, 16' 3072
npy "$in/short.npy" '<f2' '2, 48, 16' 3071
npy "$in/long.npy" '<f2' '2, 48, 16' 3073
npy "$in/huge.npy" '<f2' '4611686018427387904, 48, 16' 16
npy "$in/zero.npy" '<f2' '2, 48, 16' 3072
npy "$in/zero4.npy" '<f4' '1, 2, 48, 16' 6144
head -c 60 "$in/zero.npy" >"$in/header.npy"
printf 'hello' >"$in/text.npy"
for option in --q --k --v; do
  wrong "$option .*found shape \\(2, 48, 17\\); allowed is .*\\(2, 48, 16\\)" run "${small[@]}" "$option" "$in/shape.npy"
  wrong "element type '<i2'" run "${small[@]}" "$option" "$in/type.npy"
  wrong "element type '>f2'" run "${small[@]}" "$option" "$in/big.npy"
  wrong 'is truncated' run "${small[@]}" "$option" "$in/short.npy"
  wrong 'is truncated' run "${small[@]}" "$option" "$in/header.npy"
  wrong 'trailing bytes' run "${small[@]}" "$option" "$in/long.npy"
  wrong 'huge.npy' run "${small[@]}" "$option" "$in/huge.npy"
  wrong 'is not a .npy file' run "${small[@]}" "$option" "$in/text.npy"
done

# The simulated machine: files asked for are not written either.
outputs=(--json r.json --vcd r.vcd --timeline t.json --out o.npy)
machine 'L1 is too small: .* at least [0-9]+ bytes, l1.size is 102400 bytes' \
  run --net 'H=1,N=65536,E=16' --set 'l1.size=100 KiB' "${outputs[@]}"
machine 'L0 is too small: .* at least [0-9]+ bytes, l0.size is 64 bytes' \
  run "${small[@]}" --set 'l0.size=64 B' "${outputs[@]}"
machine 'L0 is too small' compare "${small[@]}" --set 'l0.size=64 B' --json r.json
machine 'nq=4096 is larger than the layer' run --tiling nq=4096 "${outputs[@]}"

# Outputs.
for option in --json --vcd --out; do
  wrong 'nowhere/x: cannot be written: No such file' run "${small[@]}" "$option" nowhere/x
  wrong 'cannot be written: Is a directory' run "${small[@]}" "$option" "$in"
  others=()
  for other in --json --vcd --out; do [[ $other == "$option" ]] || others+=("$other" "file$other"); done
  wrong 'nowhere/x: cannot be written' run "${small[@]}" "${others[@]}" "$option" nowhere/x
  [[ -w /dev/full ]] && wrong 'No space left' run "${small[@]}" "$option" /dev/full
done
wrong 'nowhere/x: cannot be written' compare "${small[@]}" --json nowhere/x
wrong "--vcd: found '-'" run "${small[@]}" --vcd -
wrong '--trace-scope needs --vcd or --timeline' run "${small[@]}" --trace-scope mac
wrong '--trace-to needs --vcd or --timeline' run "${small[@]}" --trace-to 5
wrong "--trace-scope: 'core7' is no module of this machine; did you mean 'core" run "${small[@]}" --vcd r.vcd --trace-scope core7
wrong '--trace-from is cycle 9, --trace-to cycle 5' run "${small[@]}" --vcd r.vcd --trace-from 9 --trace-to 5
wrong "--trace-from: found '5 MiB'.* allowed units: ps, ns.*without a unit is cycles" run "${small[@]}" --vcd r.vcd --trace-from '5 MiB'
wrong "the save file of --vcd and --json are both to write" run "${small[@]}" --vcd r.vcd --json r.gtkw
wrong '--vcd and --json are both to write' run "${small[@]}" --vcd same --json ./same
if [[ -w /dev/full ]]; then
  command='attnvp run > /dev/full'
  "$attnvp" run "${small[@]}" >/dev/full 2>"$log/stderr"
  [[ $? -eq 2 && $(<"$log/stderr") == 'attnvp: stdout cannot be written: No space left on device' ]] ||
    failed "a full stdout went by: $(<"$log/stderr")"
fi

### Runs

# Help and what there is.
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
  tail -n "$(wc -l <"$log/stdout")" "$in/described" | cmp -s - "$log/stdout" || failed "not how $name is described"
done
for kind in hardware networks streams energy; do
  done_well list "$kind"
  for file in "$configs/$kind"/*.yaml; do
    name=$(basename -- "$file" .yaml)
    grep -q "^$name  *[^ ]" "$log/stdout" || failed "$name is not listed with a description"
  done
done
done_well list dataflows
dataflows=$(awk 'NR > 2 { print $1 }' "$log/stdout")
for dataflow in $dataflows; do done_well describe "$dataflow"; done
done_well describe --set cores=4 edge
grep -q '^cores: 4$' "$log/stdout" || failed '--set before the name is lost'
# What describe prints is a machine again.
done_well describe edge-small
sed '/^# address map/,$d' "$log/stdout" >"$in/again.yaml"
done_well describe "$in/again.yaml"
sed '/^# address map/,$d' "$log/stdout" | cmp -s - "$in/again.yaml" || failed 'describe does not read back what it prints'

# JSON: alone on stdout, every key of the contract, full and timing alike, twice the same.
numbers='[.cycles, .frequency_hz, .seconds, .golden.max_abs_error, .golden.max_ulp_error, .dram.read_bytes,
  .dram.write_bytes, .l1.read_bytes, .l1.write_bytes, .l1.peak_bytes, .l0.read_bytes, .l0.write_bytes,
  .overwrites.count, .overwrites.reload_bytes, .simulation.wall_seconds, .simulation.events]
  + (.network | [.batch, .heads, .seq_q, .seq_kv, .emb]) + (.energy_pj | [.total, .dram, .l1, .l0, .mac, .vec])
  | all(type == "number" and . >= 0)'
for dataflow in $dataflows; do
  for data in full timing full2; do
    done_well run --net H=3,NQ=40,NKV=72,E=24 --dataflow "$dataflow" --data "${data%2}" --json -
    cp "$log/stdout" "$in/$data.json"
    holds "$numbers" "$in/$data.json"
    holds '.schema == 1 and .hardware == "edge" and .network.name == "H=3,NQ=40,NKV=72,E=24"' "$in/$data.json"
    holds ".dataflow == \"$dataflow\" and (.tiling | type == \"object\" and length > 0)" "$in/$data.json"
    holds '.utilization | [.mac, .vec, .dma, .dram] | all(. > 0 and . <= 1)' "$in/$data.json"
    holds '.cycles > 0 and (.seconds - .cycles / .frequency_hz | fabs) < 1e-12' "$in/$data.json"
    holds '.energy_pj | .total > 0 and ((.dram + .l1 + .l0 + .mac + .vec) / .total - 1 | fabs) < 1e-9' "$in/$data.json"
  done
  holds '.golden == {checked: true, passed: true} + (.golden | {max_abs_error, max_ulp_error})' "$in/full.json"
  holds '.golden.checked == false and .golden.passed == false' "$in/timing.json"
  for data in full timing; do jq 'del(.simulation, .golden)' "$in/$data.json" >"$in/$data.rest"; done
  same "$in/full.rest" "$in/timing.rest"
  for data in full full2; do grep -vE '"(wall_seconds|events)":' "$in/$data.json" >"$in/$data.rest"; done
  same "$in/full.rest" "$in/full2.rest"
done
done_well run "${small[@]}" --json "$in/file.json"
grep -q '^cycles ' "$log/stdout" || failed 'no text beside a JSON file'
holds '.schema == 1' "$in/file.json"
done_well compare "${small[@]}" --json -
holds "length == 5 and all(.schema == 1 and .golden.passed)" "$log/stdout"
done_well compare "${small[@]}" --dataflow flat --dataflow flat:prefetch=off --json -
holds 'map(.dataflow) == ["flat", "flat:prefetch=off"]' "$log/stdout"

# The VEC engines in RTL, where they were built.
run run "${small[@]}" --vec rtl --out "$in/rtl.npy"
if [[ $status -eq 0 ]]; then
  done_well run "${small[@]}" --out "$in/model.npy"
  same "$in/rtl.npy" "$in/model.npy"
  done_well run "${small[@]}" --vec rtl --json -
  holds '.counters["attnvp.cluster0.core0.vec.rtl"].clocked_cycles > 0' "$log/stdout"
  done_well compare "${small[@]}" --vec rtl
  for i in 1 2; do done_well run "${small[@]}" --vec rtl --data timing --vcd "$in/rtl$i.vcd"; done
  same "$in/rtl1.vcd" "$in/rtl2.vcd"
  wrong 'found vec.lanes 64 at vec.softmax_lane_cycles 32; allowed are 4, 8 elements' run --vec rtl --set vec.lanes=64
else
  wrong "found 'rtl'; allowed: model .*without Verilator" run "${small[@]}" --vec rtl
fi

# A fixed tiling, given in both ways, is what is used.
printf '# small blocks\nnq: 8\nkv: 1\n' >"$in/tiles.yaml"
for tiling in nq=8,kv=1 "$in/tiles.yaml"; do
  done_well run "${small[@]}" --tiling "$tiling" --json -
  holds '.tiling.nq == 8 and .tiling.kv == 1' "$log/stdout"
done

# Waveforms: byte for byte the same, and none of a run's cycles depend on them.
for i in 1 2; do
  done_well run "${small[@]}" --vcd "$in/$i.vcd" --json -
  jq .cycles "$log/stdout" >"$in/$i.cycles"
done
same "$in/1.vcd" "$in/2.vcd"
done_well run "${small[@]}" --json -
jq .cycles "$log/stdout" | cmp -s - "$in/1.cycles" || failed 'a waveform costs cycles'
grep -q '^\$enddefinitions' "$in/1.vcd" || failed 'not a VCD file'

# Streaming graphs: a run; the same twice; one that deadlocks has a report, too, beside its exit status.
for i in 1 2; do done_well stream naive --n 16 --d 4 --json "$in/s$i.json" --vcd "$in/s$i.vcd" --dot "$in/s$i.dot"; done
same "$in/s1.vcd" "$in/s2.vcd"
same "$in/s1.dot" "$in/s2.dot"
for i in 1 2; do jq 'del(.simulation)' "$in/s$i.json" >"$in/s$i.rest"; done
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

# A pipe is an output like any other; an interrupt leaves nothing behind.
mkfifo "$in/pipe"
jq .cycles "$in/pipe" >"$in/pipe.cycles" &
done_well run "${small[@]}" --json "$in/pipe"
wait
same "$in/pipe.cycles" "$in/1.cycles"
command='attnvp run, interrupted'
timeout --signal=TERM 0.3 "$attnvp" run --net H=64,N=4096,E=128 --json r.json --vcd r.vcd --out r.npy >/dev/null 2>&1
[[ -z $(ls -A) ]] || failed "left behind: $(ls -A)"

# Tensors in and out.
done_well run "${small[@]}" --out "$in/o.npy"
[[ $(wc -c <"$in/o.npy") -eq $((128 + 2 * 48 * 16 * 2)) ]] || failed 'O has the wrong size'
for i in 1 2; do done_well run "${small[@]}" --q "$in/o.npy" --k "$in/o.npy" --v "$in/o.npy" --out "$in/o$i.npy"; done
same "$in/o1.npy" "$in/o2.npy"
done_well run "${small[@]}" --seed 2 --out "$in/seed2.npy"
cmp -s "$in/o.npy" "$in/seed2.npy" && failed 'the seed has no effect'
done_well run "${small[@]}" --q "$in/zero.npy" --v "$in/zero4.npy" --out "$in/o3.npy"
tail -c 3072 "$in/o3.npy" | tr -d '\0' | grep -q . && failed 'V = 0 gives another O than 0'
printf 'old' >"$in/o3.npy" && chmod 640 "$in/o3.npy"
done_well run "${small[@]}" --out "$in/o3.npy"
same "$in/o.npy" "$in/o3.npy"

# Tiling search: deterministic but for its own effort; what it saves is what --tiling reads; --tiling auto uses it.
for i in 1 2; do
  done_well search "${small[@]}" --budget 30 --json "$in/search$i.json" --csv "$in/search$i.csv" --svg "$in/search$i.svg" \
    --save "$in/best.yaml"
  holds '.best >= .lower_bound and .evaluations > 0 and .evaluations <= 31' "$in/search$i.json"
  jq 'del(.wall_seconds)' "$in/search$i.json" >"$in/search$i.same"
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
# What one dataflow cannot do does not keep the others from it.
run compare --net H=1,N=512,E=16 --set 'dram.size=1 MiB' --dataflow layerwise --dataflow flat --dataflow mas
[[ $status -eq 1 ]] || failed "exit status $status, not 1"
grep -q '^attnvp: .* with layerwise: the tensors need' "$log/stderr" || failed "stderr: $(<"$log/stderr")"
[[ $(grep -cE '^(flat|mas) ' "$log/stdout") -eq 2 ]] || failed "not the other two: $(<"$log/stdout")"
for strategy in grid mcts; do done_well search "${small[@]}" --strategy $strategy --budget 20 --objective edp; done
wrong "--objective.*(cycles|energy|edp)" search --objective speed
wrong '--strategy' search --strategy luck
wrong "nowhere/x.*cannot be written" search "${small[@]}" --svg nowhere/x
wrong 'unknown' search "${small[@]}" --dataflow nothing --csv c.csv
machine 'fits into L1' search "${small[@]}" --set 'l0.size=64 B' --csv c.csv
wrong 'paper|subcommand|command' reproduce nothing

[[ -z $(ls -A) ]] || { command='all of them' && failed "left behind: $(ls -A)"; }
echo "$checks commands, $failures failures"
[[ $failures -eq 0 ]]
