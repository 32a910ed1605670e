// Tracker of the keys (rows of K) that columns of scores and probabilities belong to. Probabilities must be multiplied
// with the rows of V of the same keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

class Keys {
 public:
  using Row = std::optional<std::uint64_t>;  // row of a tensor, over all heads; none: another tensor, or unknown
  // Follows a command of a line, in a possible order of commands. The first row of its second operand is row of_k of K
  // or of_v of V. Returns an error or an empty string; unknown values are not checked.
  std::string follow(LineId line, const hal::Descriptor& command, Row of_k, Row of_v);

 private:
  struct Columns {
    Region region;
    std::uint64_t key;  // of the first column
    std::uint32_t element_bytes;
  };
  void add(const Columns& columns);
  void forget(const Region& region);
  void forget(const hal::Descriptor& command, int operand);
  void transfer(const hal::Descriptor& command);  // from its first operand to its second one
  Row at(std::uint64_t address) const;
  template <typename Visit>
  void each_in(const Region& region, const Visit& visit) const;

  std::multimap<std::uint64_t, Columns> columns_;                       // by address
  std::uint64_t longest_ = 0;                                           // longest region
  std::map<std::pair<LineId, std::uint32_t>, std::uint64_t> resident_;  // tiles in an array's registers
};

}  // namespace attnvp::schedule::check
