// The RTL of the FP32 row operations against models/arith/online.h, bit for bit, and its cycles against counts by hand.
#include "tests/rtl/linear_bench.h"

namespace attnvp::rtl::linear {
namespace {

template <class Driver>
class VecLinear : public testing::Test {};
using Drivers = testing::Types<UnitDriver, SmallDriver>;
TYPED_TEST_SUITE(VecLinear, Drivers);

TYPED_TEST(VecLinear, RandomRowsWithStallsMatchTheModel) {
  Floats floats(11);
  LinearBench<TypeParam> bench;
  for (const unsigned stalls : {0U, 20U, 60U, 90U}) {
    bench.check(random_matrices(floats, 500), stalls);
    if (this->HasFatalFailure()) return;
  }
}

// As many elements a cycle as there are lanes; 8 cycles of pipeline and buffer for a scale-add, 19 for a division.
TYPED_TEST(VecLinear, CyclesAreTheHandCount) {
  for (const bool divide : {false, true}) {
    const std::vector<float> ones(30, 1);
    const std::vector<LinearMatrix> rows(100, {divide, ones, ones, ones, ones});
    LinearBench<TypeParam> bench;
    bench.check(rows, 0);
    constexpr std::size_t kBeats = (30 + TypeParam::kLanes - 1) / TypeParam::kLanes;
    EXPECT_EQ(bench.cycles, 100 * kBeats + (divide ? 18 : 7) + 1);
  }
}

}  // namespace
}  // namespace attnvp::rtl::linear
