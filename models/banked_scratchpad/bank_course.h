// How the banks go on, with a memory: schedules do the same again and again. What happens in so many cycles is worked
// out once for all states that have the same key, and so is which state it is when a flow is added.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/banked_scratchpad/bank_state.h"

namespace attnvp {

class BankCourse {
 public:
  BankCourse() { nodes_.reserve(kMost); }
  bool idle() const { return state_.flows().empty(); }
  // At most BankState::kHop cycles.
  const std::vector<BankState::Step>& go(std::uint64_t cycles);
  void add(const BankState::Flow& flow, std::uint32_t last);
  std::uint32_t remove(std::uint32_t slot);

 private:
  static constexpr std::size_t kMost = 16384;  // keys that are kept
  struct Node;
  struct Hop {  // from a node
    std::uint64_t cycles;
    Node* to;
    std::vector<BankState::Step> steps;
  };
  struct Addition {        // of a flow
    std::uint64_t stream;  // its number
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
  Node* node_ = nullptr;  // the state's, if known; the ports are the node's then, those of the state are not kept up
  std::unordered_map<std::vector<std::uint64_t>, Node, Hash> nodes_;
  std::vector<std::uint64_t> key_;
  std::vector<BankState::Step> steps_;
};

}  // namespace attnvp
