// A decoding step of a server: its kernels, their time and energy, and the step's power under a limit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"
#include "explore/validate/power_fit.h"
#include "explore/validate/validate.h"
#include "platform/workload/layers.h"

namespace attnvp::validate {

struct StepKernel {
  std::string name;
  std::uint32_t count = 1;  // times in a layer, one after the other
  KernelSums sums;
};

struct StepLayers {
  std::uint32_t count = 1;
  std::vector<StepKernel> kernels;
};

// Runs the kernels of steps on a machine with settings, by the table beside it; equal operations run once.
class StepRunner {
 public:
  StepRunner(std::string hardware, std::vector<std::string> settings);

  // Attention and the last projection are those of `of_batch`, the other operations those of `of_tokens`. Throws as
  // KernelRunner::run does.
  std::vector<StepLayers> run(const std::vector<workload::LayerGroup>& of_batch,
                              const std::vector<workload::LayerGroup>& of_tokens);
  const HostTime& host() const { return table_.host; }
  // Power that the machine takes for the time, whatever it computes.
  Ranged standing_watts() const;

 private:
  const std::string hardware_;
  const std::vector<std::string> settings_;
  const KernelTable table_;
  KernelRunner runner_;
  std::map<std::string, KernelSums> known_;  // by identity of the operation
};

// Layers of a step of a network: `requests` with `cached` tokens each. Errors name the row.
std::vector<workload::LayerGroup> layers_of_step(const DataRow& row, const std::string& network, double requests,
                                                 std::uint64_t cached);
KernelSums sums_of(const std::vector<StepLayers>& layers);

// Kernels and the host's time of a step. The GPU takes a share of its standing power while the host works.
class ServedStep {
 public:
  ServedStep(const KernelSums& kernels, const HostTime& host, double requests, double limit_w);
  StepEnergy predicted(double Ranged::*of) const;
  // A step of a measured time, within the limit.
  StepEnergy within(double seconds, double Ranged::*of) const;

 private:
  double standing_w(double Ranged::*of) const;

  KernelSums kernels_;
  double host_seconds_, standing_share_, limit_w_;
};

// Power over a step: kernels in their order, then the host. Its integral is the energy of the step.
struct PowerSpan {
  std::string name;
  double seconds = 0, watts = 0;
};
std::vector<PowerSpan> course_of_step(const std::vector<StepLayers>& layers, const HostTime& host, double requests,
                                      double limit_w);

// Power of a serving GPU over time. A row is a second of a log: the requests that run, and watts.

// Kernels of the step that a row with requests names. `network` empty: Llama 3.1 8B.
std::vector<StepLayers> kernels_of_row(const DataRow& row, const std::string& network, StepRunner& runner);

// Figure of a set of such rows: watts over time, measured and predicted, and the predicted course of the decoding step
// with the most requests, kernel by kernel.
std::string course_svg(const SetResult& result, const DataSetOptions& options);

}  // namespace attnvp::validate
