// Commands for engines and DMA channels, and what they are made of: matrices in memory, events.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
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
    d_.flags |= hal::kKept;
    return *this;
  }
  // Its result, or what it takes, passes L1 by.
  Command& forwarded(bool is = true) {
    if (is) d_.flags |= hal::kForwarded;
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
  bool may_wait() const { return waits_ < hal::kWaits; }
  bool may_signal(int besides) const { return signals_ + besides < hal::kSignals; }
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

// Where scores are among all of a layer's: of that head of K and V, from query `row` and key `key` on; without padding.
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

}  // namespace attnvp::firmware
