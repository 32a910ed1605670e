#include "models/interconnect/bus/jitter.h"

#include <iterator>
#include <string_view>

namespace attnvp {

namespace {

// SplitMix64: https://prng.di.unimi.it/splitmix64.c (public domain)
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

}  // namespace

Jitter::Jitter(std::uint64_t seed, std::uint64_t period_fs) : seed_(mixed(seed)), period_fs_(period_fs) {}

Jitter::Initiator& Jitter::of(const char* name) {
  const auto [at, fresh] = initiators_.try_emplace(name);
  if (!fresh) return at->second;
  Initiator& i = at->second;
  i.state = seed_;
  for (const char c : std::string_view(name)) i.state = mixed(i.state ^ static_cast<unsigned char>(c));
  constexpr Initiator kParameters[] = {{0, 0, 0}, {0, 2, 4}, {0, 4, 10}, {0, 8, 16}, {0, 64, 18}};
  const Initiator& parameters = kParameters[i.state % std::size(kParameters)];
  i.one_in = parameters.one_in;
  i.most_bits = parameters.most_bits;
  return i;
}

std::uint64_t Jitter::cycles(const char* name) {
  Initiator& i = of(name);
  if (i.one_in == 0) return 0;
  i.state = mixed(i.state);
  if (i.state % i.one_in != 0) return 0;
  const std::uint64_t bits = (i.state >> 32) % (i.most_bits + 1);  // long delays are rare
  return (i.state >> 40) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace attnvp
