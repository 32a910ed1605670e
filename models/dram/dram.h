// DRAM with the `fixed` policy: peak bandwidth and one latency. The data bus serves transactions in the order they
// arrive; a read's data follows `latency` after its request (or when the bus is free), a write is done when its data
// has crossed the bus. Time is annotated: the call returns at once with the delay until completion.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>

#include "models/machine.h"
#include "models/module.h"

namespace attnvp {

// Address space of the DRAM's size; pages get memory when they are first touched and read as zero before.
class SparseMemory {
 public:
  explicit SparseMemory(std::uint64_t bytes);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  unsigned char* data() { return data_; }
  void clear();

 private:
  std::uint64_t bytes_;
  unsigned char* data_;
};

class Dram : public Module {
 public:
  Dram(sc_core::sc_module_name name, Context& context, const DramConfig& config, std::uint64_t base);

  tlm_utils::simple_target_socket<Dram> in{"in"};

  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read by DMA", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written by DMA", {"attnvp.dram", "write"}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which data crosses the bus"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool inside(const tlm::tlm_generic_payload& payload) const;
  void show_bus(std::uint64_t from, std::uint64_t until, bool read);

  DramConfig config_;
  std::uint64_t base_;
  SparseMemory memory_;
  double bytes_per_cycle_;
  std::uint64_t latency_cycles_;
  // The bus has been busy since `busy_from_` and is until `busy_bytes_` have crossed it: no sum of roundings, and the
  // same at any time of day.
  std::uint64_t busy_from_ = 0;
  std::uint64_t busy_bytes_ = 0;
  std::uint64_t all_bytes_ = 0;

  std::uint64_t bus_until_ = 0;  // cycle
  Signal bus_;
  Signal rate_{*this, "bytes_per_cycle", Signal::Real{"B/cycle"}};
};

}  // namespace attnvp
