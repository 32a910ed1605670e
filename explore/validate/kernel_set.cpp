#include "explore/validate/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

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
  static const std::vector<std::string> kinds = {"attention", "gemm", "gemv", "softmax", "norm", "elementwise"};
  return kinds;
}

KernelChoice choice_of(const config::Document& document, const YAML::Node& node, const std::string& what) {
  document.require_keys(node, what, {"dataflow", "tiling", "rows", "net", "set"});
  KernelChoice choice;
  if (node["dataflow"]) choice.dataflow = document.scalar(node["dataflow"], what + ".dataflow");
  if (node["tiling"]) {
    if (choice.dataflow.empty()) {
      config::fail(document.origin(node), fmt::format("'{}.tiling' is of no dataflow; name it beside", what));
    }
    choice.tiling = document.scalar(node["tiling"], what + ".tiling");
  }
  if (node["rows"]) {
    const std::string rows = document.scalar(node["rows"], what + ".rows");
    if (rows != "head" && rows != "group") {
      config::fail(document.origin(node["rows"]),
                   fmt::format("key '{}.rows': found '{}'; allowed are head, group", what, rows));
    }
    choice.packed = rows == "group";
  }
  if (node["net"]) choice.net = job::split_settings(document.scalar(node["net"], what + ".net"), document.origin(node));
  if (const YAML::Node set = node["set"]) {
    document.require_list(set, what + ".set");
    for (const YAML::Node& item : set) choice.settings.push_back(document.scalar(item, what + ".set"));
  }
  return choice;
}

// Tile sizes of the text, reduced to the extents of the layer.
job::Tiling tiling_for(const workload::Workload& layer, const KernelChoice& kernel) {
  if (kernel.tiling.empty()) return {};
  job::Tiling tiling = job::parse_tiling(kernel.tiling);
  const workload::Extents e = (kernel.packed ? layer.folded() : layer).extents();
  for (const auto& [name, most] : {std::pair{"nq", e.seq_q}, {"nkv", e.seq_kv}, {"kd", e.emb}}) {
    if (tiling.used(name) > most) tiling.set(name, most);
  }
  return tiling;
}

// The layer's text with settings in place of its own.
std::string replaced(std::string net, const std::vector<config::Setting>& settings) {
  for (const config::Setting& s : settings) {
    std::string all;
    for (std::size_t start = 0; start <= net.size();) {
      const std::size_t comma = std::min(net.find(',', start), net.size());
      const std::string part = net.substr(start, comma - start);
      if (part.compare(0, s.path.size() + 1, s.path + "=") != 0) all += part + ",";
      start = comma + 1;
    }
    net = all + s.path + "=" + s.text;
  }
  return net;
}

DataSetOptions with_machine(const DataSetOptions& options) {
  if (!options.hardware.empty()) return options;
  throw config::ConfigError("a file with columns net,time_us needs a machine; allowed is --hw NAME or PATH");
}

class KernelSet : public JobSet {
 public:
  explicit KernelSet(const DataSetOptions& options)
      : JobSet(with_machine(options), ""), options_(options), table_(load_kernel_table(options.hardware)) {}

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    row.positive("time_us");  // reports errors before the run
    const std::string& net = row.text("net");
    const workload::Workload layer = layer_of(row, net);
    // Alternatives of the operation kind: the first one whose tiles fit into the machine's memories.
    static const std::vector<KernelChoice> kUnnamed(1);
    const auto kind = table_.kinds.find(table_.kind_of(net));
    const std::vector<KernelChoice>& choices = kind != table_.kinds.end() ? kind->second : kUnnamed;
    for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
      try {
        return predict(row, layer, choices[i]);
      } catch (const job::RunError&) {
      }
    }
    return predict(row, layer, choices.back());
  }

 private:
  std::vector<MeasuredPoint> predict(const DataRow& row, const workload::Workload& given,
                                     const KernelChoice& kernel) const {
    KernelChoice chosen;
    std::vector<std::string> settings = options_.settings;
    std::vector<config::Setting> net;
    const auto apply = [&](const KernelChoice& choice) {
      if (!choice.dataflow.empty()) chosen = choice;
      settings.insert(settings.end(), choice.settings.begin(), choice.settings.end());
      net.insert(net.end(), choice.net.begin(), choice.net.end());
    };
    apply(kernel);
    for (const auto& [label, values] : table_.labels) {
      if (!row.has(label)) continue;
      const auto choice = values.find(row.text(label.c_str()));
      if (choice != values.end()) apply(choice->second);
    }
    if (!options_.dataflow.empty()) chosen = {options_.dataflow, {}, true, {}, {}};
    const workload::Workload layer = net.empty() ? given : layer_of(row, replaced(row.text("net"), net));
    const MachineConfig machine = config::load_hardware(options_.hardware, settings);
    const config::EnergyTable energy = config::load_energy(machine.energy);
    job::Schedule schedule;
    if (chosen.dataflow.empty() || chosen.dataflow == "auto") {
      schedule = explore::pick_dataflow(machine, layer, {}, energy).best().schedule;
    } else {
      schedule = job::parse_dataflow(chosen.dataflow);
      schedule.tiling = tiling_for(layer, chosen);
    }
    const job::RunResult result = explore::TunedRunner(machine, energy, false).run(layer, schedule);
    std::string note = result.schedule.text;
    for (const config::Setting& s : net) note += fmt::format(" with {}={}", s.path, s.text);
    for (std::size_t i = options_.settings.size(); i < settings.size(); ++i) note += " --set " + settings[i];
    constexpr double kMicro = 1e6;
    return {{"", row.positive("time_us"), result.seconds() * kMicro, "us", note}};
  }

  const DataSetOptions options_;
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
    const auto add = [&](const YAML::Node& one) {
      table.kinds[kind].push_back(one.IsScalar() ? KernelChoice{document.scalar(one, kind), {}, true, {}, {}}
                                                 : choice_of(document, one, kind));
    };
    if (node.IsSequence() && node.size() > 0) {
      for (const YAML::Node& one : node) add(one);
    } else {
      add(node);
    }
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

std::string KernelTable::kind_of(const std::string& net) const {
  const std::string kind = operation_kind(net);
  return kind == "gemv" && kinds.count(kind) == 0 ? "gemm" : kind;
}

std::string operation_kind(const std::string& net) {
  const std::string word = net.substr(0, net.find(':'));
  if (net.rfind("gemm:1x", 0) == 0) return "gemv";
  if (word.size() == net.size() || word == "hf") return "attention";
  if (word == "gemm" || word == "softmax") return word;
  return word == "layernorm" || word == "rmsnorm" ? "norm" : "elementwise";
}

DataSetKind kernel_kind() {
  return {"kernels",
          "kernels of any kind, by the text of --net",
          {"net", "time_us"},
          [](const DataSetOptions& options) { return std::make_unique<KernelSet>(options); },
          "The dataflow of each operation kind is that of the table beside the machine, otherwise the fastest one"};
}

}  // namespace attnvp::validate
