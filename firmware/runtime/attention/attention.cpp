#include "firmware/runtime/attention/attention.h"

#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

AttentionSteps::AttentionSteps(Runtime& rt, const Work& work, const RowTiling& tiling, const ScoreBlocks& scores,
                               const Lanes& lanes)
    : rt_(rt),
      work_(work),
      tiling_(tiling),
      scores_(scores),
      lanes_(lanes),
      o_buffers_(o_buffers(tiling)),
      rows_(min(tiling.nq, rt.layer().seq_q)),
      keys_(work.most_keys()),
      row_bytes_(rt.layer().emb * rt.bytes()),
      v_row_bytes_(rt.value_emb() * rt.bytes()),
      o_row_bytes_(rt.value_emb() * rt.out_bytes()),
      partial_bytes_(rt.partial_columns() * kPartialBytes),
      score_bytes_(keys_ * kHalfBytes),
      p_bytes_(rt.bytes()),
      head_bytes_(uint64_t{rt.layer().seq_q} * row_bytes_) {
  rt.check_l0(tiling.l0);
  if (lanes.count > kMaxLanes) rt.fail(Status::kBadJob);
  const uint64_t block_bytes = uint64_t{rows_} * row_bytes_, o_block_bytes = uint64_t{rows_} * o_row_bytes_;
  q_bytes_ = static_cast<uint32_t>(block_bytes);  // L1 is below 4 GiB
  o_bytes_ = static_cast<uint32_t>(o_block_bytes);
  scores_bytes_ = rows_ * score_bytes_;
  const bool partials = tiling.kv_buffers == hal::kWord || work.in_runs() || keys_ > rt.most_scaled();
  const uint64_t all_q = tiling.row_buffers * block_bytes, all_o = o_buffers_ * o_block_bytes,
                 all_scores = scores.count * (uint64_t{rows_} * score_bytes_);
  for (uint32_t c = 0; rt.ok() && c < lanes.count; ++c) {
    RowBuffers& lane = lane_[c];
    const auto ring = [&](uint64_t bytes, L1Region region) {
      const auto at = static_cast<uint32_t>(rt.allocate(bytes, region));
      return Ring{at, at + static_cast<uint32_t>(bytes)};
    };
    lane.q = ring(all_q, L1Region::kQ);
    lane.scores = ring(all_scores, L1Region::kScores);
    lane.o = ring(all_o, L1Region::kO);
    if (partials) lane.partials = ring(uint64_t{rows_} * partial_bytes_, L1Region::kPartials).at;
    begin(lane);
  }
  q_ready_ = rt.events(lanes.count);
  q_free_ = rt.events(lanes.count, tiling.row_buffers);
  c_ready_ = rt.events(lanes.count * lanes.vec_engines());
  p_ready_ = rt.events(lanes.count * lanes.vec_engines());
  o_ready_ = rt.events(lanes.count);
  o_free_ = rt.events(lanes.count, o_buffers_);
  scores_free_ = rt.events(lanes.count, scores.count);
  stored_ = rt.events(1);
  rt.expect_scores(lanes.count, rows_, min(tiling.nkv, keys_), rt.own_channel());
}

void AttentionSteps::begin(RowBuffers& lane) {
  lane.first = 0;
  lane.first_c = true;
  lane.q_load = lane.q_use = lane.q.at;
  lane.c = lane.p = lane.o_p = lane.stored = lane.loaded = lane.scores.at;
  lane.o_at = lane.o.at;
}

Matrix AttentionSteps::score_block(uint32_t at, const Item& item, hal::ElementType type) const {
  return {hal::l1_base(rt_.cluster()) + at, item.rows, item.keys, score_bytes_, type};
}

// Copy command for rows of items between L1 and DRAM.
void AttentionSteps::make_copy(Command& command, bool load) {
  const uint32_t emb = load ? rt_.layer().emb : rt_.value_emb();
  const hal::ElementType type = load ? rt_.type() : rt_.out_type();
  const uint32_t stride = load ? row_bytes_ : o_row_bytes_;
  const int in_dram = load ? 0 : 1;
  command.begin(hal::Opcode::kCopy).operand(in_dram, {0, 0, emb, stride, type});
  command.operand(1 - in_dram, in_l1(emb, stride, type)).raw().tail.copy.planes = 1;
  if (!load) command.deferrable();
}

