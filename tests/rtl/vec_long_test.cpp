// A million random rows with stalls on both sides.
#include "tests/rtl/linear_bench.h"
#include "tests/rtl/vec_rows.h"

namespace attnvp::rtl {
namespace {

TEST(VecUnitLong, AMillionRandomRowsMatchTheModel) {
  RowMaker maker(99, 6000);
  VecBench<UnitDriver> bench;
  std::mt19937 random(1);
  for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); ++i) {
    const auto percent = [&] { return random() % 3 == 0 ? static_cast<unsigned>(random() % 95) : 0U; };
    bench.check(maker.make(1000), {percent(), percent(), percent()});
  }
}

TEST(VecLinearLong, AMillionRandomRowsMatchTheModel) {
  linear::Floats floats(12);
  linear::LinearBench<linear::UnitDriver> bench;
  std::mt19937 random(2);
  for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); ++i) {
    bench.check(linear::random_matrices(floats, 1000), random() % 3 == 0 ? static_cast<unsigned>(random() % 95) : 0U);
  }
}

}  // namespace
}  // namespace attnvp::rtl
