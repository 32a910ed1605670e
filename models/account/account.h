// Where an engine's time goes while it does not compute: every cycle has one cause. What an engine waits for is told by
// the descriptor that gave the token: when it wrote what the waiting one reads, that is an operand; when the waiting
// one writes where it has read or written, that is space; otherwise the two are only kept in order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/trace/operation.h"

namespace attnvp {

struct Cause {
  enum Kind : std::uint8_t {
    kProcessor,  // nothing in the queue
    kFill,       // the first operands on their way into the engine
    kDrain,      // results of the descriptors before on their way out
    kOperand,    // made by `by`
    kSpace,      // that `by` still uses
    kOrder,      // of the schedule, by `by`
    kPending,    // an event whose token is not there yet
  };
  Kind kind = kProcessor;
  Operation by = Operation::kNone;
  std::uint8_t tag = 0;  // of the memory range that a load came from (Givers::tag), 0 for none
  bool operator==(const Cause& o) const { return kind == o.kind && by == o.by && tag == o.tag; }
};

// Who gave an event its last token; one table for a platform.
class Givers {
 public:
  // Ranges of memory have tags, whose meaning is the owner's business.
  struct Range {
    std::uint64_t begin, end;
    std::uint8_t tag;
  };
  std::vector<Range> ranges;

  void gave(std::uint64_t event, const hal::Descriptor& giver) {
    const std::size_t cluster = cluster_of(event), number = number_of(event);
    if (cluster >= last_.size()) last_.resize(cluster + 1);
    if (number >= last_[cluster].size()) last_[cluster].resize(number + 1);
    last_[cluster][number] = {true, giver};
  }
  // By the address of the event's register.
  Cause cause(std::uint64_t event, const hal::Descriptor& waiting) const;
  // Why a descriptor waited for another that gave the event.
  Cause between(const hal::Descriptor& giver, const hal::Descriptor& waiting) const;
  void clear() { last_.clear(); }

 private:
  struct Last {
    bool given = false;
    hal::Descriptor by{};
  };
  std::uint8_t tag(std::uint64_t address) const;
  static std::size_t cluster_of(std::uint64_t event) { return (event - hal::kControlBase) / hal::kClusterStride; }
  static std::size_t number_of(std::uint64_t event) {
    return (event - hal::kControlBase) % hal::kClusterStride / hal::kEventStride;
  }
  std::vector<std::vector<Last>> last_;  // of each cluster's events
};

// One engine's, in cycles of the platform's clock.
class Account {
 public:
  enum Unit : std::uint8_t { kIdle, kBusy, kBlocked };  // blocked: done, but the results before have not left
  using Line = std::pair<Cause, std::uint64_t>;

  void reset(std::uint64_t now);
  // From now on the unit, if idle, is so because of `cause`.
  void waits(const Cause& cause, std::uint64_t now) {
    settle(now);
    front_ = cause;
  }
  // Whether there was a wait whose cause is not known yet; it was for `cause`.
  bool pends(std::uint64_t now) {
    settle(now);
    return pending_ > 0;
  }
  void resolve(const Cause& cause) {
    add(cause, pending_);
    pending_ = 0;
  }
  void unit(Unit unit, std::uint64_t now) {
    settle(now);
    unit_ = unit;
  }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  void settle(std::uint64_t now);
  void add(const Cause& cause, std::uint64_t cycles);

  Unit unit_ = kIdle;
  Cause front_;
  std::uint64_t since_ = 0, pending_ = 0;
  std::vector<Line> lines_;
};

// An account as a module shows it.
struct Ledger {
  std::string unit;  // of the module: "channel0"
  std::uint64_t busy_cycles = 0;
  std::uint64_t stall_cycles = 0;   // of these, beyond what the unit itself needed,
  std::uint64_t bank_cycles = 0;    // of which because L1's banks were taken
  std::uint64_t ragged_cycles = 0;  // of the others, as much as was left unused at edges
  std::uint64_t bytes = 0;          // moved meanwhile
  std::vector<Account::Line> idle;
};

}  // namespace attnvp
