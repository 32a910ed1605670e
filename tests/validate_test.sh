#!/bin/bash
# Measurements beside predictions: validate_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Mistakes.
wrong 'needs a set, or a file' validate
wrong 'nowhere.csv: no such file' validate --data nowhere.csv
wrong "set 'nowhere' is unknown" validate nowhere
wrong 'not both' validate some --data nowhere.csv
printf '# nothing\n' >"$in/empty.csv"
printf 'a,b\n1,2\n' >"$in/unknown.csv"
printf 'a,b\n1,2,3\n' >"$in/ragged.csv"
printf 'a,a\n1,2\n' >"$in/twice.csv"
wrong 'empty.csv: there is no table' validate --data "$in/empty.csv"
wrong "unknown.csv:1: columns 'a,b' are of no known set" validate --data "$in/unknown.csv"
wrong 'ragged.csv:2: found 3 cells, the first line has 2' validate --data "$in/ragged.csv"
wrong "twice.csv:1: column 'a' is there twice" validate --data "$in/twice.csv"

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

# DRAM beside a cycle-true simulator: 95% of the rows within 5%, none off by more than 10%.
done_well validate dram-curves --json dram.json --csv dram.csv --html dram.html
holds '.set == "dram-curves" and (.rows | length) == 120 and .mape < 0.01 and .spearman > 0.999' dram.json
holds '[.rows[] | (.predicted / .measured - 1) | if . < 0 then -. else . end] |
  (map(select(. > 0.1)) | length) == 0 and (map(select(. > 0.05)) | length) <= 6' dram.json
[[ $(wc -l <dram.csv) -eq 121 ]] || failed "dram.csv has $(wc -l <dram.csv) lines"
grep -q '</svg>' dram.html || failed "no plot in dram.html"
done_well validate dram-curves --json again.json
same dram.json again.json
rm -- dram.json dram.csv dram.html again.json

# Attention kernels on GPUs: small rows of the set.
{ grep -v '^#' "$configs/validation/attention.csv" | head -n 1
  grep -E '^(0,0,1,16|0,0,2,128|0,0,16,64|0,0,4,1024|16,256,0,0|256,64,0,0|512,16,0,0),' \
    "$configs/validation/attention.csv"; } >"$in/attention.csv"
done_well validate --data "$in/attention.csv" --net llama3.1-8b --json attention.json
holds '.set == "attention" and .hardware == "rtx4090" and (.rows | length) == 7 and .mape < 0.1' attention.json
done_well validate --data "$in/attention.csv" --hw rtxpro6000 --json blackwell.json
holds '.hardware == "rtxpro6000" and (.rows | length) == 7 and ([.rows[].predicted] | max) < 60' blackwell.json
rm -- attention.json blackwell.json

finish
