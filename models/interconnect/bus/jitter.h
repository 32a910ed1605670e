// Random extra delays for tests (`run --jitter SEED`): after each access, and before it if the initiator can wait. They
// change times and must not change results. Active while Context::jitter is set.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <unordered_map>

namespace attnvp {

class Jitter {
 public:
  // Delays are whole clock periods of the platform. Equal seeds give equal delays.
  Jitter(std::uint64_t seed, std::uint64_t period_fs);

  // Delay of one access of an initiator's socket: usually zero, rarely very long.
  sc_core::sc_time delay(const char* initiator) { return sc_core::sc_time::from_value(cycles(initiator) * period_fs_); }
  std::uint64_t cycles(const char* initiator);

 private:
  // Each initiator has its own parameters, so that one initiator can lag behind the others for a long time.
  struct Initiator {
    std::uint64_t state = 0;
    std::uint32_t one_in = 0;     // one of so many accesses is delayed; 0: none
    std::uint32_t most_bits = 0;  // by up to 2^most_bits cycles
  };
  Initiator& of(const char* name);

  std::uint64_t seed_, period_fs_;
  std::unordered_map<std::string, Initiator> initiators_;
};

}  // namespace attnvp
