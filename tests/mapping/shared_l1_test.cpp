// L1 as a cluster's initiators share it, by hand.
#include "mapping/shared_l1.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnvp::mapping {
namespace {

struct Cross {
  double begin;
  std::uint32_t initiator;
  Crossing crossing;
};

ScratchpadConfig l1_of(std::uint32_t ports, std::uint32_t banks) {
  ScratchpadConfig l1;
  l1.ports = ports;
  l1.port_bytes_per_cycle = 64;
  l1.banks = banks;
  l1.bank_bytes_per_cycle = 32;
  return l1;
}

// When each of them is over.
std::vector<double> ends(const ScratchpadConfig& l1, const std::vector<Cross>& crosses) {
  Agenda agenda;
  SharedL1 shared(l1, 4, 0, agenda);
  std::vector<double> ends(crosses.size(), -1);
  for (std::uint32_t i = 0; i < crosses.size(); ++i) agenda.plan(crosses[i].begin, Happens::kBegin, 0, i);
  while (!agenda.empty()) {
    const Happening h = agenda.next();
    std::uint32_t crosser = 0;
    if (h.what() == Happens::kBegin) {
      shared.open(h.id(), crosses[h.id()].initiator, crosses[h.id()].crossing);
    } else if (shared.over(h.id(), crosser)) {
      ends[crosser] = agenda.now();
    }
  }
  return ends;
}

TEST(SharedL1, OneHasItsPortToItself) {
  EXPECT_EQ(ends(l1_of(2, 4), {{10, 0, {640, 0}}}), (std::vector<double>{20}));
  EXPECT_EQ(ends(l1_of(2, 4), {{10, 0, {640, 100}}}), (std::vector<double>{110}));
  EXPECT_EQ(ends(l1_of(2, 4), {{0, 0, {640, 0}}, {0, 1, {640, 0}}}), (std::vector<double>{10, 10}));
}

TEST(SharedL1, APortIsSharedFairly) {
  EXPECT_EQ(ends(l1_of(2, 4), {{0, 0, {640, 0}}, {0, 2, {640, 0}}}), (std::vector<double>{20, 20}));
  // 6.4 bytes a cycle of the port's 64 are all that the first one wants.
  EXPECT_EQ(ends(l1_of(2, 4), {{0, 0, {640, 100}}, {0, 2, {576, 0}}}), (std::vector<double>{100, 10}));
  // 5 cycles alone, then half of it until the second one has its 160 bytes, then what is left alone.
  EXPECT_EQ(ends(l1_of(2, 4), {{0, 0, {640, 0}}, {5, 2, {160, 0}}}), (std::vector<double>{13, 10}));
}

TEST(SharedL1, BanksAreSharedByAllPorts) {
  EXPECT_EQ(ends(l1_of(2, 2), {{0, 0, {640, 0}}, {0, 1, {640, 0}}}), (std::vector<double>{20, 20}));
}

TEST(SharedL1, KnowsWhoIsInNobodysWay) {
  Agenda agenda;
  const auto shared = [&](const ScratchpadConfig& l1) {
    const SharedL1 all(l1, 4, 0, agenda);
    return std::vector<bool>{all.shared(0), all.shared(1), all.shared(2), all.shared(3)};
  };
  EXPECT_EQ(shared(l1_of(4, 8)), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(shared(l1_of(3, 6)), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(shared(l1_of(4, 7)), (std::vector<bool>{true, true, true, true}));
}

}  // namespace
}  // namespace attnvp::mapping
