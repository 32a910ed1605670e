// L1: one cluster's scratchpad. Each initiator (an engine, the DMA controller) has a socket of its own; sockets are
// spread over the memory's ports in turn, and ports and banks are shared as an Arbiter says. Addresses are those
// of the platform's map. Generic payloads move data; streams (models/bus/stream.h) move time and counts only.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/memory.h"
#include "models/scratchpad/crossings.h"
#include "models/storage/l1_contents.h"

namespace attnvp {

class Activity;

class Scratchpad : public Memory, protected Crossings::Owner, private Target, private StreamTarget {
 public:
  Scratchpad(sc_core::sc_module_name name, const Site& site);  // shared fairly
  Scratchpad(sc_core::sc_module_name name, const Site& site, std::unique_ptr<Arbiter> arbiter);

  bool is_approximately_timed() const override { return true; }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *sockets_.at(initiator); }
  StreamTargetSocket& stream(std::uint32_t engine) override { return *streams_.at(engine); }
  // Performance monitor: firmware's allocator writes how much it holds; the waveform and the report show it.
  tlm::tlm_target_socket<>* control() override { return &control_; }

  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  std::uint64_t tells_from() const override;
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read through all ports", {"attnvp.l1", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written through all ports", {"attnvp.l1", "write"}};
  Counter busiest_port_bytes{*this, "busiest_port_bytes", "bytes", "that crossed the port with the most"};
  Counter peak_bytes{*this, "peak_bytes", "bytes", "most bytes that firmware had allocated at once"};

 private:
  bool begin(std::uint32_t initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  bool begin(std::uint32_t engine, StreamTransaction& transaction, sc_core::sc_time& delay,
             const Response& response) override;
  bool direct(std::uint32_t /*initiator*/, tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) override {
    return contents_.direct(dmi);
  }
  bool direct(std::uint32_t /*engine*/, tlm::tlm_dmi& dmi) override { return contents_.direct(dmi); }
  unsigned debug(std::uint32_t /*initiator*/, tlm::tlm_generic_payload& payload) override {
    return contents_.move(payload);
  }
  bool enter(Crossings::Crossing& crossing, std::uint32_t port, sc_core::sc_time& delay, const Response& response);
  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  FaultCode check(const Region& region) const;
  void crossed(const Crossings::Crossing& crossing, double share) override;
  void shares_changed(std::uint64_t cycle) override;
  bool watches() const override;
  static std::uint64_t moved_bytes(const Region& region, double share);
  void tell_traffic(const Crossings::Crossing& crossing, double share, Activity& activity);

  tlm_utils::simple_target_socket<Scratchpad> control_{"control"};
  ScratchpadConfig config_;
  std::uint64_t base_;
  L1Contents contents_;
  const std::uint32_t engines_;            // initiators with streams; the others follow them
  std::vector<std::uint64_t> port_bytes_;  // that crossed each port
  Crossings crossings_;
  std::vector<Crossings::Lane> lanes_;  // reads and writes of initiators without streams; streams go beside each other
  std::vector<std::unique_ptr<TargetSocket>> sockets_;
  std::vector<std::unique_ptr<StreamTargetSocket>> streams_;
  void show_allocation(std::uint64_t bytes, std::uint64_t tag);

  Signal allocated_{*this, "allocated_bytes", 40};
  std::vector<std::unique_ptr<Signal>> regions_;  // by firmware's tags (Context::l1_tags)
  Signal active_{*this, "active_streams", 8};
  std::vector<std::unique_ptr<Signal>> rates_;  // bytes per cycle, one per port
  struct Allocation {
    std::uint64_t tag;
    std::uint64_t bytes;
  };
  std::vector<Allocation> allocations_;  // what firmware holds, oldest first; kept while a waveform is written
};

}  // namespace attnvp
