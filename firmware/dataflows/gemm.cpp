// Single GEMM, C = Q.K^T to DRAM. Blocks are dispatched like thread blocks of a GPU. Partial sums stay in L0 between
// slices of the depth if they fit, else in L1.
#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kBand = 8;                // row blocks processed together, so that shared operands stay in a cache

// The cores of a cluster process consecutive row blocks and share operand B.
class GemmDataflow {
 public:
  GemmDataflow(Runtime& rt, const GemmTiling& t, bool panels)
      : rt_(rt),
        t_(t),
        cores_(rt.cores()),
        m_(rt.layer().seq_q),
        n_(rt.layer().seq_kv),
        k_(rt.layer().emb),
        slices_(static_cast<uint32_t>(ceil_div(k_, t.kd))),
        panels_(panels),
        kept_(slices_ > 1 && rt.holds(uint64_t{t.nq} * t.nkv, t.l0)) {
    rt.check_l0(t.l0);
    check_step_channels(rt);
    a_ = {0, t.ring * cores_, t.nq, t.kd, rt.bytes()};
    b_ = {0, t.ring, t.nkv, t.kd, rt.bytes()};
    c_ = {0, 2 * cores_, t.nq, t.nkv, rt.out_bytes()};
    sums_ = {0, cores_, t.nq, t.nkv, kPartialBytes};
    a_.make(rt, L1Region::kQ);
    b_.make(rt, L1Region::kK);
    c_.make(rt, L1Region::kScores);
    if (slices_ > 1) sums_.make(rt, L1Region::kPartials);
    a_ready_ = rt.events(cores_);
    a_free_ = rt.events(cores_, t.ring);
    b_ready_ = rt.events(cores_);
    b_free_ = rt.events(cores_, t.ring);
    done_ = rt.events(cores_);
    c_free_ = rt.events(cores_, 2);
    stored_ = rt.events(1);
  }

  void run() {
    if (rt_.dry()) return;
    const auto rows = static_cast<uint32_t>(ceil_div(m_, uint64_t{t_.nq} * cores_));
    const auto columns = static_cast<uint32_t>(ceil_div(n_, t_.nkv));
    const uint32_t heads = rt_.layer().batch * rt_.layer().heads;
    uint32_t index = 0;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t band = 0; band < rows; band += kBand) {
        const uint32_t here = min(kBand, rows - band);
        for (uint32_t i = 0; rt_.ok() && i < here * columns; ++i, ++index) {
          if (index % rt_.machine().clusters == rt_.cluster()) block(head, band + i % here, i / here);
        }
      }
    }
    rt_.wait(stored_, stores_);
  }

 private:
  // Processed by all cores together, slice by slice of the depth.
  void block(uint32_t head, uint32_t i, uint32_t j) {
    const hal::Layer& l = rt_.layer();
    const uint32_t row = i * cores_ * t_.nq, column = j * t_.nkv, columns = min(t_.nkv, n_ - column);
    const auto busy = static_cast<uint32_t>(min<uint64_t>(cores_, ceil_div(m_ - row, t_.nq)));
    const auto rows_of = [&](uint32_t core) { return min(t_.nq, m_ - row - core * t_.nq); };
    dispatch(rt_, hal::kBlock);
    for (uint32_t s = 0; rt_.ok() && s < slices_; ++s, ++loads_) {
      const uint32_t from = s * t_.kd, depth = min(t_.kd, k_ - from);
      const Matrix b = rt_.in(b_.of(loads_, columns, depth));
      for (uint32_t core = 0; core < busy; ++core) {
        const Matrix a = a_of(core, rows_of(core), depth);
        const Matrix source = in_dram(l.q, head, m_, row + core * t_.nq, k_, from, a);
        rt_.dma(kLoads, copy(source, a).after(a_free_.of(core)).then(a_ready_.of(core)).label(head, i));
      }
      const Events free{b_free_.first, busy}, ready{b_ready_.first, busy};
      rt_.dma(kLoads, copy(in_dram(l.k, head, n_, column, k_, from, b), b).after(free).then(ready).label(head, i));
      for (uint32_t core = 0; core < busy; ++core) {
        const uint32_t rows = rows_of(core);
        Command multiply = matmul_abt(a_of(core, rows, depth), b, c_of(core, rows, columns),
                                      sums_.of(core, rows, columns), place_of(s, slices_), t_.l0);
        multiply.after(a_ready_.of(core)).after(b_ready_.of(core)).then(a_free_.of(core)).then(b_free_.of(core));
        if (kept_) multiply.kept();
        if (s == 0) multiply.after(c_free_.of(core));
        if (s + 1 == slices_) rt_.scale_scores(multiply, head).then(done_.of(core));
        rt_.mac(core, multiply.label(head, i));
      }
    }
    for (uint32_t core = 0; core < busy; ++core, ++stores_) {
      const Matrix c = c_of(core, rows_of(core), columns);
      const Matrix out = in_dram(l.c, head, m_, row + core * t_.nq, n_, column, c);
      rt_.dma(kStores, copy(c, out).after(done_.of(core)).then(c_free_.of(core)).then(stored_).label(head, i));
    }
    ++blocks_;
  }

  // Position of a tile in one of the tensor's rows x columns matrices.
  Matrix in_dram(uint64_t tensor, uint32_t head, uint32_t rows, uint32_t row, uint32_t columns, uint32_t column,
                 const Matrix& tile) const {
    const uint64_t before = (uint64_t{head} * rows + row) * columns + uint64_t{column} * (panels_ ? tile.rows : 1);
    const uint32_t bytes = hal::element_bytes(tile.type);
    return {tensor + before * bytes, tile.rows, tile.columns, (panels_ ? tile.columns : columns) * bytes, tile.type};
  }
  Matrix a_of(uint32_t core, uint32_t rows, uint32_t depth) const {
    return rt_.in(a_.of(loads_ % t_.ring * cores_ + core, rows, depth));
  }
  Matrix c_of(uint32_t core, uint32_t rows, uint32_t columns) const {
    return rt_.out(c_.of(blocks_ % 2 * cores_ + core, rows, columns));
  }

  Runtime& rt_;
  GemmTiling t_;
  uint32_t cores_, m_, n_, k_, slices_, loads_ = 0, blocks_ = 0, stores_ = 0;
  bool panels_, kept_;
  Buffers a_, b_, c_, sums_;
  Events a_ready_, a_free_, b_ready_, b_free_, done_, c_free_, stored_;
};

void multiply(Runtime& rt, bool panels) {
  const auto tiling = rt.parameters<GemmTiling>();
  if (!rt.ok()) return;
  GemmDataflow gemm(rt, tiling, panels);
  launch(rt);
  if (rt.ok()) gemm.run();
}

void run_rows(Runtime& rt) { multiply(rt, false); }
void run_panels(Runtime& rt) { multiply(rt, true); }

const Dataflow kGemm = {"gemm",
                        "one GEMM by itself, C = Q.K^T to DRAM",
                        run_rows,
                        kGemmParameters,
                        kStepOptions,
                        nullptr,
                        hal::kScoresCAndP,
                        kChain | kOneStep};
ATTNVP_DATAFLOW(kGemm);
const Dataflow kPanels = {"gemm-panels",     "the same, each matrix in DRAM tile behind tile, as a library packs it",
                          run_panels,        kGemmParameters,
                          kStepOptions,      nullptr,
                          hal::kScoresCAndP, kChain | kOneStep | kPacked};
ATTNVP_DATAFLOW(kPanels);

}  // namespace

}  // namespace attnvp::firmware
