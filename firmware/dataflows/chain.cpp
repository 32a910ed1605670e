// Fused pair of GEMMs: C = A.B^T and D = C.E, head by head with C on chip, for layers without softmax. Row blocks of nq
// rows of A stay in L1. B is streamed in tiles of nkv rows and slices of kd of its depth, E in tiles of nkv rows; each
// tile is requested when the previous one has arrived. C's partial sums stay in L0 between slices if they fit, else in
// L1.
#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kMostCores = 64;

class Chain {
 public:
  Chain(Runtime& rt, const GemmTiling& t)
      : rt_(rt),
        t_(t),
        emb_(rt.layer().emb),
        value_emb_(rt.value_emb()),
        slices_(static_cast<uint32_t>(ceil_div(emb_, t.kd))),
        tiles_(static_cast<uint32_t>(ceil_div(rt.layer().seq_kv, t.nkv))),
        blocks_(static_cast<uint32_t>(ceil_div(rt.layer().seq_q, t.nq))),
        kept_(slices_ > 1 && rt.holds(uint64_t{t.nq} * t.nkv, t.l0)) {
    const uint32_t cores = rt.cores();
    if (cores > kMostCores) rt.fail(Status::kBadJob);
    if (rt.ok() && rt.machine().dma_channels < 2) rt.fail(Status::kTooFewChannels, 2, rt.machine().dma_channels);
    rt.check_l0(t.l0);
    for (uint32_t c = 0; rt.ok() && c < cores; ++c) {
      ChainCore& core = core_[c];
      core.a = {0, 1, t.nq, emb_};
      core.b = {0, t.ring, t.nkv, emb_};
      core.e = {0, t.ring, t.nkv, value_emb_};
      core.c = {0, 2, t.nq, t.nkv};
      core.c_sums = {0, 1, t.nq, t.nkv, kPartialBytes};
      core.d = {0, 2, t.nq, value_emb_};
      core.d_sums = {0, 1, t.nq, value_emb_, kPartialBytes};
      core.a.make(rt, L1Region::kQ);
      core.b.make(rt, L1Region::kK);
      core.e.make(rt, L1Region::kV);
      core.c.make(rt, L1Region::kScores);
      core.d.make(rt, L1Region::kO);
      if (slices_ > 1) core.c_sums.make(rt, L1Region::kPartials);
      if (tiles_ > 1) core.d_sums.make(rt, L1Region::kPartials);
    }
    a_ready_ = rt.events(cores);
    a_free_ = rt.events(cores, slices_);
    b_ready_ = rt.events(cores);
    b_free_ = rt.events(cores, t.ring * slices_);
    e_ready_ = rt.events(cores);
    e_free_ = rt.events(cores, t.ring);
    b_came_ = rt.events(cores);
    e_came_ = rt.events(cores, 1);
    c_ready_ = rt.events(cores);
    c_free_ = rt.events(cores, 2);
    d_ready_ = rt.events(cores);
    d_free_ = rt.events(cores, 2);
    stored_ = rt.events(1);
  }

  void run() {
    if (rt_.dry()) return;
    const uint32_t cores = rt_.cores(), workers = rt_.machine().clusters * cores;
    const uint64_t items = uint64_t{rt_.layer().batch} * rt_.layer().heads * blocks_;
    for (uint64_t first = 0; rt_.ok() && first < items; first += workers) {
      for (uint32_t j = 0; j < tiles_; ++j) {
        for (uint32_t c = 0; c < cores; ++c) {
          const uint64_t item = first + rt_.cluster() * cores + c;
          if (item < items) tile(c, static_cast<uint32_t>(item), j);
        }
      }
    }
    rt_.wait(stored_, stores_);
  }

 private:
  struct ChainCore {
    Buffers a, b, e, c, d, c_sums, d_sums;
    uint32_t items = 0, tiles = 0;  // started
  };

  // Some columns of rows of `width` columns.
  static Matrix in_dram(uint64_t tensor, uint32_t width, uint64_t row, uint32_t rows, uint32_t column,
                        uint32_t columns) {
    const uint32_t stride = width * kHalfBytes;
    return {tensor + row * stride + uint64_t{column} * kHalfBytes, rows, columns, stride};
  }

