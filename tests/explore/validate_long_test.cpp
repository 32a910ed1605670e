// Every set that comes with the program, predicted row by row: mean errors and order within what the pages promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "explore/validate/validate.h"

namespace attnvp::validate {
namespace {

SetResult shipped(const std::string& set) { return validate(file_of_set(set), {}); }

// Every line of the file has its points: none is left out.
void expect_all_rows(const SetResult& r) {
  ASSERT_FALSE(r.points.empty());
  for (std::uint64_t row = 1; row <= r.lines.size(); ++row) {
    EXPECT_TRUE(std::binary_search(r.rows.begin(), r.rows.end(), row)) << r.set << ": row " << row;
  }
}

TEST(ValidateLong, AttentionKernels) {
  const SetResult r = shipped("attention");
  expect_all_rows(r);
  std::map<bool, std::vector<MeasuredPoint>> points;  // by whether they are prefill
  for (std::size_t i = 0; i < r.points.size(); ++i) {
    const DataRow row(r.columns, r.lines[r.rows[i] - 1], r.rows[i]);
    points[row.whole("prefill_chunk") > 0].push_back(r.points[i]);
  }
  ASSERT_EQ(points.size(), 2U);
  EXPECT_LE(errors_of(points[false]).mape, 0.07);
  EXPECT_LE(errors_of(points[true]).mape, 0.06);
  EXPECT_LE(r.errors.worst, 0.30);
  EXPECT_GE(errors_of(points[false]).spearman, 0.99);
  EXPECT_GE(errors_of(points[true]).spearman, 0.99);
}

struct Bar {
  const char* set;
  double mape;
};
class ValidateSets : public testing::TestWithParam<Bar> {};

TEST_P(ValidateSets, AreWithinTheirBar) {
  const SetResult r = shipped(GetParam().set);
  expect_all_rows(r);
  EXPECT_LE(r.errors.mape, GetParam().mape);
  EXPECT_LE(r.errors.worst, 0.40);
}

INSTANTIATE_TEST_SUITE_P(ValidateLong, ValidateSets,
                         testing::Values(Bar{"chains", 0.02}, Bar{"flash", 0.06}, Bar{"gemm-softmax", 0.08},
                                         Bar{"dram-curves", 0.12}, Bar{"ascend-910b", 0.05}, Bar{"blackhole", 0.12},
                                         Bar{"mi355x", 0.09}, Bar{"tpu-v4", 0.13}, Bar{"tpu-v6e", 0.10},
                                         Bar{"wormhole", 0.08}, Bar{"rtx4090-layers", 0.08},
                                         Bar{"a100-80gb-softmax", 0.06}, Bar{"gv100-power", 0.15},
                                         Bar{"h100-decode", 0.20}, Bar{"h100-kernels", 0.11}),
                         [](const auto& of) { return std::to_string(of.index); });

// What softmax adds to a kernel of attention: rows 1 and 2 beside rows 3 and 4, which have none.
TEST(ValidateLong, SoftmaxAddsItsTime) {
  const SetResult r = shipped("a100-80gb-softmax");
  ASSERT_GE(r.points.size(), 4U);
  for (std::size_t i = 0; i < 2; ++i) {
    const MeasuredPoint &with = r.points[i], &without = r.points[i + 2];
    const double measured = with.measured - without.measured;
    EXPECT_NEAR(with.predicted - without.predicted, measured, 0.25 * measured) << "row " << i + 1;
  }
}

// Tile sizes of one pair of GEMMs, beside each other.
TEST(ValidateLong, ChainsFollowTheirTileSizes) { EXPECT_GE(shipped("chains").errors.within_groups.value(), 0.9); }

// The measured time of a step isolates the energy model.
TEST(ValidateLong, DecodingStepsHaveTheirEnergy) {
  const SetResult r = shipped("h100-decode");
  EXPECT_GE(r.errors.spearman, 0.95);
  EXPECT_GE(coverage_of(r.points).value(), 0.9);
  const auto with = std::find_if(r.further.begin(), r.further.end(),
                                 [](const PointSeries& s) { return s.name == "with_measured_time"; });
  ASSERT_NE(with, r.further.end());
  EXPECT_LE(with->errors.mape, 0.15);
}

// Blind: the log's limit of power is met from below, idle power and time of the steps are near.
TEST(ValidateLong, PowerOverTime) {
  const SetResult r = shipped("rtxa6000-power");
  EXPECT_EQ(r.points.size(), 10U);
  EXPECT_LE(r.errors.mape, 0.25);
  const auto mean_error = [&r](const char* name) {
    const auto found =
        std::find_if(r.further.begin(), r.further.end(), [name](const PointSeries& s) { return s.name == name; });
    return found == r.further.end() ? 1 : found->errors.mape;
  };
  EXPECT_LE(mean_error("idle"), 0.15);
  EXPECT_LE(mean_error("step_time"), 0.05);
}

// A set without bars of its own is one that nobody has looked at.
TEST(ValidateLong, NoSetIsLeftOut) {
  std::vector<std::string> names;
  for (const std::string& file : files_of_sets()) names.push_back(std::filesystem::path(file).stem().string());
  EXPECT_EQ(names, (std::vector<std::string>{"a100-80gb-softmax", "ascend-910b", "attention", "blackhole", "chains",
                                             "dram-curves", "flash", "gemm-softmax", "gv100-power", "h100-decode",
                                             "h100-kernels", "mi355x", "rtx4090-layers", "rtxa6000-power", "tpu-v4",
                                             "tpu-v6e", "wormhole"}));
}

}  // namespace
}  // namespace attnvp::validate
