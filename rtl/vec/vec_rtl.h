// Interfaces and commands of the Verilated blocks without Verilator's headers, which conflict with SystemC's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/arith/half.h"

namespace attnvp::rtl {

// Commands of vec_unit.sv and vec_linear.sv.

// Bits of cmd_flags.
enum VecFlags : std::uint8_t {
  kFeedWhole = 0,  // the row fits into the buffers and is fed once
  kFeedMax = 1,    // longer rows are fed three times
  kFeedSum = 2,
  kFeedOut = 3,
  kOnline = 4,
  kFirst = 8,    // online: no earlier running maximum
  kScalar = 16,  // online: the sum is element 0, exact
  kGiven = 32,   // online: the maximum is the running one
};

struct VecCommand {
  std::uint8_t flags = 0;
  std::uint32_t length = 0;     // elements
  arith::Half running_max = 0;  // online
};

// x * a + z * b, or x / a; FP32, with an a and a b per element.
struct LinearCommand {
  bool divide = false;
  std::uint32_t length = 0;  // elements
};

// Interface of Verilated blocks: a clock, and wires to observe.
class RtlBlock {
 public:
  struct Wire {
    std::string path;  // dotted, below the block
    unsigned bits;
  };
  using WireHook = std::function<void(std::size_t wire, std::uint64_t value)>;

  virtual ~RtlBlock() = default;
  virtual void rise() = 0;
  virtual void fall() = 0;

  // Wires of at most 64 bits.
  virtual const std::vector<Wire>& wires() const = 0;
  // Reports all changes since the last call; the first call reports all wires.
  virtual void changes(const WireHook& change) = 0;
};

// vec_unit: softmax and its online form.
class VecRtl : public RtlBlock {
 public:
  // Effects of a clock edge.
  struct VecEdge {
    bool takes_command = false, takes_word = false;
    bool row_taken = false;
    bool gives_beat = false, last_beat = false;
  };

  // Available widths in elements per cycle, in ascending order.
  static const std::vector<std::uint64_t>& widths();
  static std::unique_ptr<VecRtl> make(std::uint64_t elements_per_cycle);

  virtual std::size_t lanes() const = 0;
  virtual std::size_t word() const = 0;    // elements
  virtual std::size_t buffer() const = 0;  // elements of the longest row that is fed only once

  // One cycle: offers inputs (nullptr: none; a word has word() elements), accepts all output, then clocks.
  virtual VecEdge settle(const VecCommand* command, const arith::Half* word) = 0;
  virtual void beat(arith::Half* out, std::size_t count) const = 0;  // after settle(), like the functions below
  // With the last beat of an online row: its maximum; its sum and scale as FP32.
  virtual arith::Half row_max() const = 0;
  virtual std::uint32_t row_sum() const = 0;
  virtual std::uint32_t row_scale() const = 0;
};

// vec_linear: x * a + z * b and x / a.
class LinearRtl : public RtlBlock {
 public:
  struct LinearEdge {
    bool takes_command = false, takes_beat = false;
    bool gives_beat = false, last_beat = false;
  };

  static std::unique_ptr<LinearRtl> make();
  virtual std::size_t lanes() const = 0;
  // See VecRtl::settle(); a beat has lanes() elements.
  virtual LinearEdge settle(const LinearCommand* command, const std::uint32_t* x, const std::uint32_t* z,
                            const std::uint32_t* a, const std::uint32_t* b) = 0;
  virtual void beat(std::uint32_t* out, std::size_t count) const = 0;
};

}  // namespace attnvp::rtl
