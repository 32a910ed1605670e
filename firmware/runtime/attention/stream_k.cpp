#include "firmware/runtime/attention/stream_k.h"

namespace attnvp::firmware {

Contexts::Contexts(Runtime& rt, uint32_t nq, uint32_t nkv, bool by_head)
    : ragged_(rt.layer().ragged),
      batches_(rt.layer().batch),
      heads_(rt.layer().heads),
      seq_q_(rt.layer().seq_q),
      all_keys_(rt.layer().seq_kv),
      nq_(nq),
      nkv_(nkv),
      group_(rt.rules().group),
      page_(rt.rules().page),
      mask_(rt.mask()),
      map_(rt.map()),
      by_head_(by_head),
      blocks_(mask_, seq_q_, all_keys_, nq, nq, 1, map_),
      cut_(mask_, seq_q_, all_keys_, nkv, map_) {
  first_[0] = 0;
  if (batches_ > kMostBatches) {
    rt.fail(Status::kBadJob);
    batches_ = 0;
    return;
  }
  for (uint32_t b = 0; rt.ok() && ragged_ == 2 && b < batches_; ++b) {
    uint32_t words[2];
    rt.read(hal::kContextsAddress + sizeof words * b, words, sizeof words);
    queries_[b] = words[0];
    keys_[b] = words[1];
  }
  if (ragged_ == 1 || mask_.is_padded()) rt.read(hal::kContextsAddress, keys_, batches_ * sizeof(uint32_t));
  if (!rt.ok()) batches_ = 0;
  for (uint32_t b = 0; b < batches_; ++b) first_[b + 1] = first_[b] + blocks(b).count();
  const uint32_t alike_blocks = alike() && batches_ > 0 ? first_[1] : 0;
  const uint32_t query_heads = blocks_.heads();  // their blocks with the same index are consecutive and equal
  for (uint32_t block = 0; alike_blocks <= kMostKnown && block < alike_blocks; ++block) {
    tiles_[block] = block % query_heads == 0 ? count_tiles(context_of(0, block)) : tiles_[block - 1];
  }
  if (alike_blocks <= kMostKnown) tiles_known_ = alike_blocks;
  for (uint32_t b = 0; b < batches_; ++b) {
    uint32_t of_batch = 0;
    for (uint32_t block = 0; block < first_[b + 1] - first_[b]; ++block) {
      const uint32_t here = tiles_known_ > 0 ? tiles_[block] : count_tiles(context_of(b, block));
      of_batch += heads_ * here;
      most_tiles_ = max(most_tiles_, here);
    }
    if (alike()) {  // the other batches are the same
      total_tiles_ = of_batch * batches_;
      return;
    }
    total_tiles_ += of_batch;
  }
}

hal::Mask Contexts::mask_of(uint32_t batch) const {
  hal::Mask m = mask_;
  if (ragged_ != 2 || !m.any()) return m;
  m.queries = queries_[batch];
  m.history = keys_[batch] - queries_[batch];
  return m;
}

hal::Mask Contexts::mask(uint32_t context) const {
  hal::Mask m = mask_;
  if (ragged_ == 0) return m;
  const uint32_t b = batch(context);
  if (ragged_ == 2) m.queries = queries_[b];
  m.history = keys_[b] - m.queries;
  return m;
}

uint32_t Contexts::context_of(uint32_t batch, uint32_t block) const {
  const uint32_t blocks = first_[batch + 1] - first_[batch];
  const uint32_t place = mask_.any() ? blocks - 1 - block : block;
  return ragged_ == 2 ? first_[batch] + place : place * batches_ + batch;
}

uint32_t Contexts::batch(uint32_t context) const {
  if (ragged_ != 2) return context % batches_;
  uint32_t low = 0, high = batches_;  // first_[low] <= context < first_[high]
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (first_[middle] <= context) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t Contexts::block_of(uint32_t context) const {
  const uint32_t b = batch(context), blocks = first_[b + 1] - first_[b];
  const uint32_t place = ragged_ == 2 ? context - first_[b] : context / batches_;
  return mask_.any() ? blocks - 1 - place : place;
}

Item Contexts::rows(uint32_t context, uint32_t head) const {
  Item item{};
  const uint32_t b = batch(context);
  item.valid = true;
  item.head = b * heads_ + head;
  blocks(b).fill(item, block_of(context));
  return item;
}

uint64_t Contexts::query_row(uint32_t context, const Item& item) const {
  const uint32_t b = batch(context);
  if (ragged_ != 2) return uint64_t{item.head} * seq_q_ + item.row;
  uint64_t rows = 0;
  for (uint32_t before = 0; before < b; ++before) rows += rows_of(before);
  return rows * heads_ + uint64_t{item.head - b * heads_} * rows_of(b) + item.row;
}

void Contexts::cut_up(uint32_t batch) const {
  blocks_ = RowBlocks(mask_of(batch), rows_of(batch), keys_of(batch), nq_, nq_, 1, map_);
  cut_ = KeyBlocks(mask_of(batch), rows_of(batch), keys_of(batch), nkv_, map_);
  known_ = batch;
}

uint32_t Contexts::head_with(uint32_t tile, uint32_t& before) const {
  before = 0;
  if (!alike() || batches_ == 0) return 0;
  const uint32_t of_head = total_tiles_ / (batches_ * heads_), head = tile / of_head;
  before = head * of_head;
  return head * first_[1];
}

void Contexts::in_order(uint32_t i, uint32_t& context, uint32_t& head, bool heads_first) const {
  uint32_t b = 0;
  for (; i >= heads_ * (first_[b + 1] - first_[b]); ++b) i -= heads_ * (first_[b + 1] - first_[b]);
  const RowBlocks& cut = blocks(b);
  const uint32_t group = cut.heads(), places = cut.count() / group;
  const uint32_t query_heads = heads_ * group;
  const uint32_t place = heads_first ? i / query_heads : i % places;
  const uint32_t query_head = heads_first ? i % query_heads : i / places;
  head = query_head / group;
  context = context_of(b, place * group + query_head % group);
}

uint32_t Contexts::count_tiles(uint32_t context) const { return cut(batch(context)).parts(rows(context, 0)); }

KeyBlocks::KeyPart Contexts::keys(uint32_t context, uint32_t tile) const {
  const KeyBlocks& cut = this->cut(batch(context));
  const Item item = rows(context, 0);
  return cut.part(item, cut.block_of(item, tile));
}

uint32_t Contexts::block(uint32_t context, uint32_t tile) const {
  return cut(batch(context)).block_of(rows(context, 0), tile);
}

KeyBlocks::KeyPart Contexts::whole(uint32_t context, uint32_t block) const {
  const KeyBlocks& cut = this->cut(batch(context));
  return {cut.row(block), cut.rows(block), false, false};
}

uint64_t Contexts::key_row(Runtime& rt, uint32_t context, uint32_t head, uint32_t key) const {
  return row_of(rt, batch(context), head, key);
}

uint64_t Contexts::row_of(Runtime& rt, uint32_t b, uint32_t head, uint32_t key) const {
  uint64_t before = 0;  // keys or pages
  const auto of = [&](uint32_t keys) { return page_ == 0 ? keys : static_cast<uint32_t>(ceil_div(keys, page_)); };
  if (ragged_ == 0) before = uint64_t{b} * of(all_keys_);
  for (uint32_t i = 0; ragged_ != 0 && i < b; ++i) before += of(keys_[i]);
  if (page_ == 0) return before * heads_ + uint64_t{head} * head_rows(b) + key;
  uint32_t page = 0;
  rt.read(hal::kPagesAddress + (before + key / page_) * sizeof page, &page, sizeof page);
  return (uint64_t{page} * heads_ + head) * page_ + key % page_;
}

// Grid and loads follow the public implementation of LeanAttention; its 2 workers per SM are the slots here.
StreamK::StreamK(const Contexts& contexts, uint32_t slots, uint32_t splits, GridOrder order)
    : contexts_(contexts), splits_(splits), grid_(order) {
  const uint32_t tiles = contexts.total_tiles(), heads = contexts.heads() * contexts.count();
  if (splits > 0) {
    workers_ = static_cast<uint32_t>(min<uint64_t>(slots, uint64_t{heads} * splits));
    grid_.groups = min(grid_.groups, workers_);
    const bool whole = splits == 1 && (contexts.uneven() || contexts.by_head());
    if ((whole || waves()) && uint64_t{heads} * splits <= kMostDealt && workers_ <= kMostInWaves) deal_in_waves();
    return;
  }
  uint64_t grid = min<uint64_t>(slots, uint64_t{32} * heads);
  if (tiles <= 2 * slots)
    grid = min(grid, min<uint64_t>(ceil_div(tiles, 2), ceil_div(uint64_t{32} * tiles, contexts.most_tiles())));
  workers_ = static_cast<uint32_t>(max<uint64_t>(min<uint64_t>(grid, tiles), 1));
  most_ = static_cast<uint32_t>(ceil_div(tiles, workers_));
  high_load_ = tiles - (most_ - 1) * workers_;
}

// Dispatching a thread block takes about half as long as a tile.
void StreamK::deal_in_waves() {
  dealt_ = contexts_.heads() * contexts_.count() * splits_;
  uint32_t done[kMostInWaves] = {};
  uint64_t before = 0;                                            // tiles before the piece
  for (uint32_t i = 0; contexts_.by_head() && i < dealt_; ++i) {  // equal shares, so that heads stay together
    const uint32_t tiles = piece(i).tiles;
    worker_of_item_[i] =
        static_cast<std::uint8_t>((2 * before + tiles) * workers_ / (2 * uint64_t{contexts_.total_tiles()}));
    before += tiles;
  }
  if (contexts_.by_head()) return;
  const uint32_t groups = max(grid_.groups, uint32_t{1});
  for (uint32_t i = 0; i < dealt_; ++i) {
    uint32_t first = i % groups;
    for (uint32_t w = first; w < workers_; w += groups) first = done[w] < done[first] ? w : first;
    const Segment s = piece(i);
    if (s.valid) done[first] += 2 * s.tiles + (waves() ? 1 : 0);
    worker_of_item_[i] = static_cast<std::uint8_t>(first);
  }
}

#if ATTNVP_HETEROGENEOUS_CORES
void StreamK::deal_by_weight(Runtime& rt) {
  const uint32_t all = contexts_.heads() * contexts_.count(), workers = rt.machine().clusters * rt.cores();
  if (splits_ != 1 || all > kMostDealt || workers > kMostInWaves) return;
  workers_ = workers;
  dealt_ = all;
  std::uint16_t weight[kMostInWaves];
  rt.read_worker_weights(rt.cores(), weight);
  uint64_t done[kMostInWaves] = {};  // tiles
  for (uint32_t i = 0; rt.ok() && i < all; ++i) {
    const uint64_t tiles = piece(i).tiles;
    uint32_t first = 0;
    for (uint32_t w = 1; w < workers_; ++w) {
      if ((done[w] + tiles) * weight[first] < (done[first] + tiles) * weight[w]) first = w;
    }
    done[first] += tiles;
    worker_of_item_[i] = static_cast<std::uint8_t>(first);
  }
}
#endif

uint32_t StreamK::first_tile(uint32_t worker) const { return worker * (most_ - 1) + min(worker, high_load_); }

uint32_t StreamK::worker_of(uint32_t tile) const {
  const uint32_t heavy = high_load_ * most_;
  return tile < heavy ? tile / most_ : high_load_ + (tile - heavy) / (most_ - 1);
}

// As streamed(), in the order of heads and then their row blocks.
Segment StreamK::by_head(uint32_t worker, uint32_t n) const {
  if (worker >= workers_) return {};
  const uint32_t begin = first_tile(worker), end = first_tile(worker + 1);
  const uint32_t all = contexts_.heads() * contexts_.count();
  uint32_t start = 0;  // tiles before the head
  for (uint32_t i = contexts_.head_with(begin, start), own = 0; start < end && i < all; ++i) {
    Segment s;
    contexts_.in_order(i, s.context, s.head);
    const uint32_t tiles = contexts_.tiles(s.context), from = max(start, begin), to = min(start + tiles, end);
    if (from < to && own++ == n) {
      s.valid = true;
      s.first = from - start;
      s.tiles = to - from;
      s.host = worker_of(start);
      s.part = worker - s.host;
      s.parts = worker_of(start + tiles - 1) - s.host + 1;
      s.record = record(s, s.part);
      return s;
    }
    start += tiles;
  }
  return {};
}

// Advances to the context that contains tile `tile` of all tiles.
void StreamK::skip_to(uint32_t tile, uint32_t& context, uint32_t& start) const {
  for (uint32_t tiles = 0; tile >= start + (tiles = contexts_.heads() * contexts_.tiles(context)); ++context) {
    start += tiles;
  }
}

Segment StreamK::streamed(uint32_t worker, uint32_t n) const {
  if (contexts_.by_head()) return by_head(worker, n);
  if (worker >= workers_) return {};
  uint32_t tile = first_tile(worker);
  const uint32_t end = first_tile(worker + 1);
  // Start of the worker's sequence, cached because every piece needs it.
  WorkerBegin& begin = begin_[worker * 0x9E37'79B9U >> 29];
  if (begin.worker != worker) {
    begin = {worker, 0, 0};
    skip_to(tile, begin.context, begin.start);
  }
  uint32_t context = begin.context, start = begin.start;  // of the context's first head
  for (uint32_t i = 0; tile < end; ++i) {
    skip_to(tile, context, start);
    const uint32_t of_head = contexts_.tiles(context), head = (tile - start) / of_head;
    const uint32_t head_start = start + head * of_head, head_end = head_start + of_head;
    if (i == n) {
      Segment s;
      s.valid = true;
      s.context = context;
      s.head = head;
      s.first = tile - head_start;
      s.tiles = min(end, head_end) - tile;
      s.host = worker_of(head_start);
      s.part = worker - s.host;
      s.parts = worker_of(head_end - 1) - s.host + 1;
      s.record = record(s, s.part);
      return s;
    }
    tile = head_end;
  }
  return {};
}

Segment StreamK::piece(uint32_t item) const {
  Segment s;
  const uint32_t global = item / splits_, part = item % splits_;
  if (splits_ == 1 && (contexts_.uneven() || contexts_.by_head() || waves())) {
    contexts_.in_order(global, s.context, s.head, grid_.heads_first);
  } else {
    s.context = global / contexts_.heads();
    s.head = global % contexts_.heads();
  }
  const uint32_t tiles = contexts_.tiles(s.context);
  const auto span = static_cast<uint32_t>(ceil_div(tiles, splits_));
  if (part * span >= tiles) return s;
  s.valid = true;
  s.first = part * span;
  s.tiles = min(span, tiles - s.first);
  s.part = part;
  s.parts = static_cast<uint32_t>(ceil_div(tiles, span));
  s.record = item;
  return s;
}

Segment StreamK::split(uint32_t worker, uint32_t n) const {
  if (worker >= workers_) return {};
  uint32_t own = 0;
  if (dealt_ > 0) {
    for (uint32_t i = 0; i < dealt_; ++i) {
      if (worker_of_item_[i] != worker) continue;
      Segment s = piece(i);
      if (!s.valid || own++ != n) continue;
      s.host = worker_of_item_[i - s.part];
      return s;
    }
    return {};
  }
  const uint64_t all = uint64_t{contexts_.heads()} * contexts_.count() * splits_;
  if (is_shifted()) {
    const uint64_t item = shifted_item(worker, n);
    if (item >= all) return {};
    Segment s = piece(static_cast<uint32_t>(item));
    s.host = worker;
    return s;
  }
  for (uint64_t item = worker; item < all; item += workers_) {
    Segment s = piece(static_cast<uint32_t>(item));
    if (!s.valid || own++ != n) continue;
    s.host = static_cast<uint32_t>((item - s.part) % workers_);
    return s;
  }
  return {};
}

Segment StreamK::segment(uint32_t worker, uint32_t n) const {
  return splits_ > 0 ? split(worker, n) : streamed(worker, n);
}

// Stream-K: a worker has at most two pieces of shared heads, one hosted by an earlier worker and one that it hosts.
uint32_t StreamK::record(const Segment& s, uint32_t part) const {
  return splits_ > 0 ? s.record - s.part + part : 2 * (s.host + part) + (part == 0 ? 1 : 0);
}

uint32_t StreamK::records() const {
  return splits_ > 0 ? contexts_.heads() * contexts_.count() * splits_ : 2 * workers_;
}

const Statistic kPartitionStatistics[] = {{"partition.tiles", "tiles of all contexts"},
                                          {"partition.workers", "that have any"},
                                          {"partition.max", "tiles of the workers that have most"},
                                          {"partition.high_load", "workers that have so many"},
                                          {"partition.splits", "pieces of a context, where all are cut alike"},
                                          {nullptr, nullptr}};

void StreamK::report(Runtime& rt) const {
  uint32_t most = most_, high_load = high_load_;
  for (uint32_t w = 0; splits_ > 0 && w < workers_; ++w) {
    uint32_t here = 0;
    const uint32_t all = contexts_.heads() * contexts_.count() * splits_;
    for (uint32_t n = 0; dealt_ == 0; ++n) {
      const uint64_t item = is_shifted() ? shifted_item(w, n) : w + uint64_t{n} * workers_;
      if (item >= all) break;
      here += piece(static_cast<uint32_t>(item)).tiles;
    }
    for (uint32_t i = 0; i < dealt_; ++i) here += worker_of_item_[i] == w ? piece(i).tiles : 0;
    if (here > most) high_load = 0;
    most = max(most, here);
    if (here == most) ++high_load;
  }
  const uint32_t values[] = {contexts_.total_tiles(), workers_, most, high_load, splits_};
  for (uint32_t i = 0; i < 5; ++i) rt.count(i, values[i]);
}

uint32_t StreamK::flash_decoding_splits(uint32_t heads, uint32_t slots, uint32_t tiles) {
  constexpr uint32_t kMostSplits = 128;
  if (5 * heads >= 4 * slots) return 1;
  const uint32_t most = min(kMostSplits, min(slots, tiles));
  // Occupancy of the waves in units of 1 / 2^20; splits that do not shorten pieces are skipped.
  const auto occupancy = [&](uint32_t splits) -> uint64_t {
    if (splits > 1 && ceil_div(tiles, splits) == ceil_div(tiles, splits - 1)) return 0;
    const uint64_t pieces = uint64_t{heads} * splits;
    return (pieces << 20) / (ceil_div(pieces, slots) * slots);
  };
  uint64_t best = 0;
  for (uint32_t s = 1; s <= most; ++s) best = max(best, occupancy(s));
  for (uint32_t s = 1; s <= most; ++s) {
    if (occupancy(s) * 100 >= best * 85 && occupancy(s) > 0) return s;
  }
  return 1;
}

}  // namespace attnvp::firmware
