// Interface of arbiters of a memory's ports. Times are whole cycles; a transfer ends at the end of the cycle in which
// its last byte crosses the port. A flow is one transfer.
#pragma once

#include <cstdint>
#include <vector>

#include "models/interconnect/bus/stream.h"

namespace attnvp {

class Arbiter {
 public:
  virtual ~Arbiter() = default;
  // Minimum cycles of a flow, without contention.
  virtual std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const = 0;
  // Starts a flow of `bytes` bytes of the stream's regions through `port`, spread evenly over at least `pace` cycles.
  // Returns its slot.
  virtual std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                           const Stream& stream) = 0;
  virtual void close(std::uint64_t now, std::size_t slot) = 0;

  // Expected end of the flow; before that cycle it may still move to a later one.
  virtual std::uint64_t finish(std::size_t slot, std::uint64_t now) = 0;
  virtual double remaining(std::size_t slot, std::uint64_t now) = 0;  // bytes still to transfer
  virtual double port_rate(std::uint32_t port) const = 0;             // currently granted bytes per cycle
  virtual std::uint64_t bank_cycles(std::size_t /*slot*/) const { return 0; }
  // Slots whose end changed in the last open() or close(), without the opened one.
  const std::vector<std::size_t>& moved() const { return moved_; }
  virtual void reset() {}

  // Groups of ports that share no bandwidth. A flow that is alone in its group takes alone_cycles(). 0: every flow must
  // be opened.
  virtual std::size_t groups() const { return 0; }
  virtual std::size_t group_of(std::uint32_t /*port*/) const { return 0; }

 protected:
  std::vector<std::size_t> moved_;
};

}  // namespace attnvp
