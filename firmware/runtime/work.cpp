#include "firmware/runtime/work.h"

namespace attnvp::firmware {

uint32_t row_blocks(uint32_t seq_q, uint32_t nq, uint32_t unit, uint32_t workers) {
  const auto units = static_cast<uint32_t>(ceil_div(seq_q, unit));
  const auto blocks = static_cast<uint32_t>(ceil_div(units, max(nq / unit, uint32_t{1})));
  const auto even = static_cast<uint32_t>(round_up(blocks, workers));
  return even <= units ? even : blocks;
}

Matrix dram_rows(const Runtime& rt, uint64_t tensor, const Item& item, uint32_t columns) {
  const uint64_t row = uint64_t{item.head} * rt.layer().seq_q + item.row;
  const uint32_t stride = columns * kHalfBytes;
  return {tensor + row * stride, item.rows, columns, stride};
}

Work::Work(const Runtime& rt, const RowTiling& t, uint32_t lanes)
    : lanes_(lanes),
      batch_(rt.layer().batch),
      heads_(rt.layer().heads),
      bb_(t.bb),
      hh_(t.hh),
      rows_(rt.layer().seq_q),
      keys_(rt.layer().seq_kv),
      row_unit_(t.nq >= rt.machine().mac_rows ? rt.machine().mac_rows : t.nq) {
  blocks_ = row_blocks(rows_, t.nq, row_unit_, bb_ * hh_ == 1 ? lanes_ : 1);
  head_groups_ = static_cast<uint32_t>(ceil_div(heads_, hh_));
  all_groups_ = static_cast<uint32_t>(ceil_div(batch_, bb_)) * head_groups_;

  const uint64_t all = uint64_t{batch_} * heads_ * blocks_;
  const uint64_t clusters = rt.machine().clusters;
  first_item_ = static_cast<uint32_t>(all * rt.cluster() / clusters);
  last_item_ = static_cast<uint32_t>(all * (rt.cluster() + 1) / clusters);
  if (rt.dry()) last_item_ = first_item_;
  if (first_item_ == last_item_) return;
  while (items_before(first_group_ + 1) <= first_item_) ++first_group_;
  uint32_t last_group = first_group_;
  while (items_before(last_group + 1) < last_item_) ++last_group;
  groups_ = last_group - first_group_ + 1;
}

uint32_t Work::members_global(uint32_t group) const {
  const uint32_t b = min(bb_, batch_ - group / head_groups_ * bb_);
  const uint32_t h = min(hh_, heads_ - group % head_groups_ * hh_);
  return b * h;
}

uint32_t Work::members(uint32_t group) const { return members_global(global(group)); }

uint32_t Work::head_of(uint32_t group, uint32_t member) const {
  const uint32_t g = global(group);
  const uint32_t h0 = g % head_groups_ * hh_;
  const uint32_t h = min(hh_, heads_ - h0);
  const uint32_t b = g / head_groups_ * bb_ + member / h;
  return b * heads_ + h0 + member % h;
}

uint32_t Work::items_before(uint32_t group) const {
  // Whole rows of groups first, then the groups of the last, partial row.
  const uint32_t row = group / head_groups_;
  const uint32_t b_before = min(row * bb_, batch_);
  const uint32_t b = min(bb_, batch_ - b_before);
  const uint32_t h_before = min(group % head_groups_ * hh_, heads_);
  return (b_before * heads_ + b * h_before) * blocks_;
}

Work::Span Work::span(uint32_t group) const {
  const uint32_t before = items_before(global(group));
  const uint32_t after = items_before(global(group) + 1);
  return {max(first_item_, before) - before, min(last_item_, after) - before};
}

uint32_t Work::rounds(uint32_t group) const {
  const Span s = span(group);
  return static_cast<uint32_t>(ceil_div(s.last - s.first, lanes_));
}

// Steps ask for the same few items again and again.
Item Work::item(uint32_t group, uint32_t round, uint32_t lane) const {
  Memo& memo = memo_[(round * lanes_ + lane) % kMemos];
  if (memo.group != group || memo.round != round || memo.item.lane != lane) {
    memo.item = made_item(group, round, lane);
    memo.group = group;
    memo.round = round;
  }
  return memo.item;
}

Item Work::made_item(uint32_t group, uint32_t round, uint32_t lane) const {
  const Span s = span(group);
  const uint32_t turn = (lane + lanes_ - global(group) % lanes_) % lanes_;
  const uint32_t index = s.first + round * lanes_ + turn;
  Item item;
  item.lane = lane;
  if (index >= s.last) return item;
  const uint32_t m = members(group);
  item.valid = true;
  item.member = index % m;
  item.head = head_of(group, item.member);
  item.block = index / m;
  // Blocks get whole row units, as evenly as possible, the first ones one more.
  const auto units = static_cast<uint32_t>(ceil_div(rows_, row_unit_));
  const uint32_t each = units / blocks_;
  const uint32_t longer = units % blocks_;
  const uint32_t first = item.block * each + min(item.block, longer);
  const uint32_t count = each + (item.block < longer ? 1 : 0);
  item.row = first * row_unit_;
  item.rows = min(count * row_unit_, rows_ - item.row);
  item.keys = keys_;
  return item;
}

uint32_t Work::last_round(uint32_t group, uint32_t lane) const {
  const uint32_t n = rounds(group);
  for (uint32_t r = n; r > 0 && r + 1 >= n; --r) {  // only the last round may have gaps
    if (item(group, r - 1, lane).valid) return r - 1;
  }
  return kNoRound;
}

Work::Round Work::after(const Round& r) const {
  if (!r.valid) return {};
  if (r.round + 1 < rounds(r.group)) return {r.group, r.round + 1, true};
  return {r.group + 1, 0, r.group + 1 < groups_};
}

}  // namespace attnvp::firmware