uint32_t AttentionSteps::first_strip() const {
  const bool strips = tiling_.kv_buffers != hal::kWord && !rt_.in_lock_step();
  return strips ? min(tiling_.l0.m0, rows_) : rows_;
}

void AttentionSteps::load_q_rows(const Item& item, uint32_t q, uint32_t row, uint32_t rows) {
  if (load_q_.raw().opcode == hal::Opcode::kNop) make_copy(load_q_, true);
  {
    Command::Edit load(load_q_, rows);
    load.move(0, dram_row(rt_.layer().q, item, row, row_bytes_)).move(1, q).label(item.head, item.block);
    if (row == 0) load.after(q_free_.of(item.lane));
    load.then(q_ready_.of(item.lane));
  }
  rt_.dma(kLoadChannel, load_q_);
}

void AttentionSteps::load_q(const Work::Round& i) {
  if (!i.valid) return;
  const Item* item = work_.items(i);
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (!item->valid) continue;
    RowBuffers& lane = lane_[c];
    const bool first = lane.first == 0;
    if (first) lane.first = last_first_ = i.index + 1;
    load_q_rows(*item, lane.q_load, 0, first ? min(first_strip(), item->rows) : item->rows);
    turn(lane.q_load, lane.q, q_bytes_);
  }
}

uint32_t AttentionSteps::first_rest_of_q(const Work::Round& i) const {
  uint32_t loads = 0;
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    if (lane_[c].first != i.index + 1) continue;
    loads += static_cast<uint32_t>(ceil_div(work_.item(i, c).rows, first_strip())) - 1;
  }
  return loads;
}

void AttentionSteps::load_q_rest(const Work::Round& i) {
  if (rest_of_q(i) == 0) return;
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    if (lane_[c].first != i.index + 1) continue;
    const Item& item = work_.item(i, c);
    const uint32_t strip = first_strip();
    for (uint32_t row = strip; row < item.rows; row += strip) {
      load_q_rows(item, lane_[c].q.at + row * row_bytes_, row, min(strip, item.rows - row));
    }
  }
}

void AttentionSteps::make_c() {
  const Matrix l1 = in_l1(rt_.layer().emb, row_bytes_, rt_.type());
  c_ = matmul_abt(l1, l1, in_l1(0, score_bytes_, hal::ElementType::kFp16), tiling_.l0);
  rt_.scale_scores(c_.forwarded(scores_.forwarded), 0);
}

void AttentionSteps::produce_c(KvBuffer& k, const Work::Round& i, Loads& ahead, const Discipline* discipline) {
  if (c_.raw().opcode == hal::Opcode::kNop) make_c();
  ahead.rest_for_c();
  for (uint32_t j = 0; rt_.ok() && j < k.blocks(); ++j) {
    if (k.streamed() && !k.needed(i, j)) continue;
    k.load_block(i.group, j);
    ahead.pump();
    const Item* item = work_.items(i);
    const bool masked = rt_.mask().any();
    KeyBlocks::KeyPart part = k.part(*item, j);  // the same for all items if there is no mask
    const uint32_t key_bytes = (part.key - item->key) * kHalfBytes, place = k.place(i.group, 0, j, part.key);
    for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
      if (masked) part = item->valid ? k.part(*item, j) : KeyBlocks::KeyPart{};
      if (!item->valid || !part.any()) {
        k.pass_tokens(i, c, lanes_.c_core(c), j);
        continue;
      }
      RowBuffers& lane = lane_[c];
      const Sync sync = discipline == nullptr ? Sync{} : discipline->for_c(i, c);
      const uint32_t keys = !masked && item->member == 0 ? place : k.place(i.group, item->member, j, part.key);
      uint32_t q = lane.q_use, scores = lane.c + (masked ? (part.key - item->key) * kHalfBytes : key_bytes);
      // The first sub-block of a lane's first block is computed strip by strip as Q arrives, all others as a whole.
      const uint32_t strip = part.first && lane.first_c ? first_strip() : item->rows;
      if (rt_.scaled_by_head()) rt_.scale_scores(c_, item->head);
      for (uint32_t row = 0; row < item->rows; row += strip) {
        const uint32_t rows = min(strip, item->rows - row);
        const bool ends_block = row + rows == item->rows;
        {
          Command::Edit multiply(c_, rows);
          multiply.move(0, q).move(1, keys).move(2, scores).columns(2, part.keys).label(item->head, item->block);
          if (part.first) {
            multiply.after(q_ready_.of(c));
            if (row == 0 && scores_.tokens) multiply.after(scores_free_.of(c));
            if (row == 0 && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
          }
          if (row == 0) k.acquire(multiply, c, i.group, j);
          if (ends_block && part.last) {
            multiply.then(lanes_.of_lane(c_ready_, c)).then(q_free_.of(c));
            if (sync.then.span > 0) multiply.then(sync.then);
          }
          if (ends_block && k.last_use(i, c, j)) k.release(multiply, c);
        }
        rt_.scores(c, lanes_.c_core(c), c_, {item->head, item->row + row, rows, part.key, part.keys});
        q += strip * row_bytes_;
        scores += strip * score_bytes_;
      }
    }
  }
  const Item* item = work_.items(i);
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (!item->valid) continue;
    RowBuffers& lane = lane_[c];
    lane.first_c = false;
    turn(lane.q_use, lane.q, q_bytes_);
    turn(lane.c, lane.scores, scores_bytes_);
  }
}

