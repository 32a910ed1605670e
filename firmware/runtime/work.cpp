#include "firmware/runtime/work.h"

namespace attnvp::firmware {

namespace {

// Number of blocks for `units` units.
uint32_t blocks_of(uint32_t units, uint32_t nq, uint32_t unit, uint32_t workers) {
  uint32_t blocks = 1;
  if (units * unit > nq) blocks = ceil_div(units, nq < 2 * unit ? 1 : nq / unit);
  return min(blocks <= workers ? workers : static_cast<uint32_t>(round_up(blocks, workers)), units);
}

// Assumption: a descriptor of 128 bytes over a control bus of 8 bytes, 4 cycles per access, as on the shipped machines.
constexpr uint32_t kCyclesOfACommand = 64;

uint32_t commands_of_an_item(const Runtime& rt, const RowTiling& t) {
  return 2 * static_cast<uint32_t>(ceil_div(rt.layer().seq_kv, t.nkv)) + 3;
}

// Rows per unit: a whole pass of the array, or fewer if the layer has fewer passes than `workers`. Fewer rows must not
// add passes per lane, and must save more vector engine cycles than the additional commands cost.
uint32_t rows_of_a_unit(const Runtime& rt, const RowTiling& t, uint32_t lanes) {
  constexpr uint32_t kLeast = 16;  // assumption
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const uint32_t pass = min(t.nq, m.mac_rows), workers = rt.mask().any() ? 2 * lanes : lanes;
  if (pass <= kLeast || t.bb * t.hh > 1) return pass;
  const uint32_t passes = ceil_div(l.seq_q, pass);
  if (passes >= workers) return pass;
  const uint32_t heads = ceil_div(l.batch * l.heads, m.clusters);  // per cluster
  if (ceil_div(heads * passes, lanes) < heads) return pass;
  const uint32_t rows = min(pass, max(kLeast, static_cast<uint32_t>(ceil_div(l.seq_q, workers))));
  const uint64_t further = (ceil_div(l.seq_q, rows) - passes) * commands_of_an_item(rt, t) * kCyclesOfACommand;
  const uint64_t arrays = uint64_t{l.seq_kv} * ceil_div(l.emb + rt.value_emb(), m.mac_columns);
  const uint64_t row_bytes = l.emb * rt.bytes() + rt.value_emb() * rt.out_bytes();
  const bool shared = l.batch * l.heads < m.clusters && m.dram_rate > 0;
  const auto cycles = [&](uint64_t n) {
    const uint64_t engines = max(arrays, n * l.seq_kv * 16 / m.softmax_rate);
    return engines + (shared ? n * row_bytes * m.dram_sharers / m.dram_rate : 0);
  };
  return cycles(pass) > cycles(rows) + further ? rows : pass;
}

}  // namespace

#if ATTNVP_HETEROGENEOUS_CORES
// Mean number of keys per row, sampled over some rows.
static uint64_t mean_keys(const Runtime& rt, uint32_t rows) {
  const uint32_t keys = rt.layer().seq_kv;
  if (!rt.mask().any()) return keys;
  const uint32_t some = min(rows, uint32_t{16});
  uint64_t sum = 0;
  for (uint32_t i = 0; i < some; ++i) {
    sum += hal::visible_rows(rt.mask(), static_cast<uint32_t>(uint64_t{rows} * i / some), 1, keys).count();
  }
  return max<uint64_t>(sum / some, 1);
}

Window window_of(const Runtime& rt, uint32_t nq, uint32_t nkv, uint32_t fetched) {
  constexpr uint32_t kLooked = 8;  // consecutive windows that are evaluated
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const Deal& deal = rt.common_deal();
  const uint32_t cores = rt.cores(), columns = l.emb + rt.value_emb();
  const uint32_t rows = rt.mask().any() && nq < rt.mask().queries ? rt.mask().queries : l.seq_q;
  const uint64_t keys = mean_keys(rt, rows);
  // Cycles of a row on the fastest core, in 256ths.
  const uint64_t array = 256 * keys * columns / (m.mac_rows * m.mac_columns);
  const uint64_t row_cycles = max(array, rt.plain() ? 0 : 256 * keys * 16 / m.softmax_rate);
  const uint64_t key_cycles = m.dram_rate == 0 ? 0 : uint64_t{l.seq_kv} * columns * rt.bytes() * 16 / m.dram_rate;
  const uint32_t commands = cores * (2 * static_cast<uint32_t>(ceil_div(l.seq_kv, nkv)) + 3);
  // Counted in whole passes of the arrays.
  const auto cycles = [&](const Window& w) {
    const uint32_t units = w.rows / w.unit, windows = static_cast<uint32_t>(ceil_div(rows, w.rows));
    uint64_t of_core[hal::kMostCores] = {}, engine = 0;
    for (uint32_t i = 0; i < kLooked; ++i) {
      uint32_t begin[hal::kMostCores + 1];
      deal.split(uint64_t{i} * units, units, nq / w.unit, begin);
      for (uint32_t k = 0; k < cores; ++k) of_core[k] += round_up((begin[k + 1] - begin[k]) * w.unit, deal.rows(k));
    }
    for (uint32_t k = 0; k < cores; ++k) {
      engine = max(engine, of_core[k] * row_cycles / 256 * deal.most_weight() / deal.weight(k) / kLooked);
    }
    const uint64_t loads = fetched == 0 ? 0 : ceil_div(windows, fetched) * key_cycles;
    return max(max(windows * engine, loads), uint64_t{windows} * commands * kCyclesOfACommand);
  };
  Window best{};
  uint64_t least = 0;
  const uint32_t grains[] = {min(nq, deal.most_rows()), min(nq, deal.least_rows())};
  for (const uint32_t unit : grains) {
    const uint32_t units = static_cast<uint32_t>(ceil_div(rows, unit)), capacity = nq / unit;
    const uint32_t sizes[] = {capacity * cores, min(deal.full_window(capacity), capacity * cores)};
    for (const uint32_t most : sizes) {
      const Window w{unit, static_cast<uint32_t>(ceil_div(units, ceil_div(units, most))) * unit};
      const uint64_t here = cycles(w);
      if (best.unit != 0 && here >= least) continue;
      best = w;
      least = here;
    }
  }
  return best;
}

void narrow(const Runtime& rt, Item& item, uint32_t nq, uint32_t unit, uint32_t core, uint64_t from, bool back) {
  const uint32_t rows = item.rows, units = ceil_div(rows, unit);
  uint32_t begin[hal::kMostCores + 1];
  rt.deal().split(from, units, nq / unit, begin);
  const uint32_t first = back ? units - begin[core + 1] : begin[core];
  const uint32_t end = back ? units - begin[core] : begin[core + 1];
  if (first == end) {
    item.valid = false;
    item.row = item.rows = item.key = item.keys = item.head_keys = item.main_key = 0;
    return;
  }
  item.row += first * unit;
  item.rows = min(end * unit, rows) - first * unit;
  item.block = item.block * rt.cores() + core;
}

#endif

uint32_t row_blocks(uint32_t seq_q, uint32_t nq, uint32_t unit, uint32_t workers) {
  return blocks_of(ceil_div(seq_q, unit), nq, unit, workers);
}

uint32_t most_items(const Runtime& rt, const RowTiling& t) {
  if (rt.is_heterogeneous()) return hal::kMostCores;  // so that none of the fastest cores is excluded
  const hal::Layer& l = rt.layer();
  const uint32_t passes = ceil_div(l.seq_q, min(t.nq, rt.machine().mac_rows));
  return l.batch * l.heads * min(passes + rt.rules().group, l.seq_q);  // query heads may be partitioned separately
}

Matrix dram_rows(const Runtime& rt, uint64_t tensor, const Item& item, uint32_t columns, hal::ElementType type) {
  const uint64_t row = uint64_t{item.head} * rt.layer().seq_q + item.row;
  const uint32_t stride = columns * hal::element_bytes(type);
  return {tensor + row * stride, item.rows, columns, stride, type};
}

Matrix dram_scores(const Runtime& rt, uint64_t tensor, const Item& item, hal::ElementType type) {
  return columns_of(dram_rows(rt, tensor, item, rt.layer().seq_kv).as(type), item.key, item.keys);
}

void mask(const hal::Mask& mask, const hal::BlockMask& map, Command& softmax, uint32_t row, uint32_t key) {
  const hal::Descriptor& d = softmax.raw();
  const uint32_t columns = d.opcode == hal::Opcode::kScoreTile ? d.tail.tile.keys : d.operand[0].columns;
  bool all = hal::all_visible(mask, row, d.rows, key, columns);
  if (map.any()) {
    const hal::BlockWindow w = hal::window_of(mask, row, d.rows, key, columns);
    for (uint32_t i = 0; all && i < w.bits(); ++i) {
      all = map.at(w.first_row + i / w.columns, w.first_column + i % w.columns);
    }
  }
  if (!all) softmax.masked(mask, map, row, key, columns);
}

Accumulate place_of(const KeyBlocks::KeyPart& part) {
  if (part.first) return part.last ? Accumulate::kOnly : Accumulate::kFirst;
  return part.last ? Accumulate::kLast : Accumulate::kMiddle;
}

KeyBlocks::KeyBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nkv, const hal::BlockMask& map)
    : nkv_(nkv), all_(!mask.any()), mask_(mask), map_(map) {
  if (all_) {
    head_ = first_ = head_blocks_ = 0;
    end_ = keys;
    main_blocks_ = keys <= nkv ? 1 : ceil_div(keys, nkv);
    return;
  }
  const hal::Visible all = hal::visible_rows(mask, 0, rows, keys);
  head_ = all.head;
  first_ = all.first;
  end_ = all.end;
  head_blocks_ = static_cast<uint32_t>(ceil_div(head_, nkv_));
  main_blocks_ = static_cast<uint32_t>(ceil_div(end_ - first_, nkv_));
}

