#include "explore/validate/course_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::validate {

namespace {

constexpr double kMillisecond = 1e-3;
constexpr const char* kDecode = "decode";
const std::vector<std::string> kStates = {kDecode, "idle", "asleep", "changes"};

class CourseSet : public DataSet {
 public:
  explicit CourseSet(const DataSetOptions& options)
      : options_(options),
        table_(load_kernel_table(hardware())),
        limit_w_(config::load_hardware(hardware(), options.settings).technology.tdp_watts),
        standing_w_(standing_watts(hardware(), options.settings)) {}

  std::string hardware() const override { return options_.hardware.empty() ? "rtxa6000" : options_.hardware; }

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const std::string& state = row.text("state");
    if (std::find(kStates.begin(), kStates.end(), state) == kStates.end()) {
      config::fail(row.origin(),
                   fmt::format("column 'state': found {}{}", config::in_quotes(state), config::hint(state, kStates)));
    }
    row.from_zero("time_s");
    const std::uint64_t requests = row.whole("requests");
    const bool decodes = state == kDecode;
    if (decodes && requests == 0) {
      config::fail(row.origin(), "column 'requests': found 0; allowed for state 'decode' is from 1");
    }
    const double watts = row.positive("power_w");
    const std::string series = decodes ? "" : state;
    if (requests == 0) {
      const double share = table_.host.idle_share;
      return {{"", watts, share * standing_w_.value, "W", "no request", share * standing_w_.low,
               share * standing_w_.high, series}};
    }
    const auto batch = static_cast<double>(requests);
    const ServedStep step(sums_of(kernels_of_row(row, hardware(), options_.settings, options_.network, table_)),
                          table_.host, batch, limit_w_);
    const auto watts_at = [&](double Ranged::*of) { return step.predicted(of).joules / step.predicted(of).seconds; };
    const double step_ms = step.predicted(&Ranged::value).seconds / kMillisecond;
    std::vector<MeasuredPoint> points = {{"", watts, watts_at(&Ranged::value), "W", fmt::format("{:.2f} ms", step_ms),
                                          watts_at(&Ranged::low), watts_at(&Ranged::high), series}};
    if (decodes && !row.empty("tokens_per_s")) {
      const double measured_ms = batch / row.positive("tokens_per_s") / kMillisecond;
      points.push_back({"", measured_ms, step_ms, "ms", "", 0, 0, "step_time"});
    }
    return points;
  }

 private:
  const DataSetOptions options_;
  const KernelTable table_;
  const double limit_w_;
  const Ranged standing_w_;
};

}  // namespace

std::vector<StepLayers> kernels_of_row(const DataRow& row, const std::string& hardware,
                                       const std::vector<std::string>& settings, const std::string& network,
                                       const KernelTable& table) {
  const std::vector<workload::LayerGroup> layers =
      layers_of_step(row, network.empty() ? "llama3.1-8b" : network, static_cast<double>(row.whole("requests")),
                     row.whole("cached_tokens"));
  return kernels_of_step(hardware, settings, table, layers, layers);
}

DataSetKind course_kind() {
  return {"power-course",
          "power of a GPU that serves requests, second by second",
          {"time_s", "state", "requests", "cached_tokens", "tokens_per_s", "power_w"},
          [](const DataSetOptions& options) { return std::make_unique<CourseSet>(options); },
          "Rows of state decode are the result of the set, rows of the other states have results of their own. Not "
          "modelled: prompts, a driver that lowers the clocks of an idle GPU, and the meter's delay"};
}

}  // namespace attnvp::validate
