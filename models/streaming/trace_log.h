// Waveforms of nodes that run ahead of each other: changes are recorded with their cycle, then played to the signals in
// order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sim/module.h"

namespace attnvp::stream {

class TraceLog : public sc_core::sc_module {
 public:
  TraceLog(sc_core::sc_module_name name, const Clock& clock);

  void set(std::uint64_t cycle, Signal& signal, std::uint64_t value) {
    changes_.push_back({cycle, &signal, value, false});
  }
  void add(std::uint64_t cycle, Signal& signal, std::int64_t step) {
    changes_.push_back({cycle, &signal, static_cast<std::uint64_t>(step), true});
  }
  // Plays the recorded changes in SystemC time; cycle 0 is now. The last one of several changes of a signal in one
  // cycle is shown. Returns the cycle of the last change.
  std::uint64_t play();

 private:
  struct Change {
    std::uint64_t cycle;
    Signal* signal;
    std::uint64_t value;
    bool relative;
  };
  void step();

  const Clock& clock_;
  std::vector<Change> changes_;
  std::size_t next_ = 0;
  sc_core::sc_time start_;
  sc_core::sc_event go_;
};

}  // namespace attnvp::stream
