// Bytes of L0 that each of a core's two engines has.
#pragma once

#include <cstdint>

namespace attnvp {

constexpr std::uint64_t l0_share_bytes(std::uint64_t l0_bytes) { return l0_bytes / 2; }

}  // namespace attnvp
