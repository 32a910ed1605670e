// Memoised simulation of bank states, since schedules repeat the same accesses. The result of a number of cycles is
// computed once for all states with the same key. The same holds for the state after a flow was added.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/memory/banked_scratchpad/bank_state.h"

namespace attnvp {

class BankCourse {
 public:
  BankCourse() { nodes_.reserve(kMost); }
  bool idle() const { return state_.flows().empty(); }
  // `cycles`: at most BankState::kHop.
  const std::vector<BankState::FlowStep>& go(std::uint64_t cycles);
  void add(const BankState::Flow& flow, std::uint32_t last);
  std::uint32_t remove(std::uint32_t slot);

 private:
  static constexpr std::size_t kMost = 16384;  // limit on stored keys
  struct Node;
  struct Hop {  // transition from a node
    std::uint64_t cycles;
    Node* to;
    std::vector<BankState::FlowStep> steps;
  };
  struct Addition {        // of a flow
    std::uint64_t stream;  // number of the stream
    std::int64_t gap;
    std::uint32_t slot, port, last;
    Node* to;
  };
  struct Node {  // all states with the same key
    BankState::Ports ports;
    std::vector<Hop> hops;
    std::vector<Addition> additions;
  };
  struct Hash {
    std::size_t operator()(const std::vector<std::uint64_t>& key) const;
  };

  Node& node();
  void leave_node();
  void follow(const Hop& hop);

  BankState state_;
  Node* node_ = nullptr;  // node of the state, if known; it then holds the ports, and those of the state are stale
  std::unordered_map<std::vector<std::uint64_t>, Node, Hash> nodes_;
  std::vector<std::uint64_t> key_;
  std::vector<BankState::FlowStep> steps_;
};

}  // namespace attnvp