// Prepares the command for O_i, or for a term of it, with `keys` columns of P.
void AttentionSteps::make_o(uint32_t keys, uint32_t partials, Accumulate place) {
  o_keys_ = place == Accumulate::kOnly ? keys : 0;
  const uint32_t emb = rt_.value_emb();
  Matrix sums = in_l1(emb, partial_bytes_, hal::ElementType::kFp32);
  sums.address += partials;
  o_ = attend(in_l1(keys, score_bytes_, rt_.type()), in_l1(emb, v_row_bytes_, rt_.type()),
              in_l1(emb, o_row_bytes_, rt_.out_type()), sums, place, tiling_.l0, rt_.scaled_by_block());
}

void AttentionSteps::produce_p(const Work::Round& i) {
  const Item* item = work_.items(i);
  const uint32_t engines = lanes_.vec_engines();
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (!item->valid) continue;
    RowBuffers& lane = lane_[c];
    // The lane's VEC engines get equal shares of the rows. An engine without rows only passes its token on.
    for (uint32_t e = 0, row = 0; e < engines; ++e) {
      const uint32_t end = e + 1 == engines ? item->rows : item->rows * (e + 1) / engines;
      const uint32_t rows = rt_.plain() ? 0 : end - row;  // without softmax, only the token
      normalize(*item, lane.p, row, rows, lanes_.of_engine(c_ready_, c, e), lanes_.of_engine(p_ready_, c, e));
      rt_.vec(e == 0 ? lanes_.c_core(c) : lanes_.o_core(c), p_);
      row = end;
    }
    turn(lane.p, lane.scores, scores_bytes_);
  }
}

// In-place softmax of rows of an item's block; with no rows, only the events.
void AttentionSteps::normalize(const Item& item, uint32_t block, uint32_t row, uint32_t rows, Events after,
                               Events then) {
  if (p_.raw().opcode == hal::Opcode::kNop || rows == 0) {
    const Matrix scores = in_l1(item.keys, score_bytes_, hal::ElementType::kFp16);
    p_ = rows == 0 ? fence() : softmax(scores, rt_.in(scores)).forwarded(scores_.forwarded);
  }
  Command::Edit command(p_, rows);
  command.after(after).then(then).label(item.head, item.block);
  if (rows == 0) return;
  const uint32_t at = block + row * score_bytes_;
  command.move(0, at).move(1, at).columns(0, item.keys).columns(1, item.keys);
  if (rt_.mask().any()) mask(rt_, p_.unmasked(), item.row + row, item.key);
  rt_.add_sinks(p_, item.head, item.row + row);
}

