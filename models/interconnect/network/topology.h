// Topologies: nodes, and the directed links between them, by number.
#pragma once

#include <cstdint>
#include <vector>

namespace attnvp {

class Topology {
 public:
  // Each node has a link into the switch and one out of it.
  static Topology crossbar(std::uint32_t nodes);
  // Nodes are in rows, each at a router with links to its neighbours. Routing is X first.
  static Topology mesh(std::uint32_t nodes, std::uint32_t columns);

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t links() const { return (columns_ == 0 ? 2 : 6) * nodes_; }
  // Appends the links of the route, in order.
  void way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const;

 private:
  Topology(std::uint32_t nodes, std::uint32_t columns) : nodes_(nodes), columns_(columns) {}
  // Links of a node: into the network, out of it, and from its router to the neighbours.
  enum Link : std::uint32_t { kIn, kOut, kEast, kWest, kSouth, kNorth };
  std::uint32_t link(Link kind, std::uint32_t node) const { return kind * nodes_ + node; }

  std::uint32_t nodes_, columns_;  // columns: 0 for a crossbar
};

}  // namespace attnvp
