#include "models/network/link_network.h"

#include <algorithm>

namespace attnvp {

void LinkNetwork::send(std::uint64_t time, std::uint32_t from, std::uint32_t to, std::uint64_t flits,
                       std::uint64_t tag) {
  if (free_packets_.empty()) {
    free_packets_.push_back(packets_.size());
    packets_.emplace_back();
  }
  const std::size_t at = free_packets_.back();
  free_packets_.pop_back();
  Packet& packet = packets_[at];
  topology_.way(from, to, packet.way);
  packet.flits = flits;
  packet.tag = tag;
  heads_.push({time, sent_++, at, 0});
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
    Link& link = links_[packet.way[head.hop]];
    const std::uint64_t start = std::max(head.time, link.free);
    link.free = start + packet.flits;
    link.flits += packet.flits;
    busiest_ = std::max(busiest_, link.flits);
    flit_hops_ += packet.flits;
    waited_ += start - head.time;
    head.time = start + hop_cycles_;
    if (++head.hop < packet.way.size()) {
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

}  // namespace attnvp
