// What is told late, or ahead of time, comes in order of time, and of an instant the last value stays.
#include "models/sim/trace/recorder.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace attnvp {
namespace {

// Tells of `late` what has been over for a while.
struct Told : Module {
  Told(sc_core::sc_module_name name, Context& context) : Module(name, context) {}
  std::uint64_t tells_from() const override { return from; }
  std::uint64_t from = UINT64_MAX;
  Signal at_once{*this, "at_once", 8}, late{*this, "late", 8};
};

struct Listener : TraceListener {
  void begin(std::uint64_t /*time*/, const std::vector<std::uint64_t>& /*values*/) override {}
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override {
    told.emplace_back(time, id, value);
  }
  void end(std::uint64_t /*time*/) override {}
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> told;
};

void go_on(std::uint64_t fs) { sc_core::sc_start(sc_core::sc_time::from_value(fs)); }

TEST(Recorder, KeepsOrderAndTheLastOfAnInstant) {
  Context context{1e9, false};
  Told module("told", context);
  Listener listener;
  Recorder recorder(module, context.clock, [](const std::string&) { return true; }, {});
  recorder.add(listener);
  recorder.start();
  go_on(1000);
  module.at_once.set(1);
  go_on(1000);
  module.from = 1500;     // since then there may be more to tell
  module.at_once.set(2);  // waits for that
  module.late.set_at(1500, 7);
  module.from = UINT64_MAX;
  module.at_once.set(3);        // of the same instant
  module.late.set_at(5000, 9);  // ahead
  module.late.set_at(4000, 8);  // told later, for sooner
  go_on(1000);
  module.at_once.set(4);
  go_on(3000);
  recorder.finish();
  const std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> expected = {
      {1000, 0, 1}, {1500, 1, 7}, {2000, 0, 3}, {3000, 0, 4}, {4000, 1, 8}, {5000, 1, 9}};
  EXPECT_EQ(listener.told, expected);
}

}  // namespace
}  // namespace attnvp
