#include "explore/validate/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "explore/tuning/portfolio.h"
#include "explore/tuning/tuned_runner.h"
#include "explore/validate/data_set.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"
#include "platform/machine/units.h"

namespace attnvp::validate {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& operation_kinds() {
  static const std::vector<std::string> kinds = {"attention", "decode", "gemm",       "gemv",
                                                 "softmax",   "norm",   "elementwise"};
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

HostTime host_of(const config::Document& document, const YAML::Node& node) {
  document.require_keys(node, "host", {"step", "request", "idle"});
  HostTime host;
  const auto read = [&](const char* key, const auto& parse, double& value) {
    if (!node[key]) return;
    try {
      value = parse(document.scalar(node[key], key));
    } catch (const config::ConfigError& problem) {
      config::fail(document.origin(node[key]), fmt::format("key 'host.{}': {}", key, problem.what()));
    }
  };
  const auto time = [](const std::string& text) { return config::parse_real(config::KeyUnit::kTime, text); };
  read("step", time, host.step_seconds);
  read("request", time, host.request_seconds);
  read(
      "idle", [](const std::string& text) { return config::parse_plain_real(text); }, host.idle_share);
  if (host.idle_share > 1) config::fail(document.origin(node["idle"]), "key 'host.idle': allowed is 0 to 1");
  return host;
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

// The result of the alternative that applies.
template <class Run, class Time>
auto applied(const KernelChoices& kernels, const Run& run, const Time& time) -> decltype(run(kernels.all.front())) {
  std::optional<decltype(run(kernels.all.front()))> best;
  for (std::size_t i = 0; i < kernels.all.size(); ++i) {
    try {
      auto result = run(kernels.all[i]);
      if (!kernels.takes_fastest) return result;
      if (!best || time(result) < time(*best)) best = std::move(result);
    } catch (const job::RunError&) {
      if (i + 1 == kernels.all.size() && !best) throw;
    }
  }
  return std::move(*best);
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
    return applied(
        table_.of(layer), [&](const KernelChoice& kernel) { return predict(row, layer, kernel); },
        [](const std::vector<MeasuredPoint>& points) { return points.front().predicted; });
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
    chosen.settings.clear();  // in `settings`, in the order of the table
    const job::RunResult result = run_kernel(options_.hardware, settings, layer, chosen);
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

job::RunResult run_kernel(const std::string& hardware, const std::vector<std::string>& settings,
                          const workload::Workload& operation, const KernelChoice& kernel) {
  std::vector<std::string> all = settings;
  all.insert(all.end(), kernel.settings.begin(), kernel.settings.end());
  const MachineConfig machine = config::load_hardware(hardware, all);
  const config::EnergyTable energy = config::load_energy(machine.energy);
  job::Schedule schedule;
  if (kernel.dataflow.empty() || kernel.dataflow == "auto") {
    schedule = explore::pick_dataflow(machine, operation, {}, energy).best().schedule;
  } else {
    schedule = job::parse_dataflow(kernel.dataflow);
    schedule.tiling = tiling_for(operation, kernel);
  }
  return explore::TunedRunner(machine, energy, false).run(operation, schedule);
}

job::RunResult run_kernel(const std::string& hardware, const std::vector<std::string>& settings,
                          const workload::Workload& operation, const KernelChoices& kernels) {
  return applied(
      kernels, [&](const KernelChoice& kernel) { return run_kernel(hardware, settings, operation, kernel); },
      [](const job::RunResult& result) { return result.seconds(); });
}

KernelTable load_kernel_table(const std::string& hardware) {
  KernelTable table;
  const fs::path machine = config::find_config(config::Folder::kHardware, hardware);
  const fs::path path = fs::path(machine).replace_extension(".kernels.yml");
  std::error_code error;
  if (!fs::exists(path, error)) return table;
  const config::Document document = config::Document::load(path.string());
  std::vector<std::string> allowed = operation_kinds();
  allowed.insert(allowed.end(), {"labels", "host"});
  document.require_keys(document.root(), "the table of kernels", allowed);
  for (const std::string& kind : operation_kinds()) {
    const YAML::Node node = document.root()[kind];
    if (!node) continue;
    KernelChoices& choices = table.kinds[kind];
    choices.all.clear();
    const auto add = [&](const YAML::Node& one) {
      choices.all.push_back(one.IsScalar() ? KernelChoice{document.scalar(one, kind), {}, true, {}, {}}
                                           : choice_of(document, one, kind));
    };
    choices.takes_fastest = node.IsMap() && node["fastest"];
    if (choices.takes_fastest) {
      document.require_keys(node, kind, {"fastest"});
      document.require_list(node["fastest"], kind + ".fastest");
    }
    const YAML::Node list = choices.takes_fastest ? node["fastest"] : node;
    if (list.IsSequence() && list.size() > 0) {
      for (const YAML::Node& one : list) add(one);
    } else {
      add(list);
    }
  }
  if (const YAML::Node host = document.root()["host"]) table.host = host_of(document, host);
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

KernelChoices KernelTable::of(const workload::Workload& operation) const {
  std::vector<std::string> names;  // the first that the table has
  if (operation.is_attention()) {
    if (operation.extents().seq_q == 1) names.emplace_back("decode");
    names.emplace_back("attention");
  } else if (const workload::Gemm* gemm = operation.gemm()) {
    if (gemm->rows == 1) names.emplace_back("gemv");
    names.emplace_back("gemm");
  } else if (operation.rows()->opcode == hal::Opcode::kSoftmax) {
    names.emplace_back("softmax");
  } else {
    names.emplace_back(operation.rows()->opcode == hal::Opcode::kNorm ? "norm" : "elementwise");
  }
  for (const std::string& name : names) {
    const auto found = kinds.find(name);
    if (found != kinds.end()) return found->second;
  }
  return {};
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
