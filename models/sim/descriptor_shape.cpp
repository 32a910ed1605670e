#include "models/sim/descriptor_shape.h"

#include "firmware/hal/registers.h"

namespace attnvp {

namespace {

std::uint32_t keys_of(const hal::Descriptor& d) {
  return hal::is_product(d) ? hal::is_transposed(d) ? hal::product_of(d).n : hal::product_of(d).k
                            : d.operand[0].columns;
}

}  // namespace

int dram_operand(const hal::Descriptor& d) {
  int found = -1;
  for (int i = 0; i < hal::kOperands; ++i) {
    if (d.operand[i].address < hal::kDramBase || d.operand[i].address >= hal::kL2Base) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

void make_canonical(hal::Descriptor& d) {
  d.head = 0;
  d.row_block = 0;
  hal::RuleTail& rule = d.tail.rule;
  if ((d.flags & hal::kMasked) == 0 || rule.mask.by_key() || rule.mask.queries == 0) return;
  const hal::Mask mask = rule.mask;
  if (hal::all_visible(mask, rule.row, d.rows, rule.key, keys_of(d))) {
    rule.row = rule.key = 0;
    rule.mask = {};
    return;
  }
  const std::uint32_t token = rule.row % mask.queries;
  if (mask.causal == 0 || mask.window != 0 || mask.sinks != 0 || mask.prefix != 0 || d.rows > mask.queries - token) {
    return;
  }
  rule.row = mask.history + token - rule.key;
  rule.key = 0;
  rule.mask.history = rule.mask.queries = 0;
}

}  // namespace attnvp
