// Energy of whole decoding steps of a server at steady state. A request that ends is replaced by a new one, so that a
// step computes a token of each request of the batch and its share of the prompts.
#include "explore/validate/decode_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "explore/validate/data_set.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::validate {

namespace {

double host_seconds(const HostTime& host, double requests) {
  return host.step_seconds + requests * host.request_seconds;
}

}  // namespace

StepRunner::StepRunner(std::string hardware, std::vector<std::string> settings)
    : hardware_(std::move(hardware)),
      settings_(std::move(settings)),
      table_(load_kernel_table(hardware_)),
      runner_(hardware_) {}

std::vector<StepLayers> StepRunner::run(const std::vector<workload::LayerGroup>& of_batch,
                                        const std::vector<workload::LayerGroup>& of_tokens) {
  std::vector<StepLayers> layers;
  for (std::size_t g = 0; g < of_batch.size(); ++g) {
    const bool is_last = g + 1 == of_batch.size();
    StepLayers& group = layers.emplace_back(StepLayers{of_batch[g].count, {}});
    for (std::size_t i = 0; i < of_batch[g].operations.size(); ++i) {
      const workload::LayerOperation& mine = of_batch[g].operations[i];
      const workload::LayerOperation& operation =
          is_last || mine.workload.is_attention() ? mine : of_tokens[g].operations[i];
      const std::string identity = operation.workload.identity();
      if (known_.count(identity) == 0) {
        known_[identity] = sums_of(runner_.run(settings_, operation.workload, table_.of(operation.workload)));
      }
      group.kernels.push_back({operation.name, operation.count, known_.at(identity)});
    }
  }
  return layers;
}

Ranged StepRunner::standing_watts() const {
  KernelChoice any;
  any.dataflow = "rows";
  const KernelSums kernel = sums_of(KernelRunner(hardware_).run(settings_, workload::load("copy:1x1024"), any));
  Ranged watts;
  watts.add(1 / kernel.seconds, kernel.standing_j);
  return watts;
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

namespace {

constexpr double kMilli = 1e-3;

// configs/validation/served.yml: networks of models, and tokens of a task's prompt.
struct Served {
  std::map<std::string, std::string> networks;
  std::map<std::string, double> prompts;
};

Served load_served() {
  const config::Document document = config::Document::load(config::config_root() + "/validation/served.yml");
  document.require_keys(document.root(), "the file", {"networks", "prompt_tokens"});
  Served served;
  const auto each = [&](const char* key, const auto& put) {
    const config::YamlNode map = document.root()[key];
    document.require_map(map, fmt::format("key '{}'", key));
    for (const auto& entry : map) {
      const std::string name = document.scalar(entry.first, key);
      put(name, document.scalar(entry.second, name));
    }
  };
  each("networks", [&](const std::string& name, const std::string& network) { served.networks[name] = network; });
  each("prompt_tokens", [&](const std::string& name, const std::string& tokens) {
    served.prompts[name] = config::parse_plain_real(tokens);
  });
  return served;
}

template <class Map>
const typename Map::mapped_type& entry_of(const DataRow& row, const char* column, const Map& map) {
  const auto found = map.find(row.text(column));
  if (found != map.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& entry : map) known.push_back(entry.first);
  config::fail(row.origin(), fmt::format("column '{}': found {}{}", column, config::in_quotes(row.text(column)),
                                         config::hint(row.text(column), known)));
}

class DecodeSet : public DataSet {
 public:
  explicit DecodeSet(const DataSetOptions& options)
      : options_(options), served_(load_served()), runner_(hardware(), options.settings) {}

  std::string hardware() const override { return options_.hardware.empty() ? "h100" : options_.hardware; }

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const double batch = row.positive("avg_batch_size"), output = row.positive("avg_output_len");
    const double tokens_per_second = row.positive("output_tokens_per_s"), watts = row.positive("avg_power_w");
    const double joules = row.positive("energy_per_token_j"), step_ms = row.positive("median_itl_ms");
    const double prompt = entry_of(row, "task", served_.prompts);
    const std::string& network = entry_of(row, "model", served_.networks);
    const ServedStep served(step_of(row, network, batch, prompt, output), runner_.host(), batch,
                            config::load_hardware(hardware(), options_.settings).technology.tdp_watts);
    const double measured_seconds = batch / tokens_per_second;
    const auto predicted = [&](double Ranged::*of) { return served.predicted(of); };
    const auto measured = [&](double Ranged::*of) { return served.within(measured_seconds, of); };
    const auto per_token = [&](const char* series, const auto& step) {
      return MeasuredPoint{"",
                           joules,
                           step(&Ranged::value).joules / batch,
                           "J",
                           "",
                           step(&Ranged::low).joules / batch,
                           step(&Ranged::high).joules / batch,
                           series};
    };
    const auto power = [&](const char* series, const auto& step) {
      const auto watts_at = [&](double Ranged::*of) { return step(of).joules / step(of).seconds; };
      return MeasuredPoint{
          "", watts, watts_at(&Ranged::value), "W", "", watts_at(&Ranged::low), watts_at(&Ranged::high), series};
    };
    const double seconds = predicted(&Ranged::value).seconds;
    std::vector<MeasuredPoint> points = {per_token("", predicted),
                                         per_token("with_measured_time", measured),
                                         power("watts", predicted),
                                         power("watts_with_measured_time", measured),
                                         {"", step_ms, seconds / kMilli, "ms", "", 0, 0, "step_time"}};
    points.front().note = fmt::format("{:.2f} ms, {:.0f} W", seconds / kMilli, points[2].predicted);
    return points;
  }

 private:
  KernelSums step_of(const DataRow& row, const std::string& network, double batch, double prompt, double output) {
    const auto cached = static_cast<std::uint64_t>(std::round(prompt + output / 2));
    // Attention and the last projection work on the batch, the other operations on tokens of prompts as well. Attention
    // of prompts is left out: it is below 1% of their products.
    return sums_of(runner_.run(layers_of_step(row, network, batch, cached),
                               layers_of_step(row, network, batch * (1 + prompt / output), cached)));
  }

  const DataSetOptions options_;
  const Served served_;
  StepRunner runner_;
};

}  // namespace

DataSetKind decode_kind() {
  return {"decode-energy",
          "energy of whole decoding steps of a server",
          {"model", "task", "avg_batch_size", "avg_output_len", "median_itl_ms", "output_tokens_per_s", "avg_power_w",
           "energy_per_token_j"},
          [](const DataSetOptions& options) { return std::make_unique<DecodeSet>(options); },
          "Calibrated: power of a multiprocessor that executes a kernel, time of the host. Prompts are computed beside "
          "decoding, in equal parts by all steps"};
}

}  // namespace attnvp::validate