KeyBlocks::KeyPart KeyBlocks::part_of(const Item& item, uint32_t block) const {
  const uint32_t from = row(block), to = from + rows(block), end = item.key + item.keys;
  const bool in_head = from < item.head_keys && to > item.key, in_main = to > item.main_key && from < end;
  KeyPart p;
  if (!in_head && !in_main) return p;
  p.key = max(from, in_head ? item.key : item.main_key);
  p.keys = (in_main ? min(to, end) : min(to, item.head_keys)) - p.key;
  if (!seen(item, p.key, p.key + p.keys)) return {};
  p.first = p.key == item.key;
  p.last = p.key + p.keys == end;
  return p;
}

// Under a block map, only parts with visible keys count.
uint32_t KeyBlocks::parts(const Item& item) const {
  if (map_.any()) return number_of(item, count());
  return head_parts(item) + block_at(item.key + item.keys - 1) + 1 - main_block(item);
}

uint32_t KeyBlocks::number_of(const Item& item, uint32_t block) const {
  if (map_.any()) {
    uint32_t number = 0;
    for (uint32_t b = 0; b < block; ++b) number += part_of(item, b).any() ? 1 : 0;
    return number;
  }
  const uint32_t heads = head_parts(item);
  return block < heads ? block : block - main_block(item) + heads;
}

