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
      rows_(min(tiling.nq, rt.layer().seq_q)) {
  rt.check_l0(tiling.l0);
  if (lanes.count > kMaxLanes) rt.fail(Status::kBadJob);
  const uint64_t row_bytes = uint64_t{rt.layer().emb} * kHalfBytes;
  const bool partials = tiling.kv_buffers == hal::kWord;
  for (uint32_t c = 0; rt.ok() && c < lanes.count; ++c) {
    lane_[c].q = rt.allocate(uint64_t{tiling.row_buffers} * rows_ * row_bytes, L1Region::kQ);
    lane_[c].scores =
        rt.allocate(uint64_t{scores.count} * rows_ * rt.layer().seq_kv * kHalfBytes, L1Region::kScores);
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
  const uint32_t stride = rt_.layer().seq_kv * kHalfBytes;
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
    k.load_block(i.group, j);
    ahead.pump();
    for (uint32_t c = 0; c < lanes_.count; ++c) {
      const Item item = work_.item(i.group, i.round, c);
      if (!item.valid) {
        k.pass_tokens(i, c, lanes_.c_core(c), j);
        continue;
      }
      const Matrix q = q_block(lane_[c], lane_[c].c_items, item);
      const Matrix scores = columns_of(score_block(lane_[c], lane_[c].c_items, item), k.block_row(j), k.block_rows(j));
      const Sync sync = discipline.for_c(i, c);
      // The first sub-block of a lane's first block goes strip by strip, as Q comes; everything else as a whole.
      const uint32_t strip = j == 0 && lane_[c].c_items == 0 ? first_strip() : item.rows;
      for (uint32_t row = 0; row < item.rows; row += strip) {
        const uint32_t rows = min(strip, item.rows - row);
        const bool begins = j == 0 && row == 0;
        const bool ends_block = row + rows == item.rows;
        Command multiply =
            matmul_abt(rows_of(q, row, rows), k.rows(i.group, item.member, j), rows_of(scores, row, rows), tiling_.l0);
        multiply.label(item.head, item.block);
        if (j == 0) multiply.after(q_ready_.of(c));
        if (begins && scores_.tokens) multiply.after(scores_free_.of(c));
        if (begins && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
        if (row == 0) k.acquire(multiply, c, i.group, j);
        if (ends_block && j + 1 == k.blocks()) {
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
      Command command = rows.rows > 0 ? softmax(rows, rows) : fence();
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
    for (uint32_t row = 0; row < item.rows; row += strip) {
      const uint32_t rows = min(strip, item.rows - row);
      const bool last = row + rows == item.rows;
      Command multiply =
          matmul_ab(rows_of(p, row, rows), v.all_rows(i.group, item.member), rows_of(o, row, rows), tiling_.l0);
      multiply.label(item.head, item.block);
      if (row == 0) {
        multiply.after(lanes_.of_lane(p_ready_, c)).after(o_free_.of(c));
        if (sync.after.span > 0) multiply.after(sync.after, sync.tokens);
        v.acquire(multiply, c, i.group, v.blocks() - 1);
      }
      multiply.then(o_ready_.of(c));
      if (last && scores_.tokens) multiply.then(scores_free_.of(c));
      if (last && sync.then.span > 0) multiply.then(sync.then);
      if (last && v.last_use(i, c, v.blocks() - 1)) v.release(multiply, c);
      rt_.mac(lanes_.o_core(c), multiply);
    }
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
  const uint32_t blocks = v.blocks();
  for (uint32_t j = 0; rt_.ok() && j < blocks; ++j) {
    v.load_block(i.group, j);
    for (uint32_t c = 0; c < lanes_.count; ++c) {
      const Item item = work_.item(i.group, i.round, c);
      if (!item.valid) {
        v.pass_tokens(i, c, lanes_.o_core(c), j);
        continue;
      }
      const Lane& lane = lane_[c];
      const Sync sync = discipline.for_o(i, c);
      const uint32_t emb = rt_.layer().emb;
      const Matrix p = columns_of(score_block(lane, lane.o_items, item), v.block_row(j), v.block_rows(j));
      const Matrix partials{lane.partials, item.rows, emb, emb * kPartialBytes};
      const Matrix o = o_block(lane, item);
      Command multiply = matmul_ab(p, v.rows(i.group, item.member, j), o, partials, place_of(j, blocks), tiling_.l0);
      multiply.label(item.head, item.block);
      if (j == 0) multiply.after(lanes_.of_lane(p_ready_, c));
      if (j == 0 && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
      v.acquire(multiply, c, i.group, j);
      v.release(multiply, c);
      if (j + 1 == blocks) {
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
    rt_.dma(kStoreChannel, copy(block, dram_rows(rt_, tensor, item, rt_.layer().seq_kv))
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
    rt_.dma(kLoadChannel, copy(dram_rows(rt_, tensor, item, rt_.layer().seq_kv), block)
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
