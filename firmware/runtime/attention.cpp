#include "firmware/runtime/attention.h"

#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

Attention::Attention(Runtime& rt, const Work& work, const RowTiling& tiling, const ScoreBlocks& scores,
                     const Lanes& lanes)
    : rt_(rt),
      work_(work),
      tiling_(tiling),
      scores_(scores),
      lanes_(lanes),
      o_buffers_(o_buffers(tiling)),
      rows_(min(tiling.nq, rt.layer().seq_q)),
      keys_(work.most_keys()) {
  rt.check_l0(tiling.l0);
  if (lanes.count > kMaxLanes) rt.fail(Status::kBadJob);
  const uint64_t row_bytes = uint64_t{rt.layer().emb} * kHalfBytes;
  const bool partials = tiling.kv_buffers == hal::kWord || work.in_two_runs();
  for (uint32_t c = 0; rt.ok() && c < lanes.count; ++c) {
    lane_[c].q = rt.allocate(uint64_t{tiling.row_buffers} * rows_ * row_bytes, L1Region::kQ);
    lane_[c].scores =
        rt.allocate(uint64_t{scores.count} * rows_ * keys_ * kHalfBytes, L1Region::kScores);
    lane_[c].o = rt.allocate(uint64_t{o_buffers_} * rows_ * row_bytes, L1Region::kO);
    if (partials) {
      lane_[c].partials = rt.allocate(uint64_t{rows_} * rt.layer().emb * kPartialBytes, L1Region::kPartials);
    }
  }
  q_ready_ = rt.events(lanes.count);
  q_free_ = rt.events(lanes.count, tiling.row_buffers);
  c_ready_ = rt.events(lanes.count * lanes.vec_engines());
  p_ready_ = rt.events(lanes.count * lanes.vec_engines());
  o_ready_ = rt.events(lanes.count);
  o_free_ = rt.events(lanes.count, o_buffers_);
  scores_free_ = rt.events(lanes.count, scores.count);
  stored_ = rt.events(1);
}

Matrix Attention::score_block(const Lane& lane, uint32_t n, const Item& item) const {
  const uint32_t stride = keys_ * kHalfBytes;
  return {lane.scores + uint64_t{n % scores_.count} * rows_ * stride, item.rows, item.keys, stride};
}

Matrix Attention::q_block(const Lane& lane, uint32_t n, const Item& item) const {
  const uint32_t emb = rt_.layer().emb;
  const uint32_t stride = emb * kHalfBytes;
  return {lane.q + uint64_t{n % tiling_.row_buffers} * rows_ * stride, item.rows, emb, stride};
}

// Rows of a strip of a lane's first block.
uint32_t Attention::first_strip() const {
  const bool strips = tiling_.kv_buffers != hal::kWord && !rt_.in_lock_step();
  return strips ? min(tiling_.l0.m0, rows_) : rows_;
}

void Attention::load_q_rows(const Item& item, const Matrix& q, uint32_t row, uint32_t rows) {
  const Matrix dram = dram_rows(rt_, rt_.layer().q, item, rt_.layer().emb);
  Command load = copy(rows_of(dram, row, rows), rows_of(q, row, rows));
  if (row == 0) load.after(q_free_.of(item.lane));
  rt_.dma(kLoadChannel, load.then(q_ready_.of(item.lane)).label(item.head, item.block));
}

void Attention::load_q(const Work::Round& i) {
  for (uint32_t c = 0; i.valid && c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (!item.valid) continue;
    Lane& lane = lane_[c];
    const bool first = lane.q_items == 0;
    if (first) lane.first = i;
    const Matrix q = q_block(lane, lane.q_items++, item);
    load_q_rows(item, q, 0, first ? min(first_strip(), item.rows) : item.rows);
  }
}

uint32_t Attention::rest_of_q(const Work::Round& i) const {
  uint32_t loads = 0;
  for (uint32_t c = 0; i.valid && c < lanes_.count; ++c) {
    const Work::Round& first = lane_[c].first;
    if (!first.valid || first.group != i.group || first.round != i.round) continue;
    loads += static_cast<uint32_t>(ceil_div(work_.item(i.group, i.round, c).rows, first_strip())) - 1;
  }
  return loads;
}

void Attention::load_q_rest(const Work::Round& i) {
  for (uint32_t c = 0; rest_of_q(i) > 0 && c < lanes_.count; ++c) {
    const Work::Round& first = lane_[c].first;
    if (!first.valid || first.group != i.group || first.round != i.round) continue;
    const Item item = work_.item(i.group, i.round, c);
    const uint32_t strip = first_strip();
    for (uint32_t row = strip; row < item.rows; row += strip) {
      load_q_rows(item, q_block(lane_[c], 0, item), row, min(strip, item.rows - row));
    }
  }
}

