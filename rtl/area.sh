#!/bin/bash
# The area of a block in Yosys's generic gates, memories kept apart: area.sh [TOP [PARAMETER VALUE]...]
set -euo pipefail

cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/vec"
top=${1-vec_unit}
shift || true
parameters=()
while [[ $# -gt 1 ]]; do
  parameters+=(-chparam "$1" "$2")
  shift 2
done
yosys -Q -p "
  read_verilog -sv *.sv
  hierarchy -check -top $top ${parameters[*]-}
  proc; flatten; opt; wreduce; peepopt; opt_clean; alumacc; share; opt
  memory -nomap; opt -fast; techmap; opt; abc -g AND,OR,XOR,MUX; opt_clean; stat" | sed -n '/^=== /,/^End/p' | sed '/^End/d'