uint32_t KeyBlocks::block_of(const Item& item, uint32_t number) const {
  if (map_.any()) {
    uint32_t block = 0;
    for (;; ++block) {
      if (part_of(item, block).any() && number-- == 0) return block;
    }
  }
  const uint32_t heads = head_parts(item);
  return number < heads ? number : number - heads + main_block(item);
}

KeyBlocks::KeyRun KeyBlocks::run(const Item& item, uint32_t key) const {
  const uint32_t end = item.key + item.keys;
  if (!map_.any()) return key < item.head_keys ? KeyRun{key, item.head_keys} : KeyRun{max(key, item.main_key), end};
  KeyRun run;
  for (uint32_t b = 0; b < count(); ++b) {
    const KeyPart p = part_of(item, b);
    if (!p.any() || p.key + p.keys <= key) continue;
    if (run.end > 0 && p.key != run.end) break;
    if (run.end == 0) run.key = max(p.key, key);
    run.end = p.key + p.keys;
  }
  return run;
}

RowBlocks::RowBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nq, uint32_t unit, uint32_t workers,
                     const hal::BlockMask& map)
    : mask_(mask), map_(map), heads_(1), rows_(rows), unit_(unit), keys_(keys) {
  if (mask_.any() && nq < mask_.queries) {
    heads_ = rows_ / mask_.queries;
    rows_ = mask_.queries;
  }
  const uint32_t units = ceil_div(rows_, unit_);
  blocks_ = blocks_of(units, nq, unit_, mask_.any() ? 2 * workers : workers);
  // Blocks get whole row units, as evenly as possible; the first ones get one more.
  each_ = units / blocks_;
  longer_ = units - each_ * blocks_;
}

