// Packet-switched network of links, in cycles of the network. A packet is a sequence of flits; a link takes one flit
// per cycle. The head advances from link to link along its route, `hop_cycles` after it entered the previous link, or
// when the link becomes free. Arbitration is first come, first served. The other flits follow without gaps, so that a
// packet occupies each link for as many cycles as it has flits. Buffers are unbounded. A packet arrives with its last
// flit.
//
// A multicast packet has several destinations and a tree of routes. At a branch every flit is sent over each of the
// next links when that link is free. A link carries the packet once. The simulation is per head, not per flit.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace attnvp {

// Topologies: nodes, and the directed links between them, by number.
class Topology {
 public:
  // Each node has a link into the switch and one out of it.
  static Topology crossbar(std::uint32_t nodes);
  // Nodes are in rows, each at a router with links to its neighbours. Routing is X first.
  static Topology mesh(std::uint32_t nodes, std::uint32_t columns);

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t links() const { return (columns_ == 0 ? 2 : 6) * nodes_; }
  // Appends the links of the route, in order.
  void route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const;

 private:
  Topology(std::uint32_t nodes, std::uint32_t columns) : nodes_(nodes), columns_(columns) {}
  // Links of a node: into the network, out of it, and from its router to the neighbours.
  enum LinkDirection : std::uint32_t { kIn, kOut, kEast, kWest, kSouth, kNorth };
  std::uint32_t link(LinkDirection kind, std::uint32_t node) const { return kind * nodes_ + node; }

  std::uint32_t nodes_, columns_;  // columns: 0 for a crossbar
};

class LinkNetwork {
 public:
  LinkNetwork(const Topology& topology, std::uint64_t hop_cycles)
      : topology_(topology), hop_cycles_(hop_cycles), links_(topology.links()) {}

  struct Arrival {
    std::uint64_t time = 0;
    std::uint64_t tag = 0;
    bool operator>(const Arrival& o) const { return time != o.time ? time > o.time : tag > o.tag; }
  };

  // Sends a packet at `time`, not before the current time. Packets of the same time are served in the order of send().
  // Returns the packet's number, valid until its head leaves.
  std::size_t send(std::uint64_t time, std::uint32_t from, std::uint32_t to, std::uint64_t flits, std::uint64_t tag);
  // Adds a destination, with its own tag, to a packet whose head has not left.
  void join(std::size_t packet, std::uint32_t from, std::uint32_t to, std::uint64_t tag);
  // Time of the next event; UINT64_MAX: none.
  std::uint64_t next() const;
  // Executes all events up to `time`, inclusive. Returns the packets that have arrived, in order of arrival.
  const std::vector<Arrival>& advance(std::uint64_t time);
  void reset();

  std::uint64_t flit_hops() const { return flit_hops_; }
  std::uint64_t waited() const { return waited_; }  // cycles in which heads waited for a link
  std::uint64_t flits_of(std::uint32_t link) const { return links_[link].flits; }
  std::uint64_t busiest_link_flits() const { return busiest_; }

 private:
  struct Link {
    std::uint64_t free = 0;  // time from which on it is free
    std::uint64_t flits = 0;
  };
  struct Packet {
    std::vector<std::uint32_t> route;
    std::uint64_t flits = 0, tag = 0;
    struct Branch {
      std::size_t after;   // number of links of this route before the branch
      std::size_t packet;  // packet with the rest of the route
    };
    std::vector<Branch> branches;
  };
  struct Head {
    std::uint64_t time, order;
    std::size_t packet, hop;
    bool operator>(const Head& o) const { return time != o.time ? time > o.time : order > o.order; }
  };

  std::size_t new_packet(std::uint64_t flits, std::uint64_t tag);

  const Topology topology_;
  std::uint64_t hop_cycles_;
  std::vector<Link> links_;
  std::vector<Packet> packets_;
  std::vector<std::size_t> free_packets_;
  std::uint64_t sent_ = 0, flit_hops_ = 0, waited_ = 0, busiest_ = 0;
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Earliest<Head> heads_;
  Earliest<Arrival> arriving_;
  std::vector<Arrival> arrived_;
};

}  // namespace attnvp
