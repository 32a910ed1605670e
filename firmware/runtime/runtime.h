// What every scheduler program stands on: the job, the cluster's queues and events, L1 space. No heap, no exceptions,
// no globals; a failure is remembered in `status`, and from then on every call does nothing.
#pragma once

#include <cstdint>

#include "firmware/hal/cpu.h"
#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

using hal::Descriptor;
using hal::L1Region;
using hal::Status;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kHalfBytes = hal::element_bytes(hal::ElementType::kFp16);
constexpr uint32_t kPartialBytes = hal::element_bytes(hal::ElementType::kFp32);

// In 32 bits where both are: divisions of 64 are long loops on such a processor.
template <class A, class B>
constexpr auto ceil_div(A a, B b) -> decltype(a + b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
template <class A, class B>
constexpr auto round_up(A a, B b) -> decltype(a + b) {
  return ceil_div(a, b) * b;
}
template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

// A run of hardware events, usually one per core.
struct Events {
  uint32_t first = 0;
  uint32_t span = 0;
  Events of(uint32_t core) const { return {first + core, 1}; }
};

// A matrix in the address map: row-major, rows `stride` bytes apart.
struct Matrix {
  uint64_t address = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t stride = 0;
  hal::ElementType type = hal::ElementType::kFp16;
  Matrix as(hal::ElementType other) const { return {address, rows, columns, stride, other}; }  // the same columns
};
// `columns` columns from `column` on, `rows` rows from `row` on.
Matrix columns_of(const Matrix& m, uint32_t column, uint32_t columns);
Matrix rows_of(const Matrix& m, uint32_t row, uint32_t rows);

// A descriptor on its way into a queue.
class Command {
 public:
  explicit Command(hal::Opcode opcode, uint32_t rows = 0) : d_{} {
    d_.opcode = opcode;
    d_.rows = rows;
  }
  Command& operand(int i, const Matrix& m);
  Command& after(Events events, uint32_t tokens = 1) { return add(d_.wait, hal::kWaits, events, tokens); }
  Command& then(Events events, uint32_t tokens = 1) { return add(d_.signal, hal::kSignals, events, tokens); }
  Command& label(uint32_t head, uint32_t row_block) {
    d_.head = static_cast<std::uint16_t>(head);
    d_.row_block = row_block;
    return *this;
  }
  // The last of the signals goes to another cluster's events.
  Command& then_remote(uint32_t cluster, Events events, uint32_t tokens = 1) {
    d_.signal[hal::kSignals - 1] = hal::event_ref(events.first, events.span, tokens);
    d_.remote = cluster + 1;
    return *this;
  }
  // Rows of the result are the layer's queries from `row` on, columns its keys from `key` on.
  Command& masked(const hal::Mask& mask, uint32_t row, uint32_t key);
  Command& scaled(uint32_t scale);  // FP32 bits; nothing for 1
  Command& deferrable() {
    d_.flags |= hal::kDeferrable;
    return *this;
  }
  bool complete() const { return complete_; }  // every event found a place in the descriptor
  Descriptor& raw() { return d_; }
  const Descriptor& raw() const { return d_; }

 private:
  Command& add(hal::EventRef* refs, int slots, Events events, uint32_t tokens);
  Descriptor d_;
  bool complete_ = true;
};

enum class Accumulate : std::uint8_t { kOnly, kFirst, kMiddle, kLast };  // place in a sum over several matmuls
Accumulate place_of(uint32_t term, uint32_t terms);

// C = A.B^T with B given as n x k; `l0` is the sub-tile m0, n0, k0.
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                   const L0Tile& l0);
// C = A.B.
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
// One term of a sum over several matmuls: until kLast the sum stays in `partials` (FP32, the shape of C).
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                  const L0Tile& l0);
Command softmax(const Matrix& in, const Matrix& out);
Command copy(const Matrix& from, const Matrix& to);  // either direction, equal shapes
Command fence();                                     // only waits and signals

class Runtime {
 public:
  Runtime(hal::Cpu& cpu, uint32_t cluster);

  const hal::JobBlock& job() const { return job_; }
  const hal::MachineInfo& machine() const { return job_.machine; }
  const hal::Layer& layer() const { return job_.layer; }
  const hal::Mask& mask() const { return rules_.mask; }
  const hal::Rules& rules() const { return rules_; }
  uint32_t scale() const { return rules_.scale; }  // of the scores: FP32, its bits
  uint32_t cluster() const { return cluster_; }
  uint32_t cores() const { return job_.machine.cores; }
  bool ok() const { return status_ == Status::kDone; }
  // The schedule is made, its work is not done: whatever deals out work has none.
  bool plain() const { return (job_.flags & hal::kPlain) != 0; }  // without softmax
  bool dry() const { return (job_.flags & hal::kDryRun) != 0; }

