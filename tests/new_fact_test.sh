#!/bin/bash
# A new VEC operation, element type and kind of mask need few lines in few files. In a changed copy of the tree, golden
# check, checker, printer, counters, traces and documentation support them.
#   new_fact_test.sh ATTNVP SOURCE_DIR BUILD_TYPE
# shellcheck source=changed_tree.sh
. "$(dirname -- "$0")/changed_tree.sh" "$@"

files=()
# add FILE PATTERN [LINES]: inserts standard input after the one line with the pattern, or LINES lines after it
add() {
  local at
  at=$(grep -nE -- "$2" "$copy/$1" | cut -d: -f1)
  [[ $at =~ ^[0-9]+$ ]] || { failed "$1: lines with '$2': $at"; return; }
  sed -i "$((at + ${3:-0}))r /dev/stdin" "$copy/$1"
  files+=("$1")
}
# at_most N WHAT: limit on the number of changed files
at_most() {
  local names
  names=$(printf '%s\n' "${files[@]}" | sort -u)
  printf '%s takes %s\n' "$2" "$(paste -sd ' ' <<<"$names")"
  (($(wc -l <<<"$names") <= $1)) || failed "$2 takes more than $1 files"
  files=()
}

### An operation of VEC: Y = the square root of X

add firmware/hal/operations.h '^  kConvert = 17,' <<<'  kSquareRoot = 18,'
add firmware/hal/operations.h '"Y = X times the factor, rounded to Y' <<'ROW'
    {Opcode::kSquareRoot, "sqrt", Unit::kVec, Family::kLayer, V::kOne, {"sqrt"}, {"rows"}, kInOrder, {kX, kY}, nullptr,
     "Y = the square root of X"},
ROW
add models/engine/vec_engine/row_kernels.cpp '^    \{hal::Opcode::kRotate, ' <<<'    {hal::Opcode::kSquareRoot, plan_divide, square_root},'
add models/engine/vec_engine/row_kernels.cpp '^constexpr RowKernel kKernels' -1 <<'KERNEL'
void square_root(RowData& r) {
  std::vector<float> x(r.size());
  arith::floats_from_halves(r.half(0), x.data(), x.size());
  for (float& each : x) each = std::sqrt(each);
  arith::halves_from_floats(x.data(), r.half(1), x.size());
}

KERNEL
add models/engine/vec_engine/row_kernels.cpp '^#include <algorithm>' <<<'#include <cmath>'
add platform/run/golden/reference.cpp '^      return x \+ z;' <<'GOLDEN'
    case hal::Opcode::kSquareRoot:
      return std::sqrt(x);
GOLDEN
add firmware/dataflows/rows.cpp '^    default:' -1 <<'STEP'
    case hal::Opcode::kSquareRoot:
      break;
STEP
at_most 4 'an operation'

### An element type: FP6 E3M2, in a byte

add firmware/hal/element_types.h '^  kE8M0 = 10,' <<<'  kFp6E3M2 = 11,'
add firmware/hal/element_types.h '^    case ElementType::kInt8:' <<<'    case ElementType::kFp6E3M2:'
add firmware/hal/element_types.h '^    \{ElementType::kE8M0, ' 1 <<'ROW'
    {ElementType::kFp6E3M2, "fp6_e3m2", 3, 2, Specials::kNone, true, false, false, false, ElementType::kFp32, 16,
     "OCP: at most 28, which greater numbers become; NaN becomes 0"},
ROW
at_most 6 'an element type'

### A kind of mask: every second key

add firmware/hal/mask.h '^enum class MaskKind ' -1 <<'HIDES'
constexpr bool is_odd(std::uint32_t /*position*/, std::uint32_t key) { return key % 2 != 0; }
HIDES
sed -i 's/kPadded };/kPadded, kAlternate };/' "$copy/firmware/hal/mask.h"
add firmware/hal/mask.h '^    \{MaskKind::kPadded, "valid"' 1 <<'ROW'
    {MaskKind::kAlternate, "alternate", "every second key, from the first one on", false, 2, is_odd},
