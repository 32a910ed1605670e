#!/bin/bash
# Coverage of the RTL tests, measured by Verilator: coverage.sh TEST_RTL
# Fails if line coverage is 95% or less. Toggle coverage is printed.
set -euo pipefail

test=$(realpath -- "$1")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
export ATTNVP_COVERAGE=$folder

"$test" --gtest_filter='VecUnit/1.*:VecLinear/1.*' >"$folder/log" || { cat "$folder/log" && exit 1; }
verilator_coverage --write "$folder/all" "$folder"/*.dat >/dev/null
awk '
  match($0, /page\002v_[a-z]+/) {
    kind = substr($0, RSTART + 7, RLENGTH - 7)
    ++all[kind]
    if ($NF > 0) ++hit[kind]
    else if (kind == "line" || kind == "branch") print "not covered: " $0
  }
  END {
    for (kind in all) printf "%s coverage: %d of %d, %.1f %%\n", kind, hit[kind], all[kind], 100 * hit[kind] / all[kind]
    lines = all["line"] + all["branch"]
    exit !(lines > 50 && (hit["line"] + hit["branch"]) / lines > 0.95)
  }' "$folder/all" | tr '\001\002' ' ='
