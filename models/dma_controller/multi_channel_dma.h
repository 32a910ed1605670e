// The DMA controller of this program: 3D strided copies between any two memories of the address map, on several
// channels.
//
// Every channel has its own command queue and works through it in order. Channels with a burst to issue are served
// one burst at a time (DmaArbitration says in which order); at most `outstanding` bursts are under way, of one channel
// at most `channel_outstanding`, or as many bytes (DmaCounts).
// The cluster's own L1 is reached over a port of its own, everything else over the interconnect, where targets are
// plain TLM-2.0. The issue stage reads; what comes out of the own L1 it sends on over the interconnect at once.
// Everything else the retire stage writes when its read is over: in the order of the reads, or, where `in_order` is
// off, of their ends. A descriptor's events are given when all of its bytes have arrived, and those of the descriptors
// before it in its channel. Each channel's front end, the issue stage and the retire stage are processes
// (models/sim/process.h).
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <boost/circular_buffer.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "models/bus/at_initiator.h"
#include "models/dma_controller/dma_controller.h"
#include "models/dma_controller/transfer.h"
#include "models/engine/command_queue.h"
#include "models/engine/descriptor_check.h"
#include "models/engine/event_port.h"
#include "models/interconnect/address_map.h"
#include "models/machine.h"
#include "models/module.h"
#include "models/sim/process.h"

namespace attnvp {

class MultiChannelDma : public DmaController {
 public:
  MultiChannelDma(sc_core::sc_module_name name, const Site& site);

  tlm::tlm_target_socket<>& control() override { return control_; }
  bool is_approximately_timed() const override { return true; }
  InitiatorSocket& bus() override { return bus_; }
  InitiatorSocket& l1() override { return l1_; }
  InitiatorSocket& events(std::uint32_t channel) override { return channels_.at(channel)->events.out; }

