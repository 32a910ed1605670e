// DRAM's bus as clusters share it, by hand.
#include "mapping/shared_bus.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnvp::mapping {
namespace {

struct Transfer {
  double begins = 0, cycles = 0, told = SharedBus::kNotTold;
};
struct Seen {
  std::vector<double> over, told;
};

// Of users that each have one transfer, with windows of 40 cycles.
Seen run(const std::vector<Transfer>& transfers) {
  Agenda agenda;
  SharedBus bus(agenda, 40);
  Seen seen{std::vector<double>(transfers.size(), -1), std::vector<double>(transfers.size(), -1)};
  for (std::uint32_t i = 0; i < transfers.size(); ++i) agenda.plan(transfers[i].begins, Happens::kBegin, i, 0);
  while (!agenda.empty()) {
    const Happening h = agenda.next();
    Mark mark{};
    if (h.what() == Happens::kBegin) {
      bus.begin(h.cluster(), transfers[h.cluster()].cycles, transfers[h.cluster()].told);
    } else if (bus.reached(h.id(), mark)) {
      (mark.over ? seen.over : seen.told)[mark.user] = agenda.now();
    }
  }
  return seen;
}

TEST(SharedBus, OneHasItAll) { EXPECT_EQ(run({{10, 100}}).over, (std::vector<double>{110})); }

TEST(SharedBus, FirstComeFirstServed) {
  EXPECT_EQ(run({{0, 30}, {0, 20}, {5, 10}}).over, (std::vector<double>{30, 50, 60}));
  EXPECT_EQ(run({{0, 10}, {50, 20}}).over, (std::vector<double>{10, 70}));
}

TEST(SharedBus, NoMoreThanAWindowAtATimeWithOthers) {
  // 40 and 40 in turn until 160, then 20 of the first, 40 and what is left of the second.
  EXPECT_EQ(run({{0, 100}, {0, 300}}).over, (std::vector<double>{180, 400}));
  // 50 by itself, then a window, and the last 10 after the other's.
  EXPECT_EQ(run({{0, 100}, {50, 30}}).over, (std::vector<double>{130, 120}));
}

TEST(SharedBus, TurnsEndHoweverLateItIs) {
  constexpr double kLate = 3e12;  // where a double has no more than three binary places
  const Seen seen = run({{kLate, 100.3, 100.3}, {kLate, 70.7, 0.1}});
  EXPECT_NEAR(seen.over[0] - kLate, 171, 1);
  EXPECT_NEAR(seen.told[0] - kLate, 171, 1);
  EXPECT_NEAR(seen.over[1] - kLate, 150.7, 1);
  EXPECT_NEAR(seen.told[1] - kLate, 40.1, 1);
}

TEST(SharedBus, TellsWhenSoMuchIsServed) {
  const Seen seen = run({{0, 100, 60}, {0, 40, 40}, {0, 10, 0}});
  EXPECT_EQ(seen.over, (std::vector<double>{150, 80, 90}));
  EXPECT_EQ(seen.told, (std::vector<double>{110, 80, 80}));
}

TEST(SharedBus, CanBeAskedToTellLater) {
  Agenda agenda;
  SharedBus bus(agenda, 40);
  agenda.plan(0, Happens::kBegin, 0, 0);
  agenda.plan(25, Happens::kIssue, 0, 0);
  std::vector<double> times;
  while (!agenda.empty()) {
    const Happening h = agenda.next();
    Mark mark{};
    if (h.what() == Happens::kBegin) bus.begin(0, 100);
    if (h.what() == Happens::kIssue) bus.tell(0, 70);
    if (h.what() == Happens::kMark && bus.reached(h.id(), mark)) times.push_back(agenda.now());
  }
  EXPECT_EQ(times, (std::vector<double>{70, 100}));
}

}  // namespace
}  // namespace attnvp::mapping
