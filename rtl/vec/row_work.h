// Rows on their way through a Verilated block, and how far they are. Results are dense; empty without data.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/arith/half.h"
#include "models/engine/row_mask.h"

namespace attnvp::rtl {

struct RowWork {
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t loaded = 0;    // rows whose last element the block has taken
  std::uint64_t taken = 0;     // rows that it will not read any more
  std::uint64_t finished = 0;  // rows whose last result is there
};

// In L1, a row every `stride` bytes; nullptr: no data, zeros are fed.
struct Rows {
  const unsigned char* first = nullptr;
  std::uint64_t stride = 0;
  const unsigned char* at(std::uint64_t row) const { return first + row * stride; }
};

// Softmax, plain or online.
struct VecWork : RowWork {
  std::uint8_t flags = 0;  // kOnline, kFirst, kScalar, kGiven
  Rows in;
  Rows max_in;                         // online: the running maxima, one a row
  std::vector<arith::Half> out;        // rows x columns; of what a row sees, one behind the other
  std::vector<RowMask::Columns> seen;  // masked: of each row
  // Elements of a row that are fed: what sees nothing gets one of -inf, which leaves the online form's results alone.
  std::uint64_t fed(std::uint64_t row) const {
    return seen.empty() ? columns : seen[row].count() > 0 ? seen[row].count() : 1;
  }
  struct OfRow {
    arith::Half max = 0;
    std::uint32_t sum = 0, scale = 0;  // FP32
  };
  std::vector<OfRow> of_row;           // online
  std::uint64_t last_finished_at = 0;  // cycle
};

// x * a + z * b, or x / a, with one a and b per row.
struct LinearWork : RowWork {
  // What is nowhere in L1 is the same for all.
  struct Operand {
    Rows rows;
    std::uint32_t otherwise = 0;  // FP32
  };
  bool divide = false;
  Operand x, z, a, b;
  std::shared_ptr<const VecWork> scales;  // a is the sum that comes out of there
  std::vector<std::uint32_t> out;         // rows x columns
};

}  // namespace attnvp::rtl
