// Tracker of uninitialised rows derived from memory that was never written. An array computes whole tiles; invalid rows
// behind the last valid row are harmless unless they are stored. Rows of A become rows of C; VEC works row by row.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "platform/schedule/check/shadow.h"

namespace attnvp::schedule::check {

// Uninitialised rows of a command's result, and the command that caused them.
struct BlankRows {
  std::vector<bool> row;
  LineId line = kNone;  // command that read unwritten memory
  std::uint32_t step = 0;

  bool any() const { return line != kNone; }
  bool all() const;
  void add(std::uint64_t rows, std::uint64_t first, std::uint64_t end, LineId by, std::uint32_t at);
};

class Blanks {
 public:
  // Adds the uninitialised rows of `region` as rows of a result.
  void find(const Region& region, BlankRows& rows) const;
  // Records that a command writes the region and which of its rows are uninitialised.
  void write(const Region& region, const BlankRows& rows);

 private:
  struct Bytes {
    std::uint64_t end;
    LineId line;
    std::uint32_t step;
  };
  void cut(std::uint64_t low, std::uint64_t high);
  std::map<std::uint64_t, Bytes> blank_;  // by start address; disjoint
};

}  // namespace attnvp::schedule::check
