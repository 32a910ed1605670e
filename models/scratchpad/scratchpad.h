// L1: one cluster's scratchpad. Each initiator (an engine, the DMA controller) has a socket of its own; sockets are
// spread over the memory's ports in turn, and ports and banks are shared as FairShare describes. Addresses are those
// of the platform's map. Plain payloads move data; streams (models/bus/stream.h) move time and counts only.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <memory>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/bus/stream.h"
#include "models/machine.h"
#include "models/module.h"
#include "models/scratchpad/fair_share.h"

namespace attnvp {

class Scratchpad : public Module {
 public:
  Scratchpad(sc_core::sc_module_name name, Context& context, const ScratchpadConfig& config, std::uint64_t base,
             std::uint32_t initiators);

  tlm_utils::simple_target_socket_tagged<Scratchpad>& in(std::uint32_t initiator) { return *sockets_.at(initiator); }

  // Performance monitor: firmware's allocator writes how much it holds; the waveform and the report show it.
  tlm_utils::simple_target_socket<Scratchpad> control{"control"};

  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read through all ports", {"attnvp.l1", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written through all ports", {"attnvp.l1", "write"}};
  Counter peak_bytes{*this, "peak_bytes", "bytes", "most bytes that firmware had allocated at once"};

 private:
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  FaultCode check(const Region& region) const;
  // Returns the share of the bytes that was moved: 1 unless the stream was withdrawn.
  double occupy(std::uint32_t port, std::uint64_t bytes, std::uint64_t pace_cycles, Withdrawal* withdrawal = nullptr);
  sc_core::sc_event& event_of(std::size_t slot);

  ScratchpadConfig config_;
  std::uint64_t base_;
  std::vector<unsigned char> memory_;  // empty in timing mode
  FairShare share_;
  std::deque<sc_core::sc_event> events_;  // one per flow slot
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<Scratchpad>>> sockets_;
  void show_allocation(std::uint64_t bytes, hal::L1Region region);
  void show_rates();

  Signal allocated_{*this, "allocated_bytes", 40};
  std::vector<std::unique_ptr<Signal>> regions_;  // by hal::L1Region
  Signal active_{*this, "active_streams", 8};
  std::vector<std::unique_ptr<Signal>> rates_;  // bytes per cycle, one per port
  struct Allocation {
    hal::L1Region region;
    std::uint64_t bytes;
  };
  std::vector<Allocation> allocations_;  // what firmware holds, oldest first; kept while a waveform is written
};

}  // namespace attnvp
