// Packets on links against a count flit by flit and cycle by cycle.
#include "models/interconnect/network/link_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace attnvp {
namespace {

struct Send {
  std::uint64_t time;
  std::uint32_t from;
  std::vector<std::uint32_t> to;
  std::uint64_t flits;
};

struct Outcome {
  std::vector<std::uint64_t> arrived;            // of each packet, at each of its nodes
  std::map<std::uint32_t, std::uint64_t> flits;  // over each link
  bool operator==(const Outcome& o) const { return arrived == o.arrived && flits == o.flits; }
};

// A packet's route is a set of links, each with those that follow it.
Outcome flit_by_flit(const Topology& topology, std::uint64_t hop_cycles, const std::vector<Send>& sends) {
  struct Packet {
    std::map<std::uint32_t, std::set<std::uint32_t>> next;
    std::map<std::uint32_t, std::vector<std::uint64_t>> there;  // when each of its flits is before that link
    std::set<std::uint32_t> begun;                              // links that its head has gone onto
    std::vector<std::uint32_t> last;                            // the link to each of its nodes
    std::map<std::uint32_t, std::uint64_t> arrived;             // over the last ones, up to now
  };
  struct Link {
    int packet = -1;
    std::uint64_t flit = 0;
  };
  std::vector<Packet> packets(sends.size());
  std::uint64_t left = 0;
  for (std::size_t p = 0; p < sends.size(); ++p) {
    std::vector<std::uint32_t> route;
    for (const std::uint32_t to : sends[p].to) {
      topology.route(sends[p].from, to, route);
      for (std::size_t h = 0; h < route.size(); ++h) {
        auto& next = packets[p].next[route[h]];
        if (h + 1 < route.size()) next.insert(route[h + 1]);
      }
      packets[p].last.push_back(route.back());
    }
    for (std::uint64_t f = 0; f < sends[p].flits; ++f) packets[p].there[route.front()].push_back(sends[p].time + f);
    left += sends[p].flits * packets[p].next.size();
  }
  Outcome outcome;
  std::vector<Link> links(topology.links());
  for (std::uint64_t cycle = 0; left > 0; ++cycle) {
    for (std::uint32_t l = 0; l < links.size(); ++l) {
      Link& link = links[l];
      if (link.packet < 0) {  // the head that came first, of those that have not gone on
        std::uint64_t earliest = UINT64_MAX;
        for (std::size_t p = 0; p < packets.size(); ++p) {
          const auto there = packets[p].there.find(l);
          if (there == packets[p].there.end() || packets[p].begun.count(l) > 0) continue;
          const std::uint64_t head = there->second.front();
          if (head > cycle || head >= earliest) continue;
          earliest = head;
          link = {static_cast<int>(p), 0};
        }
      }
      if (link.packet < 0) continue;
      Packet& packet = packets[static_cast<std::size_t>(link.packet)];
      packet.begun.insert(l);
      const auto& here = packet.there[l];
      if (link.flit < here.size() && here[link.flit] <= cycle) {
        for (const std::uint32_t next : packet.next[l]) packet.there[next].push_back(cycle + hop_cycles);
        packet.arrived[l] = cycle + hop_cycles;
        ++outcome.flits[l];
        --left;
        if (++link.flit == sends[static_cast<std::size_t>(link.packet)].flits) link.packet = -1;
      }
    }
  }
  for (Packet& packet : packets) {
    for (const std::uint32_t l : packet.last) outcome.arrived.push_back(packet.arrived[l]);
  }
  return outcome;
}

// `early`: packets are sent long before they leave, and nodes join at the last moment.
Outcome head_by_head(const Topology& topology, std::uint64_t hop_cycles, const std::vector<Send>& sends, bool early) {
  LinkNetwork network(topology, hop_cycles);
  Outcome outcome;
  std::vector<std::size_t> packets;
  const auto advance = [&](std::uint64_t time) {
    for (const auto& arrival : network.advance(time)) outcome.arrived[arrival.tag] = arrival.time;
  };
  const auto send = [&](const Send& s, std::uint64_t tag) {
    packets.push_back(network.send(s.time, s.from, s.to[0], s.flits, tag));
  };
  std::vector<std::uint64_t> tags;
  for (const Send& s : sends) {
    tags.push_back(outcome.arrived.size());
    outcome.arrived.resize(outcome.arrived.size() + s.to.size());
    if (early) send(s, tags.back());
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Send& s = sends[i];
    if (s.time > 0) advance(s.time - 1);
    if (!early) send(s, tags[i]);
    for (std::size_t d = 1; d < s.to.size(); ++d) network.join(packets[i], s.from, s.to[d], tags[i] + d);
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

// `multicast`: about half of the packets are for several nodes.
void compare(bool mesh, bool multicast) {
  std::mt19937 random(mesh ? 1 : 2);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int set = 0; set < 1000; ++set) {
    const std::uint32_t nodes = 2 + below(15);
    const Topology topology = mesh ? Topology::mesh(nodes, 1 + below(nodes)) : Topology::crossbar(nodes);
    const std::uint64_t hop_cycles = 1 + below(4);
    std::vector<Send> sends(1 + below(24));
    for (Send& s : sends) {
      s = {below(60), below(nodes), {below(nodes)}, 1 + below(12)};
      if (!multicast || below(2) == 0) continue;
      for (std::uint32_t more = below(nodes); more > 0; --more) {
        const std::uint32_t to = below(nodes);
        if (std::find(s.to.begin(), s.to.end(), to) == s.to.end()) s.to.push_back(to);
      }
    }
    std::stable_sort(sends.begin(), sends.end(), [](const Send& a, const Send& b) { return a.time < b.time; });
    const bool early = multicast && below(2) == 0;
    ASSERT_TRUE(head_by_head(topology, hop_cycles, sends, early) == flit_by_flit(topology, hop_cycles, sends)) << set;
  }
}

TEST(LinkNetwork, CrossbarIsAsFlitByFlit) { compare(false, false); }
TEST(LinkNetwork, MeshIsAsFlitByFlit) { compare(true, false); }
TEST(LinkNetwork, MulticastOnACrossbarIsAsFlitByFlit) { compare(false, true); }
TEST(LinkNetwork, MulticastOnAMeshIsAsFlitByFlit) { compare(true, true); }

// 3 columns, 8 nodes: 0 1 2 / 3 4 5 / 6 7. Along the row first; where there is no node in that column, up first.
TEST(Topology, WaysOfAMesh) {
  const Topology mesh = Topology::mesh(8, 3);
  std::vector<std::uint32_t> route;
  const auto link = [](std::uint32_t kind, std::uint32_t node) { return kind * 8 + node; };
  mesh.route(0, 7, route);
  EXPECT_EQ(route, (std::vector<std::uint32_t>{link(0, 0), link(2, 0), link(4, 1), link(4, 4), link(1, 7)}));
  mesh.route(7, 2, route);
  EXPECT_EQ(route, (std::vector<std::uint32_t>{link(0, 7), link(5, 7), link(2, 4), link(5, 5), link(1, 2)}));
  mesh.route(3, 3, route);
  EXPECT_EQ(route, (std::vector<std::uint32_t>{link(0, 3), link(1, 3)}));
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

// 3 columns, 3 rows, from the corner to the opposite one, to a node in its row and to one in between: 4 links along the
// row, into one of the nodes and down, of which the packet alone needs 6.
TEST(LinkNetwork, SharedLinksCarryAPacketOnce) {
  LinkNetwork network(Topology::mesh(9, 3), 2);
  const std::size_t packet = network.send(10, 0, 8, 5, 8);
  network.join(packet, 0, 2, 2);
  network.join(packet, 0, 5, 5);
  std::map<std::uint64_t, std::uint64_t> arrived;
  while (network.next() != UINT64_MAX) {
    for (const auto& arrival : network.advance(network.next())) arrived[arrival.tag] = arrival.time;
  }
  EXPECT_EQ(network.flit_hops(), 5U * (6 + 1 + 1));
  // Hops: in, east, east, south, south, out.
  EXPECT_EQ(arrived,
            (std::map<std::uint64_t, std::uint64_t>{{8, 10 + 2 * 6 + 4}, {5, 10 + 2 * 5 + 4}, {2, 10 + 2 * 4 + 4}}));
}

}  // namespace
}  // namespace attnvp
