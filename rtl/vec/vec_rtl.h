// The Verilated vec_units by width, without Verilator's headers (which do not go with SystemC's).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/trace/guest.h"
#include "rtl/vec/vec_command.h"

namespace attnvp::rtl {

class VecRtl {
 public:
  // What a clock edge does.
  struct Edge {
    bool takes_command = false, takes_word = false;
    bool row_taken = false;
    bool gives_beat = false, last_beat = false;
  };

  // Elements per cycle for which there is one, in order.
  static const std::vector<std::uint64_t>& widths();
  static std::unique_ptr<VecRtl> make(std::uint64_t elements_per_cycle);
  virtual ~VecRtl() = default;

  virtual std::size_t lanes() const = 0;
  virtual std::size_t word() const = 0;    // elements
  virtual std::size_t buffer() const = 0;  // elements of the longest row that comes only once

  // A cycle: offers (nullptr: none; a word has word() elements), with whatever comes out taken; then the edge; then,
  // where anyone looks, the other edge.
  virtual Edge settle(const VecCommand* command, const arith::Half* word) = 0;
  virtual void beat(arith::Half* out, std::size_t count) const = 0;  // after settle(), as what follows
  // With an online row's last beat: its maximum, and as FP32 the sum and the scale.
  virtual arith::Half row_max() const = 0;
  virtual std::uint32_t row_sum() const = 0;
  virtual std::uint32_t row_scale() const = 0;
  virtual void rise() = 0;
  virtual void fall() = 0;

  virtual TraceGuest& guest() = 0;
  virtual bool traced() const = 0;
  virtual void dump(std::uint64_t time) = 0;
};

}  // namespace attnvp::rtl