void Attention::produce_c(KvBuffer& k, const Work::Round& i, Loads& ahead, const Discipline& discipline) {
  for (uint32_t j = 0; rt_.ok() && j < k.blocks(); ++j) {
    if (k.streamed() && !k.needed(i, j)) continue;
    k.load_block(i.group, j);
    ahead.pump();
    for (uint32_t c = 0; c < lanes_.count; ++c) {
      const Item item = work_.item(i.group, i.round, c);
      const KeyBlocks::Part part = item.valid ? k.part(item, j) : KeyBlocks::Part{};
      if (!part.any()) {
        k.pass_tokens(i, c, lanes_.c_core(c), j);
        continue;
      }
      const Matrix q = q_block(lane_[c], lane_[c].c_items, item);
      const Matrix keys = k.rows(i.group, item.member, j, part);
      const Matrix scores = columns_of(score_block(lane_[c], lane_[c].c_items, item), part.key - item.key, part.keys);
      const Sync sync = discipline.for_c(i, c);
      // The first sub-block of a lane's first block goes strip by strip, as Q comes; everything else as a whole.
      const uint32_t strip = part.first && lane_[c].c_items == 0 ? first_strip() : item.rows;
      for (uint32_t row = 0; row < item.rows; row += strip) {
        const uint32_t rows = min(strip, item.rows - row);
        const bool begins = part.first && row == 0;
        const bool ends_block = row + rows == item.rows;
        Command multiply = matmul_abt(rows_of(q, row, rows), keys, rows_of(scores, row, rows), tiling_.l0);
        multiply.scaled(rt_.scale()).label(item.head, item.block);
        if (part.first) multiply.after(q_ready_.of(c));
        if (begins && scores_.tokens) multiply.after(scores_free_.of(c));
        if (begins && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
        if (row == 0) k.acquire(multiply, c, i.group, j);
        if (ends_block && part.last) {
          multiply.then(lanes_.of_lane(c_ready_, c)).then(q_free_.of(c));
          if (sync.then.span > 0) multiply.then(sync.then);
        }
        if (ends_block && k.last_use(i, c, j)) k.release(multiply, c);
        rt_.mac(lanes_.c_core(c), multiply);
      }
    }
  }
  for (uint32_t c = 0; c < lanes_.count; ++c) lane_[c].c_items += work_.item(i.group, i.round, c).valid ? 1 : 0;
}

void Attention::produce_p(const Work::Round& i) {
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (!item.valid) continue;
    const Matrix block = score_block(lane_[c], lane_[c].p_items++, item);
    // The lane's VEC engines take equal shares of the rows; without rows one only passes its token on.
    const uint32_t engines = lanes_.vec_engines();
    for (uint32_t e = 0; e < engines; ++e) {
      const uint32_t row = item.rows * e / engines;
      const Matrix rows = rows_of(block, row, item.rows * (e + 1) / engines - row);
      const bool work = rows.rows > 0 && !rt_.plain();
      Command command = work ? softmax(rows, rows) : fence();
      if (work) mask(rt_, command, item.row + row, item.key);
      command.after(lanes_.of_engine(c_ready_, c, e))
          .then(lanes_.of_engine(p_ready_, c, e))
          .label(item.head, item.block);
      rt_.vec(e == 0 ? lanes_.c_core(c) : lanes_.o_core(c), command);
    }
  }
}

Matrix Attention::o_block(const Lane& lane, const Item& item) const {
  const uint32_t emb = rt_.layer().emb;
  const uint32_t stride = emb * kHalfBytes;
  return {lane.o + uint64_t{lane.o_items % o_buffers_} * rows_ * stride, item.rows, emb, stride};
}

void Attention::produce_o(KvBuffer& v, const Work::Round& i, const Discipline& discipline) {
  if (v.streamed()) {
    stream_o(v, i, discipline);
  } else {
    resident_o(v, i, discipline);
  }
  for (uint32_t c = 0; c < lanes_.count; ++c) lane_[c].o_items += work_.item(i.group, i.round, c).valid ? 1 : 0;
}

// Rows [row, row + rows) of a block of O; the last ones of the block free its buffer.
void Attention::store_o(const Item& item, const Matrix& o, uint32_t row, uint32_t rows, bool last) {
  const uint32_t c = item.lane;
  const Matrix dram = dram_rows(rt_, rt_.layer().o, item, o.columns);
  Command store = copy(rows_of(o, row, rows), rows_of(dram, row, rows));
  store.deferrable().after(o_ready_.of(c)).then(stored_).label(item.head, item.block);
  if (last) store.then(o_free_.of(c));
  rt_.dma(kStoreChannel, store);
  ++stores_;
}