void RowBlocks::see(Item& item, uint32_t keys) const {
  const hal::Visible v = hal::visible_rows(mask_, item.row, item.rows, keys);
  const bool only_head = v.head > 0 && v.first >= v.end;  // no padded key is in the window
  item.key = v.head > 0 ? 0 : v.first;
  item.keys = (only_head ? v.head : v.end) - item.key;
  item.head_keys = only_head ? 0 : v.head;
  item.main_key = only_head ? 0 : v.first;
  if (!map_.any()) return;
  // Restricts both ranges by the map.
  const hal::Hull seen = hal::hull_of_rows(mask_, map_, item.row, item.rows, 0, keys);
  item.key = seen.key;
  item.keys = seen.end - seen.key;
  if (seen.key >= v.first || seen.end <= v.head) item.head_keys = 0, item.main_key = seen.key;
}

uint64_t RowBlocks::scores(uint32_t block) const {
  Item item{};
  place(item, block);
  if (!map_.any()) return uint64_t{item.rows} * hal::visible_rows(mask_, item.row, item.rows, keys_).count();
  see(item, keys_);
  uint32_t keys = 0;  // in whole blocks
  const uint32_t b = mask_.block;
  for (uint32_t k = item.key; k < item.key + item.keys; k = (k / b + 1) * b) {
    keys += hal::hull_of_rows(mask_, map_, item.row, item.rows, k, min((k / b + 1) * b, keys_)).any() ? b : 0;
  }
  return uint64_t{item.rows} * keys;
}

uint32_t RowBlocks::most_keys() const {
  if (!mask_.any()) return keys_;
  // They grow until the window is full and may shrink again at the end of the keys.
  uint32_t most = 0;
  for (uint32_t b = 0; b < blocks_; ++b) {
    Item item{};
    fill(item, b * heads_);
    most = max(most, item.keys);
  }
  return most;
}

uint32_t parts_of_a_group_for(const Runtime& rt, const SharedGroups& g) {
  const hal::MachineInfo& m = rt.machine();
  if (m.dram_rate == 0) return 0;
  const hal::Layer& l = rt.layer();
  const uint64_t clusters = m.clusters, groups = g.groups, items = g.items;
  const uint64_t columns = l.emb + rt.value_emb();
  const uint64_t arrays = ceil_div(g.scores, m.mac_rows) * ceil_div(columns, m.mac_columns);
  const uint64_t engines = g.members * max(arrays, rt.plain() ? 0 : g.scores * 16 / m.softmax_rate);
  const uint64_t rows = uint64_t{l.batch} * l.heads * l.seq_q;
  uint64_t once = rows * (l.emb * rt.bytes() + rt.value_emb() * rt.out_bytes());
  once += ((l.c != 0 ? 1 : 0) + (l.p != 0 ? 1 : 0)) * 2 * rows * l.seq_kv * kHalfBytes;
  const uint64_t keys = uint64_t{g.members} * g.keys * columns * rt.bytes();
  // `most`: items of the cluster with the most items, in `visits` parts of groups; `fetched`: parts of groups over all
  // clusters.
  const auto cycles = [&](uint64_t most, uint64_t visits, uint64_t fetched) {
    const uint64_t rounds = g.streamed ? ceil_div(ceil_div(most, visits), g.lanes) : 1;
    const uint64_t commands = most * g.commands + visits * rounds * g.loads;
    const uint64_t engine = max(ceil_div(most, g.lanes) * engines / items, commands * kCyclesOfACommand);
    const uint64_t own = once * most / (groups * items) + visits * rounds * keys;
    const uint64_t dram = max(16 * (once + fetched * rounds * keys), m.dram_sharers * own) / m.dram_rate;
    return max(engine, dram) + min(engine, dram) / visits;
  };
  uint64_t common = clusters, rest = groups;
  while (rest != 0) {
    const uint64_t remainder = common % rest;
    common = rest;
    rest = remainder;
  }
  const uint64_t touched = groups + clusters - common;
  uint64_t least = cycles(ceil_div(groups * items, clusters), ceil_div(touched, clusters), touched);
  uint32_t best = 0;
  for (uint32_t parts = 1; parts == 1 || (groups * parts <= clusters && parts <= items / g.members); ++parts) {
    const uint64_t visits = ceil_div(groups * parts, clusters);
    const uint64_t here = cycles(visits * ceil_div(items, parts), visits, groups * parts);
    if (here >= least) continue;
    least = here;
    best = parts;
  }
  return best;
}

