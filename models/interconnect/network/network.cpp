// Interconnects of kinds `crossbar` and `mesh`, with links that take time. Accesses within a cluster take none. Every
// other access is a request packet and a response packet, each of a head flit and its data. These are requests and data
// of DMA controllers, and registers, descriptors and events of other clusters.
//
// With `interconnect.multicast`, an AT read of DRAM joins an outstanding read of the same bytes by another cluster. The
// response is then one packet for both.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/payload.h"
#include "models/interconnect/config.h"
#include "models/interconnect/interconnect.h"
#include "models/interconnect/network/link_network.h"
#include "models/keys/binding.h"
#include "models/registry.h"

namespace attnvp {

// Table of outstanding reads of a memory. Another cluster that reads the same bytes may join one; the response then
// goes to all of them (multicast). A cluster never joins its own read, since a response delivers the bytes once.
class SharedReads {
 public:
  struct Read {
    std::size_t trip = 0;               // trip of the request
    std::vector<std::uint32_t> nodes;   // that have requested the bytes
    std::vector<std::size_t> others;    // trips that joined before the time of the response was known
    std::size_t packet = 0;             // packet of the response,
    std::uint64_t leaves = UINT64_MAX;  // which leaves in this network cycle, once known
    bool overwritten = false;           // later writes; no more joins
  };

  // A read of these bytes that `node` can join; nullptr: none.
  Read* find(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::uint64_t now);
  Read& open(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::size_t trip);
  void close(const Read& read, std::uint64_t address, std::uint64_t bytes);
  void written(std::uint64_t address, std::uint64_t bytes);
  void clear() { reads_.clear(); }

