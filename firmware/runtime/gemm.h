// Common parts of programs for plain matmuls and other single steps of a layer: parameters, options, L1 buffers, whole
// rows of operand A and work dispatch.
#pragma once

#include "firmware/hal/job.h"
#include "firmware/runtime/dataflow.h"
#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct GemmTiling {
  uint32_t nq, nkv, kd;  // rows of A, rows of B (columns of the result), depth loaded at a time
  L0Tile l0;
  uint32_t ring;                       // buffers of the streamed operand
  static constexpr uint32_t kNkv = 1;  // index of nkv
};
extern const Parameter* const kGemmParameters[];

// Options of single steps, and the dispatch calls to the machine (hal::Dispatch).
inline constexpr const char* kStepKernels[] = {"0", "1", "2", "3", nullptr};
inline constexpr DataflowOption kStepKernelsOption = {"kernels", kStepKernels, "kernels that are launched besides"};
extern const DataflowOption kStepOptions[];  // that one only
inline void dispatch(Runtime& rt, uint32_t what) { rt.write(hal::kDispatchAddress, &what, sizeof what); }
void launch(Runtime& rt);               // additional kernel launches
void check_step_channels(Runtime& rt);  // loads and stores need one channel each

// Row blocks use all cores, except the last one, which uses the first `least` of them.
struct Turns {
  uint32_t all = 0, full = 0;  // turns so far: of all blocks, of those that use all cores
  void next(bool is_full) { ++all, full += is_full ? 1 : 0; }
  uint32_t of(uint32_t core, uint32_t least) const { return core < least ? all : full; }
};

// Slots that cores share: `slots` tiles, each of which takes `parts` loads. A core gives `parts` tokens for each tile
// that it has used.
class SharedSlots {
 public:
  void make(Runtime& rt, uint32_t slots, uint32_t parts, uint32_t least) {
    cores_ = rt.cores(), slots_ = slots, parts_ = parts, least_ = least;
    free_ = rt.events(cores_, slots * parts);
  }
  Events free(uint32_t core) const { return free_.of(core); }
  // Makes part `part` of the next tile's loads, for the first `users` cores, wait until its slot is free. If the slot's
  // tile before was used by more cores than a tile since, the first load takes the tokens that this core has too many,
  // and gives them back. A load of several parts takes the `tokens` of all of them.
  void wait(Command& load, uint32_t users, uint32_t part, uint32_t tokens = 1) const;
  void next(uint32_t users) { full_ = full_ << 1 | (users == cores_ ? 1U : 0U); }

 private:
  Events free_;
  uint32_t cores_ = 0, slots_ = 1, parts_ = 1, least_ = 0;
  uint32_t full_ = 0;  // tiles before that all cores used; bit 0: the last one
};

// `slots` L1 blocks of rows x columns per core.
struct Buffers {
  uint64_t base = 0;
  uint32_t slots = 1, rows = 0, columns = 0, bytes = kHalfBytes;
  void make(Runtime& rt, L1Region region) { base = rt.allocate(slots * slot_bytes(), region); }
  uint64_t slot_bytes() const { return round_up(uint64_t{rows} * columns * bytes, uint64_t{64}); }
  Matrix of(uint32_t n, uint32_t rows_there, uint32_t columns_there) const {
    const auto type = bytes == kHalfBytes ? hal::ElementType::kFp16 : hal::ElementType::kFp32;
    return {base + n % slots * slot_bytes(), rows_there, columns_there, columns * bytes, type};
  }
};

// Operand A of a product as whole rows in L1, for consecutive blocks of columns. A norm is applied in place before the
// first product.

class WholeRows {
 public:
  // `slots`: row blocks that L1 holds.
  WholeRows(Runtime& rt, const hal::FusedProduct& what, const GemmTiling& tiling, uint32_t slots);

  // L1 space of the rows; their events; vectors of the norm, and its events.
  void make_rows();
  void make_events();
  void make_norm();

  uint32_t slots() const { return rows_.slots / cores_; }
  // Loads gamma and beta for the first `busy` cores.
  void load_vectors(uint32_t channel, uint32_t busy);
  // Loads the rows of a row block, and normalises them.
  void load(uint32_t channel, uint32_t row_block, uint32_t busy);
  Matrix of(uint32_t core, uint32_t rows) const { return slot(used_, core, rows); }
  // The core's product with these rows; the first and the last one of a row block.
  void use(Command& multiply, uint32_t core, bool is_first, bool is_last) const {
    if (is_first) multiply.after(has_norm() ? normalised_.of(core) : ready_.of(core));
    if (is_last) multiply.then(free_.of(core));
  }
  void next() { ++used_; }

 private:
  bool has_norm() const { return what_.gamma != 0; }
  Matrix slot(uint32_t row_block, uint32_t core, uint32_t rows) const {
    return rt_.in(rows_.of(row_block % slots() * cores_ + core, rows, k_));
  }

  Runtime& rt_;
  hal::FusedProduct what_;
  GemmTiling t_;
  uint32_t cores_, m_, k_, loaded_ = 0, used_ = 0;  // row blocks so far
  Buffers rows_;
  Matrix vectors_[2];  // gamma and beta in L1; 0 columns: none
  Events ready_, free_, vectors_ready_, normalised_;
};

}  // namespace attnvp::firmware
