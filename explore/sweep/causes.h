// Why jobs of a sweep did not end well, as few sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::explore {

struct Cause {
  std::uint64_t jobs = 0;
  std::string example;  // the first of its sentences in alphabetical order
};

// Sentences that differ only in their numbers, or in whose job it was ("NETWORK on MACHINE with DATAFLOW: ..."), have
// one cause. Most frequent first.
std::vector<Cause> causes_of(const std::vector<std::string>& sentences);

}  // namespace attnvp::explore
