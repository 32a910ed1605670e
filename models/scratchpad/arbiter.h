// Who moves how much through a memory's ports, and until when. Times are whole cycles; what crosses a port ends at the
// end of the cycle in which its last byte moves.
#pragma once

#include <cstdint>
#include <vector>

#include "models/bus/stream.h"

namespace attnvp {

class Arbiter {
 public:
  virtual ~Arbiter() = default;
  // Cycles of a flow that nobody disturbs; it never takes fewer.
  virtual std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const = 0;
  // Starts moving what the regions say, `bytes` in all, through `port`, at best evenly over `pace` cycles. Returns the
  // flow's slot.
  virtual std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                           const Stream& stream) = 0;
  virtual void close(std::uint64_t now, std::size_t slot) = 0;

  // When it is over. As long as that is to come it may turn out to be later.
  virtual std::uint64_t finish(std::size_t slot, std::uint64_t now) = 0;
  virtual double remaining(std::size_t slot, std::uint64_t now) = 0;  // bytes still to move
  virtual double port_rate(std::uint32_t port) const = 0;             // bytes per cycle granted at present
  // Cycles of the flow in which its port waited for a bank.
  virtual std::uint64_t bank_cycles(std::size_t /*slot*/) const { return 0; }
  // Slots whose finish changed in the last open() or close(), the opened one not among them.
  const std::vector<std::size_t>& moved() const { return moved_; }
  virtual void reset() {}

  // Ports of different groups are never in each other's way, and a flow that is alone in its group takes
  // alone_cycles(). None: it has to see every flow.
  virtual std::size_t groups() const { return 0; }
  virtual std::size_t group_of(std::uint32_t /*port*/) const { return 0; }

 protected:
  std::vector<std::size_t> moved_;
};

}  // namespace attnvp
