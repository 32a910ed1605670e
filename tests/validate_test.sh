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

finish
