// How banks go on from a state, remembered: schedules do the same again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/banked_scratchpad/bank_state.h"

namespace attnvp {

class BankCourses {
 public:
  struct Node;
  struct Course {
    std::uint64_t cycles = 0;
    BankState::Events events;
    BankState after;
    Node* to = nullptr;  // of the state after, once known
  };
  // All states with the same key.
  struct Node {
    std::vector<std::unique_ptr<Course>> courses;
  };

  Node& of(const BankState& state);
  // At most kHop cycles.
  Course& course(Node& from, const BankState& state, std::uint64_t cycles);
  // Takes a course from a state of its node. Returns whether the state after is of the same node as the course's.
  bool follow(const Course& course, BankState& state);

  bool full() const { return nodes_.size() >= kMost; }
  void clear() { nodes_.clear(); }

 private:
  static constexpr std::size_t kMost = 16384;
  struct Hash {
    std::size_t operator()(const std::vector<std::uint64_t>& key) const;
  };
  std::unordered_map<std::vector<std::uint64_t>, Node, Hash> nodes_;
  std::vector<std::uint64_t> key_;
  BankState next_;
};

}  // namespace attnvp