Work::Work(Runtime& rt, const RowTiling& t, uint32_t lanes)
    : rt_(rt),
      lanes_(lanes),
      batch_(rt.layer().batch),
      heads_(rt.layer().heads),
      bb_(t.bb),
      hh_(t.hh),
#if ATTNVP_HETEROGENEOUS_CORES
      window_(rt.is_heterogeneous() ? window_of(rt, t.nq, t.nkv, t.kv_buffers == hal::kWord ? 1 : 0) : Window{}),
      nq_(t.nq),
      cut_(rt, rt.is_heterogeneous() ? window_.rows : t.nq,
           rt.is_heterogeneous() ? window_.unit : rows_of_a_unit(rt, t, lanes_),
           !rt.is_heterogeneous() && bb_ * hh_ == 1 ? lanes_ : 1),
#else
      cut_(rt, t.nq, rows_of_a_unit(rt, t, lanes_), bb_ * hh_ == 1 ? lanes_ : 1),
#endif
      blocks_(cut_.count()) {
  head_groups_ = hh_ == 1 ? heads_ : ceil_div(heads_, hh_);
  all_groups_ = (bb_ == 1 ? batch_ : ceil_div(batch_, bb_)) * head_groups_;

  if (rt.mask().block != 0) rt.check_extents(min(t.nq, rt.layer().seq_q), cut_.most_keys());
  if (rt.scaled_by_block()) rt.check_extents(min(t.nq, rt.layer().seq_q), min(t.nkv, rt.layer().seq_kv));
  const auto scores = [&](uint32_t place) { return cut_.scores(block_at(place)); };
  while (kept_ > 1 && kept_ * lanes_ > kItems) kept_ /= 2;
  if (lanes_ > kItems) return;  // refused elsewhere
  for (Item *item = item_, *end = item + kept_ * lanes_; item != end; item += lanes_) item->index = kNoRound;
  const uint32_t clusters = rt.machine().clusters;
  if (clusters == 1) {
    if (rt.dry()) return;
    last_item_ = batch_ * heads_ * blocks_;
    groups_ = all_groups_;
    return;
  }
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt.has_unequal_clusters()) {
    const Share own = weighted_share(rt.cluster_deal(), batch_ * heads_, blocks_, !cut_.uneven(), scores, rt.cluster());
    first_item_ = own.first;
    last_item_ = own.last;
  } else
#endif
      if (const uint32_t parts = parts_of_a_group(t); parts > 0) {
    const uint64_t all = uint64_t{all_groups_} * parts;
    const auto begin = [&](uint32_t c) {
      return begin_of_part(static_cast<uint32_t>(all * c / clusters), parts, scores);
    };
    first_item_ = begin(rt.cluster());
    last_item_ = begin(rt.cluster() + 1);
  } else {
    const Share own = share(batch_ * heads_, blocks_, !cut_.uneven(), scores, rt.cluster(), clusters);
    first_item_ = own.first;
    last_item_ = own.last;
  }
  if (rt.dry()) last_item_ = first_item_;
  if (first_item_ == last_item_) return;
  while (items_before(first_group_ + 1) <= first_item_) ++first_group_;
  uint32_t last_group = rt.cluster() + 1 == clusters ? all_groups_ - 1 : first_group_;
  while (items_before(last_group + 1) < last_item_) ++last_group;
  groups_ = last_group - first_group_ + 1;
}

