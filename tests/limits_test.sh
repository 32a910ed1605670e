#!/bin/bash
# Limits of simulated time, host memory and samples:
#   limits_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Simulated time is 64 bits of femtoseconds.
slow=(--set 'clock=1 MHz' --set vec.lanes=1 --set vec.softmax_lane_cycles=65536 --data timing)
machine 'takes more than 2.64 fs of simulated time, which are 18446744073 cycles at 1 MHz' run "${slow[@]}" --net H=1,N=1024,E=16
done_well run "${slow[@]}" --net H=1,N=512,E=16 --json -
holds '.cycles > 4294967296' "$log/stdout"
# A search continues with a new simulated time when earlier runs have exhausted it.
done_well search --set 'clock=1 MHz' --set vec.lanes=1 --set vec.softmax_lane_cycles=65536 --net H=1,N=512,E=16 --budget 12 --json -
holds '.cycles > 4294967296 and .evaluations > 4' "$log/stdout"
printf 'nodes:\n  q: {op: source, tensor: Q, ii: 1125899906842624}\n  o: {op: discard}\nchannels:\n  c: {from: q, to: o, depth: 2}\n' >"$in/slow.yaml"
done_well stream "$in/slow.yaml" --n 32 --json -
holds '.cycles == 1151795604700004353' "$log/stdout" # 2^50 * 1023 + 1
machine 'takes more than 4611686018427387904 cycles' stream "$in/slow.yaml" --n 128 --json r.json
machine 'its waveform ends at cycle 18446744073709' stream "$in/slow.yaml" --n 32 --vcd r.vcd

# Limit on cycles; the check of commands is limited by host memory.
machine 'attnvp\.cluster0\.cpu: firmware has not ended after 1000 cycles; --max-cycles allows more' run --net H=1,N=64,E=16 --max-cycles 1000
machine 'firmware has not ended after 1000 cycles' run --net H=1,N=64,E=16 --max-cycles 1000 --clusters 0
machine 'firmware has not ended after 1000 cycles' run --net H=1,N=64,E=16,hidden=16,ffn=64,scope=layer --max-cycles 1000
done_well run --net H=1,N=64,E=16 --max-cycles 1000000
wrong 'allowed is 1 to' check --max-cycles 0
many=(--net H=8,N=2048,E=16 --tiling nq=32,nkv=32)
machine 'the record of commands that are checked would need .* \(--memory-limit\)' check "${many[@]}" --memory-limit '2 MiB'
machine 'the record of commands that are checked would need .* \(--memory-limit\)' run --check --data timing "${many[@]}" --memory-limit '4 MiB'

# Host memory: it is taken as needed, and an error names the part that exceeds it.
peak_kb() { # ARG...: in $peak
  command=$(printf '%q ' attnvp "$@")
  checks=$((checks + 1))
  peak=$(python3 - "$attnvp" "$@" <<'PYTHON'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if status == 0 else "exit status %d" % status)
PYTHON
  )
}
if command -v python3 >/dev/null; then
  peak_kb run --net bert-base --dataflow mas
  [[ $peak -lt 60000 ]] || failed "$peak kB"
  peak_kb run --set 'l1.size=4 GiB' --net H=1,N=16,E=16
  [[ $peak -lt 100000 ]] || failed "$peak kB"
  peak_kb run --set 'l1.size=4 GiB' --set clusters=32 --net H=1,N=16,E=16
  [[ $peak -lt 100000 ]] || failed "$peak kB"
fi
machine 'a machine of 16 clusters of 16 cores would need [0-9]+ MB of the host.s memory' \
  run "${small[@]}" --set clusters=16 --set cores=16 --memory-limit '20 MB'
machine 'the random tensors of H=8,N=4096,E=128 would need 25 MB .* allowed are 20 MB together' run --net H=8,N=4096,E=128 --memory-limit '20 MB'
machine 'the tensors of H=8,N=4096,E=128 in DRAM would need 42 MB .* allowed are 30 MB together' run --net H=8,N=4096,E=128 --memory-limit '30 MB'
npy "$in/q.npy" '<f2' '8, 4096, 128' $((8 * 4096 * 128 * 2))
machine '--q .*/q.npy would need 8 MB .* allowed are 8 MB together' \
  run --net H=8,N=4096,E=128 --q "$in/q.npy" --k "$in/q.npy" --v "$in/q.npy" --memory-limit '8 MB'
machine 'attnvp.cluster0.l1: no memory left: what firmware allocated .l1.size. would need' run --net H=1,N=2048,E=64 --tiling nq=128,kv=2,rb=4 --memory-limit '3 MB' --json r.json
wrong "--memory-limit: found '5', which has no unit" run "${small[@]}" --memory-limit 5
tokens='tokens: 1048576'
printf 'nodes:\n  q: {op: source, tensor: Q}\n  k: {op: source, tensor: K}\n  a: {op: add}\n  o: {op: discard}\nchannels:\n' >"$in/tokens.yaml"
printf '  c: {from: q, to: a.x, depth: unbounded, %s}\n  d: {from: k, to: a.y, depth: unbounded, %s}\n  e: {from: a, to: o, depth: 2}\n' \
  "$tokens" "$tokens" >>"$in/tokens.yaml"
machine "channel 'c', 1048576 elements deep, would need 17.2 GB .* allowed are 1.0 GB together" \
  stream "$in/tokens.yaml" --n 8 --d 4096 --memory-limit '1 GB'
done_well stream "$in/tokens.yaml" --n 8 --d 1
machine "channel 'long', [0-9]+ elements deep, would need .* allowed are 130 kB together" \
  stream naive --n 4096 --unbounded --memory-limit '130 KB'

# Samples of small axes: all points.
for kind in random lhs; do
  printf 'kind: %s\nsamples: 100000\nnetwork: H=1,N=16,E=16\naxes:\n  cores: [1, 2, 4]\n' $kind >"$in/$kind.yaml"
  run sweep "$in/$kind.yaml" --dry-run
  [[ $status -eq 0 ]] && grep -qE '^jobs +3 on 3 machines' "$log/stdout" || failed "$(<"$log/stdout") $(<"$log/stderr")"
done
printf 'kind: random\nsamples: 2000\nnetwork: H=1,N=16,E=16\naxes:\n  cores: {from: 1, to: 64}\n  vec.lanes: {from: 1, to: 1024}\nconstraints: ["cores * vec.lanes < 1"]\n' >"$in/none.yaml"
wrong 'the constraints refuse all of the [0-9]+ points' sweep "$in/none.yaml" --dry-run

finish