void AttentionSteps::produce_o(KvBuffer& v, const Work::Round& i, const Discipline* discipline) {
  if (v.streamed()) {
    stream_o(v, i, discipline);
  } else {
    resident_o(v, i, discipline);
  }
  const Item* item = work_.items(i);
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (!item->valid) continue;
    turn(lane_[c].o_p, lane_[c].scores, scores_bytes_);
    turn(lane_[c].o_at, lane_[c].o, o_bytes_);
  }
}

void AttentionSteps::store_o(const Item& item, uint32_t row, uint32_t rows) {
  const uint32_t c = item.lane;
  if (store_o_.raw().opcode == hal::Opcode::kNop) make_copy(store_o_, false);
  {
    Command::Edit store(store_o_, rows);
    store.move(0, row == 0 ? lane_[c].o_at : lane_[c].o_at + row * o_row_bytes_);
    store.move(1, dram_row(rt_.layer().o, item, row, o_row_bytes_)).label(item.head, item.block);
    store.after(o_ready_.of(c)).then(stored_);
    if (row + rows == item.rows) store.then(o_free_.of(c));
  }
  rt_.dma(kStoreChannel, store_o_);
  ++stores_;
}

void AttentionSteps::resident_o(KvBuffer& v, const Work::Round& i, const Discipline* discipline) {
  const bool strips = work_.is_last(i) && !rt_.in_lock_step();
  const auto strip =
      strips ? static_cast<uint32_t>(round_up(ceil_div(rows_, kLastStrips), rt_.machine().mac_rows)) : rows_;
  const Item* item = work_.items(i);
  const bool masked = rt_.mask().any();
  const uint32_t place = masked ? 0 : v.place(i.group, 0, 0, 0);
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c, ++item) {
    if (!item->valid) {
      v.pass_tokens(i, c, lanes_.o_core(c), v.blocks() - 1);
      continue;
    }
    const RowBuffers& lane = lane_[c];
    const Sync sync = discipline == nullptr ? Sync{} : discipline->for_o(i, c);
    const uint32_t needed = v.last_block(*item);
    const uint32_t end = item->key + item->keys;
    uint32_t p = lane.o_p, o = lane.o_at, partials = lane.partials;
    for (uint32_t row = 0; row < item->rows; row += strip) {
      const uint32_t rows = min(strip, item->rows - row);
      // One product per contiguous range of keys; several ranges are accumulated.
      for (uint32_t key = item->key; key < end;) {
        const KeyBlocks::KeyRun run = v.run(*item, key);
        const bool first = key == item->key;
        key = run.key;
        const uint32_t keys = min(run.end - key, rt_.most_scaled());
        const bool last = key + keys == end, only = first && last;
        if (!only || keys != o_keys_) {
          make_o(keys, partials,
                 only    ? Accumulate::kOnly
                 : first ? Accumulate::kFirst
                 : last  ? Accumulate::kLast
                         : Accumulate::kMiddle);
        }
        if (rt_.typed() && last) rt_.scale_values(o_, item->head);
        if (rt_.scaled_by_block()) rt_.place_values(o_, {item->head, item->row + row, rows, key, keys});
        {
          Command::Edit multiply(o_, rows);
          multiply.move(0, p + (key - item->key) * p_bytes_).label(item->head, item->block);
          const bool known = first && !masked && item->member == 0;
          multiply.move(1, known ? place : v.place(i.group, item->member, 0, key));
          if (last) multiply.move(2, o);
          if (row == 0 && first) {
            multiply.after(lanes_.of_lane(p_ready_, c)).after(o_free_.of(c));
            if (sync.after.span > 0) multiply.after(sync.after, sync.tokens);
            v.acquire(multiply, c, i.group, needed);
          }
          if (last) multiply.then(o_ready_.of(c));
          if (last && row + rows == item->rows) {
            if (scores_.tokens) multiply.then(scores_free_.of(c));
            if (sync.then.span > 0) multiply.then(sync.then);
            if (v.last_use(i, c, needed)) v.release(multiply, c);
          }
        }
        rt_.mac(lanes_.o_core(c), o_);
        key += keys;
      }
      p += strip * score_bytes_;
      o += strip * o_row_bytes_;
      partials += strip * partial_bytes_;
    }
    if (needed + 1 < v.blocks()) v.pass_tokens(i, c, lanes_.o_core(c), v.blocks() - 1);
  }
  item = work_.items(i);
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c, ++item) {
    for (uint32_t row = 0; item->valid && row < item->rows; row += strip) {
      store_o(*item, row, min(strip, item->rows - row));
    }
  }
}

