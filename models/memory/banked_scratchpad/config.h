// Parameters of L1 with kind `banked` alone.
#pragma once

#include <cstdint>

#include "models/keys/keys.h"

namespace attnvp {

enum class Swizzle : std::uint8_t { kNone, kXor };

struct BankConfig {
  std::uint64_t interleave_bytes = 0;  // 0: one word
  Swizzle swizzle = Swizzle::kNone;

  static void describe(config::Keys<BankConfig>& key) {
    using namespace config;
    using C = BankConfig;
    KeyInfo interleave = number("interleave", Unit::kBytes, 0, kMiB,
                                "with kind banked: bytes of a bank before the next one's, a multiple of "
                                "l1.bank_bandwidth, which is a bank's word; 0: a word");
    key(interleave, &C::interleave_bytes);
    key(choice("swizzle", {"none", "xor"},
               "with kind banked: whether the bank's number is combined with the address bits above it, so that rows "
               "a multiple of all banks apart begin in different ones"),
        &C::swizzle);
  }
};

}  // namespace attnvp
