// What commands have made of rows that nothing has written. An array computes whole tiles, and rows behind the last
// one come to nothing as long as nobody stores them: rows of A become rows of C, and VEC goes row by row.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "platform/schedule/check/shadow.h"

namespace attnvp::schedule::check {

// Which rows of a command's result are blank, and whose fault that is.
struct BlankRows {
  std::vector<bool> row;
  LineId line = kNone;  // the command that has read what nothing has written
  std::uint32_t step = 0;

  bool any() const { return line != kNone; }
  bool all() const;
  void add(std::uint64_t rows, std::uint64_t first, std::uint64_t end, LineId by, std::uint32_t at);
};

class Blanks {
 public:
  // Rows of `region` that are blank, noted as rows of a result.
  void find(const Region& region, BlankRows& rows) const;
  // A command writes the region, these rows of it blank.
  void write(const Region& region, const BlankRows& rows);

 private:
  struct Bytes {
    std::uint64_t end;
    LineId line;
    std::uint32_t step;
  };
  void cut(std::uint64_t low, std::uint64_t high);
  std::map<std::uint64_t, Bytes> blank_;  // by their beginnings; they do not overlap
};

}  // namespace attnvp::schedule::check
