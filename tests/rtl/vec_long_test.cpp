// A million random rows with stalls on both sides.
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

}  // namespace
}  // namespace attnvp::rtl
