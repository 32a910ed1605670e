// Interfaces of the Verilated blocks without Verilator's headers, which conflict with SystemC's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rtl/vec/rtl_block.h"
#include "rtl/vec/vec_command.h"

namespace attnvp::rtl {

// vec_unit: softmax and its online form.
class VecRtl : public RtlBlock {
 public:
  // Effects of a clock edge.
  struct Edge {
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
  virtual Edge settle(const VecCommand* command, const arith::Half* word) = 0;
  virtual void beat(arith::Half* out, std::size_t count) const = 0;  // after settle(), like the functions below
  // With the last beat of an online row: its maximum; its sum and scale as FP32.
  virtual arith::Half row_max() const = 0;
  virtual std::uint32_t row_sum() const = 0;
  virtual std::uint32_t row_scale() const = 0;
};

// vec_linear: x * a + z * b and x / a.
class LinearRtl : public RtlBlock {
 public:
  struct Edge {
    bool takes_command = false, takes_beat = false;
    bool gives_beat = false, last_beat = false;
  };

  static std::unique_ptr<LinearRtl> make();
  virtual std::size_t lanes() const = 0;
  // See VecRtl::settle(); a beat has lanes() elements.
  virtual Edge settle(const LinearCommand* command, const std::uint32_t* x, const std::uint32_t* z,
                      const std::uint32_t* a, const std::uint32_t* b) = 0;
  virtual void beat(std::uint32_t* out, std::size_t count) const = 0;
};

}  // namespace attnvp::rtl