// First item of part `part` of all groups' parts.
template <typename Scores>
uint32_t Work::begin_of_part(uint32_t part, uint32_t parts, const Scores& scores) const {
  const uint32_t group = part / parts, within = part % parts, before = items_before(group);
  if (within == 0) return before;
  const uint32_t items = items_before(group + 1) - before;
  return before + items / blocks_ * share(1, blocks_, !cut_.uneven(), scores, within, parts).first;
}

uint32_t Work::parts_of_a_group(const RowTiling& t) const {
  if (rt_.machine().dram_rate == 0 || rt_.is_heterogeneous()) return 0;
  const hal::Layer& l = rt_.layer();
  SharedGroups g;
  g.groups = all_groups_;
  g.items = bb_ * hh_ * blocks_;
  g.lanes = lanes_;
  g.members = bb_ * hh_;
  g.streamed = t.kv_buffers == hal::kWord;
  g.commands = commands_of_an_item(rt_, t);
  g.loads = 2 * g.members * static_cast<uint32_t>(ceil_div(l.seq_kv, t.nkv));
  g.keys = cut_.most_keys();
  g.scores = uint64_t{l.seq_q} * l.seq_kv;
  if (cut_.uneven()) {
    g.scores = 0;
    for (uint32_t block = 0; block < blocks_; ++block) g.scores += cut_.scores(block);
  }
  return parts_of_a_group_for(rt_, g);
}

uint32_t Work::items_before(uint32_t group) const {
  // Whole rows of groups first, then the groups of the last, partial row.
  const uint32_t row = group < head_groups_ ? 0 : group / head_groups_;
  const uint32_t b_before = min(row * bb_, batch_);
  const uint32_t b = min(bb_, batch_ - b_before);
  const uint32_t h_before = min((group - row * head_groups_) * hh_, heads_);
  return (b_before * heads_ + b * h_before) * blocks_;
}

void Work::look_up(HeadGroup& g, uint32_t group) const {
  const uint32_t global = first_group_ + group;
  const HeadGroup& last = group_[(group - 1) % kGroups];
  if (group > 0 && last.number == group - 1 && last.whole && last.first_head + 2 * hh_ <= heads_ &&
      2 * last.after - last.before <= last_item_) {  // the next heads also belong to this cluster
    g.number = group;
    g.first = 0, g.last = last.last;
    g.members = last.members, g.rounds = last.rounds;
    g.batch = last.batch, g.first_head = last.first_head + hh_;
    g.head = last.head + hh_, g.heads = last.heads;
    g.before = last.after, g.after = last.after + last.last;
    g.turn = last.turn == 0 ? lanes_ - 1 : last.turn - 1;
    g.whole = true, g.full = last.full, g.back = !last.back;
    return;
  }
  if (group > 0 && last.number == group - 1 && last.first_head + hh_ < heads_) {  // the next heads
    g.batch = last.batch;
    g.first_head = last.first_head + hh_;
    g.before = last.after;
    g.turn = last.turn == 0 ? lanes_ - 1 : last.turn - 1;
  } else {
    const uint32_t row = global < head_groups_ ? 0 : global / head_groups_;
    g.batch = row * bb_;
    g.first_head = (global - row * head_groups_) * hh_;
    g.before = items_before(global);
    const uint32_t from = global < lanes_ ? global : global % lanes_;
    g.turn = from == 0 ? 0 : lanes_ - from;
  }
  g.heads = min(hh_, heads_ - g.first_head);
  g.members = min(bb_, batch_ - g.batch) * g.heads;
  g.after = g.before + g.members * blocks_;
  g.number = group;
  g.first = max(first_item_, g.before) - g.before;
  g.last = min(last_item_, g.after) - g.before;
  const uint32_t items = g.last - g.first;
  g.rounds = items == lanes_ ? 1 : items == 2 * lanes_ ? 2 : ceil_div(items, lanes_);
  if (rt_.is_heterogeneous()) g.rounds = items;
  g.full = !rt_.is_heterogeneous() && g.rounds * lanes_ == items;
  g.whole = g.last - g.first == g.members * blocks_;
  g.head = g.batch * heads_ + g.first_head;
  g.back = (global & 1) != 0;
}

