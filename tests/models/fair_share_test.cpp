// Expected times are worked out by hand in the comments: rates are bytes per cycle, times cycles.
#include "models/memory/scratchpad/fair_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace attnvp {
namespace {

struct Request {
  std::uint64_t at;
  std::uint32_t port;
  std::uint64_t bytes;
  std::uint64_t pace = 0;
};

// Opens and closes flows as the scratchpad does. It learns of changed finish times through moved() only.
std::vector<std::uint64_t> simulate(FairShare& share, const std::vector<Request>& requests) {
  std::vector<std::uint64_t> done(requests.size());
  std::map<std::size_t, std::pair<std::size_t, std::uint64_t>> active;  // slot: request, finish
  const auto note_moved = [&] {
    for (const std::size_t slot : share.moved()) active.at(slot).second = share.finish(slot);
    for (const auto& [slot, flow] : active) EXPECT_EQ(flow.second, share.finish(slot)) << "slot " << slot;
  };
  std::size_t next = 0;
  while (next < requests.size() || !active.empty()) {
    auto first = active.end();
    for (auto i = active.begin(); i != active.end(); ++i) {
      if (first == active.end() || i->second.second < first->second.second) first = i;
    }
    if (next < requests.size() && (first == active.end() || requests[next].at < first->second.second)) {
      const Request& r = requests[next];
      const std::size_t slot = share.open(r.at, r.port, r.bytes, r.pace);
      EXPECT_TRUE(share.active(slot));
      EXPECT_EQ(active.count(slot), 0U);
      EXPECT_EQ(std::count(share.moved().begin(), share.moved().end(), slot), 0);
      active[slot] = {next++, share.finish(slot)};
    } else {
      const std::size_t slot = first->first;
      done[first->second.first] = first->second.second;
      const std::uint64_t now = first->second.second;
      active.erase(first);
      share.close(now, slot);
      EXPECT_FALSE(share.active(slot));
    }
    note_moved();
  }
  return done;
}

using Times = std::vector<std::uint64_t>;

Times run(std::uint32_t ports, double port_rate, double total_rate, const std::vector<Request>& requests) {
  FairShare share(ports, port_rate, total_rate);
  return simulate(share, requests);
}

TEST(FairShare, AloneAFlowTakesTheLongerOfPortAndPace) {
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 640}}), Times{10});
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 641}}), Times{11});  // a begun cycle counts
  EXPECT_EQ(run(1, 64, 512, {{7, 0, 1}}), Times{8});
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 640, 25}}), Times{25});
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 640, 9}}), Times{10});
  EXPECT_EQ(run(1, 64, 32, {{0, 0, 640}}), Times{20});  // the banks are slower than the port
}

TEST(FairShare, EqualSharesOfAPort) {
  // 32 each: 640 / 32 = 20.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 640}, {0, 0, 640}}), (Times{20, 20}));
  // Four at 16 each: 160 bytes take 10; the last has 480 left at 64: 7.5 more.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 160}, {0, 0, 160}, {0, 0, 160}, {0, 0, 640}}), (Times{10, 10, 10, 18}));
}

TEST(FairShare, AnotherPortDoesNotMatterWhileBanksSuffice) {
  EXPECT_EQ(run(2, 64, 128, {{0, 0, 640}, {0, 1, 1280}}), (Times{10, 20}));
}

TEST(FairShare, LateArrivalSharesTheRest) {
  // A alone until 5: 320 moved; then 32 each: A ends at 15, when B has 320 left at 64: 20.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 640}, {5, 0, 640}}), (Times{15, 20}));
}

TEST(FairShare, MaxMinGivesWhatAPacedFlowLeaves) {
  // A asks for 16, so B gets 48: at 10 A is done, B has 480 left at 64: 17.5.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 160, 10}, {0, 0, 960}}), (Times{10, 18}));
  // A asks for 8, B and C split 56: 28 each. A ends at 10, B and C have 560 - 280 left at 32: 8.75.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 80, 10}, {0, 0, 560}, {0, 0, 560}}), (Times{10, 19, 19}));
}

TEST(FairShare, PacedFlowCatchesUpAfterItsTime) {
  // A wants 48, gets 32 beside B until 10, when B is done; its 160 left go at full 64: 2.5. (At 48: 3.4.)
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 480, 10}, {0, 0, 320}}), (Times{13, 10}));
}

TEST(FairShare, PacedFlowCatchesUpWithinItsTime) {
  // A wants 24, gets 21.3 beside B and C for 3 cycles; 416 left over the 17 that remain: it is back on time.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 480, 20}, {0, 0, 64}, {0, 0, 64}}), (Times{20, 3, 3}));
}

TEST(FairShare, BanksBindAcrossPorts) {
  // Three ports could take 192, the banks give 96: 32 each.
  EXPECT_EQ(run(3, 64, 96, {{0, 0, 640}, {0, 1, 640}, {0, 2, 640}}), (Times{20, 20, 20}));
}

TEST(FairShare, PortsBindFirstThenBanks) {
  // Banks 160. Two flows on port 0 freeze at 32; what is left, 96, makes 48 on each of the other two ports.
  // 480 / 32 = 15 and 480 / 48 = 10; from 10 on port 0 is alone, still 32 each.
  EXPECT_EQ(run(3, 64, 160, {{0, 0, 480}, {0, 0, 480}, {0, 1, 480}, {0, 2, 480}}), (Times{15, 15, 10, 10}));
}