  // Processes tile j of B and E for a row block.
  void tile(uint32_t core, uint32_t item, uint32_t j) {
    ChainCore& at = core_[core];
    const hal::Layer& l = rt_.layer();
    const uint32_t head = item / blocks_, row = item % blocks_ * t_.nq, rows = min(t_.nq, l.seq_q - row);
    const uint32_t key = j * t_.nkv, keys = min(t_.nkv, l.seq_kv - key), label = item % blocks_;
    const uint64_t a_row = uint64_t{head} * l.seq_q + row, b_row = uint64_t{head} * l.seq_kv + key;
    const Matrix a = at.a.of(at.items, rows, emb_), b = at.b.of(at.tiles, keys, emb_);
    const Matrix c = at.c.of(at.tiles, rows, keys);
    for (uint32_t s = 0; rt_.ok() && s < slices_; ++s) {
      const uint32_t column = s * t_.kd, depth = min(t_.kd, emb_ - column);
      const Matrix a_slice = columns_of(a, column, depth), b_slice = columns_of(b, column, depth);
      if (j == 0) {
        Command load = copy(in_dram(l.q, emb_, a_row, rows, column, depth), a_slice);
        if (s == 0) load.after(e_came_.of(core));
        rt_.dma(kLoads, load.after(a_free_.of(core)).then(a_ready_.of(core)).label(head, label));
      }
      Command load = copy(in_dram(l.k, emb_, b_row, keys, column, depth), b_slice);
      if (s == 0 && j > 0) load.after(e_came_.of(core));
      if (s + 1 == slices_) load.then(b_came_.of(core));
      rt_.dma(kLoads, load.after(b_free_.of(core)).then(b_ready_.of(core)).label(head, j));
      Command multiply =
          matmul_abt(a_slice, b_slice, c, at.c_sums.of(0, rows, keys), firmware::place_of(s, slices_), t_.l0);
      if (kept_) multiply.kept();
      if (s + 1 == slices_) multiply.scaled(rt_.rules().scale).then(c_ready_.of(core));
      if (j == 0) multiply.after(a_ready_.of(core));
      if (j + 1 == tiles_) multiply.then(a_free_.of(core));
      if (s == 0) multiply.after(c_free_.of(core));
      rt_.mac(core, multiply.after(b_ready_.of(core)).then(b_free_.of(core)).label(head, label));
    }
    const Matrix e = at.e.of(at.tiles, keys, value_emb_), d = at.d.of(at.items, rows, value_emb_);
    rt_.dma(kLoads, copy(in_dram(l.v, value_emb_, b_row, keys, 0, value_emb_), e)
                        .after(e_free_.of(core))
                        .after(b_came_.of(core))
                        .then(e_ready_.of(core))
                        .then(e_came_.of(core))
                        .label(head, j));
    Command multiply = matmul_ab(c, e, d, at.d_sums.of(0, rows, value_emb_), firmware::place_of(j, tiles_), t_.l0);
    multiply.after(c_ready_.of(core)).after(e_ready_.of(core)).then(c_free_.of(core)).then(e_free_.of(core));
    const bool last = j + 1 == tiles_;
    if (last) multiply.after(d_free_.of(core)).then(d_ready_.of(core));
    rt_.mac(core, multiply.label(head, label));
    ++at.tiles;
    if (!last) return;
    rt_.dma(kStores, copy(d, in_dram(l.o, value_emb_, a_row, rows, 0, value_emb_))
                         .after(d_ready_.of(core))
                         .then(d_free_.of(core))
                         .then(stored_)
                         .label(head, label));
    ++at.items;
    ++stores_;
  }

  Runtime& rt_;
  GemmTiling t_;
  uint32_t emb_, value_emb_, slices_, tiles_, blocks_;
  bool kept_;
  ChainCore core_[kMostCores];
  Events a_ready_, a_free_, b_ready_, b_free_, e_ready_, e_free_, b_came_, e_came_, c_ready_, c_free_, d_ready_,
      d_free_, stored_;
  uint32_t stores_ = 0;
};

void run(Runtime& rt) {
  const auto tiling = rt.parameters<GemmTiling>();
  if (rt.ok() && !rt.plain()) rt.fail(Status::kBadJob);
  if (!rt.ok()) return;
  Chain chain(rt, tiling);
  if (rt.ok()) chain.run();
}

const Dataflow kChainFlow = {"chain",
                             "a fused pair of GEMMs, for layers without softmax: the first in slices of its depth",
                             run,
                             kGemmParameters,
                             nullptr,
                             nullptr,
                             hal::kScoresOnChip,
                             kChain | kOnlyChain};
ATTNVP_DATAFLOW(kChainFlow);

}  // namespace

}  // namespace attnvp::firmware
