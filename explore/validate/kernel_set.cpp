#include "explore/validate/kernel_set.h"

#include <fmt/format.h>

#include <filesystem>

#include "explore/tuning/portfolio.h"
#include "explore/tuning/tuned_runner.h"
#include "explore/validate/data_set.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"

namespace attnvp::validate {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& operation_kinds() {
  static const std::vector<std::string> kinds = {"attention", "gemm", "softmax", "norm", "elementwise"};
  return kinds;
}

KernelChoice choice_of(const config::Document& document, const YAML::Node& node, const std::string& what) {
  document.require_keys(node, what, {"dataflow", "set", "net"});
  KernelChoice choice;
  if (node["dataflow"]) choice.dataflow = document.scalar(node["dataflow"], what + ".dataflow");
  if (const YAML::Node set = node["set"]) {
    document.require_list(set, what + ".set");
    for (const YAML::Node& item : set) choice.settings.push_back(document.scalar(item, what + ".set"));
  }
  if (node["net"]) choice.net = document.scalar(node["net"], what + ".net");
  return choice;
}

Options with_machine(const Options& options) {
  if (!options.hardware.empty()) return options;
  throw config::ConfigError("a file with columns net,time_us needs a machine; allowed is --hw NAME or PATH");
}

class KernelSet : public JobSet {
 public:
  explicit KernelSet(const Options& options)
      : JobSet(with_machine(options), ""), options_(options), table_(load_kernel_table(options.hardware)) {}

  std::vector<Point> predict(const Row& row) override {
    const double measured = row.positive("time_us");
    std::string net = row.text("net"), dataflow = "auto";
    std::vector<std::string> settings = options_.settings;
    const auto apply = [&](const KernelChoice& choice) {
      if (!choice.dataflow.empty()) dataflow = choice.dataflow;
      settings.insert(settings.end(), choice.settings.begin(), choice.settings.end());
      net += choice.net;
    };
    if (const auto kind = table_.kinds.find(operation_kind(net)); kind != table_.kinds.end()) apply(kind->second);
    for (const auto& [label, values] : table_.labels) {
      if (!row.has(label)) continue;
      const auto choice = values.find(row.text(label.c_str()));
      if (choice != values.end()) apply(choice->second);
    }
    if (!options_.dataflow.empty()) dataflow = options_.dataflow;
    const workload::Workload layer = layer_of(row, net);
    const MachineConfig machine = config::load_hardware(options_.hardware, settings);
    const config::EnergyTable energy = config::load_energy(machine.energy);
    const job::Schedule schedule = dataflow == "auto"
                                       ? explore::pick_dataflow(machine, layer, {}, energy).best().schedule
                                       : job::parse_dataflow(dataflow);
    const job::RunResult result = explore::TunedRunner(machine, energy, false).run(layer, schedule);
    std::string note = result.schedule.text;
    if (net != row.text("net")) note += " --net " + net;
    for (std::size_t i = options_.settings.size(); i < settings.size(); ++i) note += " --set " + settings[i];
    constexpr double kMicro = 1e6;
    return {{"", measured, result.seconds() * kMicro, "us", note}};
  }

 private:
  const Options options_;
  const KernelTable table_;
};

}  // namespace

KernelTable load_kernel_table(const std::string& hardware) {
  KernelTable table;
  const fs::path machine = config::find_config(config::Folder::kHardware, hardware);
  const fs::path path = fs::path(machine).replace_extension(".kernels.yml");
  std::error_code error;
  if (!fs::exists(path, error)) return table;
  const config::Document document = config::Document::load(path.string());
  std::vector<std::string> allowed = operation_kinds();
  allowed.emplace_back("labels");
  document.require_keys(document.root(), "the table of kernels", allowed);
  for (const std::string& kind : operation_kinds()) {
    const YAML::Node node = document.root()[kind];
    if (!node) continue;
    table.kinds[kind] =
        node.IsScalar() ? KernelChoice{document.scalar(node, kind), {}, {}} : choice_of(document, node, kind);
  }
  const YAML::Node labels = document.root()["labels"];
  if (!labels) return table;
  document.require_map(labels, "labels");
  for (const auto& label : labels) {
    const std::string name = document.scalar(label.first, "a label");
    document.require_map(label.second, name);
    for (const auto& value : label.second) {
      const std::string text = document.scalar(value.first, name);
      table.labels[name][text] = choice_of(document, value.second, name + "." + text);
    }
  }
  return table;
}

std::string operation_kind(const std::string& net) {
  const std::string word = net.substr(0, net.find(':'));
  if (word.size() == net.size() || word == "hf") return "attention";
  if (word == "gemm" || word == "softmax") return word;
  return word == "layernorm" || word == "rmsnorm" ? "norm" : "elementwise";
}

Kind kernel_kind() {
  return {"kernels",
          "kernels of any kind, by the text of --net",
          {"net", "time_us"},
          [](const Options& options) { return std::make_unique<KernelSet>(options); },
          "The dataflow of each operation kind is that of the table beside the machine, otherwise the fastest one"};
}

}  // namespace attnvp::validate
