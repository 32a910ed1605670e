// Packets on links, in cycles of the network. A packet is a train of flits, one of which a link takes a cycle. Its head
// goes from link to link of its way, `hop_cycles` after it went onto the last one, or as soon as the link is free; who
// came first goes first. The other flits follow without gaps, so that a packet holds every link for as many cycles as
// it has flits. Buffers are as large as they have to be. It has arrived when its last flit has.
//
// A packet may be for several nodes. Its ways are a tree then: where they part, every flit goes on over each of the
// next links, as soon as that one is free; a link carries it once.
//
// It is gone through from head to head, not from flit to flit.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "models/network/topology.h"

namespace attnvp {

class LinkNetwork {
 public:
  LinkNetwork(const Topology& topology, std::uint64_t hop_cycles)
      : topology_(topology), hop_cycles_(hop_cycles), links_(topology.links()) {}

  struct Arrival {
    std::uint64_t time = 0;
    std::uint64_t tag = 0;
    bool operator>(const Arrival& o) const { return time != o.time ? time > o.time : tag > o.tag; }
  };

  // At a time that is not over. Packets of the same time are served in the order in which they were sent. What is
  // returned is the packet's number, until its head goes.
  std::size_t send(std::uint64_t time, std::uint32_t from, std::uint32_t to, std::uint64_t flits, std::uint64_t tag);
  // A packet whose head has not gone is for another node as well, where it has a tag of its own.
  void join(std::size_t packet, std::uint32_t from, std::uint32_t to, std::uint64_t tag);
  // When something happens next; UINT64_MAX for never.
  std::uint64_t next() const;
  // Everything up to the time, inclusive: packets that have arrived, in the order in which they did.
  const std::vector<Arrival>& advance(std::uint64_t time);
  void reset();

  std::uint64_t flit_hops() const { return flit_hops_; }
  std::uint64_t waited() const { return waited_; }  // cycles for which heads stood before a link
  std::uint64_t flits_of(std::uint32_t link) const { return links_[link].flits; }
  std::uint64_t busiest_link_flits() const { return busiest_; }

 private:
  struct Link {
    std::uint64_t free = 0;  // from then on
    std::uint64_t flits = 0;
  };
  struct Packet {
    std::vector<std::uint32_t> way;
    std::uint64_t flits = 0, tag = 0;
    struct Branch {
      std::size_t after;   // so many links of this way
      std::size_t packet;  // of which the rest is the way
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
