// Steps of a layer by themselves, results in DRAM: a GEMM C = Q.K^T, and softmax of rows, P of C. Blocks are handed out
// as thread blocks of a GPU are. The GEMM's matrices lie in DRAM in panels, tile behind tile as they are loaded and
// stored.
#include "firmware/runtime/gemm.h"

#include "firmware/hal/dispatch.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kBand = 8;                // row blocks that go by together: what they share stays in a cache

const char* const kKernels[] = {"0", "1", "2", "3", nullptr};
const DataflowOption kOptions[] = {{"kernels", kKernels, "kernels that are launched besides"},
                                   {nullptr, nullptr, nullptr}};

void dispatch(Runtime& rt, uint32_t what) { rt.write(hal::kDispatchAddress, &what, sizeof what); }

uint32_t workers(const Runtime& rt) { return rt.machine().clusters * rt.cores(); }
uint32_t worker(const Runtime& rt, uint32_t core) { return core * rt.machine().clusters + rt.cluster(); }

class Gemm {
 public:
  Gemm(Runtime& rt, const GemmTiling& t)
      : rt_(rt), t_(t), m_(rt.layer().seq_q), n_(rt.layer().seq_kv), k_(rt.layer().emb) {
    slices_ = static_cast<uint32_t>(ceil_div(k_, t.kd));
    a_ = {0, t.ring, t.nq, t.kd};
    b_ = {0, t.ring, t.nkv, t.kd};
    c_ = {0, 2, t.nq, t.nkv};
    sums_ = {0, 1, t.nq, t.nkv, kPartialBytes};
    rt.check_l0(t.l0);
    if (rt.ok() && rt.machine().dma_channels < 2) rt.fail(Status::kTooFewChannels, 2, rt.machine().dma_channels);
    if (rt.ok() && rt.cores() != 1) rt.fail(Status::kBadJob);
    a_.make(rt, L1Region::kQ);
    b_.make(rt, L1Region::kK);
    c_.make(rt, L1Region::kScores);
    if (slices_ > 1) sums_.make(rt, L1Region::kPartials);
    ready_ = rt.events(1);
    free_ = rt.events(1, t.ring);
    done_ = rt.events(1);
    c_free_ = rt.events(1, 2);
    stored_ = rt.events(1);
  }

  void run() {
    if (rt_.dry()) return;
    const auto rows = static_cast<uint32_t>(ceil_div(m_, t_.nq)), columns = static_cast<uint32_t>(ceil_div(n_, t_.nkv));
    const uint32_t heads = rt_.layer().batch * rt_.layer().heads;
    uint32_t index = 0;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t band = 0; band < rows; band += kBand) {
        const uint32_t here = min(kBand, rows - band);
        for (uint32_t i = 0; rt_.ok() && i < here * columns; ++i, ++index) {
          if (index % workers(rt_) == worker(rt_, 0)) block(head, band + i % here, i / here);
        }
      }
    }
    rt_.wait(stored_, blocks_);
  }

 private:
  void block(uint32_t head, uint32_t i, uint32_t j) {
    const hal::Layer& l = rt_.layer();
    const uint32_t row = i * t_.nq, rows = min(t_.nq, m_ - row), column = j * t_.nkv,
                   columns = min(t_.nkv, n_ - column);
    const uint64_t a_row = uint64_t{head} * m_ + row, b_row = uint64_t{head} * n_ + column;
    dispatch(rt_, hal::kBlock);
    const Matrix c = c_.of(blocks_, rows, columns);
    for (uint32_t s = 0; rt_.ok() && s < slices_; ++s, ++loads_) {
      const uint32_t from = s * t_.kd, depth = min(t_.kd, k_ - from);
      const Matrix a = a_.of(loads_, rows, depth), b = b_.of(loads_, columns, depth);
      rt_.dma(kLoads, copy(panel(l.q, a_row, k_, from, rows, depth), a).after(free_).then(ready_).label(head, i));
      rt_.dma(kLoads, copy(panel(l.k, b_row, k_, from, columns, depth), b).then(ready_).label(head, i));
      Command multiply = matmul_abt(a, b, c, sums_.of(0, rows, columns), place_of(s, slices_), t_.l0);
      multiply.after(ready_, 2).then(free_);
      if (s == 0) multiply.after(c_free_);
      if (s + 1 == slices_) multiply.scaled(rt_.rules().scale).then(done_);
      rt_.mac(0, multiply.label(head, i));
    }
    rt_.dma(
        kStores,
        copy(c, panel(l.c, a_row, n_, column, rows, columns)).after(done_).then(c_free_).then(stored_).label(head, i));
    ++blocks_;
  }

  // Of rows from `row` on, `width` columns wide: those from `column` on, behind one another.
  static Matrix panel(uint64_t tensor, uint64_t row, uint32_t width, uint32_t column, uint32_t rows, uint32_t columns) {
    return {tensor + (row * width + uint64_t{column} * rows) * kHalfBytes, rows, columns, columns * kHalfBytes};
  }

  Runtime& rt_;
  GemmTiling t_;
  uint32_t m_, n_, k_, slices_ = 1, loads_ = 0, blocks_ = 0;
  Buffers a_, b_, c_, sums_;
  Events ready_, free_, done_, c_free_, stored_;
};

