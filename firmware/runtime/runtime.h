// What every scheduler program stands on: the job, the cluster's queues and events, L1 space. No heap, no exceptions,
// no globals; a failure is remembered in `status`, and from then on every call does nothing.
#pragma once

#include <cstdint>

#include "firmware/hal/cpu.h"
#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
#include "firmware/runtime/l1_region.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

using hal::Descriptor;
using hal::Status;
using std::uint32_t;
using std::uint64_t;

// Of scores, and of whatever is not the layer's own (Types).
constexpr uint32_t kHalfBytes = hal::element_bytes(hal::ElementType::kFp16);
constexpr uint32_t kPartialBytes = hal::element_bytes(hal::ElementType::kFp32);

// In 32 bits where both are: divisions of 64 are long loops on such a processor.
template <class A, class B>
constexpr auto ceil_div(A a, B b) -> decltype(a + b) {
  using T = decltype(a + b);
  const T whole = static_cast<T>(a) / b;
  return whole + (whole * b != static_cast<T>(a) ? 1 : 0);
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

// The n-th turn of `count`, most often a power of two: divisions are long.
constexpr uint32_t in_turn(uint32_t n, uint32_t count) {
  return (count & (count - 1)) == 0 ? n & (count - 1) : n % count;
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
inline Matrix columns_of(const Matrix& m, uint32_t column, uint32_t columns) {
  return {m.address + uint64_t{column} * hal::element_bytes(m.type), m.rows, columns, m.stride, m.type};
}
inline Matrix rows_of(const Matrix& m, uint32_t row, uint32_t rows) {
  return {row == 0 ? m.address : m.address + uint64_t{row} * m.stride, rows, m.columns, m.stride, m.type};
}

// A descriptor on its way into a queue. One that is issued again and again is kept, and only what changes is set anew.
class Command {
 public:
  using Word = uint32_t __attribute__((may_alias));
  Word* words() { return reinterpret_cast<Word*>(&d_); }

  // Sets a command anew: its rows, where operands are, who it is for, events.
  class Edit {
   public:
    Edit(Command& command, uint32_t rows)
        : command_(command), wait_(command.d_.wait), signal_(command.d_.signal), complete_(true) {
      command.d_.rows = rows;
      for (hal::EventRef& wait : command.d_.wait) wait = {0};
      for (hal::EventRef& signal : command.d_.signal) signal = {0};
    }
    ~Edit() {
      command_.waits_ = static_cast<int>(wait_ - command_.d_.wait);
      command_.signals_ = static_cast<int>(signal_ - command_.d_.signal);
      command_.complete_ = complete_;
    }
    Edit(const Edit&) = delete;
    Edit& operator=(const Edit&) = delete;
    // Another place of the same stride and type; in L1, whose windows are as large, its lower half.
    Edit& move(int i, uint64_t address) {
      command_.d_.operand[i].address = address;
      return *this;
    }
    Edit& move(int i, uint32_t low) {
      command_.words()[(offsetof(Descriptor, operand) + static_cast<std::size_t>(i) * sizeof(hal::Operand)) /
                       sizeof(Word)] = low;
      return *this;
    }
    Edit& columns(int i, uint32_t columns) {
      command_.d_.operand[i].columns = columns;
      return *this;
    }
    Edit& label(uint32_t head, uint32_t row_block) {
      command_.label(head, row_block);
      return *this;
    }
    Edit& after(Events events, uint32_t tokens = 1) {
      if (tokens == 0) return *this;
      complete_ = complete_ && wait_ != command_.d_.wait + hal::kWaits;
      if (complete_) *wait_++ = hal::event_ref(events.first, events.span, tokens);
      return *this;
    }
    Edit& then(Events events, uint32_t tokens = 1) {
      if (tokens == 0) return *this;
      complete_ = complete_ && signal_ != command_.d_.signal + hal::kSignals;
      if (complete_) *signal_++ = hal::event_ref(events.first, events.span, tokens);
      return *this;
    }

   private:
    Command& command_;
    hal::EventRef *wait_, *signal_;
    bool complete_;
  };

  Command() { d_.opcode = hal::Opcode::kNop; }  // of no use yet
  explicit Command(hal::Opcode opcode, uint32_t rows = 0) { begin(opcode, rows); }
  // Anew, with nothing but this.
  Command& begin(hal::Opcode opcode, uint32_t rows = 0) {
#pragma GCC unroll 32
    for (uint32_t i = 0; i < hal::kDescriptorBytes / sizeof(Word); ++i) word(i) = 0;
    d_.version = hal::kDescriptorVersion;
    d_.length = hal::kDescriptorBytes;
    d_.opcode = opcode;
    d_.rows = rows;
    waits_ = signals_ = 0;
    complete_ = true;
    return *this;
  }
  Command(const Command& other) { *this = other; }
  Command& operator=(const Command& other) {
    constexpr uint32_t kShort = hal::kDescriptorBytes / sizeof(Word);
    const auto words = static_cast<uint32_t>(other.d_.length / sizeof(Word));
#pragma GCC unroll 32
    for (uint32_t i = 0; i < kShort; ++i) word(i) = other.word(i);
    for (uint32_t i = kShort; i < words; ++i) word(i) = other.word(i);
    waits_ = other.waits_, signals_ = other.signals_, complete_ = other.complete_;
    return *this;
  }
  Command& operand(int i, const Matrix& m) {
    d_.operand[i] = {m.address, m.stride, m.columns};
    d_.type[i] = m.type;
    return *this;
  }
  Command& after(Events events, uint32_t tokens = 1) { return add(d_.wait, hal::kWaits, waits_, events, tokens); }
  Command& then(Events events, uint32_t tokens = 1) {
    return add(d_.signal, d_.remote == 0 ? hal::kSignals : hal::kSignals - 1, signals_, events, tokens);
  }
  // At most one of each, in place of those that it has; without tokens none.
  Command& events(hal::EventRef wait, hal::EventRef signal) {
    d_.wait[0] = wait;
    d_.signal[0] = signal;
    waits_ = wait.bits != 0 ? 1 : 0;
    signals_ = signal.bits != 0 ? 1 : 0;
    return *this;
  }
  Command& label(uint32_t head, uint32_t row_block) {
    d_.head = static_cast<std::uint16_t>(head);
    d_.row_block = row_block;
    return *this;
  }
  // The last of the signals goes to another cluster's events.
  Command& then_remote(uint32_t cluster, Events events, uint32_t tokens = 1) {
    if (signals_ == hal::kSignals) complete_ = false;
    d_.signal[hal::kSignals - 1] = hal::event_ref(events.first, events.span, tokens);
    d_.remote = cluster + 1;
    return *this;
  }
  Command& unmasked() {
    d_.flags &= static_cast<std::uint16_t>(~(hal::kMasked | hal::kBlocked));
    d_.length = hal::length_with(d_.flags);
    return *this;
  }
  // Rows of the result are the layer's queries from `row` on, columns its keys from `key` on.
  Command& masked(const hal::Mask& mask, const hal::BlockMask& blocks, uint32_t row, uint32_t key, uint32_t keys);
  Command& scaled(uint32_t scale);     // FP32 bits; nothing for 1
  Command& scaled_by(uint32_t scale);  // whatever it is
  Command& capped(uint32_t cap);       // what is scaled_by: FP32 bits
  Command& with(hal::Flags flag) {
    d_.flags |= flag;
    lengthen();
    return *this;
  }
  Command& scaled_by(bool always, uint32_t scale) { return always ? scaled_by(scale) : scaled(scale); }
  // A matmul's partials wait in L0 for the next slice of its depth.
  Command& kept() {
    d_.tail.matmul.kept = 1;
    return *this;
  }
  Command& planes(uint32_t count, uint32_t from_stride, uint32_t to_stride) {  // of a copy, so far apart
    lengthen_to(offsetof(Descriptor, tail) + sizeof(hal::CopyTail));
    d_.tail.copy = {count, {from_stride, to_stride}};
    return *this;
  }
  Command& deferrable() {
    d_.flags |= hal::kDeferrable;
    return *this;
  }
  bool complete() const { return complete_; }  // every event found a place in the descriptor
  Descriptor& raw() { return d_; }
  const Descriptor& raw() const { return d_; }

 private:
  Command& add(hal::EventRef* refs, int slots, int& taken, Events events, uint32_t tokens) {
    if (tokens == 0) return *this;
    if (taken >= slots) {
      complete_ = false;
    } else {
      refs[taken++] = hal::event_ref(events.first, events.span, tokens);
    }
    return *this;
  }
  Word& word(uint32_t i) { return reinterpret_cast<Word*>(&d_)[i]; }
  const Word& word(uint32_t i) const { return reinterpret_cast<const Word*>(&d_)[i]; }
  void lengthen() { lengthen_to(hal::length_with(d_.flags)); }
  void lengthen_to(uint32_t bytes);
  Descriptor d_;  // behind its length there may be anything
  int waits_ = 0, signals_ = 0;
  bool complete_ = true;
};

// Where scores are among all of a layer's: of that head of K and V, from query `row` and key `key` on.
struct Place {
  uint32_t head, row, rows, key, keys;
};

enum class Accumulate : std::uint8_t { kOnly, kFirst, kMiddle, kLast };  // place in a sum over several matmuls
Accumulate place_of(uint32_t term, uint32_t terms);

// C = A.B^T with B given as n x k; `l0` is the sub-tile m0, n0, k0.
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                   const L0Tile& l0);
// C = A.B.
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
// One term of a sum over several matmuls: until kLast the sum stays in `partials` (FP32, of INT8 INT32; the shape of
// C).
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                  const L0Tile& l0);
// O, or a term of it: where P is relative to its rows' maxima, sums are divided by those of P, which partials have in a
// column of their own (Runtime::partial_columns).
Command attend(const Matrix& p, const Matrix& v, const Matrix& o, const Matrix& partials, Accumulate place,
               const L0Tile& l0, bool scaled_by_block = false);
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
  hal::BlockMask map() const {  // beside the mask
    if (rules_.mask.block == 0) return {};
    return {map_, hal::map_stride(rules_.mask, layer().seq_kv)};
  }
  // Commands of so many rows and keys: refuses them where they have no room for their part of the map, or for the
  // scales of their blocks.
  void check_extents(uint32_t rows, uint32_t keys) {
    if (mask().block != 0 || scaled_by_block()) check_more(rows, keys);
  }
  // Keys of a batch that count.
  uint32_t valid_keys(uint32_t batch) {
    uint32_t keys = layer().seq_kv;
    if (rules_.mask.padded != 0) read(hal::kContextsAddress + uint64_t{batch} * sizeof keys, &keys, sizeof keys);
    return keys;
  }
  // Element types and sizes: of Q, K, V and P; of O.
  hal::ElementType type() const { return types_.operand; }
  hal::ElementType out_type() const { return types_.out; }
  uint32_t bytes() const { return bytes_; }
  uint32_t out_bytes() const { return out_bytes_; }
  bool typed() const { return (job_.flags & hal::kTyped) != 0; }                                 // there are Types
  uint32_t value_emb() const { return types_.value_emb != 0 ? types_.value_emb : layer().emb; }  // columns of V and O
  uint32_t partial_columns() const { return value_emb() + (bytes() == 1 ? 1 : 0); }              // of O's partials
  Matrix in(const Matrix& m) const { return m.as(types_.operand); }
  Matrix out(const Matrix& m) const { return m.as(types_.out); }
  // Factors of a head's products, FP32, their bits; a command has them always where heads differ.
  bool scaled_by_head() const { return types_.per_head != 0; }
  hal::HeadScales scales(uint32_t head) {
    if (!scaled_by_head()) return {rules_.scale, types_.value_scale};
    const uint32_t place = head % kScalesKept;
    if (scales_head_[place] != head + 1) read_scales(head, place);
    return scales_[place];
  }
  Command& scale_scores(Command& command, uint32_t head) {
    command.scaled_by(scaled_by_head() || types_.cap != 0, scales(head).score);
    return types_.cap == 0 ? command : command.capped(types_.cap);
  }
  Command& scale_values(Command& command, uint32_t head) {
    return command.scaled_by(scaled_by_head(), scales(head).value);
  }
  // What the scores' place decides: biases, scales of blocks. Their first row is query `row`, their first of `keys`
  // columns is key `key` of head `head`.
  bool by_place() const { return (job_.flags & (hal::kSlopedJob | hal::kBucketedJob)) != 0 || scaled_by_block(); }
  uint32_t most_scaled() const {  // keys of a product with V
    return scaled_by_block() ? (hal::kMostScaled - 1) << types_.scale_block : 0xFFFF'FFFF;
  }
  bool scaled_by_block() const { return types_.scale_block != 0; }
  Command& place_scores(Command& command, const Place& at) { return place_scores(command, at, mask()); }
  Command& place_scores(Command& command, const Place& at, const hal::Mask& mask);
  Command& place_values(Command& command, const Place& at);
  uint32_t cluster() const { return cluster_; }
  uint32_t cores() const { return job_.machine.cores; }
  bool ok() const { return status_ == Status::kDone; }
  bool sketch() const { return sketch_; }  // within need_of
  // The schedule is made, its work is not done: whatever deals out work has none.
  bool plain() const { return (job_.flags & hal::kPlain) != 0; }  // without softmax
  bool dry() const { return (job_.flags & hal::kDryRun) != 0; }

  // The job's parameters as the dataflow's own type; one that is not given is refused.
  template <typename Tiling>
  Tiling parameters() {
    Tiling tiling;
    static_assert(sizeof tiling <= sizeof job_.parameter, "more parameters than the job has room for");
    constexpr uint32_t kWords = sizeof tiling / sizeof(uint32_t);
    auto* words = reinterpret_cast<Command::Word*>(&tiling);
    uint32_t missing = 0;
#pragma GCC unroll 12
    for (uint32_t i = 0; i < kWords; ++i) {
      words[i] = job_.parameter[i];
      missing |= words[i] == 0 ? 1 : 0;
    }
    for (uint32_t i = 0; missing != 0 && i < kWords; ++i) {
      if (words[i] == 0) refuse(i, 0);
    }
    return tiling;
  }
  [[gnu::noinline]] void refuse(uint32_t parameter, uint64_t value) { fail(Status::kBadTiling, parameter, value); }
  // An L0 sub-tile with operands double-buffered, in the MAC engine's half of L0. Status kL0TooSmall where it is not.
  void check_l0(const L0Tile& tile);
  // Whether it has room for so many sums besides the operands.
  bool holds(uint64_t sums, const L0Tile& tile) const;

  // Events: `span` fresh ones, each holding `tokens` to begin with.
  Events events(uint32_t span, uint32_t tokens = 0) {
    const Events result{next_event_, span};
    next_event_ += span;
    if (sketch_) return result;
    if (next_event_ > machine().events) fail(Status::kTooFewEvents, next_event_, machine().events);
    if (tokens > 0) give(result, tokens);
    return result;
  }
  void wait(Events events, uint32_t tokens = 1);  // the processor itself stalls
  void give(Events events, uint32_t tokens = 1);

  // L1 space, aligned to 64 bytes; 0 (and status kL1TooSmall) when there is none left.
  uint64_t allocate(uint64_t bytes, L1Region region = L1Region::kOther) {
    const uint64_t address = hal::l1_base(cluster_) + l1_used_, used = l1_used_ + ((bytes + 63) & ~uint64_t{63});
    if (!sketch_ && !has_space(used)) return 0;
    l1_used_ = used;
    if (!sketch_) note_allocated(used, region);
    return address;
  }
  uint64_t allocated() const { return l1_used_; }
  void free_to(uint64_t mark);      // everything allocated since allocated() was `mark`
  bool has_space(uint64_t bytes) {  // of L1 from its beginning on; otherwise status kL1TooSmall
    if (bytes > machine().l1_bytes) fail(Status::kL1TooSmall, bytes, machine().l1_bytes);
    return ok();
  }
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

  // Where there was no space for what `build` would allocate: says how much it is.
  template <typename Build>
  void tell_need_of(const Build& build) {
    if (status_ != Status::kL1TooSmall) return;
    status_ = Status::kDone;
    l1_used_ = 0;
    has_space(need_of(build));
  }

  // DRAM behind the tensors, which all clusters share; its address. Status kDramTooSmall where there is less.
  uint64_t scratch(uint64_t bytes);

  void mac(uint32_t core, const Command& command) { push(core_queue(core, hal::kMacOffset), command, Side::kCompute); }
  void vec(uint32_t core, const Command& command) { push(core_queue(core, hal::kVecOffset), command, Side::kCompute); }
  void dma(uint32_t channel, const Command& command) {
    if (channel >= machine().dma_channels) return fail(Status::kTooFewChannels, channel + 1, machine().dma_channels);
    push(dma_queue(channel), command, Side::kTransfer);
  }

  // A command that is known to be complete, where nothing is in lock-step and all is well.
  void again(uint32_t queue, const Command& command) {
    if (!hal::push(cpu_, queue, command.raw())) fail(Status::kEngineFault, queue);
  }
  static constexpr auto kNextCore = static_cast<uint32_t>(hal::kCoreStride);  // from a core's queue to the next one's
  uint32_t mac_queue(uint32_t core) const { return core_queue(core, hal::kMacOffset); }
  uint32_t vec_queue(uint32_t core) const { return core_queue(core, hal::kVecOffset); }
  uint32_t dma_queue(uint32_t channel) const {  // which there is
    return control_ + static_cast<uint32_t>(hal::kDmaOffset) + channel * static_cast<uint32_t>(hal::kQueueStride);
  }

  // From now on transfers and computation take turns: commands of one kind wait until those of the other are done.
  void lock_step();
  bool in_lock_step() const { return lock_step_.span > 0; }
  void settle();                         // lock-step: waits until everything is done
  uint32_t dma_level(uint32_t channel);  // descriptors waiting in that channel's queue

  // What firmware has to tell at its end, in the order in which the dataflow declares it.
  void count(uint32_t statistic, uint64_t amount) { statistic_[statistic] += amount; }
  // For the scratchpad's performance monitor: bytes held now, and what those were for that came or went.
  void note_allocated(uint64_t bytes, L1Region region) {
    const uint64_t value = bytes | static_cast<uint64_t>(region) << hal::kL1TagShift;
    const uint32_t monitor = control_ + static_cast<uint32_t>(hal::kL1ControlOffset + hal::kL1Allocated);
    if (ok() && !hal::post(cpu_, monitor, value)) fail(Status::kEngineFault, monitor);
  }

  // Bus accesses of other kinds.
  bool read(uint64_t address, void* data, uint32_t bytes);
  bool write(uint64_t address, const void* data, uint32_t bytes);

  [[gnu::noinline]] void fail(Status status, uint64_t detail0 = 0, uint64_t detail1 = 0);
  void finish();  // writes the status word

 private:
  enum class Side : std::uint8_t { kCompute, kTransfer };
  // Registers, which are below 4 GiB.
  uint32_t event_registers(uint32_t event) const {
    return control_ + static_cast<uint32_t>(hal::kEventsOffset) + event * static_cast<uint32_t>(hal::kEventStride);
  }
  uint32_t core_queue(uint32_t core, uint64_t engine) const {
    return control_ + static_cast<uint32_t>(hal::kCoreOffset + engine) + core * static_cast<uint32_t>(hal::kCoreStride);
  }
  void push(uint32_t queue, const Command& command, Side side) {
    if (lock_step_.span != 0) return push_in_step(queue, command, side);
    enqueue(queue, command);
  }
  void push_in_step(uint32_t queue, const Command& command, Side side);
  void enqueue(uint32_t queue, const Command& command) {
    if (!ok()) return;
    if (!command.complete()) return fail(Status::kTooManyEvents);
    if (!hal::push(cpu_, queue, command.raw())) fail(Status::kEngineFault, queue);
  }
  void read_scales(uint32_t head, uint32_t place);
  [[gnu::noinline]] void check_more(uint32_t rows, uint32_t keys);
  void read_block_scales(Command& command, const Place& at, bool scores);

  hal::Cpu& cpu_;
  uint32_t cluster_, control_;
  hal::JobBlock job_;
  hal::Rules rules_{{}, hal::kUnitScale, 1, 0};
  hal::Types types_{hal::ElementType::kFp16, hal::ElementType::kFp16, 0, 0, hal::kUnitScale, 0, 0};
  uint32_t bytes_ = kHalfBytes, out_bytes_ = kHalfBytes;  // of an element
  static constexpr uint32_t kScalesKept = 16;
  uint32_t scales_head_[kScalesKept];  // 1 + head; where heads have scales of their own
  hal::HeadScales scales_[kScalesKept];
  Status status_ = Status::kDone;
  uint64_t detail_[2] = {};
  uint32_t next_event_ = 0;
  uint64_t l1_used_ = 0;
  bool sketch_ = false;  // within need_of
  uint64_t statistic_[hal::kMaxStatistics] = {};
  Events lock_step_{};  // span 0: not in lock-step
  Side side_ = Side::kTransfer;
  uint32_t pending_ = 0;                // commands of that side under way
  uint32_t map_[hal::kMostBlockWords];  // last, as few layers have one
};

}  // namespace attnvp::firmware
