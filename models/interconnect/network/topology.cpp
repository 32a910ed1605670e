#include "models/interconnect/network/topology.h"

namespace attnvp {

Topology Topology::crossbar(std::uint32_t nodes) { return {nodes, 0}; }
Topology Topology::mesh(std::uint32_t nodes, std::uint32_t columns) { return {nodes, columns}; }

// The last row may be incomplete. A route from it starts one hop north if its X part would meet a gap.
void Topology::way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const {
  links.clear();
  links.push_back(link(kIn, from));
  if (columns_ > 0) {
    std::uint32_t at = from;
    const std::uint32_t column = to % columns_;
    const auto go = [&](Link kind, std::uint32_t next) {
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
