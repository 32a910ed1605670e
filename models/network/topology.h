// Where nodes stand and which links lie between them. Links are numbered and go one way.
#pragma once

#include <cstdint>
#include <vector>

namespace attnvp {

class Topology {
 public:
  // Every node has a link into the switch and one out of it.
  static Topology crossbar(std::uint32_t nodes);
  // Nodes stand in rows, each at a router with links to its neighbours; packets go along the row first.
  static Topology mesh(std::uint32_t nodes, std::uint32_t columns);

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t links() const { return (columns_ == 0 ? 2 : 6) * nodes_; }
  // Links from one node to another, in order.
  void way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const;

 private:
  Topology(std::uint32_t nodes, std::uint32_t columns) : nodes_(nodes), columns_(columns) {}
  // A node's: into the network and out of it, and of its router to the neighbours.
  enum Link : std::uint32_t { kIn, kOut, kEast, kWest, kSouth, kNorth };
  std::uint32_t link(Link kind, std::uint32_t node) const { return kind * nodes_ + node; }

  std::uint32_t nodes_, columns_;  // columns: 0 for a crossbar
};

}  // namespace attnvp
