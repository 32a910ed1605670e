#!/bin/bash
# Ten jobs under valgrind: no invalid or uninitialised access, no leak.
#   valgrind.sh ATTNVP SOURCE_DIR
# A change of the stack pointer beyond the largest frame (85 kB) is a switch to another coroutine's stack.
command -v valgrind >/dev/null || exit 77
attnvp=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd -- "$folder" || exit 2

status=0
job() {
  valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --max-stackframe=100000 \
    "$attnvp" "$@" >out.txt 2>err.txt && return
  printf '%s: exit status %s\n' "$*" $?
  head -n 40 err.txt
  status=1
}
job run --net H=1,N=32,E=16 --dataflow mas --check --vcd a.vcd --timeline a.trace --json a.json
job run --net H=2,N=40,E=16,causal=1 --dataflow flat --jitter 3
job run --net H=1,N=32,E=16,type=int8 --dataflow tileflow
job run --hw cluster3 --net H=2,NQ=1,NKV=64,E=16 --dataflow flash-decoding
job run --net H=1,N=48,E=16 --dataflow fusemax --data timing
job run --hw edge-lpddr4 --net H=1,N=32,E=16 --dataflow layerwise
job run --net H=1,N=32,E=16 --dataflow softpipe --set l1.kind=banked
job check --net H=2,N=64,E=16 --dataflow flash2
job stream memory-free --n 8 --d 2
job report a.json --output a.html
exit $status
