// Packets on links against a count flit by flit and cycle by cycle.
#include "models/network/link_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace attnvp {
namespace {

struct Send {
  std::uint64_t time;
  std::uint32_t from, to;
  std::uint64_t flits;
};

struct Outcome {
  std::vector<std::uint64_t> arrived;            // of each packet
  std::map<std::uint32_t, std::uint64_t> flits;  // over each link
  bool operator==(const Outcome& o) const { return arrived == o.arrived && flits == o.flits; }
};

Outcome flit_by_flit(const Topology& topology, std::uint64_t hop_cycles, const std::vector<Send>& sends) {
  struct Packet {
    std::vector<std::uint32_t> way;
    std::vector<std::vector<std::uint64_t>> there;  // hop: when each of its flits is before that link
  };
  struct Link {
    int packet = -1;
    std::size_t hop = 0;
    std::uint64_t flit = 0;
  };
  std::vector<Packet> packets(sends.size());
  std::uint64_t left = 0;
  for (std::size_t p = 0; p < sends.size(); ++p) {
    topology.way(sends[p].from, sends[p].to, packets[p].way);
    packets[p].there.resize(packets[p].way.size() + 1);
    for (std::uint64_t f = 0; f < sends[p].flits; ++f) packets[p].there[0].push_back(sends[p].time + f);
    left += sends[p].flits * packets[p].way.size();
  }
  Outcome outcome;
  std::vector<Link> links(topology.links());
  for (std::uint64_t cycle = 0; left > 0; ++cycle) {
    for (std::uint32_t l = 0; l < links.size(); ++l) {
      Link& link = links[l];
      if (link.packet < 0) {  // the head that came first, of those that have not gone on
        std::uint64_t earliest = UINT64_MAX;
        for (std::size_t p = 0; p < packets.size(); ++p) {
          for (std::size_t h = 0; h < packets[p].way.size(); ++h) {
            if (packets[p].way[h] != l || packets[p].there[h].empty() || !packets[p].there[h + 1].empty()) continue;
            const std::uint64_t head = packets[p].there[h].front();
            if (head > cycle || head >= earliest) continue;
            earliest = head;
            link = {static_cast<int>(p), h, 0};
          }
        }
      }
      if (link.packet < 0) continue;
      Packet& packet = packets[static_cast<std::size_t>(link.packet)];
      const auto& here = packet.there[link.hop];
      if (link.flit < here.size() && here[link.flit] <= cycle) {
        packet.there[link.hop + 1].push_back(cycle + hop_cycles);
        ++outcome.flits[l];
        --left;
        if (++link.flit == sends[static_cast<std::size_t>(link.packet)].flits) link.packet = -1;
      }
    }
  }
  for (const Packet& packet : packets) outcome.arrived.push_back(packet.there.back().back());
  return outcome;
}

Outcome head_by_head(const Topology& topology, std::uint64_t hop_cycles, const std::vector<Send>& sends) {
  LinkNetwork network(topology, hop_cycles);
  Outcome outcome{std::vector<std::uint64_t>(sends.size()), {}};
  const auto advance = [&](std::uint64_t time) {
    for (const auto& arrival : network.advance(time)) outcome.arrived[arrival.tag] = arrival.time;
  };
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Send& s = sends[i];
    if (s.time > 0) advance(s.time - 1);
    network.send(s.time, s.from, s.to, s.flits, i);
  }
  while (network.next() != UINT64_MAX) advance(network.next());
  std::uint64_t busiest = 0, all = 0;
  for (std::uint32_t l = 0; l < topology.links(); ++l) {
    if (network.flits_of(l) > 0) outcome.flits[l] = network.flits_of(l);
    busiest = std::max(busiest, network.flits_of(l));
    all += network.flits_of(l);
  }
  EXPECT_EQ(network.busiest_link_flits(), busiest);
  EXPECT_EQ(network.flit_hops(), all);
  return outcome;
}

void compare(bool mesh) {
  std::mt19937 random(mesh ? 1 : 2);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int set = 0; set < 1000; ++set) {
    const std::uint32_t nodes = 2 + below(15);
    const Topology topology = mesh ? Topology::mesh(nodes, 1 + below(nodes)) : Topology::crossbar(nodes);
    const std::uint64_t hop_cycles = 1 + below(4);
    std::vector<Send> sends(1 + below(24));
    for (Send& s : sends) s = {below(60), below(nodes), below(nodes), 1 + below(12)};
    std::stable_sort(sends.begin(), sends.end(), [](const Send& a, const Send& b) { return a.time < b.time; });
    ASSERT_TRUE(head_by_head(topology, hop_cycles, sends) == flit_by_flit(topology, hop_cycles, sends)) << set;
  }
}

TEST(LinkNetwork, CrossbarIsAsFlitByFlit) { compare(false); }
TEST(LinkNetwork, MeshIsAsFlitByFlit) { compare(true); }

// 3 columns, 8 nodes: 0 1 2 / 3 4 5 / 6 7. Along the row first; where there is no node in that column, up first.
TEST(Topology, WaysOfAMesh) {
  const Topology mesh = Topology::mesh(8, 3);
  std::vector<std::uint32_t> way;
  const auto link = [](std::uint32_t kind, std::uint32_t node) { return kind * 8 + node; };
  mesh.way(0, 7, way);
  EXPECT_EQ(way, (std::vector<std::uint32_t>{link(0, 0), link(2, 0), link(4, 1), link(4, 4), link(1, 7)}));
  mesh.way(7, 2, way);
  EXPECT_EQ(way, (std::vector<std::uint32_t>{link(0, 7), link(5, 7), link(2, 4), link(5, 5), link(1, 2)}));
  mesh.way(3, 3, way);
  EXPECT_EQ(way, (std::vector<std::uint32_t>{link(0, 3), link(1, 3)}));
}

TEST(LinkNetwork, OnePacketAlone) {
  LinkNetwork network(Topology::crossbar(2), 3);
  network.send(10, 0, 1, 5, 42);
  while (network.next() != UINT64_MAX) {
    for (const auto& arrival : network.advance(network.next())) {
      EXPECT_EQ(arrival.tag, 42U);
      EXPECT_EQ(arrival.time, 10U + 3 + 3 + 4);  // two links, then the other flits
    }
  }
  EXPECT_EQ(network.flit_hops(), 10U);
  EXPECT_EQ(network.waited(), 0U);
}

}  // namespace
}  // namespace attnvp
