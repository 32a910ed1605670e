// One step of a layer as a job of its own: "gemm:512x2304x768" is the product of 512 x 768 and 768 x 2304 elements (rows,
// columns, depth), "softmax:4096x512" that of 4,096 rows of 512.
#pragma once

#include <optional>
#include <string>

#include "platform/config/network.h"

namespace attnvp::config {

// Nothing where the text begins otherwise. Throws ConfigError.
std::optional<Network> parse_step(const std::string& text);

Network gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth);
Network softmax_rows(std::uint32_t rows, std::uint32_t columns);

}  // namespace attnvp::config
