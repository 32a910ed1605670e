// L1: scratchpad of one cluster. Each initiator (engine, DMA controller) has its own socket. Sockets are assigned to
// the memory's ports in turn; an Arbiter shares ports and banks. Addresses are those of the platform's map. Generic
// payloads move data; streams (models/interconnect/bus/stream.h) carry time and counts only.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/memory/memory.h"
#include "models/memory/scratchpad/crossings.h"
#include "models/memory/storage/contents.h"

namespace attnvp {

class Activity;

class Scratchpad : public Memory, protected Crossings::CrossingOwner, private Target, private StreamTarget {
 public:
  Scratchpad(sc_core::sc_module_name name, const ModuleContext& module_context);  // with FairShare
  Scratchpad(sc_core::sc_module_name name, const ModuleContext& module_context, std::unique_ptr<Arbiter> arbiter);

  bool is_approximately_timed() const override { return true; }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *sockets_.at(initiator); }
  StreamTargetSocket& stream(std::uint32_t engine) override { return *streams_.at(engine); }
  // Performance monitor: firmware writes its allocated bytes, which reports and waveforms show.
  tlm::tlm_target_socket<>* control() override { return &control_; }

  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  std::uint64_t tells_from() const override;
  void reset() override;
  bool visit_state(sim::StateVisitor& visitor) override;
  void recount() override;

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
  std::vector<std::uint64_t> port_bytes_;  // bytes that crossed each port
  Crossings crossings_;
  std::vector<Crossings::PortQueue> lanes_;  // reads and writes of initiators without streams; streams run in parallel
  std::vector<std::unique_ptr<TargetSocket>> sockets_;
  std::vector<std::unique_ptr<StreamTargetSocket>> streams_;
  void show_allocation(std::uint64_t bytes, std::uint64_t tag);

  Signal allocated_{*this, "allocated_bytes", 40};
  std::vector<std::unique_ptr<Signal>> regions_;  // by tag of firmware (Context::l1_tags)
  Signal active_{*this, "active_streams", 8};
  std::vector<std::unique_ptr<Signal>> rates_;  // bytes per cycle, one per port
  std::vector<double> shown_rates_;             // last values of rates_,
  std::vector<double> exact_rates_;             // and before they were rounded
  std::vector<double> rates_now_;
  std::uint64_t rates_shown_at_ = 0;  // cycle of the last of them
  struct TaggedAllocation {
    std::uint64_t tag;
    std::uint64_t bytes;
  };
  std::vector<TaggedAllocation>
      allocations_;  // allocations of firmware, oldest first; kept only while a waveform is written
};

}  // namespace attnvp