void Work::keep(const Round& r) const {
  const HeadGroup& g = group_at(r.group);
  Item* item = r.kept;
  item->index = r.index;
  if (!r.full || g.members > 1 || cut_.uneven()) {
    for (uint32_t lane = 0; lane < lanes_; ++lane) make(item[lane], g, r.round, lane);
    return;
  }
  // One head, one item per lane, without masked keys.
  const uint32_t first = g.first + r.round * lanes_, end = first + lanes_;
  uint32_t block = first + g.turn;
  for (uint32_t lane = 0; lane < lanes_; ++lane, ++item) {
    item->valid = true;
    item->lane = lane;
    item->head = g.head;
    item->member = item->key = item->head_keys = item->main_key = 0;
    cut_.fill_plain(*item, block);
    if (++block == end) block = first;
  }
}

Item Work::item(uint32_t group, uint32_t round, uint32_t lane) const {
  Item item{};
  make(item, group_at(group), round, lane);
  return item;
}

#if ATTNVP_HETEROGENEOUS_CORES
// The sequence of units continues across rounds and heads, so that each core's total is its share.
void Work::make_heterogeneous(Item& item, const HeadGroup& g, uint32_t round, uint32_t lane) const {
  uint32_t place = g.first + round;
  item.lane = lane;
  item.valid = true;
  item.member = 0;
  item.head = g.head;
  if (g.members > 1) {
    item.member = place % g.members;
    place /= g.members;
    item.head = head_of(g.number, item.member);
  }
  cut_.fill(item, block_at(place));
  const uint32_t unit = window_.unit;
  const uint64_t from = item.head * ceil_div(uint64_t{rt_.layer().seq_q}, uint64_t{unit}) + item.row / unit;
  narrow(rt_, item, nq_, unit, lane, from, cut_.uneven() && g.back != ((round & 1) != 0));
  if (!item.valid) item.head = item.member = item.block = 0;
  if (!item.valid || !cut_.uneven()) return;
  cut_.see(item, rt_.mask().is_padded() ? rt_.valid_keys(item.head / heads_) : rt_.layer().seq_kv);
}
#endif

void Work::make(Item& item, const HeadGroup& g, uint32_t round, uint32_t lane) const {
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt_.is_heterogeneous()) return make_heterogeneous(item, g, round, lane);
#endif
  uint32_t turn = lane;
  if (cut_.uneven()) {
    if (g.back != ((round & 1) != 0)) turn = lanes_ - 1 - lane;
  } else {
    turn += g.turn;
    if (turn >= lanes_) turn -= lanes_;
  }
  const uint32_t index = g.first + round * lanes_ + turn;
  item.lane = lane;
  item.valid = index < g.last;
  if (!item.valid) {
    item.head = item.member = item.block = item.row = item.rows = 0;
    item.key = item.keys = item.head_keys = item.main_key = 0;
    return;
  }
  uint32_t place = index;
  item.member = 0;
  item.head = g.head;
  if (g.members > 1) {
    place = index / g.members;
    item.member = index - place * g.members;
    item.head = head_of(g.number, item.member);
  }
  cut_.fill(item, block_at(place));
  if (rt_.mask().is_padded()) cut_.see(item, rt_.valid_keys(item.head / heads_));
}

uint32_t Work::last_round(uint32_t group, uint32_t lane) const {
  const HeadGroup& g = group_at(group);
  const uint32_t n = g.rounds;
  if (g.full) return n - 1;  // kNoRound if there are none
  for (uint32_t r = n; r > 0 && (rt_.is_heterogeneous() || r + 1 >= n);
       --r) {  // for equal cores only the last round has gaps
    if (item(group, r - 1, lane).valid) return r - 1;
  }
  return kNoRound;
}

}  // namespace attnvp::firmware
