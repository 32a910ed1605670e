// How units are dealt to cores and clusters that are not equally fast.
#include "firmware/runtime/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace attnvp::firmware {
namespace {

Deal deal_of(const std::vector<std::uint16_t>& weights) {
  hal::Cores cores{};
  for (std::size_t k = 0; k < weights.size(); ++k) cores.weight[k] = weights[k];
  return {cores, static_cast<uint32_t>(weights.size())};
}

std::vector<uint32_t> split(const Deal& deal, std::size_t cores, uint64_t from, uint32_t units, uint32_t capacity) {
  uint32_t begin[hal::kMostCores + 1];
  deal.split(from, units, capacity, begin);
  EXPECT_EQ(begin[0], 0U);
  EXPECT_EQ(begin[cores], units);
  std::vector<uint32_t> own;
  for (std::size_t k = 0; k < cores; ++k) own.push_back(begin[k + 1] - begin[k]);
  return own;
}

using Units = std::vector<uint32_t>;

TEST(Deal, GivesCoresUnitsInProportionToTheirWeights) {
  const Deal deal = deal_of({4096, 1024, 1024});
  EXPECT_EQ(split(deal, 3, 0, 6, 4), (Units{4, 1, 1}));
  EXPECT_EQ(split(deal, 3, 0, 12, 8), (Units{8, 2, 2}));
  EXPECT_EQ(deal.full_window(4), 6U);
  EXPECT_EQ(split(deal, 3, 0, 1, 4), (Units{1, 0, 0})) << "the fastest is done first";
}

TEST(Deal, OfCoresWithoutRoomOthersTakeTheRest) {
  EXPECT_EQ(split(deal_of({4096, 1024, 1024}), 3, 0, 6, 2), (Units{2, 2, 2}));
  EXPECT_EQ(split(deal_of({4096, 1024, 1024}), 3, 0, 5, 2), (Units{2, 2, 1}));
}

TEST(Deal, WindowsThatFollowOneAnotherKeepToTheProportion) {
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    std::vector<std::uint16_t> weights(1 + random() % 6);
    uint64_t all = 0;
    for (std::uint16_t& weight : weights) all += weight = static_cast<std::uint16_t>(1 + random() % 4096);
    const Deal deal = deal_of(weights);
    std::vector<uint64_t> sums(weights.size(), 0);
    uint64_t from = 0;
    for (int window = 0; window < 50; ++window) {
      const auto units = static_cast<uint32_t>(random() % 9);
      const Units own = split(deal, weights.size(), from, units, units);
      for (std::size_t k = 0; k < weights.size(); ++k) sums[k] += own[k];
      from += units;
      for (std::size_t k = 0; k < weights.size(); ++k) {  // within what is handed out beyond whole shares
        EXPECT_GE(sums[k], from * weights[k] / all);
        EXPECT_LE(sums[k], from * weights[k] / all + weights.size());
      }
    }
  }
}

ClusterDeal deal_to(const std::vector<std::uint16_t>& weights) {
  ClusterDeal deal(static_cast<uint32_t>(weights.size()));
  std::copy(weights.begin(), weights.end(), deal.weights());
  return deal;
}

Units shares(const ClusterDeal& deal, std::size_t clusters, uint32_t units) {
  Units own;
  for (uint32_t c = 0; c < clusters; ++c)
    own.push_back(deal.begin_of_units(c + 1, units) - deal.begin_of_units(c, units));
  return own;
}

TEST(ClusterDeal, GivesClustersUnitsInProportionToTheirWeights) {
  const ClusterDeal deal = deal_to({4096, 1024});
  EXPECT_EQ(shares(deal, 2, 10), (Units{8, 2}));
  EXPECT_EQ(shares(deal, 2, 3), (Units{3, 0})) << "the fast one is done before the slow one";
  EXPECT_EQ(shares(deal, 2, 4), (Units{4, 0})) << "of equals the first";
  EXPECT_EQ(shares(deal, 2, 0), (Units{0, 0}));
  EXPECT_EQ(deal.begin_of_parts(1), ClusterDeal::kParts / 5 * 4);
  EXPECT_EQ(deal.begin_of_parts(2), ClusterDeal::kParts);
}

TEST(ClusterDeal, GivesEveryUnitOnce) {
  std::mt19937 random(3);
  for (int n = 0; n < 200; ++n) {
    std::vector<std::uint16_t> weights(1 + random() % 40);
    for (std::uint16_t& weight : weights) weight = static_cast<std::uint16_t>(1 + random() % 4096);
    const uint32_t units = static_cast<uint32_t>(random() % 500);
    const Units own = shares(deal_to(weights), weights.size(), units);
    EXPECT_EQ(std::accumulate(own.begin(), own.end(), 0U), units);
    double last = 0;  // end of the slowest, by which no cluster could have done another unit
    for (std::size_t c = 0; c < own.size(); ++c) last = std::max(last, 1.0 * own[c] / weights[c]);
    for (std::size_t c = 0; c < own.size(); ++c) EXPECT_GE((own[c] + 1.0) / weights[c], last * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace attnvp::firmware
