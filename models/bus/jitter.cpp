#include "models/bus/jitter.h"

#include <string_view>
#include <unordered_map>

namespace attnvp::jitter {

namespace {

// SplitMix64: https://prng.di.unimi.it/splitmix64.c (public domain)
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

// Every initiator has a temper of its own, so that one lags behind the others for long.
struct Initiator {
  std::uint64_t state = 0;
  std::uint32_t one_in = 0;     // accesses that are delayed; 0: none
  std::uint32_t most_bits = 0;  // by up to 2^most_bits cycles
};

std::uint64_t seed_ = 0, period_fs_ = 1;
std::unordered_map<std::string, Initiator> initiators_;

Initiator& of(const char* name) {
  const auto [at, fresh] = initiators_.try_emplace(name);
  if (!fresh) return at->second;
  Initiator& i = at->second;
  i.state = seed_;
  for (const char c : std::string_view(name)) i.state = mixed(i.state ^ static_cast<unsigned char>(c));
  constexpr Initiator kTempers[] = {{0, 0, 0}, {0, 2, 4}, {0, 4, 10}, {0, 8, 16}, {0, 64, 18}};
  const Initiator& temper = kTempers[i.state % std::size(kTempers)];
  i.one_in = temper.one_in;
  i.most_bits = temper.most_bits;
  return i;
}

}  // namespace

void begin(std::uint64_t seed, std::uint64_t period_fs) {
  seed_ = mixed(seed);
  period_fs_ = period_fs;
  initiators_.clear();
  on = true;
}

void end() { on = false; }

std::uint64_t cycles(const char* name) {
  Initiator& i = of(name);
  if (i.one_in == 0) return 0;
  i.state = mixed(i.state);
  if (i.state % i.one_in != 0) return 0;
  const std::uint64_t bits = (i.state >> 32) % (i.most_bits + 1);  // long delays are rare
  return (i.state >> 40) & ((std::uint64_t{1} << bits) - 1);
}

sc_core::sc_time delay(const char* name) { return sc_core::sc_time::from_value(cycles(name) * period_fs_); }

}  // namespace attnvp::jitter
