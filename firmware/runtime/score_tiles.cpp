#include "firmware/runtime/score_tiles.h"

#include "firmware/runtime/attention.h"

namespace attnvp::firmware {

ScoreTiles::ScoreTiles(Runtime& rt, const hal::Tiling& tiling)
    : rt_(rt), tiling_(tiling), work_(rt, tiling), rows_(min(tiling.nq, rt.layer().seq_q)), lanes_(rt.cores()) {
  if (lanes_ > kMaxLanes) rt.fail(Status::kBadJob);
  rows_ready_ = rt.events(lanes_);
  q_free_ = rt.events(lanes_, tiling.row_buffers);
  o_free_ = rt.events(lanes_, o_buffers(tiling));
  tile_ready_ = rt.events(lanes_);
  tiles_free_ = rt.events(lanes_, kTiles);
  stored_ = rt.events(1);
}

ScoreTiles::Buffers ScoreTiles::buffers(uint32_t count, uint64_t bytes, L1Region region) {
  Buffers b;
  b.count = count;
  b.bytes = bytes;
  b.address = rt_.allocate(uint64_t{lanes_} * count * bytes, region);
  return b;
}

Matrix ScoreTiles::block(const Buffers& of, const Item& item, uint32_t columns) const {
  return {of.now(item.lane), item.rows, columns, columns * kHalfBytes};
}

void ScoreTiles::load_kv(KvBuffer& kv, const Work::Round& i, uint32_t j) {
  kv.load_block(i.group, j);
  if (i.round == 0) kv.load(i.group, j);
}

void ScoreTiles::store(const Matrix& from, const Matrix& to, Events ready, Events free, const Item& item) {
  rt_.dma(kStoreChannel, copy(from, to).after(ready).then(free).then(stored_).label(item.head, item.block));
  ++stores_;
}

void ScoreTiles::finish(uint64_t mark) {
  rt_.wait(stored_, stores_);
  stores_ = 0;
  rt_.free_to(mark);
}

void ScoreTiles::c_to_dram() {
  const hal::Layer& l = rt_.layer();
  const uint64_t mark = rt_.allocated();
  KvBuffer k(rt_, work_, tiling_, l.k, kLoadChannel);
  Buffers q = buffers(tiling_.row_buffers, uint64_t{rows_} * l.emb * kHalfBytes, L1Region::kQ);
  Buffers tiles = buffers(kTiles, uint64_t{rows_} * k.block_rows(0) * kHalfBytes, L1Region::kScores);
  for (Work::Round i = work_.first(); rt_.ok() && i.valid; i = work_.after(i)) {
    for (uint32_t c = 0; c < lanes_; ++c) {
      const Item of = item(i, c);
      if (!of.valid) continue;
      q.take(c);
      rt_.dma(kLoadChannel, copy(dram_rows(rt_, l.q, of, l.emb), block(q, of, l.emb))
                                .after(q_free_.of(c))
                                .then(rows_ready_.of(c))
                                .label(of.head, of.block));
    }
    for (uint32_t j = 0; rt_.ok() && j < k.blocks(); ++j) {
      load_kv(k, i, j);
      for (uint32_t c = 0; c < lanes_; ++c) {
        const Item of = item(i, c);
        if (!of.valid) {
          k.pass_tokens(i, c, c, j);
          continue;
        }
        tiles.take(c);
        const Matrix tile = block(tiles, of, k.block_rows(j));
        Command multiply = matmul_abt(block(q, of, l.emb), k.rows(i.group, of.member, j), tile, tiling_);
        if (j == 0) multiply.after(rows_ready_.of(c));
        k.acquire(multiply, c, i.group, j);
        multiply.after(tiles_free_.of(c)).then(tile_ready_.of(c));
        if (j + 1 == k.blocks()) multiply.then(q_free_.of(c));
        if (k.last_use(i, c, j)) k.release(multiply, c);
        rt_.mac(c, multiply.label(of.head, of.block));
        const Matrix dram = columns_of(dram_rows(rt_, l.c, of, l.seq_kv), k.block_row(j), k.block_rows(j));
        store(tile, dram, tile_ready_.of(c), tiles_free_.of(c), of);
      }
    }
  }
  finish(mark);
}

void ScoreTiles::softmax() {
  const hal::Layer& l = rt_.layer();
  const uint64_t mark = rt_.allocated();
  const uint32_t count = softmax_blocks(rt_, tiling_.np);
  Buffers blocks = buffers(count, uint64_t{tiling_.np} * l.seq_kv * kHalfBytes, L1Region::kScores);
  const Events free = rt_.events(lanes_, count);
  for (Work::Round i = work_.first(); rt_.ok() && i.valid; i = work_.after(i)) {
    for (uint32_t row = 0; rt_.ok() && row < rows_; row += tiling_.np) {
      for (uint32_t c = 0; c < lanes_; ++c) {
        Item of = item(i, c);
        if (!of.valid || row >= of.rows) continue;
        of.row += row;
        of.rows = min(tiling_.np, of.rows - row);
        blocks.take(c);
        const Matrix scores = block(blocks, of, l.seq_kv);
        rt_.dma(kLoadChannel, copy(dram_rows(rt_, l.c, of, l.seq_kv), scores)
                                  .after(free.of(c))
                                  .then(tile_ready_.of(c))
                                  .label(of.head, of.block));
        rt_.vec(c, firmware::softmax(scores, scores)
                       .after(tile_ready_.of(c))
                       .then(rows_ready_.of(c))
                       .label(of.head, of.block));
        store(scores, dram_rows(rt_, l.p, of, l.seq_kv), rows_ready_.of(c), free.of(c), of);
      }
    }
  }
  finish(mark);
}

void ScoreTiles::o_from_dram() {
  const hal::Layer& l = rt_.layer();
  const uint64_t mark = rt_.allocated();
  KvBuffer v(rt_, work_, tiling_, l.v, kLoadChannel);
  Buffers tiles = buffers(kTiles, uint64_t{rows_} * v.block_rows(0) * kHalfBytes, L1Region::kScores);
  Buffers o = buffers(o_buffers(tiling_), uint64_t{rows_} * l.emb * kHalfBytes, L1Region::kO);
  Buffers sums = buffers(1, uint64_t{rows_} * l.emb * kPartialBytes, L1Region::kPartials);
  for (uint32_t c = 0; c < lanes_; ++c) sums.take(c);
  for (Work::Round i = work_.first(); rt_.ok() && i.valid; i = work_.after(i)) {
    for (uint32_t j = 0; rt_.ok() && j < v.blocks(); ++j) {
      load_kv(v, i, j);
      for (uint32_t c = 0; c < lanes_; ++c) {
        const Item of = item(i, c);
        if (!of.valid) {
          v.pass_tokens(i, c, c, j);
          continue;
        }
        tiles.take(c);
        const Matrix tile = block(tiles, of, v.block_rows(j));
        const Matrix dram = columns_of(dram_rows(rt_, l.p, of, l.seq_kv), v.block_row(j), v.block_rows(j));
        rt_.dma(kLoadChannel,
                copy(dram, tile).after(tiles_free_.of(c)).then(tile_ready_.of(c)).label(of.head, of.block));
        if (j == 0) o.take(c);
        const Matrix partials{sums.now(c), of.rows, l.emb, l.emb * kPartialBytes};
        Command multiply = matmul_ab(tile, v.rows(i.group, of.member, j), block(o, of, l.emb), partials,
                                     place_of(j, v.blocks()), tiling_);
        v.acquire(multiply, c, i.group, j);
        multiply.after(tile_ready_.of(c)).then(tiles_free_.of(c));
        if (j + 1 == v.blocks()) multiply.after(o_free_.of(c)).then(rows_ready_.of(c));
        if (v.last_use(i, c, j)) v.release(multiply, c);
        rt_.mac(c, multiply.label(of.head, of.block));
      }
    }
    for (uint32_t c = 0; c < lanes_; ++c) {
      const Item of = item(i, c);
      if (of.valid) {
        store(block(o, of, l.emb), dram_rows(rt_, l.o, of, l.emb), rows_ready_.of(c), o_free_.of(c), of);
      }
    }
  }
  finish(mark);
}

}  // namespace attnvp::firmware
