// DMA controller with several channels: 3D strided copies between any two memories of the address map.
//
// Each channel executes its command queue in order. The issue stage serves the channels burst by burst
// (DmaArbitration). At most `outstanding` bursts are in flight, and at most `channel_outstanding` of one channel, or
// the same in bytes (DmaCounts).
//
// The cluster's own L1 has its own port; all other memories are TLM-2.0 targets of the interconnect. The issue stage
// reads. It forwards data from the own L1 to the interconnect immediately. The retire stage writes all other data after
// its read, in the order of the reads, or of their completion without `in_order`. A descriptor signals its events when
// all of its bytes and those of earlier descriptors of its channel have arrived.
//
// Each channel's front end, the issue stage and the retire stage are processes (models/sim/process.h).
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <boost/circular_buffer.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "models/engine/descriptor_check.h"
#include "models/engine/dma_controller/dma_controller.h"
#include "models/engine/dma_controller/transfer.h"
#include "models/engine/ports.h"
#include "models/interconnect/address_map.h"
#include "models/interconnect/bus/initiator.h"
#include "models/machine.h"
#include "models/sim/module.h"
#include "models/sim/process.h"

namespace attnvp {

class MultiChannelDma : public DmaController {
 public:
  MultiChannelDma(sc_core::sc_module_name name, const ModuleContext& module_context);

  tlm::tlm_target_socket<>& control() override { return control_; }
  bool is_approximately_timed() const override { return true; }
  InitiatorSocket& bus() override { return bus_; }
  InitiatorSocket& l1() override { return l1_; }
  InitiatorSocket& events(std::uint32_t channel) override { return channels_.at(channel)->events.out; }

