// L1: one cluster's scratchpad. Each initiator (an engine, the DMA controller) has a socket of its own; sockets are
// spread over the memory's ports in turn, and ports and banks are shared as an Arbiter says. Addresses are those
// of the platform's map. Plain payloads move data; streams (models/bus/stream.h) move time and counts only.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <memory>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/bus/completion.h"
#include "models/bus/stream.h"
#include "models/memory.h"
#include "models/scratchpad/arbiter.h"
#include "models/storage/host_memory.h"
#include "models/storage/paged_memory.h"

namespace attnvp {

class Scratchpad : public Memory {
 public:
  Scratchpad(sc_core::sc_module_name name, const Site& site);  // shared fairly
  Scratchpad(sc_core::sc_module_name name, const Site& site, std::unique_ptr<Arbiter> arbiter);

  bool never_waits() const override { return true; }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *sockets_.at(initiator); }
  // Performance monitor: firmware's allocator writes how much it holds; the waveform and the report show it.
  tlm::tlm_target_socket<>* control() override { return &control_; }

  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  std::uint64_t tells_from() const override;
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read through all ports", {"attnvp.l1", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written through all ports", {"attnvp.l1", "write"}};
  Counter busiest_port_bytes{*this, "busiest_port_bytes", "bytes", "that crossed the port with the most"};
  Counter peak_bytes{*this, "peak_bytes", "bytes", "most bytes that firmware had allocated at once"};

 protected:
  virtual void crossed() {}  // something has, or was taken back

 private:
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  FaultCode check(const Region& region) const;
  struct Lane;
  // Bytes that cross a port from cycle `start` on, which may be to come.
  struct Crossing {
    Crossing(Scratchpad& scratchpad, Agenda& agenda)
        : owner(scratchpad), end(agenda, Call::of<&Crossing::over>(this)) {}
    void over() { owner.over(*this); }
    Scratchpad& owner;
    std::uint64_t start = 0;
    std::uint32_t port = 0;
    std::uint64_t bytes = 0, pace_cycles = 0;
    StreamExtension* stream = nullptr;  // what bytes; nullptr: `run`, which is moved between here and `data`
    Stream run;
    unsigned char* data = nullptr;
    std::size_t slot = 0;   // in share_, once begun
    std::uint64_t due = 0;  // for when `end` is planned
    Step end;
    const Stream& moved() const { return stream != nullptr ? stream->stream : run; }
    Withdrawal* withdrawal() const { return stream != nullptr ? stream->withdrawal : nullptr; }
    Lane* lane = nullptr;       // in which it is, of whoever has made it
    Completions* to = nullptr;  // who is told of the end
    std::uint64_t ticket = 0;
  };
  struct Lane {
    bool taken = false;
    std::deque<Crossing*> waiting;
  };
  Crossing& new_crossing();
  void enter(Crossing& crossing, int initiator);
  void leave(Crossing& crossing);
  void occupy(Crossing& crossing);
  void over(Crossing& crossing);
  void count(const Crossing& crossing, double share);
  void move(const Crossing& crossing);
  void begin(Crossing& crossing);
  void begin_next();
  void begin_due() {
    while (!to_come_.empty() && to_come_.front()->start <= ctx_.clock.now()) begin_next();
  }
  // Shares are others since that cycle.
  void changed(std::uint64_t cycle) {
    if (active_.on()) show(cycle);
    if (!share_->moved().empty()) wake_moved();
  }
  void wake_moved();

  tlm_utils::simple_target_socket<Scratchpad> control_{"control"};
  ScratchpadConfig config_;
  std::uint64_t base_;
  PagedMemory memory_;  // empty in timing mode
  host_memory::Share host_;
  std::vector<std::uint64_t> port_bytes_;  // that crossed each
  std::unique_ptr<Arbiter> share_;
  std::vector<Crossing*> to_come_;   // by start
  std::vector<Crossing*> crossing_;  // by slot
  std::uint64_t begun_ = 0;          // and not over
  std::vector<Lane> lanes_;          // each initiator's reads, and writes
  std::deque<Crossing> all_;
  std::vector<Crossing*> free_;
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<Scratchpad>>> sockets_;
  void show_allocation(std::uint64_t bytes, std::uint64_t tag);
  void show(std::uint64_t cycle);

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
