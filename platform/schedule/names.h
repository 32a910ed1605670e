// Names of queues, operations and addresses in a command stream, for all its readers.
#pragma once

#include <cstdint>
#include <string>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

std::string name_of(const Queue& queue);                     // "core0.mac", "dma1"
std::string operation_text(const hal::Descriptor& command);  // "matmul_abt 64x512x64"
// A tensor of the layer with an offset in bytes, L1 ("c2.L1" for another cluster's), or "scratch" behind the tensors.
std::string place_text(const Job& job, std::uint32_t cluster, std::uint64_t address);

}  // namespace attnvp::schedule
