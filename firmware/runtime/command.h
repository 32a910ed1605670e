// Builders of commands (hal::Descriptor) for engines and DMA channels, with their operands (matrices) and events.
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

// Bytes per score (FP16) and per partial sum (FP32).
constexpr uint32_t kHalfBytes = hal::element_bytes(hal::ElementType::kFp16);
constexpr uint32_t kPartialBytes = hal::element_bytes(hal::ElementType::kFp32);

// 32-bit arithmetic if both operands are 32 bits: 64-bit division is a long loop on a 32-bit processor.
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

// n modulo count. A count is usually a power of two, and division is slow.
constexpr uint32_t in_turn(uint32_t n, uint32_t count) {
  return (count & (count - 1)) == 0 ? n & (count - 1) : n % count;
}

// Consecutive hardware events, usually one per core.
struct Events {
  uint32_t first = 0;
  uint32_t span = 0;
  Events of(uint32_t core) const { return {first + core, 1}; }
};

// Row-major matrix in the address map; stride in bytes.
struct Matrix {
  uint64_t address = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t stride = 0;
  hal::ElementType type = hal::ElementType::kFp16;
  Matrix as(hal::ElementType other) const { return {address, rows, columns, stride, other}; }  // same number of columns
};
inline Matrix columns_of(const Matrix& m, uint32_t column, uint32_t columns) {
  return {m.address + uint64_t{column} * hal::element_bytes(m.type), m.rows, columns, m.stride, m.type};
}
inline Matrix rows_of(const Matrix& m, uint32_t row, uint32_t rows) {
  return {row == 0 ? m.address : m.address + uint64_t{row} * m.stride, rows, m.columns, m.stride, m.type};
}

// A descriptor under construction. Commands that are issued repeatedly are kept, and only the changed fields are set.
class Command {
 public:
  using Word = uint32_t __attribute__((may_alias));
  Word* words() { return reinterpret_cast<Word*>(&d_); }

  // Rewrites the rows, operand addresses, labels and events of an existing command.
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
    // New address with the same stride and type. `low` sets only the lower 32 bits, for addresses within an L1 window.
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

  Command() { d_.opcode = hal::Opcode::kNop; }  // invalid until begin()
  explicit Command(hal::Opcode opcode, uint32_t rows = 0) { begin(opcode, rows); }
  // Clears all fields.
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
  // Replaces all events by at most one wait and one signal; references without tokens are omitted.
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
  // Uses the last signal slot for an event of another cluster.
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
  // Applies the mask. Rows of the result are the layer's queries from `row` on, columns its keys from `key` on.
  Command& masked(const hal::Mask& mask, const hal::BlockMask& blocks, uint32_t row, uint32_t key, uint32_t keys);
  Command& scaled(uint32_t scale);     // FP32 bit pattern; omitted if 1
  Command& scaled_by(uint32_t scale);  // FP32 bit pattern; always set
  Command& capped(uint32_t cap);       // FP32 bit pattern; requires scaled_by
  Command& with(hal::Flags flag) {
    d_.flags |= flag;
    lengthen();
    return *this;
  }
  Command& scaled_by(bool always, uint32_t scale) { return always ? scaled_by(scale) : scaled(scale); }
  // Keeps a matmul's partial sums in L0 for the next slice of its depth.
  Command& kept() {
    d_.flags |= hal::kKept;
    return *this;
  }
  // The result, or the forwarded operand, bypasses L1.
  Command& forwarded(bool is = true) {
    if (is) d_.flags |= hal::kForwarded;
    return *this;
  }
  Command& planes(uint32_t count, uint32_t from_stride, uint32_t to_stride) {  // for copies; strides in bytes
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
  bool complete() const { return complete_; }  // false if an event did not fit into the descriptor
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
  Descriptor d_;  // bytes beyond its length are undefined
  int waits_ = 0, signals_ = 0;
  bool complete_ = true;
};

// Position of scores in the layer: head of K and V, first query `row`, first key `key`; excludes padding.
struct ScorePosition {
  uint32_t head, row, rows, key, keys;
};

enum class Accumulate : std::uint8_t { kOnly, kFirst, kMiddle, kLast };  // term of a sum over several matmuls
Accumulate place_of(uint32_t term, uint32_t terms);

// C = A.B^T with B given as n x k; `l0` is the sub-tile m0, n0, k0.
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                   const L0Tile& l0);
// C = A.B.
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0);
// One term of a sum over several matmuls. Until kLast, the sum stays in `partials` (FP32, or INT32 for INT8; shape of
// C).
Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                  const L0Tile& l0);
// O, or a term of it. If P is relative to its rows' maxima, sums are divided by P's row sums, which are an additional
// column of the partials (Runtime::partial_columns).
Command attend(const Matrix& p, const Matrix& v, const Matrix& o, const Matrix& partials, Accumulate place,
               const L0Tile& l0, bool scaled_by_block = false);
Command softmax(const Matrix& in, const Matrix& out);
Command copy(const Matrix& from, const Matrix& to);  // in either direction; shapes are equal
Command fence();                                     // waits and signals only

}  // namespace attnvp::firmware
