// A smaller layer of the same kind, that tells what a long one takes: half of its batches, heads or query rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mapping/bus.h"

namespace attnvp::mapping {

// What of a layer is dealt at a time.
struct Deal {
  std::uint32_t heads = 1, batches = 1;
  std::uint32_t rows = 1;  // of a head's queries, which share what comes from DRAM for them
  std::uint32_t core = 0;  // of those, where all cores take theirs side by side and then go on; 0: each by itself
};
Deal deal_of(const Job& job);

// Multiply-accumulates of one matmul; a core that has no more rows waits for those that have.
double work(const Job& job, const Deal& deal);
// Matmuls of the job, each of as many multiply-accumulates.
double products_of(const Job& job);

// Half of the layer's batches, or heads. False: there is no half.
bool halve_heads(Job& job, const Deal& deal);
// Or of its query rows.
bool halve(Job& job, const Deal& deal);
// Whether a look at so many commands is a rough one.
bool is_rough(std::size_t most);
// A sample for a look at `most` commands. For a rough look only where that has a half, too: what the one has and the
// other has not is what goes on, and of that a sample that is dealt all at once shows nothing. (Such as K and V that
// come again: of 300 layers' looks some were 20 times too low. By more commands 285 choices came out no better for it.)
bool make_smaller(Job& job, const Deal& deal, std::size_t most);

}  // namespace attnvp::mapping