ROW
at_most 5 'a kind of mask'
((failures == 0)) || exit 1

build_copy all
# golden NAME ARG...: runs with the golden check; JSON in run.json
golden() {
  local name=$1
  shift
  "$new" run "$@" --json run.json >run.txt 2>&1 || failed "$name: $(tail -3 run.txt)"
  same "golden of $name" 'true true' "$(jq -r '"\(.golden.checked) \(.golden.passed)"' run.json)"
}
# checked NAME ARG...: the checker finds nothing
checked() {
  local name=$1
  shift
  "$new" check "$@" >check.txt 2>&1 || failed "check of $name: $(tail -3 check.txt)"
}

### Existing results are unchanged

for layer in H=2,N=128,E=64 H=2,N=128,E=64,causal=1,type=fp8_e4m3 add:64x256; do
  same "$layer as before" "$("$attnvp" run --net "$layer" --json - 2>/dev/null | jq "$numbers")" \
    "$("$new" run --net "$layer" --json - 2>/dev/null | jq "$numbers")"
done
"$new" describe commands >commands
"$new" describe keys >keys

### The operation

golden sqrt --net sqrt:64x256 --timeline timeline.json --vcd waves.vcd
same 'operations of lanes' "$((64 * 256))" "$(jq '[.counters[] | .div_ops // 0] | add' run.json)"
grep -q '"name":"sqrt"' timeline.json || failed 'the timeline has no sqrt'
grep -rqw sqrt waves* || failed 'the waveform has no sqrt'
checked sqrt --net sqrt:64x256
"$new" schedule --net sqrt:64x256 >schedule.txt
grep -qE '^core0.vec .* sqrt ' schedule.txt || failed 'the schedule has no sqrt'
grep -q '^## sqrt$' commands || failed 'the reference has no sqrt'

### The element type

for dataflow in mas flat fusemax flash2; do
  golden "fp6 with $dataflow" --net H=2,N=128,E=64,type=fp6_e3m2 --dataflow "$dataflow"
done
same 'type of a run' '"fp6_e3m2"' "$(jq .network.type run.json)"
golden 'a product of fp6' --net gemm:64x64x64,type=fp6_e3m2
checked fp6 --net H=2,N=128,E=64,type=fp6_e3m2 --dataflow mas
"$new" schedule --net H=2,N=128,E=64,type=fp6_e3m2 --dataflow mas >schedule.txt
grep -q fp6_e3m2 schedule.txt || failed 'the schedule has no fp6'
grep -q '^| `type` |.*fp6_e3m2' keys || failed 'describe keys has no fp6'
grep -q '^| fp6_e3m2 | 11 | 8 | 3 | 2 | yes |' commands || failed 'the reference has no fp6'

### The kind of mask

"$new" run --net H=2,N=128,E=64 --dataflow mas --json all.json >/dev/null 2>&1
for dataflow in mas flat fusemax flash2 tileflow; do
  for rules in alternate=1 alternate=1,causal=1 alternate=1,window=40; do
    golden "$rules with $dataflow" --net "H=2,N=128,E=64,$rules" --dataflow "$dataflow"
    same "mask of $rules" true "$(jq .network.mask.alternate run.json)"
  done
done
golden 'every second key' --net H=2,N=128,E=64,alternate=1 --dataflow mas
same 'scores that are seen' "$((2 * 128 * 64))" "$(jq .network.mask.visible_scores run.json)"
(($(jq .counters.\"attnvp.cluster0.core0.vec\".elements run.json) * 2 ==
  $(jq .counters.\"attnvp.cluster0.core0.vec\".elements all.json))) || failed 'hidden keys take lanes'
checked 'a mask' --net H=2,N=128,E=64,alternate=1 --dataflow mas
grep -q '^| `alternate` |' keys || failed 'describe keys has no alternate'
grep -q '^| `alternate` | every second key' commands || failed 'the reference has no alternate'

((failures == 0)) && echo 'all as it should be'
exit $((failures > 0))
