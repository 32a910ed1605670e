// DRAM's bus as clusters share it, by hand.
#include "mapping/shared_bus.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace attnvp::mapping {
namespace {

// When each cluster's transfer is over; (when it begins, cycles it takes alone).
std::vector<double> ends(const std::vector<std::pair<double, double>>& transfers) {
  Agenda agenda;
  SharedBus bus(agenda);
  std::vector<double> ends(transfers.size(), -1);
  for (std::uint32_t i = 0; i < transfers.size(); ++i) agenda.plan(transfers[i].first, Happens::kBegin, i, 0);
  while (!agenda.empty()) {
    const Happening h = agenda.next();
    Mark mark{};
    if (h.what == Happens::kBegin) {
      bus.enter();
      bus.mark({bus.served() + transfers[h.cluster].second, h.cluster, true});
    } else if (bus.reached(h.id, mark)) {
      ends[mark.cluster] = agenda.now();
      bus.leave();
    }
  }
  return ends;
}

TEST(SharedBus, OneHasItAll) { EXPECT_EQ(ends({{10, 100}}), (std::vector<double>{110})); }

TEST(SharedBus, TwoHaveHalfEach) {
  EXPECT_EQ(ends({{0, 100}, {0, 100}}), (std::vector<double>{200, 200}));
  // 100 of each until 200, then what is left alone.
  EXPECT_EQ(ends({{0, 100}, {0, 300}}), (std::vector<double>{200, 400}));
}

TEST(SharedBus, WhoComesLaterSharesWhatIsLeft) {
  // 50 alone, then 50 more of the first and of the second until 150, then 20 alone.
  EXPECT_EQ(ends({{0, 100}, {50, 70}}), (std::vector<double>{150, 170}));
  EXPECT_EQ(ends({{0, 10}, {50, 70}}), (std::vector<double>{10, 120}));
}

}  // namespace
}  // namespace attnvp::mapping
