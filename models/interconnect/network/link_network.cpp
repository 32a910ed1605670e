#include "models/interconnect/network/link_network.h"

#include <algorithm>

namespace attnvp {

std::size_t LinkNetwork::new_packet(std::uint64_t flits, std::uint64_t tag) {
  if (free_packets_.empty()) {
    free_packets_.push_back(packets_.size());
    packets_.emplace_back();
  }
  const std::size_t at = free_packets_.back();
  free_packets_.pop_back();
  packets_[at].flits = flits;
  packets_[at].tag = tag;
  packets_[at].branches.clear();
  return at;
}

std::size_t LinkNetwork::send(std::uint64_t time, std::uint32_t from, std::uint32_t to, std::uint64_t flits,
                              std::uint64_t tag) {
  const std::size_t at = new_packet(flits, tag);
  topology_.route(from, to, packets_[at].route);
  heads_.push({time, sent_++, at, 0});
  return at;
}

void LinkNetwork::join(std::size_t packet, std::uint32_t from, std::uint32_t to, std::uint64_t tag) {
  std::vector<std::uint32_t> route;
  topology_.route(from, to, route);
  auto rest = route.cbegin();
  while (true) {  // along the existing tree
    const std::vector<std::uint32_t>& trunk = packets_[packet].route;
    const auto parts = std::mismatch(rest, route.cend(), trunk.cbegin(), trunk.cend());
    const auto after = static_cast<std::size_t>(parts.second - trunk.cbegin());
    rest = parts.first;
    const auto& branches = packets_[packet].branches;
    const auto next = std::find_if(branches.begin(), branches.end(), [&](const Packet::Branch& b) {
      return b.after == after && packets_[b.packet].route.front() == *rest;
    });
    if (next == branches.end()) {
      const std::size_t branch = new_packet(packets_[packet].flits, tag);
      packets_[branch].route.assign(rest, route.cend());
      packets_[packet].branches.push_back({after, branch});
      return;
    }
    packet = next->packet;
  }
}

std::uint64_t LinkNetwork::next() const {
  const std::uint64_t head = heads_.empty() ? UINT64_MAX : heads_.top().time;
  return std::min(head, arriving_.empty() ? UINT64_MAX : arriving_.top().time);
}

const std::vector<LinkNetwork::Arrival>& LinkNetwork::advance(std::uint64_t time) {
  while (!heads_.empty() && heads_.top().time <= time) {
    Head head = heads_.top();
    heads_.pop();
    Packet& packet = packets_[head.packet];
    Link& link = links_[packet.route[head.hop]];
    const std::uint64_t start = std::max(head.time, link.free);
    link.free = start + packet.flits;
    link.flits += packet.flits;
    busiest_ = std::max(busiest_, link.flits);
    flit_hops_ += packet.flits;
    waited_ += start - head.time;
    head.time = start + hop_cycles_;
    ++head.hop;
    for (const Packet::Branch& branch : packet.branches) {
      if (branch.after == head.hop) heads_.push({head.time, head.order, branch.packet, 0});
    }
    if (head.hop < packet.route.size()) {
      heads_.push(head);
    } else {
      arriving_.push({head.time + packet.flits - 1, packet.tag});
      free_packets_.push_back(head.packet);
    }
  }
  arrived_.clear();
  while (!arriving_.empty() && arriving_.top().time <= time) {
    arrived_.push_back(arriving_.top());
    arriving_.pop();
  }
  return arrived_;
}

void LinkNetwork::reset() {
  for (Link& link : links_) link = {};
  sent_ = flit_hops_ = waited_ = busiest_ = 0;
}

Topology Topology::crossbar(std::uint32_t nodes) { return {nodes, 0}; }
Topology Topology::mesh(std::uint32_t nodes, std::uint32_t columns) { return {nodes, columns}; }

// The last row may be incomplete. A route from it starts one hop north if its X part would meet a gap.
void Topology::route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const {
  links.clear();
  links.push_back(link(kIn, from));
  if (columns_ > 0) {
    std::uint32_t at = from;
    const std::uint32_t column = to % columns_;
    const auto go = [&](Topology::LinkDirection kind, std::uint32_t next) {
      links.push_back(link(kind, at));
      at = next;
    };
    const bool gap = at / columns_ * columns_ + column >= nodes_;
    if (gap) go(kNorth, at - columns_);
    while (at % columns_ < column) go(kEast, at + 1);
    while (at % columns_ > column) go(kWest, at - 1);
    while (at < to) go(kSouth, at + columns_);
    while (at > to) go(kNorth, at - columns_);
  }
  links.push_back(link(kOut, to));
}

}  // namespace attnvp
