// Which keys the columns of scores and of probabilities stand for: those whose rows of K the scores are products with.
// Probabilities are to be multiplied with the rows of V of the same keys.
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
  using Row = std::optional<std::uint64_t>;  // of a tensor, over all its heads; nothing: of another one, or not known
  // Of a line's command, in an order in which commands can be; its second operand's first row is one of K, or of V.
  // What is wrong with it, or nothing; what is not followed is not judged.
  std::string follow(LineId line, const hal::Descriptor& command, Row of_k, Row of_v);

 private:
  struct Columns {
    Region region;
    std::uint64_t key;  // of the first one
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
  std::uint64_t longest_ = 0;                                           // of their regions
  std::map<std::pair<LineId, std::uint32_t>, std::uint64_t> resident_;  // of tiles in an array's registers
};

}  // namespace attnvp::schedule::check
