#!/bin/bash
# Concurrent jobs on the command line, and the report of the distribution of work:
#   beside_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

here=(run --hw cluster3 --net 'H=2,N=48,E=16')
other='net=H=3,N=40,E=16 dataflow=flat clusters=2'

# Both jobs pass the golden check in every mode and order, and their counters add up.
for data in full full2 timing; do
  done_well "${here[@]}" --dataflow lean --clusters 0-1 --beside "$other" --data "${data%2}" --json -
  cp "$log/stdout" "$in/$data.json"
  holds '.jobs | length == 2 and all(.cycles >= .alone_cycles and .slowdown == .cycles / .alone_cycles)' "$in/$data.json"
  holds '.jobs | map(.dram.share) | add - 1 | fabs < 1e-12' "$in/$data.json"
  holds '.together.cycles == (.jobs | map(.cycles) | max)' "$in/$data.json"
  holds '.together.dram.read_bytes == (.jobs | map(.dram.read_bytes) | add)' "$in/$data.json"
  holds '.jobs[0].clusters == {first: 0, count: 2} and .jobs[1].dataflow == "flat"' "$in/$data.json"
done
same "$in/full.json" "$in/full2.json"
holds '.jobs | all(.golden.passed)' "$in/full.json"
holds '.jobs | all(.golden.checked == false)' "$in/timing.json"
for data in full timing; do jq 'del(.command) | del(.jobs[].golden)' "$in/$data.json" >"$in/$data.rest"; done
same "$in/full.rest" "$in/timing.rest"
done_well "${here[@]}" --clusters 2 --beside 'net=gemm:40x50x60 clusters=0 seed=7' --beside ' net=softmax:30x40  clusters=1  tiling=nq=8 '
[[ $(grep -c 'passed' "$log/stdout") -eq 3 ]] || failed 'not three jobs that passed'
grep -q '^together: ' "$log/stdout" || failed 'nothing of all together'
done_well "${here[@]}" --dataflow auto --clusters 0 --beside 'net=H=1,N=48,E=16 dataflow=auto clusters=1' --data timing
done_well "${here[@]}" --clusters 1 --json "$in/file.json"
holds '.jobs | length == 1 and all(.slowdown == 1)' "$in/file.json"

# Refused combinations.
wrong "two jobs want cluster 1: clusters 0-1 and 1; each has its own" "${here[@]}" --clusters 0-1 --beside 'net=vit-b-16 clusters=1'
wrong 'clusters 3: cluster3 has clusters 0 to 2' "${here[@]}" --clusters 0 --beside 'net=vit-b-16 clusters=3'
wrong 'clusters 1: edge has one cluster, 0' run --clusters 1
wrong "clusters: found '1-0', which are none" "${here[@]}" --clusters 1-0
wrong "clusters: found '0,2'; allowed is a cluster or a range of them, such as 2 or 0-1" "${here[@]}" --clusters 0,2
wrong "--clusters: found ''" "${here[@]}" --clusters ''
wrong '--beside needs --clusters' "${here[@]}" --beside "$other"
wrong "--beside net=vit-b-16: clusters is missing" "${here[@]}" --clusters 0 --beside 'net=vit-b-16'
wrong 'net is missing' "${here[@]}" --clusters 0 --beside 'clusters=1'
wrong "key 'network' is unknown" "${here[@]}" --clusters 0 --beside 'network=vit-b-16 clusters=1'
wrong "key 'net' is given twice" "${here[@]}" --clusters 0 --beside 'net=vit-b-16 net=bert-base clusters=1'
wrong "key 'tiling' has no value" "${here[@]}" --clusters 0 --beside 'net=vit-b-16 clusters=1 tiling='
wrong "seed: found 'x'; allowed is a whole number" "${here[@]}" --clusters 0 --beside 'net=vit-b-16 clusters=1 seed=x'
wrong "dataflow 'masx' is unknown; did you mean 'mas'" "${here[@]}" --clusters 0 --beside 'net=vit-b-16 clusters=1 dataflow=masx'
wrong 'scope=layer and scope=model are for ' "${here[@]}" --clusters 0 --beside 'net=llama3.1-8b,scope=layer clusters=1'
wrong 'tiling nq=4096 is larger than the layer' "${here[@]}" --clusters 0 --beside 'net=vit-b-16 clusters=1 tiling=nq=4096'
wrong 'the tensors need [0-9]+ bytes of DRAM, dram.size is 524288' "${here[@]}" --set 'dram.size=1 MiB' --clusters 0 --beside 'net=H=3,N=1024,E=64 clusters=1'
machine 'vit-b-16 on cluster 1 of cluster3 with mas: .*L1 is too small' "${here[@]}" --set 'l1.size=16 KiB' --set 'l0.size=4 KiB' --clusters 0 --beside 'net=vit-b-16 clusters=1 tiling=nq=256'
for option in '--vcd w.vcd' '--timeline t.json' '--out o.npy' '--q q.npy' --check '--jitter 3' '--profile p.txt' '--gdb 0' '--trace-from 3' '--action-counts c.yaml' \
  --energy-range '--instruction-trace i.txt' '--trace-scope dram'; do
  read -ra words <<<"$option"
  wrong "${words[0]} is for a job that has the machine to itself" "${here[@]}" --clusters 0 "${words[@]}"
done
wrong "not a run's JSON" report "$in/full.json"

# Distribution of work; reported with more than one core.
done_well "${here[@]}" --json -
holds '.imbalance | has("cores") and (.clusters.macs.each | length == 3)' "$log/stdout"
holds '. as $r | [.counters[] | .macs // 0] | add == ($r.imbalance.clusters.macs.each | add)' "$log/stdout"
holds '.cycles == (.imbalance.clusters.end_cycle | max) and .cycles == .imbalance.clusters.end_cycle[.imbalance.clusters.last]' "$log/stdout"
done_well run --hw edge-small --net H=2,N=48,E=16 --json -
holds 'has("imbalance") | not' "$log/stdout"

finish
