#include "explore/validate/validate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "explore/validate/data_set.h"

namespace attnvp::validate {
namespace {

MeasuredPoint point(double measured, double predicted, const char* unit = "us") {
  return {"", measured, predicted, unit, ""};
}

TEST(ValidateErrors, AreMeansOfPredictedOverMeasured) {
  const Errors e = errors_of({point(100, 110), point(200, 190), point(50, 50)});
  EXPECT_NEAR(e.mape, (0.10 + 0.05 + 0) / 3, 1e-12);
  EXPECT_NEAR(e.bias, (0.10 - 0.05 + 0) / 3, 1e-12);
  EXPECT_NEAR(e.worst, 0.10, 1e-12);
  EXPECT_DOUBLE_EQ(e.spearman, 1);
}

TEST(ValidateErrors, RanksTiesAtTheirMean) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {30, 20, 10}), -1);
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3.
  EXPECT_NEAR(rank_correlation({1, 2, 2, 3}, {5, 6, 7, 8}), 4.5 / std::sqrt(4.5 * 5), 1e-12);
  EXPECT_DOUBLE_EQ(rank_correlation({7}, {9}), 1);
}

TEST(ValidateErrors, RanksEachUnitByItself) {
  // In one heap the second unit's order would drown in the first's magnitudes.
  const Errors e = errors_of({point(1, 1), point(2, 2), point(1000, 1002, "pJ"), point(1001, 1001, "pJ")});
  EXPECT_DOUBLE_EQ(e.spearman, 0);
}

TEST(ValidateErrors, RanksTimesOfAnyUnitTogether) {
  // 1, 3 and 2 ms, predicted as 1, 2 and 3 ms.
  const Errors e = errors_of({point(1, 1, "ms"), point(3000, 2000), point(2, 3, "ms")});
  EXPECT_DOUBLE_EQ(e.spearman, 0.5);
}

TEST(ValidateErrors, CorrelateWithinGroups) {
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(correlation({4, 4, 4}, {1, 2, 3}), 0);
  // Of a only: between the groups they follow, within a half; b has one point too few.
  const std::vector<MeasuredPoint> points = {point(1, 10), point(2, 30), point(3, 20), point(100, 1000),
                                             point(200, 900)};
  EXPECT_NEAR(correlation_within({"a", "a", "a", "b", "b"}, points).value(), 0.5, 1e-12);
  EXPECT_FALSE(correlation_within({"a", "a", "b", "b", "c"}, points).has_value());
}

TEST(ValidateKernels, KindsFollowTheTextOfNet) {
  EXPECT_EQ(operation_kind("H=2,N=64,E=16"), "attention");
  EXPECT_EQ(operation_kind("hf:model/config.json,N=8"), "attention");
  EXPECT_EQ(operation_kind("gemm:64x64x64,type=bf16"), "gemm");
  EXPECT_EQ(operation_kind("gemm:1x64x64"), "gemv");
  EXPECT_EQ(operation_kind("softmax:8x8"), "softmax");
  EXPECT_EQ(operation_kind("rmsnorm:8x8"), "norm");
  EXPECT_EQ(operation_kind("layernorm:8x8"), "norm");
  EXPECT_EQ(operation_kind("swiglu:8x8"), "elementwise");
}

TEST(ValidateKernels, TheFastestAlternativeIsThatOfRunsOneByOne) {
  const workload::Workload product = workload::load("gemm:48x200x96");
  KernelRunner runner("edge");
  KernelChoices kernels;
  kernels.takes_fastest = true;
  double least = kAnyTime, longest = 0;
  for (const char* tiling : {"nq=4,nkv=8,kd=8,m0=4,n0=8,k0=8,kv=2", "nq=32,nkv=64,kd=96,m0=16,n0=16,k0=16,kv=2",
                             "nq=16,nkv=200,kd=32,m0=16,n0=16,k0=16,kv=2"}) {
    KernelChoice& one = kernels.all.emplace_back();
    one.dataflow = "gemm";
    one.tiling = tiling;
    const double seconds = runner.run({}, product, one).seconds();
    least = std::min(least, seconds), longest = std::max(longest, seconds);
  }
  EXPECT_GT(longest, 1.5 * least);
  EXPECT_DOUBLE_EQ(runner.run({}, product, kernels).seconds(), least);
  EXPECT_THROW(runner.run({}, product, kernels.all.front(), least / 1000), job::RunError);
}

TEST(ValidateRow, FindsColumnsByNameAndComplainsWithTheLine) {
  const std::vector<std::string> columns = {"a", "b", "c"};
  const config::CsvLine line{{"x.csv", 7}, {"2.5", "", "two"}};
  const DataRow row(columns, line, 3);
  EXPECT_EQ(row.number(), 3U);
  EXPECT_DOUBLE_EQ(row.positive("a"), 2.5);
  EXPECT_TRUE(row.empty("b"));
  const auto complaint = [](const auto& read) {
    try {
      read();
    } catch (const config::ConfigError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(complaint([&] { row.positive("c"); }), "x.csv:7: found 'two'; allowed is a number above 0");
  EXPECT_EQ(complaint([&] { row.whole("a"); }), "x.csv:7: found '2.5'; allowed is a whole number");
}

}  // namespace
}  // namespace attnvp::validate
