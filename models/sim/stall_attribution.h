// Stall attribution of an engine: every cycle in which the engine does not compute has exactly one reason. Unit: cycles
// of the platform clock.
//
// A wait for an event is attributed to the descriptor that signalled it. If that descriptor wrote what the waiting one
// reads, the reason is an operand. If the waiting one overwrites what the signalling one accessed, the reason is space.
// Otherwise the reason is order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/sim/state_visitor.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

struct StallReason {
  enum StallKind : std::uint8_t {
    kProcessor,  // the queue is empty
    kFill,       // the first operands are being loaded
    kDrain,      // results of earlier descriptors are being stored
    kOperand,    // waits for an operand that `by` produces
    kSpace,      // waits for space that `by` still uses
    kOrder,      // ordered after `by` without sharing bytes
    kPending,    // waits for an event that was not signalled yet
  };
  StallKind kind = kProcessor;
  Operation by = Operation::kNone;
  std::uint8_t tag = 0;  // tag of the memory range that a load read (SignallingDescriptors::tag), 0: none
  bool operator==(const StallReason& o) const { return kind == o.kind && by == o.by && tag == o.tag; }
};

// Last signalling descriptor of every event of a platform.
class SignallingDescriptors {
 public:
  // Tagged ranges of addresses; the owner of the table defines the tags.
  struct TaggedRange {
    std::uint64_t begin, end;
    std::uint8_t tag;
  };
  std::vector<TaggedRange> ranges;
  bool keeps_shapes = false;  // of the signalling descriptors, for visit_state()

  void signalled(std::uint64_t event, const hal::Descriptor& giver) {
    const std::size_t cluster = cluster_of(event), number = number_of(event);
    if (cluster >= last_.size()) last_.resize(cluster + 1);
    if (number >= last_[cluster].size()) last_[cluster].resize(number + 1);
    last_[cluster][number] = {true, giver, keeps_shapes ? shape_of(giver) : 0};
  }
  // Digest of everything that the time and the stall reasons of a descriptor depend on. An address in DRAM
  // counts by its tag alone, if the descriptor has one such operand.
  std::uint64_t shape_of(const hal::Descriptor& descriptor) const;
  std::uint8_t tag(std::uint64_t address) const;
  void visit_state(sim::StateVisitor& visitor) const;
  // Reason of a wait for the event whose register has that address.
  StallReason reason_of(std::uint64_t event, const hal::Descriptor& waiting) const;
  // Reason why `waiting` waited for `giver`.
  StallReason between(const hal::Descriptor& giver, const hal::Descriptor& waiting) const;
  void clear() { last_.clear(); }

 private:
  struct LastSignal {
    bool given = false;
    hal::Descriptor by{};
    std::uint64_t shape = 0;
  };
  static std::size_t cluster_of(std::uint64_t event) { return (event - hal::kControlBase) / hal::kClusterStride; }
  static std::size_t number_of(std::uint64_t event) {
    return (event - hal::kControlBase) % hal::kClusterStride / hal::kEventStride;
  }
  std::vector<std::vector<LastSignal>> last_;  // by cluster, by event number
};

// Stall attribution of one engine, in cycles of the platform clock.
class StallAttribution {
 public:
  enum UnitState : std::uint8_t {
    kIdle,
    kBusy,
    kBlocked
  };  // blocked: done, but earlier results are still being stored
  using StallLine = std::pair<StallReason, std::uint64_t>;

  void reset(std::uint64_t now);
  // From now on idle cycles have the reason `cause`.
  void waits(const StallReason& cause, std::uint64_t now) {
    settle(now);
    front_ = cause;
  }
  // True if earlier cycles have the reason kPending; resolve() replaces it by `cause`.
  bool pends(std::uint64_t now) {
    settle(now);
    return pending_ > 0;
  }
  void resolve(const StallReason& cause) {
    add(cause, pending_);
    pending_ = 0;
  }
  void unit(UnitState unit, std::uint64_t now) {
    settle(now);
    unit_ = unit;
  }
  const std::vector<StallLine>& lines() const { return lines_; }
  void visit_state(sim::StateVisitor& visitor);

 private:
  void settle(std::uint64_t now);
  void add(const StallReason& cause, std::uint64_t cycles);

  UnitState unit_ = kIdle;
  StallReason front_;
  std::uint64_t since_ = 0, pending_ = 0;
  std::vector<StallLine> lines_;
};

// Time of one unit of a module, for reports.
struct StallCounts {
  std::string unit;  // name within the module: "channel0"
  std::uint64_t busy_cycles = 0;
  std::uint64_t stall_cycles = 0;   // busy cycles beyond the unit's own need,
  std::uint64_t bank_cycles = 0;    // of which L1 bank conflicts
  std::uint64_t ragged_cycles = 0;  // other busy cycles, lost at ragged edges
  std::uint64_t bytes = 0;          // moved in this time
  std::vector<StallAttribution::StallLine> idle;
};

}  // namespace attnvp
