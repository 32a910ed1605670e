// The DMA controller: 3D strided copies between DRAM and its cluster's L1, on several channels.
//
// Every channel has its own command queue and works through it in order. Channels with a burst to issue are served
// one burst at a time (DmaArbitration says in which order); at most `outstanding` bursts are under way.
// DRAM is a plain TLM-2.0 target: a read's data arrives when the annotated delay is over and then crosses the L1
// port, a write reads L1 first. A descriptor's events are given when its last byte has arrived.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <boost/circular_buffer.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "models/dma_controller/transfer.h"
#include "models/engine/command_queue.h"
#include "models/engine/event_port.h"
#include "models/machine.h"
#include "models/module.h"

namespace attnvp {

class DmaController : public Module {
 public:
  struct Place {
    std::uint64_t control_base = 0;
    std::uint64_t events_base = 0;
    std::uint32_t events = 0;
    std::uint64_t dram_base = 0, dram_bytes = 0;
    std::uint64_t l1_base = 0, l1_bytes = 0;
  };
  DmaController(sc_core::sc_module_name name, Context& context, const DmaConfig& config, const Place& place);

  tlm_utils::simple_target_socket<DmaController> control{"control"};
  tlm_utils::simple_initiator_socket<DmaController> dram{"dram"};
  tlm_utils::simple_initiator_socket<DmaController> l1{"l1"};
  EventPort& events(std::uint32_t channel) { return channels_.at(channel)->events; }
  std::uint32_t channels() const { return config_.channels; }

  std::string waiting_for() const override;
  void reset() override;

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors completed"};
  Counter bursts{*this, "bursts", "bursts", "bursts sent to DRAM"};
  Counter read_bytes{*this, "read_bytes", "bytes", "bytes copied from DRAM"};
  Counter write_bytes{*this, "write_bytes", "bytes", "bytes copied to DRAM"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one burst under way"};

 private:
  struct Channel {
    Channel(DmaController& owner, std::uint32_t index);
    std::uint32_t index;
    CommandQueue queue;
    EventPort events;
    bool ready = false;  // `transfer` may be issued: events taken, descriptor checked
    Transfer transfer;
    hal::Descriptor current{};
    bool to_l1 = false;
    bool deferrable = false;
    std::uint64_t age = 0;                       // number of its doorbell
    boost::circular_buffer<std::uint64_t> ages;  // of the descriptors in the queue
    std::uint32_t pending = 0;                   // descriptors issued, not yet done
    sc_core::sc_event issued;                    // all bursts of `transfer` have been issued
    sc_core::sc_event drained;                   // a descriptor is done
    std::uint64_t taken = 0;                     // descriptors out of the queue
    Journal::Id id = Journal::kNobody;           // of `current`
    bool started = false;                        // a burst of `transfer` has been issued
    struct UnderWay {
      hal::Descriptor descriptor;
      std::uint64_t number;
    };
    std::deque<UnderWay> under_way;  // oldest first, kept while a waveform is written: what the signals show
    void begun();                    // the first burst of `current`
    void done();                     // the oldest descriptor under way
    Signal state, operation, number, head, row_block, waits_for, level;
    void show();
  };
  struct InFlight {
    Burst burst;
    Channel* channel = nullptr;
    bool to_l1 = false;
    std::uint64_t done_cycle = 0;
    std::size_t buffer = 0;
    hal::Descriptor descriptor;  // of the last burst only, likewise:
    Journal::Id id = Journal::kNobody;
  };

  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void front(Channel& channel);  // one thread per channel: takes events, checks, makes a transfer ready
  void issue();                  // one thread: channels' bursts to DRAM
  void retire();                 // one thread: data that came back to L1, descriptors that are done
  Channel* choose();
  // Returns with the time of the access added to `delay` (DRAM) or over (L1).
  bool access_dram(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint64_t bytes,
                   sc_core::sc_time& delay);
  bool access_l1(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint64_t bytes);
  FaultCode check(const hal::Descriptor& descriptor, std::string& detail, std::uint64_t& address) const;
  void stop_with(Channel& channel, FaultCode code, std::uint64_t address, std::string detail);

  DmaConfig config_;
  Place place_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::uint32_t next_ = 0;  // round-robin
  std::uint64_t doorbells_ = 0;
  boost::circular_buffer<InFlight> in_flight_;  // oldest first
  std::vector<std::vector<unsigned char>> buffers_;
  std::size_t next_buffer_ = 0;
  std::uint32_t active_ = 0;  // bursts under way, those being read from L1 included
  std::uint64_t busy_since_ = 0;
  bool stopped_ = false;
  sc_core::sc_event work_, credit_, sent_;
  // One payload per thread and socket: a blocking call keeps its payload for as long as it takes.
  tlm::tlm_generic_payload dram_payload_, l1_read_payload_, l1_write_payload_;
  Signal busy_{*this, "busy", 1};
  Signal outstanding_{*this, "outstanding", 16};
};

}  // namespace attnvp
