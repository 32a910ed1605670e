// Trackers of the contents of memory: the keys that columns of scores belong to, and uninitialised rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/schedule/check/shadow.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Tracker of the keys (rows of K) that columns of scores and probabilities belong to. Probabilities must be multiplied
// with the rows of V of the same keys.
class KeyTracker {
 public:
  using TensorRow = std::optional<std::uint64_t>;  // row of a tensor, over all heads; none: another tensor, or unknown
  // Follows a command of a line, in a possible order of commands. The first row of its second operand is row of_k of K
  // or of_v of V. Returns an error or an empty string; unknown values are not checked.
  std::string follow(LineId line, const hal::Descriptor& command, TensorRow of_k, TensorRow of_v);

 private:
  struct KeyColumns {
    Region region;
    std::uint64_t key;  // of the first column
    std::uint32_t element_bytes;
  };
  void add(const KeyColumns& columns);
  void forget(const Region& region);
  void forget(const hal::Descriptor& command, int operand);
  void transfer(const hal::Descriptor& command);  // from its first operand to its second one
  TensorRow at(std::uint64_t address) const;
  template <typename Visit>
  void each_in(const Region& region, const Visit& visit) const;

  std::multimap<std::uint64_t, KeyColumns> columns_;                    // by address
  std::uint64_t longest_ = 0;                                           // longest region
  std::map<std::pair<LineId, std::uint32_t>, std::uint64_t> resident_;  // tiles in an array's registers
};

// Uninitialised rows of a command's result, and the command that caused them.
struct BlankRows {
  std::vector<bool> row;
  LineId line = kNone;  // command that read unwritten memory
  std::uint32_t step = 0;

  bool any() const { return line != kNone; }
  bool all() const;
  void add(std::uint64_t rows, std::uint64_t first, std::uint64_t end, LineId by, std::uint32_t at);
};

// Tracker of uninitialised rows derived from memory that was never written. An array computes whole tiles; invalid rows
// behind the last valid row are harmless unless they are stored. Rows of A become rows of C; VEC works row by row.
class Blanks {
 public:
  // Adds the uninitialised rows of `region` as rows of a result.
  void find(const Region& region, BlankRows& rows) const;
  // Records that a command writes the region and which of its rows are uninitialised.
  void write(const Region& region, const BlankRows& rows);

 private:
  struct BlankBytes {
    std::uint64_t end;
    LineId line;
    std::uint32_t step;
  };
  void cut(std::uint64_t low, std::uint64_t high);
  std::map<std::uint64_t, BlankBytes> blank_;  // by start address; disjoint
};

}  // namespace attnvp::schedule::check