  std::string waiting_for() const override;
  void reset() override;
  std::vector<StallCounts> stall_counts() const override;
  bool visit_state(sim::StateVisitor& visitor) override;

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors completed"};
  Counter bursts{
      *this, "bursts", "bursts", "pieces of transfers, each read and written as one", {"attnvp.dma", "burst", true}};
  Counter read_bytes{
      *this, "read_bytes", "bytes", "bytes that came over the interconnect", {"attnvp.dma", "byte", true}};
  Counter write_bytes{
      *this, "write_bytes", "bytes", "bytes that went over the interconnect", {"attnvp.dma", "byte", true}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one burst under way"};

 private:
  struct DmaChannel {
    DmaChannel(MultiChannelDma& owner, const ModuleContext& module_context, std::uint32_t index);
    MultiChannelDma& owner;
    std::uint32_t index;
    sim::Event pushed;   // notified by the queue
    sim::Event issued;   // the last burst of `transfer` was issued
    sim::Event emptied;  // a descriptor has left `accepted`
    CommandQueue queue;
    EventPort events;
    bool ready = false;  // `transfer` may be issued: events taken, descriptor checked
    Transfer transfer;
    bool forwarded = false;  // the engine's result bypasses the own L1, which only stores the bytes
    bool deferrable = false;
    std::uint64_t age = 0;                       // sequence number of its doorbell
    boost::circular_buffer<std::uint64_t> ages;  // of the descriptors in the queue
    struct Accepted {
      hal::Descriptor descriptor;
      CommandTrace::Id id;
      std::uint64_t number;      // position in the order of the queue, from 1
      bool from_l1, to_l1;       // source or destination is the cluster's own L1
      bool started = false;      // a burst is issued
      bool issued = false;       // all bursts are issued
      std::uint64_t bursts = 0;  // in flight
    };
    std::deque<Accepted> accepted;              // accepted and not completed; the last one is that of `transfer`
    std::uint64_t counted = 0;                  // bytes in flight
    std::uint64_t taken_up = 0;                 // descriptors removed from the queue
    CommandTrace::Id id = CommandTrace::kNone;  // of the last one
    StallAttribution stalls;
    bool busy = false;  // has a transfer, as seen by `stalls`
    std::uint64_t busy_since = 0, busy_cycles = 0, bytes = 0;
    void settle(std::uint64_t now);
    void visit_state(sim::StateVisitor& visitor);
    Signal state;
    CommandSignals shown;  // the oldest transfer
    Signal waits_for, level;
    void show();
  };
  struct InFlight;
  // Read or write of the issue stage over the interconnect.
  struct BusAccess final : PendingAccess {
    explicit BusAccess(MultiChannelDma& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override { owner.responded(*this, is_ok, delay); }
    MultiChannelDma& owner;
    OwnedPayload payload;
    InFlight* burst = nullptr;
  };
  struct InFlight {
    Burst burst;
    DmaChannel* channel = nullptr;
    DmaChannel::Accepted* descriptor = nullptr;
    std::size_t buffer = 0;
    std::uint64_t issued_fs = 0;
    BusAccess* access = nullptr;   // nullptr: an access to the own L1, or one that completed at once
    bool open = false;             // the target has not responded yet
    bool retired = false;          // waits for earlier entries to leave the list
    std::uint64_t done_cycle = 0;  // cycle of the end of the read, or of read and write
    bool from_l1() const { return descriptor->from_l1; }
    bool to_l1() const { return descriptor->to_l1; }
  };

  static constexpr const char* kRefused = "a burst was answered with an error";

  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned control_peek(tlm::tlm_generic_payload& payload);
  sim::Process front_end(DmaChannel& channel);
  bool start_transfer(DmaChannel& channel);
  sim::Process issue_stage();
  DmaChannel* choose() const;
  bool full() const { return counted_ >= most_counted_; }
  void begin_burst(DmaChannel& channel);
  bool begin_access(tlm::tlm_command command, std::uint64_t address, sc_core::sc_time& delay);
  void track_burst(sc_core::sc_time delay);
  void responded(BusAccess& access, bool is_ok, const sc_core::sc_time& delay);
  sim::Process retire_stage();
  InFlight* next_done();
  void end_burst(InFlight& entry);
  void end_descriptor(DmaChannel& channel);
  void leave(InFlight& entry);
  std::size_t take_buffer(std::uint64_t bytes);
  bool own_l1(const hal::Operand& operand) const;
  void stop_with(DmaChannel& channel, const Refusal& refusal);

  tlm_utils::simple_target_socket<MultiChannelDma> control_{"control"};
  InitiatorSocket bus_{"bus"};
  InitiatorSocket l1_{"l1"};
  DmaConfig config_;
  std::uint64_t most_counted_, most_of_a_channel_;  // limits of `config_` in bytes
  std::uint64_t control_base_, l1_base_;            // l1_base_: of the cluster's own L1
  const AddressMap& map_;
  std::vector<std::unique_ptr<DmaChannel>> channels_;
  std::uint32_t next_ = 0;  // round-robin
  std::uint64_t doorbells_ = 0;
  std::deque<InFlight> in_flight_;  // oldest first
  std::uint32_t live_ = 0;          // entries that have not retired,
  std::uint64_t counted_ = 0;       // and their bytes
  std::vector<std::vector<unsigned char>> buffers_;
  std::vector<std::size_t> free_buffers_;
  std::uint32_t active_ = 0;  // bursts in flight, including reads from L1
  std::uint64_t busy_since_ = 0;
  std::uint64_t last_end_fs_ = 0;  // end of the last burst
  sim::Event issue_possible_, retire_possible_, arrived_;
  InFlight issuing_;  // burst of the issue stage
  bool stopped_ = false;
  std::deque<BusAccess> accesses_;
  std::vector<BusAccess*> free_accesses_;
  AtInitiator l1_read_, write_access_;
  OwnedPayload l1_payload_, write_payload_;
  Signal busy_{*this, "busy", 1};
  Signal outstanding_{*this, "outstanding", 16};
  std::vector<sim::Process> processes_;
};

}  // namespace attnvp