  std::string waiting_for() const override;
  void reset() override;
  std::vector<Ledger> ledgers() const override;

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors completed"};
  Counter bursts{
      *this, "bursts", "bursts", "pieces of transfers, each read and written as one", {"attnvp.dma", "burst", true}};
  Counter read_bytes{
      *this, "read_bytes", "bytes", "bytes that came over the interconnect", {"attnvp.dma", "byte", true}};
  Counter write_bytes{
      *this, "write_bytes", "bytes", "bytes that went over the interconnect", {"attnvp.dma", "byte", true}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one burst under way"};

 private:
  struct Channel {
    Channel(MultiChannelDma& owner, std::uint32_t index);
    MultiChannelDma& owner;
    std::uint32_t index;
    sim::Event pushed;   // into the queue
    sim::Event issued;   // the last burst of `transfer`
    sim::Event emptied;  // a descriptor has left `ending`
    CommandQueue queue;
    EventPort events;
    bool ready = false;  // `transfer` may be issued: events taken, descriptor checked
    Transfer transfer;
    hal::Descriptor current{};
    bool from_l1 = false, to_l1 = false;  // the cluster's own
    bool forwarded = false;               // from an engine past the own L1, which only has its bytes
    bool deferrable = false;
    std::uint64_t age = 0;                       // number of its doorbell
    boost::circular_buffer<std::uint64_t> ages;  // of the descriptors in the queue
    struct Ending {
      hal::Descriptor descriptor;
      Journal::Id id;
      std::uint64_t bursts;  // under way
      bool issued;           // all of them
    };
    std::deque<Ending> ending;          // begun, not yet done
    std::uint64_t counted = 0;          // bytes under way
    std::uint64_t taken_up = 0;         // descriptors out of the queue
    Journal::Id id = Journal::kNobody;  // of `current`
    bool started = false;               // a burst of `transfer` has been issued
    struct UnderWay {
      hal::Descriptor descriptor;
      std::uint64_t number;
    };
    std::deque<UnderWay> under_way;  // oldest first, kept while a waveform is written: what the signals show
    Account account;
    bool busy = false;  // with a transfer, as `account` knows
    std::uint64_t busy_since = 0, busy_cycles = 0, bytes = 0;
    void settle(std::uint64_t now);
    void begun();  // the first burst of `current`
    void done();   // the oldest descriptor under way
    Signal state, operation, number, head, row_block, waits_for, level;
    void show();
  };
  struct InFlight;
  // A read or write over the interconnect that the issue stage has begun.
  struct BusAccess final : PendingAccess {
    explicit BusAccess(MultiChannelDma& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override { owner.responded(*this, is_ok, delay); }
    MultiChannelDma& owner;
    OwnedPayload payload;
    InFlight* burst = nullptr;
  };
  struct InFlight {
    std::uint64_t destination = 0, bytes = 0;
    Channel* channel = nullptr;
    Channel::Ending* descriptor = nullptr;
    bool to_l1 = false;
    bool written = false, from_l1 = false;
    std::uint64_t issued_fs = 0;
    BusAccess* access = nullptr;   // nullptr: the own L1's
    bool open = false;             // its target has yet to respond
    bool retired = false;          // and waits for those before it to leave the list
    std::uint64_t done_cycle = 0;  // read, or read and written
    std::size_t buffer = 0;
  };

  static constexpr const char* kRefused = "a burst was answered with an error";

  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned control_peek(tlm::tlm_generic_payload& payload);
  // Takes events, checks, makes a transfer ready.
  sim::Process front_end(Channel& channel);
  bool start_transfer(Channel& channel);
  // Reads channels' bursts.
  sim::Process issue_stage();
  Channel* choose();
  bool full() const { return counted_ >= most_counted_; }
  void begin_burst(Channel& channel);
  bool begin_access(tlm::tlm_command command, std::uint64_t address, sc_core::sc_time& delay);
  void track_burst(Channel& channel, sc_core::sc_time delay);
  void responded(BusAccess& access, bool is_ok, const sc_core::sc_time& delay);
  // Writes what has been read, ends descriptors that are done.
  sim::Process retire_stage();
  InFlight* next_done();
  void end_burst(InFlight& entry);
  void end_descriptor(Channel& channel);
  void leave(InFlight& entry);
  std::size_t take_buffer(std::uint64_t bytes);
  bool own_l1(const hal::Operand& operand) const;
  void stop_with(Channel& channel, const Refusal& refusal);

  // What it knows of its surroundings.
  struct Place {
    std::uint64_t control_base = 0;
    std::uint64_t events_base = 0;
    std::uint32_t events = 0;
    std::uint64_t l1_base = 0;  // of the cluster's own
    const AddressMap* map = nullptr;
    Partition partition{};  // that the cluster belongs to
  };
  tlm_utils::simple_target_socket<MultiChannelDma> control_{"control"};
  InitiatorSocket bus_{"bus"};
  InitiatorSocket l1_{"l1"};
  DmaConfig config_;
  std::uint64_t most_counted_, most_of_a_channel_;  // as `config_` says
  Place place_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::uint32_t next_ = 0;  // round-robin
  std::uint64_t doorbells_ = 0;
  std::deque<InFlight> in_flight_;  // oldest first
  std::uint32_t live_ = 0;          // of them that have not retired,
  std::uint64_t counted_ = 0;       //   their bytes
  std::vector<std::vector<unsigned char>> buffers_;
  std::vector<std::size_t> free_buffers_;
  std::uint32_t active_ = 0;  // bursts under way, those being read from L1 included
  std::uint64_t busy_since_ = 0;
  std::uint64_t last_end_fs_ = 0;  // of a burst
  sim::Event issue_possible_, retire_possible_, arrived_;
  Burst burst_;             // of the issue stage,
  std::size_t buffer_ = 0;  //   into here
  bool stopped_ = false;
  BusAccess* access_ = nullptr;  // of the burst that the issue stage sends,
  bool is_open_ = false;         //   to which its target has yet to respond
  std::deque<BusAccess> accesses_;
  std::vector<BusAccess*> free_accesses_;
  AtInitiator l1_read_, write_access_;
  OwnedPayload l1_payload_, write_payload_;
  Signal busy_{*this, "busy", 1};
  Signal outstanding_{*this, "outstanding", 16};
  std::vector<sim::Process> processes_;
};

}  // namespace attnvp
