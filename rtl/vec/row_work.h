// Rows in a Verilated block and their progress. Results are dense; empty without data.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/arith/half.h"
#include "models/engine/row_mask.h"

namespace attnvp::rtl {

constexpr std::uint64_t kNever = UINT64_MAX;

struct RowWork {
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t loaded = 0;            // rows whose last element the block has taken
  std::uint64_t taken = 0;             // rows that the block has finished reading
  std::uint64_t finished = 0;          // rows whose last result is available
  std::uint64_t executed_at = kNever;  // cycle in which it left the execute stage and cannot be restarted

  // Earlier descriptor that writes bytes which this one reads or writes.
  struct Source {
    std::shared_ptr<const RowWork> work;
    bool row_by_row;  // row r depends on row r of the source only
  };
  std::vector<Source> sources;

  void finish(std::uint64_t until, std::uint64_t now) {
    if (finished_at_ != now) finished_before_ = finished;
    finished = until;
    finished_at_ = now;
  }
  std::uint64_t finished_before(std::uint64_t now) const { return finished_at_ < now ? finished : finished_before_; }

  // True if a block may read `row` in cycle `now`: its sources were available in an earlier cycle.
  bool ready(std::uint64_t row, std::uint64_t now) const {
    for (const Source& source : sources) {
      const RowWork& s = *source.work;
      if (s.executed_at >= now || s.finished_before(now) <= (source.row_by_row ? row : s.rows - 1)) return false;
    }
    return true;
  }

 private:
  std::uint64_t finished_at_ = 0, finished_before_ = 0;  // cycle of the last change, and the value before
};

// Rows in L1 at a distance of `stride` bytes; nullptr: no data, zeros are fed.
struct StridedRows {
  const unsigned char* first = nullptr;
  std::uint64_t stride = 0;
  const unsigned char* at(std::uint64_t row) const { return first + row * stride; }
};

// Softmax, plain or online.
struct VecRowWork : RowWork {
  std::uint8_t flags = 0;  // kOnline, kFirst, kScalar, kGiven
  StridedRows in;
  StridedRows max_in;                         // online: running maxima, one per row
  std::vector<arith::Half> out;               // rows x columns; masked rows have their visible elements only
  std::vector<RowMask::VisibleColumns> seen;  // masked: visible columns of each row
  // Elements of a row that are fed. A row without visible elements feeds one -inf, which does not change online
  // results.
  std::uint64_t fed(std::uint64_t row) const {
    return seen.empty() ? columns : seen[row].count() > 0 ? seen[row].count() : 1;
  }
  struct OfRow {
    arith::Half max = 0;
    std::uint32_t sum = 0, scale = 0;  // FP32
  };
  std::vector<OfRow> of_row;  // online
};

// x * a + z * b, or x / a, with one a and one b per row.
struct LinearWork : RowWork {
  // Operand in L1, or a constant for all elements.
  struct LinearOperand {
    StridedRows rows;
    std::uint32_t otherwise = 0;  // FP32
  };
  bool divide = false;
  LinearOperand x, z, a, b;
  std::shared_ptr<const VecRowWork> scales;  // source of a: the sums of this work
  std::uint64_t fed = 0;                     // rows that may be read so far
  std::vector<std::uint32_t> out;            // rows x columns
};

}  // namespace attnvp::rtl