  // The job's parameters as the dataflow's own type; one that is not given is refused.
  template <typename Tiling>
  Tiling parameters() {
    Tiling tiling;
    static_assert(sizeof tiling <= sizeof job_.parameter, "more parameters than the job has room for");
    take_parameters(reinterpret_cast<uint32_t*>(&tiling), sizeof tiling / sizeof(uint32_t));
    return tiling;
  }
  void refuse(uint32_t parameter, uint64_t value) { fail(Status::kBadTiling, parameter, value); }
  // An L0 sub-tile with operands double-buffered, in the MAC engine's half of L0. Status kL0TooSmall where it is not.
  void check_l0(const L0Tile& tile);

  // Events: `span` fresh ones, each holding `tokens` to begin with.
  Events events(uint32_t span, uint32_t tokens = 0);
  void wait(Events events, uint32_t tokens = 1);  // the processor itself stalls
  void give(Events events, uint32_t tokens = 1);

  // L1 space, aligned to 64 bytes; 0 (and status kL1TooSmall) when there is none left.
  uint64_t allocate(uint64_t bytes, L1Region region = L1Region::kOther);
  uint64_t allocated() const { return l1_used_; }
  void free_to(uint64_t mark);     // everything allocated since allocated() was `mark`
  bool has_space(uint64_t bytes);  // of L1 from its beginning on; otherwise status kL1TooSmall
  // The L1 bytes that `build` would allocate. Nothing of it stays: no space, no event, no failure.
  template <typename Build>
  uint64_t need_of(const Build& build) {
    if (!ok()) return 0;
    const uint64_t used = l1_used_;
    const uint32_t event = next_event_;
    sketch_ = true;
    build();
    sketch_ = false;
    const uint64_t need = l1_used_ - used;
    l1_used_ = used;
    next_event_ = event;
    status_ = Status::kDone;
    return need;
  }

  // DRAM behind the tensors, which all clusters share; its address. Status kDramTooSmall where there is less.
  uint64_t scratch(uint64_t bytes);

  void mac(uint32_t core, const Command& command) { push(hal::mac_base(cluster_, core), command, Side::kCompute); }
  void vec(uint32_t core, const Command& command) { push(hal::vec_base(cluster_, core), command, Side::kCompute); }
  void dma(uint32_t channel, const Command& command);

  // From now on transfers and computation take turns: commands of one kind wait until those of the other are done.
  void lock_step();
  bool in_lock_step() const { return lock_step_.span > 0; }
  void settle();                         // lock-step: waits until everything is done
  uint32_t dma_level(uint32_t channel);  // descriptors waiting in that channel's queue

  // What firmware has to tell at its end, in the order in which the dataflow declares it.
  void count(uint32_t statistic, uint64_t amount) { statistic_[statistic] += amount; }
  // For the scratchpad's performance monitor: bytes held now, and what those were for that came or went.
  void note_allocated(uint64_t bytes, L1Region region);

  // Bus accesses of other kinds.
  bool read(uint64_t address, void* data, uint32_t bytes);
  bool write(uint64_t address, const void* data, uint32_t bytes);

  void fail(Status status, uint64_t detail0 = 0, uint64_t detail1 = 0);
  void finish();  // writes the status word

 private:
  enum class Side : std::uint8_t { kCompute, kTransfer };
  void push(uint64_t queue, const Command& command, Side side);
  void enqueue(uint64_t queue, const Command& command);
  void take_parameters(uint32_t* words, uint32_t count);
  uint32_t read32(uint64_t address);

  hal::Cpu& cpu_;
  uint32_t cluster_;
  hal::JobBlock job_{};
  hal::Rules rules_{{}, hal::kUnitScale, 1, 0};
  Status status_ = Status::kDone;
  uint64_t detail_[2] = {};
  uint32_t next_event_ = 0;
  uint64_t l1_used_ = 0;
  bool sketch_ = false;  // within need_of
  uint64_t statistic_[hal::kMaxStatistics] = {};
  Events lock_step_{};  // span 0: not in lock-step
  Side side_ = Side::kTransfer;
  uint32_t pending_ = 0;  // commands of that side under way
};

}  // namespace attnvp::firmware
