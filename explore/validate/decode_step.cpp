#include "explore/validate/decode_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "platform/machine/error.h"

namespace attnvp::validate {

namespace {

double host_seconds(const HostTime& host, double requests) {
  return host.step_seconds + requests * host.request_seconds;
}

}  // namespace

std::vector<StepLayers> kernels_of_step(const std::string& hardware, const std::vector<std::string>& settings,
                                        const KernelTable& table, const std::vector<workload::LayerGroup>& of_batch,
                                        const std::vector<workload::LayerGroup>& of_tokens) {
  std::map<std::string, KernelSums> known;
  std::vector<StepLayers> layers;
  for (std::size_t g = 0; g < of_batch.size(); ++g) {
    const bool is_last = g + 1 == of_batch.size();
    StepLayers& group = layers.emplace_back(StepLayers{of_batch[g].count, {}});
    for (std::size_t i = 0; i < of_batch[g].operations.size(); ++i) {
      const workload::LayerOperation& mine = of_batch[g].operations[i];
      const workload::LayerOperation& operation =
          is_last || mine.workload.is_attention() ? mine : of_tokens[g].operations[i];
      const auto [found, is_new] = known.try_emplace(operation.workload.identity());
      if (is_new) {
        found->second = sums_of(run_kernel(hardware, settings, operation.workload, table.of(operation.workload)));
      }
      group.kernels.push_back({operation.name, operation.count, found->second});
    }
  }
  return layers;
}

std::vector<workload::LayerGroup> layers_of_step(const DataRow& row, const std::string& network, double requests,
                                                 std::uint64_t cached) {
  const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::round(requests)));
  const std::string net =
      fmt::format("{},scope=model,phase=decode,batch={},cache={},type=bf16", network, whole, cached);
  try {
    return workload::groups_of(workload::load(net));
  } catch (const config::ConfigError& problem) {
    config::fail(row.origin(), problem.what());
  }
}

KernelSums sums_of(const std::vector<StepLayers>& layers) {
  KernelSums step;
  for (const StepLayers& group : layers) {
    for (const StepKernel& kernel : group.kernels) step.add(1.0 * group.count * kernel.count, kernel.sums);
  }
  return step;
}

Ranged standing_watts(const std::string& hardware, const std::vector<std::string>& settings) {
  KernelChoice any;
  any.dataflow = "rows";
  const KernelSums kernel = sums_of(run_kernel(hardware, settings, workload::load("copy:1x1024"), any));
  Ranged watts;
  watts.add(1 / kernel.seconds, kernel.standing_j);
  return watts;
}

ServedStep::ServedStep(const KernelSums& kernels, const HostTime& host, double requests, double limit_w)
    : kernels_(kernels), host_seconds_(host_seconds(host, requests)), limit_w_(limit_w) {
  const double busy = kernels.seconds / (kernels.seconds + host_seconds_);
  standing_share_ = busy + (1 - busy) * host.idle_share;
}

double ServedStep::standing_w(double Ranged::*of) const {
  return kernels_.standing_j.*of / kernels_.seconds * standing_share_;
}

StepEnergy ServedStep::predicted(double Ranged::*of) const {
  return limited_step(kernels_.active_j.*of, standing_w(of), kernels_.seconds + host_seconds_, limit_w_);
}

StepEnergy ServedStep::within(double seconds, double Ranged::*of) const {
  const double all = kernels_.active_j.*of + standing_w(of) * seconds;
  return {seconds, limit_w_ > 0 ? std::min(all, limit_w_ * seconds) : all};
}

std::vector<PowerSpan> course_of_step(const std::vector<StepLayers>& layers, const HostTime& host, double requests,
                                      double limit_w) {
  const KernelSums kernels = sums_of(layers);
  const double waits = host_seconds(host, requests);
  const double longer = ServedStep(kernels, host, requests, limit_w).predicted(&Ranged::value).seconds /
                        (kernels.seconds + waits);  // at the limit
  const auto span = [longer](const StepKernel& kernel) {
    const KernelSums& s = kernel.sums;
    const double watts = s.active_j.value / (longer * s.seconds) + s.standing_j.value / s.seconds;
    return PowerSpan{kernel.name, longer * s.seconds, watts};
  };
  std::vector<PowerSpan> course;
  for (const StepLayers& group : layers) {
    for (std::uint32_t layer = 0; layer < group.count; ++layer) {
      for (const StepKernel& kernel : group.kernels) course.insert(course.end(), kernel.count, span(kernel));
    }
  }
  if (waits > 0) {
    course.push_back({"host", longer * waits, host.idle_share * kernels.standing_j.value / kernels.seconds});
  }
  return course;
}

}  // namespace attnvp::validate
