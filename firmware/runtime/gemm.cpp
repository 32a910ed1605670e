#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace parameter {
namespace {
const Parameter kDepth = {"kd", "depth that is loaded at a time", Extent::kDepth, Grain::kOne};
const Parameter kStreamRing = {"kv",     "tiles in L1 of what streams by", Extent::kCount, Grain::kOne, 16, nullptr,
                               {2, 3, 1}};
}  // namespace
}  // namespace parameter

const DataflowOption kStepOptions[] = {kStepKernelsOption, {nullptr, nullptr, nullptr}};

void launch(Runtime& rt) {
  for (uint32_t i = 0; rt.ok() && !rt.dry() && i < rt.job().option[0]; ++i) dispatch(rt, hal::kKernel);
}

void check_step_channels(Runtime& rt) {
  if (rt.ok() && rt.machine().dma_channels < 2) rt.fail(Status::kTooFewChannels, 2, rt.machine().dma_channels);
}

void SharedSlots::wait(Command& load, uint32_t users, uint32_t part, uint32_t tokens) const {
  const bool was_full = (full_ >> (slots_ - 1) & 1) != 0;  // the tile that the slot has
  uint32_t since = users == cores_ ? 1 : 0;                // tiles of all cores from the next one on, this one included
  for (uint32_t i = 0; i + 1 < slots_; ++i) since += full_ >> i & 1;
  const uint32_t more = was_full && part == 0 ? (slots_ - since) * parts_ : 0;
  if (more == 0) {
    load.after({free_.first, users}, tokens);
    return;
  }
  const Events rest{free_.first + least_, cores_ - least_};
  load.after({free_.first, least_}, tokens).after(rest, more + (users == cores_ ? tokens : 0)).then(rest, more);
}

using namespace parameter;
const Parameter* const kGemmParameters[] = {&kNq, &kNkv, &kDepth, &kM0, &kN0, &kK0, &kStreamRing, nullptr};

WholeRows::WholeRows(Runtime& rt, const hal::FusedProduct& what, const GemmTiling& tiling, uint32_t slots)
    : rt_(rt),
      what_(what),
      t_(tiling),
      cores_(rt.cores()),
      m_(rt.layer().seq_q),
      k_(rt.layer().emb),
      rows_{0, slots * cores_, tiling.nq, k_, rt.bytes()} {}

void WholeRows::make_rows() { rows_.make(rt_, L1Region::kQ); }

void WholeRows::make_events() {
  ready_ = rt_.events(cores_);
  free_ = rt_.events(cores_, slots());
}

void WholeRows::make_norm() {
  if (!has_norm()) return;
  for (uint32_t i = 0; i < 2; ++i) {
    const uint64_t source = i == 0 ? what_.gamma : what_.beta;
    if (source == 0) continue;
    vectors_[i] = {rt_.allocate(uint64_t{k_} * kHalfBytes), 1, k_, k_ * kHalfBytes};
  }
  vectors_ready_ = rt_.events(cores_);
  normalised_ = rt_.events(cores_);
}

void WholeRows::load_vectors(uint32_t channel, uint32_t busy) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (vectors_[i].columns == 0) continue;
    Matrix source = vectors_[i];
    source.address = i == 0 ? what_.gamma : what_.beta;
    rt_.dma(channel, copy(source, vectors_[i]).then({vectors_ready_.first, busy}));
  }
}

void WholeRows::load(uint32_t channel, uint32_t row_block, uint32_t busy) {
  for (uint32_t core = 0; core < busy; ++core) {
    const uint32_t row = (row_block * cores_ + core) * t_.nq, rows = min(t_.nq, m_ - row);
    const Matrix a = slot(loaded_, core, rows);
    Matrix source = a;
    source.address = rt_.layer().q + uint64_t{row} * k_ * rt_.bytes();
    source.stride = k_ * rt_.bytes();
    rt_.dma(channel, copy(source, a).after(free_.of(core)).then(ready_.of(core)).label(0, row_block));
    if (!has_norm()) continue;
    Command norm(hal::Opcode::kNorm, rows);
    norm.operand(0, a).operand(1, a).operand(2, vectors_[0]);
    if (vectors_[1].columns > 0) norm.operand(3, vectors_[1]);
    norm.raw().tail.norm = {what_.epsilon, what_.beta != 0 ? 1U : 0U};
    if (loaded_ == 0) norm.after(vectors_ready_.of(core), vectors_[1].columns > 0 ? 2 : 1);
    rt_.vec(core, norm.after(ready_.of(core)).then(normalised_.of(core)).label(0, row_block));
  }
  ++loaded_;
}

}  // namespace attnvp::firmware
