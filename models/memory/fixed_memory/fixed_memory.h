// Memory behind one data bus, with a peak bandwidth and one latency. The bus serves transactions in order of arrival.
// Read data follows `latency` after the request, or when the bus is free. A write ends when its data has crossed the
// bus. Transactions complete early, with an annotated delay.
//
// Used as DRAM with the `fixed` policy and as L2 scratchpad.
#pragma once

#include <cstdint>

#include "models/memory/memory.h"
#include "models/memory/storage/contents.h"

namespace attnvp {

class FixedMemory : public Memory, private Target {
 public:
  struct FixedTiming {
    double bytes_per_second = 0;
    double latency_seconds = 0;
    bool duplex = false;  // separate buses for reads and writes
  };
  // Energy table entry of reads and writes, per word.
  struct Energy {
    const char* component;
    bool optional;
  };
  FixedMemory(sc_core::sc_module_name name, const ModuleContext& module_context, std::uint64_t bytes,
              const FixedTiming& timing, const Energy& energy);

  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }

  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return bytes_; }
  void reset() override;
  bool visit_state(sim::StateVisitor& visitor) override;
  void recount() override;

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
  std::uint64_t bytes_per_second_ = 0, hertz_ = 0;  // 0: not both are whole
  std::uint64_t latency_cycles_;
  // A bus is busy from `busy_from` until `busy_bytes` have crossed it. Deriving the end from the bytes avoids the
  // accumulation of rounding errors.
  struct BusUse {
    std::uint64_t busy_from = 0, busy_bytes = 0, all_bytes = 0;
    std::uint64_t until = 0;  // cycle
  };
  bool duplex_;
  BusUse lane_[2];  // [1]: writes, with duplex
  Signal bus_;
  Signal rate_{*this, "bytes_per_cycle", Signal::Real{"B/cycle"}};
};

}  // namespace attnvp
