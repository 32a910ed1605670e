#include "firmware/runtime/attention/score_tiles.h"

#include "firmware/runtime/attention/attention.h"

namespace attnvp::firmware {

namespace {

void load_kv(KvBuffer& kv, const Work::Round& i, uint32_t j) {
  if (kv.streamed() && kv.needed(i, j)) kv.load_block(i.group, j);
  if (i.round == 0) kv.load(i.group, j);
}

uint64_t row_bytes(ScoreTiles& all, uint32_t columns, uint32_t element_bytes) {
  return uint64_t{all.rows()} * columns * element_bytes;
}

}  // namespace

ScoreTiles::ScoreTiles(Runtime& rt, const ScoreTiling& tiling, Steps steps, bool forwarded)
    : rt_(rt),
      tiling_(tiling),
      work_(rt, tiling),
      forwarded_(forwarded),
      lanes_(rt.cores()),
      rows_(min(tiling.nq, rt.layer().seq_q)) {
  rt.check_l0(tiling.l0);
  if (lanes_ > kMaxLanes) rt.fail(Status::kBadJob);
  stored_ = rt.events(1);
  const bool own = steps == Steps::kSideBySide && rt.machine().dma_channels > kStoreChannel + 2;
  softmax_loads = own ? kStoreChannel + 1 : kLoadChannel;
  softmax_stores = own ? kStoreChannel + 2 : kStoreChannel;
  if (steps == Steps::kInTurn) return;
  place = rt.events(lanes_, kRing);
  c_there = rt.events(lanes_);
  p_there = rt.events(lanes_);
  const uint64_t bytes = uint64_t{lanes_} * kRing * rows_ * rt.layer().seq_kv * kHalfBytes;
  ring_ = rt.scratch(rt.machine().clusters * bytes) + rt.cluster() * bytes;
}

uint32_t ScoreTiles::blocks() const { return KeyBlocks(rt_, tiling_.nkv).count(); }
uint32_t ScoreTiles::softmaxes() const { return static_cast<uint32_t>(ceil_div(rows_, tiling_.np)); }

Matrix ScoreTiles::scores(uint64_t tensor, const Item& item, uint32_t n) const {
  Matrix block = dram_rows(rt_, tensor, item, rt_.layer().seq_kv);
  if (ring_ != 0) block.address = ring_ + (uint64_t{item.lane} * kRing + n % kRing) * rows_ * block.stride;
  return block;
}

void ScoreTiles::store(uint32_t channel, Command copy) {
  rt_.dma(channel, copy.then(stored_));
  ++stores_;
}

void ScoreTiles::finish(uint64_t mark) {
  rt_.wait(stored_, stores_);
  stores_ = 0;
  rt_.free_to(mark);
}

LaneBuffers::LaneBuffers(ScoreTiles& of, uint32_t count, uint64_t bytes, L1Region region)
    : address_(of.rt().allocate(uint64_t{of.lanes()} * count * bytes, region)), bytes_(bytes), count_(count) {}

Matrix LaneBuffers::block(const Item& item, uint32_t columns, hal::ElementType type) const {
  const uint64_t n = uint64_t{item.lane} * count_ + (taken_[item.lane] - 1) % count_;
  return {address_ + n * bytes_, item.rows, columns, columns * hal::element_bytes(type), type};
}

CTiles::CTiles(ScoreTiles& all)
    : all_(all),
      k_(all.rt(), all.work(), all.tiling(), all.rt().layer().k, kLoadChannel),
      q_(all, all.tiling().row_buffers, row_bytes(all, all.rt().layer().emb, all.rt().bytes()), L1Region::kQ),
      tiles_(all, all.tiling().tile_buffers, uint64_t{all.rows()} * k_.most_rows() * kHalfBytes, L1Region::kScores),
      q_ready_(all.rt().events(all.lanes())),
      q_free_(all.rt().events(all.lanes(), all.tiling().row_buffers)),
      ready_(all.rt().events(all.lanes())),
      free_(all.rt().events(all.lanes(), all.tiling().tile_buffers)) {
  all.rt().expect_scores(all.lanes(), all.rows(), k_.most_rows(), {kLoadChannel, 1});
}

void CTiles::tile(const Work::Round& i, uint32_t j) {
  Runtime& rt = all_.rt();
  const hal::Layer& l = rt.layer();
  for (uint32_t c = 0; j == 0 && c < all_.lanes(); ++c) {
    const Item of = all_.item(i, c);
    if (!of.valid) continue;
    q_.take(c);
    rt.dma(kLoadChannel, copy(dram_q(rt, of), q_.block(of, l.emb, rt.type()))
                             .after(q_free_.of(c))
                             .then(q_ready_.of(c))
                             .label(of.head, of.block));
  }
  load_kv(k_, i, j);
  for (uint32_t c = 0; c < all_.lanes(); ++c) {
    const Item of = all_.item(i, c);
    const KeyBlocks::KeyPart part = of.valid ? k_.part(of, j) : KeyBlocks::KeyPart{};
    if (!part.any()) {
      if (!k_.streamed() || k_.needed(i, j)) k_.pass_tokens(i, c, c, j);
      continue;
    }
    tiles_.take(c);
    const Matrix tile = tiles_.block(of, part.keys);
    Command multiply =
        matmul_abt(q_.block(of, l.emb, rt.type()), k_.rows(i.group, of.member, j, part), tile, all_.tiling().l0);
    if (part.first) multiply.after(q_ready_.of(c));
    k_.acquire(multiply, c, i.group, j);
    multiply.after(free_.of(c)).then(ready_.of(c));
    if (part.last) multiply.then(q_free_.of(c));
    if (k_.last_use(i, c, j)) k_.release(multiply, c);
    rt.scale_scores(multiply, of.head);
    multiply.forwarded(all_.forwarded()).label(of.head, of.block);
    rt.scores(c, c, multiply, {of.head, of.row, of.rows, part.key, part.keys});

    const Matrix dram = columns_of(all_.c_block(of, items_[c]), part.key, part.keys);
    Command store =
        copy(tile, dram).forwarded(all_.forwarded()).after(ready_.of(c)).then(free_.of(c)).label(of.head, of.block);
    if (all_.place.span > 0) {
      if (part.first) store.after(all_.place.of(c));
      if (part.last) store.then(all_.c_there.of(c));
    }
    all_.store(kStoreChannel, store);
    if (part.last) ++items_[c];
  }
}

SoftmaxRows::SoftmaxRows(ScoreTiles& all)
    : all_(all),
      blocks_(all, all.tiling().softmax_buffers, uint64_t{all.tiling().np} * all.work().most_keys() * kHalfBytes,
              L1Region::kScores),
      loaded_(all.rt().events(all.lanes())),
      ready_(all.rt().events(all.lanes())),
      free_(all.rt().events(all.lanes(), all.tiling().softmax_buffers)) {}

void SoftmaxRows::rows(const Work::Round& i, uint32_t n) {
  Runtime& rt = all_.rt();
  const uint32_t np = all_.tiling().np, row = n * np;
  for (uint32_t c = 0; c < all_.lanes(); ++c) {
    const Item block = all_.item(i, c);
    if (!block.valid || row >= block.rows) continue;
    Item of = block;
    of.rows = min(np, block.rows - row);
    const bool last = row + of.rows == block.rows;
    blocks_.take(c);
    const Matrix scores = blocks_.block(of, of.keys);
    const auto in_dram = [&](const Matrix& all) { return columns_of(rows_of(all, row, of.rows), of.key, of.keys); };
    Command load = copy(in_dram(all_.c_block(block, items_[c])), scores)
                       .after(free_.of(c))
                       .then(loaded_.of(c))
                       .label(of.head, of.block);
    Command store = copy(rt.in(scores), in_dram(all_.p_block(block, items_[c])))
                        .forwarded(all_.forwarded())
                        .after(ready_.of(c))
                        .then(free_.of(c))
                        .label(of.head, of.block);
    if (all_.place.span > 0) {
      if (n == 0) load.after(all_.c_there.of(c));
      if (last) store.then(all_.p_there.of(c));
    }
    rt.dma(all_.softmax_loads, load);
    Command softmax = firmware::softmax(scores, rt.in(scores)).forwarded(all_.forwarded());
    mask(rt, softmax, of.row + row, of.key);
    rt.add_sinks(softmax, of.head, of.row + row);
    rt.vec(c, softmax.after(loaded_.of(c)).then(ready_.of(c)).label(of.head, of.block));
    all_.store(all_.softmax_stores, store);
    if (last) ++items_[c];
  }
}

OTiles::OTiles(ScoreTiles& all)
    : all_(all),
      v_(all.rt(), all.work(), all.tiling(), all.rt().layer().v, kLoadChannel),
      tiles_(all, all.tiling().tile_buffers, uint64_t{all.rows()} * v_.most_rows() * kHalfBytes, L1Region::kScores),
      o_(all, o_buffers(all.tiling()), row_bytes(all, all.rt().value_emb(), all.rt().out_bytes()), L1Region::kO),
      sums_(all, 1, row_bytes(all, all.rt().partial_columns(), kPartialBytes), L1Region::kPartials),
      ready_(all.rt().events(all.lanes())),
      free_(all.rt().events(all.lanes(), all.tiling().tile_buffers)),
      o_ready_(all.rt().events(all.lanes())),
      o_free_(all.rt().events(all.lanes(), o_buffers(all.tiling()))) {
  for (uint32_t c = 0; c < all.lanes(); ++c) sums_.take(c);
}

void OTiles::tile(const Work::Round& i, uint32_t j) {
  Runtime& rt = all_.rt();
  load_kv(v_, i, j);
  bool ends[ScoreTiles::kMaxLanes] = {};
  for (uint32_t c = 0; c < all_.lanes(); ++c) {
    const Item of = all_.item(i, c);
    const KeyBlocks::KeyPart part = of.valid ? v_.part(of, j) : KeyBlocks::KeyPart{};
    if (!part.any()) {
      if (!v_.streamed() || v_.needed(i, j)) v_.pass_tokens(i, c, c, j);
      continue;
    }
    ends[c] = part.last;
    tiles_.take(c);
    const Matrix tile = tiles_.block(of, part.keys, rt.type());
    const Matrix dram = columns_of(all_.p_block(of, items_[c]), part.key, part.keys);
    Command load = copy(dram, tile).after(free_.of(c)).then(ready_.of(c)).label(of.head, of.block);
    if (part.first && all_.place.span > 0) load.after(all_.p_there.of(c));
    rt.dma(kLoadChannel, load);

    if (part.first) o_.take(c);
    Matrix sums = sums_.block(of, rt.partial_columns(), hal::ElementType::kFp32);
    sums.columns = rt.value_emb();
    Command multiply = attend(tile, v_.rows(i.group, of.member, j, part), o_.block(of, rt.value_emb(), rt.out_type()),
                              sums, place_of(part), all_.tiling().l0, rt.scaled_by_block());
    if (rt.typed() && part.last) rt.scale_values(multiply, of.head);
    if (rt.scaled_by_block()) rt.place_values(multiply, {of.head, of.row, of.rows, part.key, part.keys});
    v_.acquire(multiply, c, i.group, j);
    multiply.after(ready_.of(c)).then(free_.of(c));
    if (part.last) multiply.after(o_free_.of(c)).then(o_ready_.of(c));
    if (part.last && all_.place.span > 0) multiply.then(all_.place.of(c));
    if (v_.last_use(i, c, j)) v_.release(multiply, c);
    rt.mac(c, multiply.label(of.head, of.block));
  }
  for (uint32_t c = 0; c < all_.lanes(); ++c) {
    if (!ends[c]) continue;
    const Item of = all_.item(i, c);
    all_.store(kStoreChannel, copy(o_.block(of, rt.value_emb(), rt.out_type()), dram_o(rt, of))
                                  .after(o_ready_.of(c))
                                  .then(o_free_.of(c))
                                  .label(of.head, of.block));
    ++items_[c];
  }
}

}  // namespace attnvp::firmware
