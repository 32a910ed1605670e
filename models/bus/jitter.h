// Random extra delays wherever hardware may take longer than the models do: on every access, after it and, where its
// initiator may wait, before it. They change when things happen and must never change what. A platform has them while
// its Context holds one of these.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <unordered_map>

namespace attnvp {

class Jitter {
 public:
  // Delays are whole periods of the platform's clock. Equal seeds give equal delays.
  Jitter(std::uint64_t seed, std::uint64_t period_fs);

  // For one access of an initiator's socket; most take nothing, some very long.
  sc_core::sc_time delay(const char* initiator) { return sc_core::sc_time::from_value(cycles(initiator) * period_fs_); }
  std::uint64_t cycles(const char* initiator);

 private:
  // Every initiator has parameters of its own, so that one lags behind the others for long.
  struct Initiator {
    std::uint64_t state = 0;
    std::uint32_t one_in = 0;     // accesses that are delayed; 0: none
    std::uint32_t most_bits = 0;  // by up to 2^most_bits cycles
  };
  Initiator& of(const char* name);

  std::uint64_t seed_, period_fs_;
  std::unordered_map<std::string, Initiator> initiators_;
};

}  // namespace attnvp
