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

Matrix dram_scores(const Runtime& rt, uint64_t tensor, const Item& item) {
  return columns_of(dram_rows(rt, tensor, item, rt.layer().seq_kv), item.key, item.keys);
}

void mask(const hal::Mask& mask, Command& softmax, uint32_t row, uint32_t key) {
  const hal::Descriptor& d = softmax.raw();
  const uint32_t columns = d.opcode == hal::Opcode::kScoreTile ? d.tail.tile.keys : d.operand[0].columns;
  if (!hal::all_visible(mask, row, d.rows, key, columns)) softmax.masked(mask, row, key);
}

Accumulate place_of(const KeyBlocks::Part& part) {
  if (part.first) return part.last ? Accumulate::kOnly : Accumulate::kFirst;
  return part.last ? Accumulate::kLast : Accumulate::kMiddle;
}

KeyBlocks::KeyBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nkv) : nkv_(nkv) {
  const hal::Visible all = hal::visible_rows(mask, 0, rows, keys);
  head_ = all.head;
  first_ = all.first;
  end_ = all.end;
  head_blocks_ = static_cast<uint32_t>(ceil_div(head_, nkv_));
  main_blocks_ = static_cast<uint32_t>(ceil_div(end_ - first_, nkv_));
}

KeyBlocks::Part KeyBlocks::part(const Item& item, uint32_t block) const {
  const uint32_t from = row(block), to = from + rows(block), end = item.key + item.keys;
  const bool in_head = from < item.head_keys, in_main = to > item.main_key && from < end;
  Part p;
  if (!in_head && !in_main) return p;
  p.key = in_head ? from : max(from, item.main_key);
  p.keys = (in_main ? min(to, end) : min(to, item.head_keys)) - p.key;
  p.first = p.key == item.key;
  p.last = p.key + p.keys == end;
  return p;
}

uint32_t KeyBlocks::parts(const Item& item) const {
  return head_parts(item) + block_at(item.key + item.keys - 1) + 1 - main_block(item);
}

uint32_t KeyBlocks::number_of(const Item& item, uint32_t block) const {
  const uint32_t heads = head_parts(item);
  return block < heads ? block : block - main_block(item) + heads;
}

uint32_t KeyBlocks::block_of(const Item& item, uint32_t number) const {
  const uint32_t heads = head_parts(item);
  return number < heads ? number : number - heads + main_block(item);
}

RowBlocks::RowBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nq, uint32_t unit,
                     uint32_t workers)
    : mask_(mask), heads_(1), rows_(rows), unit_(unit), keys_(keys) {
  if (mask_.any() && nq < mask_.queries) {
    heads_ = rows_ / mask_.queries;
    rows_ = mask_.queries;
  }
  blocks_ = row_blocks(rows_, nq, unit_, mask_.any() ? 2 * workers : workers);
}

void RowBlocks::fill(Item& item, uint32_t block) const {
  item.block = block;
  const uint32_t place = block / heads_;
  // Blocks get whole row units, as evenly as possible, the first ones one more.
  const auto units = static_cast<uint32_t>(ceil_div(rows_, unit_));
  const uint32_t each = units / blocks_;
  const uint32_t longer = units % blocks_;
  const uint32_t first = place * each + min(place, longer);
  const uint32_t count = each + (place < longer ? 1 : 0);
  item.row = first * unit_;
  item.rows = min(count * unit_, rows_ - item.row);
  item.row += block % heads_ * rows_;
  const hal::Visible v = hal::visible_rows(mask_, item.row, item.rows, keys_);
  item.key = v.head > 0 ? 0 : v.first;
  item.keys = v.end - item.key;
  item.head_keys = v.head;
  item.main_key = v.first;
}

uint64_t RowBlocks::scores(uint32_t block) const {
  Item item;
  fill(item, block);
  const uint32_t keys = item.head_keys > 0 ? item.head_keys + item.key + item.keys - item.main_key : item.keys;
  return uint64_t{item.rows} * keys;
}

uint32_t RowBlocks::most_keys() const {
  if (!mask_.any()) return keys_;
  // They grow until the window is full, and may shrink again where the keys end.
  uint32_t most = 0;
  for (uint32_t b = 0; b < blocks_; ++b) {
    Item item;
    fill(item, b * heads_);
    most = max(most, item.keys);
  }
  return most;
}

Work::Work(const Runtime& rt, const RowTiling& t, uint32_t lanes)
    : lanes_(lanes),
      batch_(rt.layer().batch),
      heads_(rt.layer().heads),
      bb_(t.bb),
      hh_(t.hh),
      cut_(rt, t.nq, t.nq >= rt.machine().mac_rows ? rt.machine().mac_rows : t.nq, bb_ * hh_ == 1 ? lanes_ : 1),
      blocks_(cut_.count()) {
  head_groups_ = static_cast<uint32_t>(ceil_div(heads_, hh_));
  all_groups_ = static_cast<uint32_t>(ceil_div(batch_, bb_)) * head_groups_;

  const auto scores = [&](uint32_t place) { return cut_.scores(block_at(place)); };
  const uint32_t clusters = rt.machine().clusters;
  first_item_ = share(batch_ * heads_, blocks_, !cut_.uneven(), scores, rt.cluster(), clusters);
  last_item_ = share(batch_ * heads_, blocks_, !cut_.uneven(), scores, rt.cluster() + 1, clusters);
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
  const bool back = cut_.uneven() && ((round ^ global(group)) & 1) != 0;
  const uint32_t turn = !cut_.uneven() ? (lane + lanes_ - global(group) % lanes_) % lanes_
                        : back         ? lanes_ - 1 - lane
                                       : lane;
  const uint32_t index = s.first + round * lanes_ + turn;
  Item item;
  item.lane = lane;
  if (index >= s.last) return item;
  const uint32_t m = members(group);
  item.valid = true;
  item.member = index % m;
  item.head = head_of(group, item.member);
  cut_.fill(item, block_at(index / m));
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
