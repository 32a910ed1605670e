// Addresses of a job's tensors that firmware looks up, and names of queues, operations and addresses in a command
// stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Address range [low, high).
struct ByteRange {
  std::uint64_t low, high;
};
// Rows of the KV cache that firmware writes before attention (hal::kAppends) or as a product's result
// (hal::kStoresCache); the host does not initialise them. In order of addresses; empty: nothing is appended.
std::vector<ByteRange> appended(const Job& job);
// End of what the host initialises, from the layer's first tensor on.
std::uint64_t end_of_given(const Job& job);
// Address of the new rows of K; 0: none.
hal::Append append_of(const Job& job);

// Address from which firmware reads the bias (hal::Addends); 0: none.
std::uint64_t addends_of(const Job& job);

// Row operations that a matrix product includes; zeros: none.
hal::FusedProduct fused_of(const Job& job);
hal::CachedColumns cached_columns_of(const Job& job);  // that a product stores; zeros: none
hal::SecondProduct second_of(const Job& job);          // without columns: none
hal::Weights weights_of(const Job& job);               // of type kNone: as the other operand

std::string name_of(const Queue& queue);                     // "core0.mac", "dma1"
std::string operation_text(const hal::Descriptor& command);  // "matmul_abt 64x512x64"
// A tensor of the layer with an offset in bytes, L1 ("c2.L1" for another cluster's), or "scratch" behind the tensors.
std::string place_text(const Job& job, std::uint32_t cluster, std::uint64_t address);

}  // namespace attnvp::schedule