void run_gemm(Runtime& rt) {
  const auto tiling = rt.parameters<GemmTiling>();
  if (!rt.ok()) return;
  Gemm gemm(rt, tiling);
  for (uint32_t i = 0; rt.ok() && !rt.dry() && i < rt.job().option[0]; ++i) dispatch(rt, hal::kKernel);
  if (rt.ok()) gemm.run();
}

// Rows of C in blocks of nq whole rows, three in L1.
void run_softmax(Runtime& rt) {
  const auto tiling = rt.parameters<GemmTiling>();
  if (!rt.ok()) return;
  const hal::Layer& l = rt.layer();
  if (rt.machine().dma_channels < 2) rt.fail(Status::kTooFewChannels, 2, rt.machine().dma_channels);
  if (rt.cores() != 1) rt.fail(Status::kBadJob);
  Buffers rows{0, 3, tiling.nq, l.seq_kv};
  rows.make(rt, L1Region::kScores);
  const Events ready = rt.events(1), done = rt.events(1), free = rt.events(1, 3), stored = rt.events(1);
  if (rt.dry() || !rt.ok()) return;
  for (uint32_t i = 0; i < rt.job().option[0]; ++i) dispatch(rt, hal::kKernel);
  const uint64_t all = uint64_t{l.batch} * l.heads * l.seq_q;
  const uint32_t stride = l.seq_kv * kHalfBytes;
  uint32_t blocks = 0;
  for (uint64_t row = uint64_t{worker(rt, 0)} * tiling.nq; rt.ok() && row < all;
       row += uint64_t{workers(rt)} * tiling.nq) {
    const auto here = static_cast<uint32_t>(min<uint64_t>(tiling.nq, all - row));
    const Matrix block = rows.of(blocks, here, l.seq_kv);
    dispatch(rt, hal::kBlock);
    rt.dma(kLoads, copy({l.c + row * stride, here, l.seq_kv, stride}, block).after(free).then(ready).label(0, blocks));
    rt.vec(0, softmax(block, block).after(ready).then(done).label(0, blocks));
    rt.dma(
        kStores,
        copy(block, {l.p + row * stride, here, l.seq_kv, stride}).after(done).then(free).then(stored).label(0, blocks));
    ++blocks;
  }
  rt.wait(stored, blocks);
}

const Dataflow kGemm = {"gemm",
                        "one GEMM by itself, C = Q.K^T to DRAM",
                        run_gemm,
                        kGemmParameters,
                        kOptions,
                        nullptr,
                        hal::kScoresCAndP,
                        kChain | kOneStep};
ATTNVP_DATAFLOW(kGemm);
const Dataflow kSoftmax = {"softmax-rows",    "softmax by itself, P of C in DRAM",
                           run_softmax,       kGemmParameters,
                           kOptions,          nullptr,
                           hal::kScoresCAndP, kOneStep};
ATTNVP_DATAFLOW(kSoftmax);

}  // namespace

}  // namespace attnvp::firmware
