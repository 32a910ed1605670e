// Arbiter of a banked memory in which each bank delivers one word per cycle (bank_state.h). Cycles are computed when a
// later state is needed, and remembered, since schedules repeat the same accesses. moved() is always empty: finish()
// must be called again at the expected end.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/memory/banked_scratchpad/bank_state.h"
#include "models/memory/scratchpad/crossings.h"

namespace attnvp {

// Memoised simulation of bank states. The result of a number of cycles is computed once for all states with the same
// key. The same holds for the state after a flow was added.
class BankCourse {
 public:
  BankCourse() { nodes_.reserve(kMost); }
  bool idle() const { return state_.flows().empty(); }
  // `cycles`: at most BankState::kHop.
  const std::vector<BankState::FlowStep>& go(std::uint64_t cycles);
  void add(const BankState::BankFlow& flow, std::uint32_t last);
  std::uint32_t remove(std::uint32_t slot);

 private:
  static constexpr std::size_t kMost = 16384;  // limit on stored keys
  struct CourseNode;
  struct CourseTransition {  // transition from a node
    std::uint64_t cycles;
    CourseNode* to;
    std::vector<BankState::FlowStep> steps;
  };
  struct Addition {        // of a flow
    std::uint64_t stream;  // number of the stream
    std::int64_t gap;
    std::uint32_t slot, port, last;
    CourseNode* to;
  };
  struct CourseNode {  // all states with the same key
    BankState::Ports ports;
    std::vector<CourseTransition> hops;
    std::vector<Addition> additions;
  };
  struct CourseKeyHash {
    std::size_t operator()(const std::vector<std::uint64_t>& key) const;
  };

  CourseNode& node();
  void leave_node();
  void follow(const CourseTransition& hop);

  BankState state_;
  CourseNode* node_ =
      nullptr;  // node of the state, if known; it then holds the ports, and those of the state are stale
  std::unordered_map<std::vector<std::uint64_t>, CourseNode, CourseKeyHash> nodes_;
  std::vector<std::uint64_t> key_;
  std::vector<BankState::FlowStep> steps_;
};

class BankShare : public Arbiter {
 public:
  BankShare(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes, std::uint64_t base);

  std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const override;
  std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                   const Stream& stream) override;
  void close(std::uint64_t now, std::size_t slot) override;
  std::uint64_t finish(std::size_t slot, std::uint64_t now) override;
  double remaining(std::size_t slot, std::uint64_t now) override;
  void port_rates(std::vector<double>& rates) const override;
  std::uint64_t bank_cycles(std::size_t slot) const override;
  void reset() override;

  std::uint64_t busiest_bank_words() const;
  // Cycles in which a port waited for a bank, summed over ports.
  std::uint64_t conflict_cycles() const { return conflict_cycles_; }

 private:
  struct SharedFlow {
    bool active = false;
    std::uint32_t port = 0;
    std::uint64_t bytes = 0;
    std::shared_ptr<const StreamBeats> stream;
    std::uint64_t left = 0;  // beats
    std::uint64_t start = 0, pace_end = 0;
    std::uint64_t ended = 0;  // cycle after the last beat
    std::uint64_t held_before = 0;
  };
  struct SharedPort {
    std::uint32_t last = BankState::kNone;  // slot of the last beat
    std::uint64_t held = 0;                 // cycles in which a beat waited
  };

  void advance(std::uint64_t now);

  StreamCache streams_;
  std::uint64_t port_bytes_;
  std::vector<SharedFlow> flows_;  // by slot
  std::vector<SharedPort> ports_;
  BankCourse course_;      // of the open flows, up to now_
  std::uint64_t now_ = 0;  // earlier cycles are computed
  std::vector<std::uint64_t> bank_words_;
  std::uint64_t conflict_cycles_ = 0;
};

}  // namespace attnvp