 private:
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, Read> reads_;  // by address and length
  std::uint64_t longest_ = 0;
};

SharedReads::Read* SharedReads::find(std::uint64_t address, std::uint64_t bytes, std::uint32_t node,
                                     std::uint64_t now) {
  const auto [first, last] = reads_.equal_range({address, bytes});
  for (auto at = first; at != last; ++at) {
    Read& read = at->second;
    const bool asked = std::find(read.nodes.begin(), read.nodes.end(), node) != read.nodes.end();
    if (!asked && !read.overwritten && read.leaves > now) return &read;
  }
  return nullptr;
}

SharedReads::Read& SharedReads::open(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::size_t trip) {
  longest_ = std::max(longest_, bytes);
  Read& read = reads_.emplace(std::pair(address, bytes), Read{})->second;
  read.trip = trip;
  read.nodes.push_back(node);
  return read;
}

void SharedReads::close(const Read& read, std::uint64_t address, std::uint64_t bytes) {
  const auto [first, last] = reads_.equal_range({address, bytes});
  reads_.erase(std::find_if(first, last, [&](const auto& entry) { return &entry.second == &read; }));
}

void SharedReads::written(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t begin = address - std::min(address, longest_), end = address + bytes;
  for (auto at = reads_.lower_bound({begin, 0}); at != reads_.end() && at->first.first < end; ++at) {
    if (at->first.first + at->first.second > address) at->second.overwritten = true;
  }
}

namespace {

std::uint32_t nodes_of(const MachineConfig& m) { return m.clusters + m.own<NetworkConfig>().dram_ports; }

Topology topology_of(const MachineConfig& m, bool mesh) {
  const std::uint32_t nodes = nodes_of(m);
  if (!mesh) return Topology::crossbar(nodes);
  const std::uint32_t columns = m.own<NetworkConfig>().columns;
  return Topology::mesh(nodes, columns > 0 ? columns : static_cast<std::uint32_t>(std::ceil(std::sqrt(nodes))));
}

class Network : public Interconnect {
 public:
  Network(sc_core::sc_module_name name, const ModuleContext& module_context, bool mesh)
      : Interconnect(name, module_context.context),
        config_(module_context.machine.own<NetworkConfig>()),
        period_fs_(Clock(config_.hertz > 0 ? config_.hertz : module_context.machine.clock_hz).period_fs()),
        links_(topology_of(module_context.machine, mesh), config_.hop_cycles),
        next_arrival_(ctx_.event_queue) {
    const std::uint32_t nodes = nodes_of(module_context.machine), ports = config_.dram_ports;
    if (config_.multicast) multicast_ = std::make_unique<Multicast>(*this, nodes);
    std::vector<bool> taken(nodes);
    for (std::uint32_t i = 0; i < ports; ++i) {
      port_node_.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * nodes / ports));
      taken[port_node_.back()] = true;
    }
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (!taken[n]) cluster_node_.push_back(n);
    }
    process_ = serve_arrivals();
  }

  bool is_approximately_timed() const override { return true; }

  Counter packets{*this, "packets", "packets", "there and back"};
  Counter flit_hops{
      *this, "flit_hops", "flits", "that went over a link, each link by itself", {"attnvp.network", "flit_hop", true}};
  Counter busiest_link_cycles{*this, "busiest_link_cycles", "cycles",
                              "in which the link with the most flits moved one"};
  Counter wait_cycles{*this, "wait_cycles", "cycles", "for which packets stood before links, all together"};

  // Packets that arrive together are served by trip number; numbers are assigned as for the first job.
  void reset() override {
    start_ = ctx_.clock.now();
    links_.reset();
    if (multicast_ != nullptr) multicast_->reset();
    std::sort(free_trips_.begin(), free_trips_.end(), std::greater<>());
  }

 private:
  struct Trip final : PendingAccess {
    Trip(Network& its_owner, std::size_t its_number) : owner(its_owner), number(its_number) {}
    void responded(bool /*is_ok*/, const sc_core::sc_time& delay) override { owner.responded(number, delay); }
    Network& owner;
    const std::size_t number;
    enum TripStage : std::uint8_t { kGoing, kThere, kBack };
    TripStage stage = kGoing;
    std::uint32_t from = 0, to = 0;
    int target = 0;
    std::uint64_t back_flits = 0;
    bool of_dram = false;                // reads or writes DRAM
    SharedReads::Read* leads = nullptr;  // a read that others may join
    int initiator = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    PendingAccess* former = nullptr;  // the initiator's extension
    WaitingThread* thread = nullptr;  // LT initiator, which makes the access itself
    std::uint64_t address() const { return payload->get_address(); }
    unsigned bytes() const { return payload->get_data_length(); }
  };

  struct Multicast {
    Multicast(Network& owner, std::size_t nodes)
        : joined{owner, "multicast_reads", "reads", "of DRAM that another cluster's answer was for as well"},
          saved_bytes{owner, "multicast_bytes", "bytes", "of DRAM that were not read again"},
          most_read_bytes{owner, "most_read_bytes", "bytes",
                          "of DRAM that one cluster read, of the one that read most: no multicast makes it less"},
          cluster_link_cycles{owner, "cluster_link_cycles", "cycles",
                              "in which the busiest link into or out of a cluster moved a flit: likewise"},
          read_bytes(nodes),
          flits_in(nodes),
          flits_out(nodes) {}
    void reset() {
      reads.clear();
      for (auto* sums : {&read_bytes, &flits_in, &flits_out}) std::fill(sums->begin(), sums->end(), 0);
    }
    Counter joined, saved_bytes, most_read_bytes, cluster_link_cycles;
    SharedReads reads;
    std::vector<std::uint64_t> read_bytes, flits_in, flits_out;  // by node
  };

  std::uint32_t node_of(int cluster, std::uint64_t address) const {
    if (cluster != kShared) return cluster_node_[static_cast<std::size_t>(cluster)];
    return port_node_[address / config_.dram_interleave_bytes % port_node_.size()];
  }
  std::uint64_t flits(std::uint64_t bytes) const { return 1 + (bytes + config_.link_bytes - 1) / config_.link_bytes; }
  // Conversions between cycles of the platform and of the links, rounded up. The links' clock begins with a job, so
  // that a job does not depend on the jobs before it.
  std::uint64_t link_cycle_at(std::uint64_t cycle) const {
    return ((cycle - start_) * ctx_.clock.period_fs() + period_fs_ - 1) / period_fs_;
  }
  std::uint64_t platform_cycles(std::uint64_t cycle) const {
    return (cycle * period_fs_ + ctx_.clock.period_fs() - 1) / ctx_.clock.period_fs();
  }
  std::uint64_t now() const { return link_cycle_at(ctx_.clock.now()); }

  // Opens a trip and sends its request packet.
  std::size_t set_out(int initiator, int target, tlm::tlm_generic_payload& payload) {
    const int here = cluster_of_initiator(initiator), there = cluster_of_target(target);
    const std::size_t i = open();
    Trip& trip = trips_[i];
    const std::uint64_t address = payload.get_address(), bytes = payload.get_data_length();
    trip.initiator = initiator;
    trip.payload = &payload;
    trip.from = node_of(here, address);
    trip.to = node_of(there, address);
    trip.target = target;
    trip.of_dram = there == kShared && address < hal::kL2Base;
    trip.back_flits = flits(payload.is_read() ? bytes : 0);
    depart(i, now(), trip.from, trip.to, flits(payload.is_write() ? bytes : 0));
    return i;
  }

  void carry(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    if (cluster_of_initiator(initiator) == cluster_of_target(target)) return send(target, payload, delay);
    arrive(ctx_.event_queue, delay);
    WaitingThread going_there(ctx_.event_queue), coming_back(ctx_.event_queue);
    const std::size_t i = set_out(initiator, target, payload);
    Trip& trip = trips_[i];
    trip.thread = &going_there;
    going_there.wait();
    if (multicast_ != nullptr && trip.of_dram && payload.is_write()) {
      multicast_->reads.written(trip.address(), trip.bytes());
    }
    send(target, payload, delay);
    arrive(ctx_.event_queue, delay);
    trip.stage = Trip::kBack;
    trip.thread = &coming_back;
    depart(i, now(), trip.to, trip.from, trip.back_flits);
    coming_back.wait();
  }

  bool begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    if (cluster_of_initiator(initiator) == cluster_of_target(target)) {
      return Interconnect::begin(initiator, target, payload, delay);
    }
    Trip& trip = trips_[set_out(initiator, target, payload)];
    trip.thread = nullptr;
    trip.former = payload.get_extension<PendingAccess>();
    return false;
  }

  std::size_t open() {
    if (free_trips_.empty()) {
      free_trips_.push_back(trips_.size());
      trips_.emplace_back(*this, trips_.size());
    }
    const std::size_t i = free_trips_.back();
    free_trips_.pop_back();
    trips_[i].stage = Trip::kGoing;
    trips_[i].leads = nullptr;
    return i;
  }

  // Returns the packet's number.
  std::size_t depart(std::size_t trip, std::uint64_t cycle, std::uint32_t from, std::uint32_t to, std::uint64_t n) {
    const std::size_t packet = links_.send(cycle, from, to, n, trip);
    packets += 1;
    if (multicast_ != nullptr) {
      count_link(multicast_->flits_out, from, n);
      count_link(multicast_->flits_in, to, n);
    }
    wake();
    return packet;
  }
  // Counts flits on links of clusters; links of DRAM ports are excluded.
  void count_link(std::vector<std::uint64_t>& flits, std::uint32_t node, std::uint64_t n) {
    if (std::find(port_node_.begin(), port_node_.end(), node) != port_node_.end()) return;
    multicast_->cluster_link_cycles.raise_to(platform_cycles(flits[node] += n));
  }
  void wake() {
    const std::uint64_t next = links_.next();
    if (next == UINT64_MAX) return;
    const std::uint64_t cycle = start_ + platform_cycles(next), now = ctx_.clock.now();
    next_arrival_.notify_at(ctx_.clock.after(cycle > now ? cycle - now : 0));
  }

  // Serves packets at their arrival; those of one cycle in the order in which they were sent.
  sim::Process serve_arrivals() {
    for (;;) {
      co_await next_arrival_;
      serve_due();
      for (; !there_.empty(); there_.pop_front()) deliver(there_.front());
      flit_hops.raise_to(links_.flit_hops());
      busiest_link_cycles.raise_to(platform_cycles(links_.busiest_link_flits()));
      wait_cycles.raise_to(links_.waited());
      wake();
    }
  }

  void serve_due() {
    for (const LinkNetwork::Arrival& arrival :
         links_.advance((ctx_.clock.now_fs() - start_ * ctx_.clock.period_fs()) / period_fs_)) {
      Trip& trip = trips_[arrival.tag];
      if (trip.stage == Trip::kGoing) {
        trip.stage = Trip::kThere;
        if (trip.thread != nullptr) {
          trip.thread->end(sc_core::SC_ZERO_TIME);
        } else if (!joins(arrival.tag)) {
          there_.push_back(arrival.tag);
        }
      } else {
        if (trip.leads != nullptr) multicast_->reads.close(*trip.leads, trip.address(), trip.bytes());
        trip.leads = nullptr;
        free_trips_.push_back(arrival.tag);
        if (trip.thread != nullptr) {
          trip.thread->end(sc_core::SC_ZERO_TIME);
        } else {
          trip.payload->set_extension(trip.former);
          respond(trip.initiator, *trip.payload, sc_core::SC_ZERO_TIME);
        }
      }
    }
  }

  // True if the access at DRAM's port is served by the response of another read. Otherwise others may join it.
  bool joins(std::size_t i) {
    Trip& trip = trips_[i];
    if (multicast_ == nullptr || !trip.of_dram) return false;
    if (!trip.payload->is_read()) {
      multicast_->reads.written(trip.address(), trip.bytes());
      return false;
    }
    multicast_->most_read_bytes.raise_to(multicast_->read_bytes[trip.from] += trip.bytes());
    SharedReads::Read* const read = multicast_->reads.find(trip.address(), trip.bytes(), trip.from, now());
    if (read == nullptr) {
      trip.leads = &multicast_->reads.open(trip.address(), trip.bytes(), trip.from, i);
      return false;
    }
    multicast_->joined += 1;
    multicast_->saved_bytes += trip.bytes();
    read->nodes.push_back(trip.from);
    if (read->leaves == UINT64_MAX) {
      read->others.push_back(i);
    } else {
      answer_too(*read, i);
    }
    return true;
  }

  // Sends the pending response of a read to a further trip, with the data of the read.
  void answer_too(const SharedReads::Read& read, std::size_t i) {
    Trip& trip = trips_[i];
    trip.stage = Trip::kBack;
    if (trip.payload->get_extension<TimingOnlyExtension>() == nullptr) {
      std::copy_n(trips_[read.trip].payload->get_data_ptr(), trip.bytes(), trip.payload->get_data_ptr());
    }
    trip.payload->set_response_status(trips_[read.trip].payload->get_response_status());
    links_.join(read.packet, trip.to, trip.from, i);
    count_link(multicast_->flits_in, trip.from, trip.back_flits);
  }

  void deliver(std::size_t i) {
    Trip& trip = trips_[i];
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (socket_at(trip.target).begin(*trip.payload, trip, delay)) responded(i, delay);
  }
  void responded(std::size_t i, const sc_core::sc_time& delay) {
    Trip& trip = trips_[i];
    const std::uint64_t cycle = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
    trip.stage = Trip::kBack;
    const std::size_t packet = depart(i, link_cycle_at(cycle), trip.to, trip.from, trip.back_flits);
    if (trip.leads == nullptr) return;
    trip.leads->packet = packet;
    trip.leads->leaves = link_cycle_at(cycle);
    for (const std::size_t other : trip.leads->others) answer_too(*trip.leads, other);
  }

  NetworkConfig config_;
  std::uint64_t period_fs_;
  std::uint64_t start_ = 0;  // cycle of the latest reset
  LinkNetwork links_;
  std::unique_ptr<Multicast> multicast_;  // nullptr: off
  std::vector<std::uint32_t> cluster_node_, port_node_;
  std::deque<Trip> trips_;
  std::vector<std::size_t> free_trips_;
  std::deque<std::size_t> there_;
  sim::Event next_arrival_;
  sim::Process process_;
};

const bool kCrossbar =
    add_kind(Kind<Interconnect>("interconnect", "crossbar",
                                "is a switch with a link to and from every cluster and DRAM port", {},
                                [](const ModuleContext& module_context) {
                                  return std::make_unique<Network>(module_context.name, module_context, false);
                                })
                 .with_keys<NetworkConfig>());
const bool kMesh =
    add_kind(Kind<Interconnect>("interconnect", "mesh",
                                "is rows of routers with links to their neighbours, along rows first", {},
                                [](const ModuleContext& module_context) {
                                  return std::make_unique<Network>(module_context.name, module_context, true);
                                })
                 .with_keys_of("crossbar"));

}  // namespace

}  // namespace attnvp