void AttentionSteps::stream_o(KvBuffer& v, const Work::Round& i, const Discipline* discipline) {
  for (uint32_t j = 0; rt_.ok() && j < v.blocks(); ++j) {
    if (!v.needed(i, j)) continue;
    v.load_block(i.group, j);
    for (uint32_t c = 0; c < lanes_.count; ++c) {
      const Item& item = work_.item(i, c);
      const KeyBlocks::KeyPart part = item.valid ? v.part(item, j) : KeyBlocks::KeyPart{};
      if (!part.any()) {
        v.pass_tokens(i, c, lanes_.o_core(c), j);
        continue;
      }
      const RowBuffers& lane = lane_[c];
      const Sync sync = discipline == nullptr ? Sync{} : discipline->for_o(i, c);
      const Accumulate place = place_of(part);
      if (place != Accumulate::kOnly || part.keys != o_keys_) make_o(part.keys, lane.partials, place);
      if (rt_.typed() && part.last) rt_.scale_values(o_, item.head);
      if (rt_.scaled_by_block()) rt_.place_values(o_, {item.head, item.row, item.rows, part.key, part.keys});
      {
        Command::Edit multiply(o_, item.rows);
        multiply.move(0, lane.o_p + (part.key - item.key) * p_bytes_).label(item.head, item.block);
        multiply.move(1, v.place(i.group, item.member, j, part.key));
        if (part.last) multiply.move(2, lane.o_at);
        if (part.first) multiply.after(lanes_.of_lane(p_ready_, c));
        if (part.first && sync.after.span > 0) multiply.after(sync.after, sync.tokens);
        v.acquire(multiply, c, i.group, j);
        v.release(multiply, c);
        if (part.last) {
          multiply.after(o_free_.of(c)).then(o_ready_.of(c));
          if (scores_.tokens) multiply.then(scores_free_.of(c));
          if (sync.then.span > 0) multiply.then(sync.then);
        }
      }
      rt_.mac(lanes_.o_core(c), o_);
    }
  }
  for (uint32_t c = 0; rt_.ok() && c < lanes_.count; ++c) {
    const Item& item = work_.item(i, c);
    if (item.valid) store_o(item, 0, item.rows);
  }
}

void AttentionSteps::store_scores(const Work::Round& i, uint64_t tensor, Events ready, hal::ElementType type) {
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    const Item& item = work_.item(i, c);
    if (!item.valid) continue;
    const Matrix block = score_block(lane_[c].stored, item, type);
    turn(lane_[c].stored, lane_[c].scores, scores_bytes_);
    rt_.dma(kStoreChannel, copy(block, dram_scores(rt_, tensor, item, type))
                               .forwarded(scores_.forwarded)
                               .after(lanes_.of_lane(ready, c))
                               .then(scores_free_.of(c))
                               .then(stored_)
                               .label(item.head, item.block));
    ++stores_;
  }
}

void AttentionSteps::load_scores(const Work::Round& i, uint64_t tensor, Events ready, hal::ElementType type) {
  for (uint32_t c = 0; c < lanes_.count; ++c) {
    const Item& item = work_.item(i, c);
    if (!item.valid) continue;
    const Matrix block = score_block(lane_[c].loaded, item, type);
    turn(lane_[c].loaded, lane_[c].scores, scores_bytes_);
    rt_.dma(kLoadChannel, copy(dram_scores(rt_, tensor, item, type), block)
                              .after(scores_free_.of(c))
                              .then(lanes_.of_lane(ready, c))
                              .label(item.head, item.block));
  }
}

void AttentionSteps::finish(const KvBuffer& k) {
  stores_ += k.tell_unread(stored_);
  finish();
}

void AttentionSteps::finish() {
  rt_.settle();
  rt_.wait(stored_, stores_);
  stores_ = 0;
  last_first_ = 0;
  for (uint32_t c = 0; c < lanes_.count; ++c) begin(lane_[c]);
}

}  // namespace attnvp::firmware
