// A memory behind one data bus: peak bandwidth and one latency. The bus serves transactions in the order they arrive; a
// read's data follows `latency` after its request (or when the bus is free), a write is done when its data has crossed
// the bus. Accesses complete early: the delay until their end is annotated.
//
// It is DRAM with the `fixed` policy, and the L2 scratchpad.
#pragma once

#include <cstdint>

#include "models/memory.h"
#include "models/storage/contents.h"

namespace attnvp {

class FixedMemory : public Memory, private Target {
 public:
  struct Timing {
    double bytes_per_second = 0;
    double latency_seconds = 0;
    bool duplex = false;  // reads and writes have a bus each
  };
  // `energy`: what a read and a write of a word cost.
  struct Energy {
    const char* component;
    bool optional;
  };
  FixedMemory(sc_core::sc_module_name name, const Site& site, std::uint64_t bytes, const Timing& timing,
              const Energy& energy);

  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }

  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return bytes_; }
  void reset() override;

  Counter read_words, write_words;
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which data crosses the bus"};

 private:
  TargetSocket in_{"in", ctx_.event_queue, *this};

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override { return contents_.peek(payload); }
  void show_bus(std::uint64_t from, std::uint64_t until, bool read);

  std::uint64_t bytes_;
  Contents contents_;
  double bytes_per_cycle_;
  std::uint64_t latency_cycles_;
  // A bus has been busy since `busy_from_` and is until `busy_bytes_` have crossed it: no sum of roundings, and the
  // same at any time of day.
  struct Lane {
    std::uint64_t busy_from = 0, busy_bytes = 0, all_bytes = 0;
    std::uint64_t until = 0;  // cycle
  };
  bool duplex_;
  Lane lane_[2];  // the second one is for writes, where they have one
  Signal bus_;
  Signal rate_{*this, "bytes_per_cycle", Signal::Real{"B/cycle"}};
};

}  // namespace attnvp