void Attention::resident_o(KvBuffer& v, const Work::Round& i, const Discipline& discipline) {
  const bool strips = !work_.after(i).valid && !rt_.in_lock_step();
  const auto strip =
      strips ? static_cast<uint32_t>(round_up(ceil_div(rows_, kLastStrips), rt_.machine().mac_rows)) : rows_;
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (!item.valid) {
      v.pass_tokens(i, c, lanes_.o_core(c), v.blocks() - 1);
      continue;
    }
    const Lane& lane = lane_[c];
    const Sync sync = discipline.for_o(i, c);
    const Matrix p = score_block(lane, lane.o_items, item);
    const Matrix o = o_block(lane, item);
    const uint32_t needed = v.last_block(item);
    // Keys in one run, or the first ones and then the others, with the sums of both.
    const uint32_t end = item.key + item.keys, runs = item.head_keys > 0 ? 2 : 1;
    const uint32_t emb = rt_.layer().emb;
    const Matrix partials{lane.partials, item.rows, emb, emb * kPartialBytes};
    for (uint32_t row = 0; row < item.rows; row += strip) {
      const uint32_t rows = min(strip, item.rows - row);
      for (uint32_t run = 0; run < runs; ++run) {
        const bool first = run == 0, last = run + 1 == runs;
        const uint32_t key = first ? item.key : item.main_key, keys = (last ? end : item.head_keys) - key;
        Command multiply =
            matmul_ab(columns_of(rows_of(p, row, rows), key - item.key, keys), v.run(i.group, item.member, key, keys),
                      rows_of(o, row, rows), rows_of(partials, row, rows), place_of(run, runs), tiling_.l0);
        multiply.label(item.head, item.block);
        if (row == 0 && first) {
          multiply.after(lanes_.of_lane(p_ready_, c)).after(o_free_.of(c));
          if (sync.after.span > 0) multiply.after(sync.after, sync.tokens);
          v.acquire(multiply, c, i.group, needed);
        }
        if (last) multiply.then(o_ready_.of(c));
        if (last && row + rows == item.rows) {
          if (scores_.tokens) multiply.then(scores_free_.of(c));
          if (sync.then.span > 0) multiply.then(sync.then);
          if (v.last_use(i, c, needed)) v.release(multiply, c);
        }
        rt_.mac(lanes_.o_core(c), multiply);
      }
    }
    if (needed + 1 < v.blocks()) v.pass_tokens(i, c, lanes_.o_core(c), v.blocks() - 1);
  }
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    for (uint32_t row = 0; item.valid && row < item.rows; row += strip) {
      const uint32_t rows = min(strip, item.rows - row);
      store_o(item, o_block(lane_[c], item), row, rows, row + rows == item.rows);
    }
  }
}

void Attention::stream_o(KvBuffer& v, const Work::Round& i, const Discipline& discipline) {
  for (uint32_t j = 0; rt_.ok() && j < v.blocks(); ++j) {
    if (!v.needed(i, j)) continue;
    v.load_block(i.group, j);
    for (uint32_t c = 0; c < lanes_.count; ++c) {
      const Item item = work_.item(i.group, i.round, c);
      const KeyBlocks::Part part = item.valid ? v.part(item, j) : KeyBlocks::Part{};
      if (!part.any()) {
        v.pass_tokens(i, c, lanes_.o_core(c), j);
        continue;
      }
      const Lane& lane = lane_[c];
      const Sync sync = discipline.for_o(i, c);
      const uint32_t emb = rt_.layer().emb;
      const Matrix p = columns_of(score_block(lane, lane.o_items, item), part.key - item.key, part.keys);
      const Matrix partials{lane.partials, item.rows, emb, emb * kPartialBytes};
      const Matrix o = o_block(lane, item);
      Command multiply =
          matmul_ab(p, v.rows(i.group, item.member, j, part), o, partials, place_of(part), tiling_.l0);
      multiply.label(item.head, item.block);
      if (part.first) multiply.after(lanes_.of_lane(p_ready_, c));
      if (part.first && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
      v.acquire(multiply, c, i.group, j);
      v.release(multiply, c);
      if (part.last) {
        multiply.after(o_free_.of(c)).then(o_ready_.of(c));
        if (scores_.tokens) multiply.then(scores_free_.of(c));
        if (sync.then.span > 0) multiply.then(sync.then);
      }
      rt_.mac(lanes_.o_core(c), multiply);
    }
  }
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (item.valid) store_o(item, o_block(lane_[c], item), 0, item.rows, true);
  }
}

void Attention::store_scores(const Work::Round& i, uint64_t tensor, Events ready) {
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (!item.valid) continue;
    const Matrix block = score_block(lane_[c], lane_[c].stored++, item);
    rt_.dma(kStoreChannel, copy(block, dram_scores(rt_, tensor, item))
                               .after(lanes_.of_lane(ready, c))
                               .then(scores_free_.of(c))
                               .then(stored_)
                               .label(item.head, item.block));
    ++stores_;
  }
}

void Attention::load_scores(const Work::Round& i, uint64_t tensor, Events ready) {
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    const Item item = work_.item(i.group, i.round, c);
    if (!item.valid) continue;
    const Matrix block = score_block(lane_[c], lane_[c].loaded++, item);
    rt_.dma(kLoadChannel, copy(dram_scores(rt_, tensor, item), block)
                              .after(scores_free_.of(c))
                              .then(lanes_.of_lane(ready, c))
                              .label(item.head, item.block));
  }
}

void Attention::finish() {
  rt_.settle();
  rt_.wait(stored_, stores_);
  stores_ = 0;
  for (Lane& lane : lane_) lane.first = {};
  for (Lane& lane : lane_) lane.q_items = lane.c_items = lane.p_items = lane.o_items = lane.stored = lane.loaded = 0;
}

}  // namespace attnvp::firmware