TEST(FairShare, RatesThatAreNoWholeNumbers) {
  // 64 / 3 each: 64 bytes in 3 cycles.
  EXPECT_EQ(run(1, 64, 512, {{0, 0, 64}, {0, 0, 64}, {0, 0, 64}}), (Times{3, 3, 3}));
  // 64 / 7 each: 640 bytes in 70.
  EXPECT_EQ(run(1, 64, 512, std::vector<Request>(7, Request{0, 0, 640})), Times(7, 70));
}

TEST(FairShare, SlotsAreUsedAgain) {
  FairShare share(1, 64, 512);
  for (int i = 0; i < 100; ++i) simulate(share, {{static_cast<std::uint64_t>(i) * 100, 0, 640}});
  EXPECT_EQ(share.slots(), 1U);
}

struct Machine {
  std::uint32_t ports;
  double port_rate, total_rate;
};

std::vector<Request> random_requests(std::mt19937& random, const Machine& m, bool paced) {
  std::vector<Request> requests(2 + random() % 12);
  std::uint64_t at = random() % 50;
  for (Request& r : requests) {
    r = {at, static_cast<std::uint32_t>(random() % m.ports), 1 + random() % 3000, paced ? random() % 100 : 0};
    at += random() % 3 == 0 ? 0 : random() % 40;
  }
  return requests;
}

class FairShareProperty : public testing::TestWithParam<int> {
 protected:
  std::mt19937 random_{static_cast<std::uint32_t>(GetParam())};
  Machine machine_{1 + static_cast<std::uint32_t>(random_() % 4), static_cast<double>(1 + random_() % 128),
                   static_cast<double>(1 + random_() % 256)};
};

// In every window, what starts and ends inside has moved at no more than the rate: no byte is lost or made
// up.
TEST_P(FairShareProperty, RatesAreNeverExceeded) {
  for (int i = 0; i < 200; ++i) {
    const auto requests = random_requests(random_, machine_, true);
    const Times done = run(machine_.ports, machine_.port_rate, machine_.total_rate, requests);
    for (std::size_t a = 0; a < requests.size(); ++a) {
      const double best = std::min(machine_.port_rate, machine_.total_rate);
      const auto least = static_cast<std::uint64_t>(std::ceil(static_cast<double>(requests[a].bytes) / best));
      EXPECT_GE(done[a], requests[a].at + std::max(requests[a].pace, least));
      for (const std::uint64_t end : done) {
        double total = 0;
        std::vector<double> port(machine_.ports, 0.0);
        for (std::size_t b = 0; b < requests.size(); ++b) {
          if (requests[b].at < requests[a].at || done[b] > end) continue;
          total += static_cast<double>(requests[b].bytes);
          port[requests[b].port] += static_cast<double>(requests[b].bytes);
        }
        if (end <= requests[a].at) continue;
        const double window = static_cast<double>(end - requests[a].at) * (1 + 1e-6) + 1e-6;
        EXPECT_LE(total, window * machine_.total_rate) << "case " << i;
        for (const double bytes : port) EXPECT_LE(bytes, window * machine_.port_rate) << "case " << i;
      }
    }
  }
}

// Nothing idles while there is work: flows that start together on one port end after the sum of their bytes;
// a flow's last cycle, shared with nobody, is all that each of them may waste.
TEST_P(FairShareProperty, APortWithWorkIsBusy) {
  for (int i = 0; i < 200; ++i) {
    auto requests = random_requests(random_, machine_, false);
    std::uint64_t sum = 0;
    for (Request& r : requests) {
      r.at = 10;
      r.port = 0;
      sum += r.bytes;
    }
    const Times done = run(machine_.ports, machine_.port_rate, machine_.total_rate, requests);
    const double best = std::min(machine_.port_rate, machine_.total_rate);
    const double least = static_cast<double>(sum) / best;
    const auto last = static_cast<double>(*std::max_element(done.begin(), done.end()) - 10);
    EXPECT_GE(last, least - 1e-6);
    EXPECT_LE(last, least + static_cast<double>(requests.size()));
    // Fair: fewer bytes never end later.
    for (std::size_t a = 0; a < requests.size(); ++a) {
      for (std::size_t b = 0; b < requests.size(); ++b) {
        if (requests[a].bytes <= requests[b].bytes) {
          EXPECT_LE(done[a], done[b]) << "case " << i;
        }
      }
    }
  }
}

// Where banks have enough for every port, each is as a memory of its own; where they have a little less, which has all
// ports' flows in each other's way, it is the same but for a cycle of rounding of each flow before.
TEST_P(FairShareProperty, PortsAreByThemselvesWhereBanksSuffice) {
  const double enough = machine_.ports * machine_.port_rate;
  for (int i = 0; i < 200; ++i) {
    const auto requests = random_requests(random_, machine_, true);
    const Times done = run(machine_.ports, machine_.port_rate, enough, requests);
    const Times together = run(machine_.ports, machine_.port_rate, enough * (1 - 1e-8), requests);
    for (std::uint32_t port = 0; port < machine_.ports; ++port) {
      std::vector<Request> its;
      std::vector<std::size_t> which;
      for (std::size_t r = 0; r < requests.size(); ++r) {
        if (requests[r].port != port) continue;
        its.push_back({requests[r].at, 0, requests[r].bytes, requests[r].pace});
        which.push_back(r);
      }
      const Times alone = run(1, machine_.port_rate, machine_.port_rate, its);
      for (std::size_t r = 0; r < its.size(); ++r) {
        EXPECT_EQ(done[which[r]], alone[r]) << "case " << i;
        const std::uint64_t apart = std::max(together[which[r]], alone[r]) - std::min(together[which[r]], alone[r]);
        EXPECT_LE(apart, r + 1) << "case " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FairShareProperty, testing::Range(1, 9));

}  // namespace
}  // namespace attnvp
