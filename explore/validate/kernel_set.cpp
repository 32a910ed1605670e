#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "explore/layers/tuned_runner.h"
#include "explore/tuning/tuner.h"
#include "explore/validate/data_set.h"
#include "explore/validate/power_fit.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/schedule/demand.h"

namespace attnvp::validate {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& operation_kinds() {
  static const std::vector<std::string> kinds = {"attention", "decode", "gemm",       "gemv",
                                                 "softmax",   "norm",   "elementwise"};
  return kinds;
}

KernelChoice choice_of(const std::string& dataflow) {
  KernelChoice choice;
  choice.dataflow = dataflow;
  return choice;
}

KernelChoice choice_of(const config::Document& document, const config::YamlNode& node, const std::string& what) {
  document.require_keys(node, what, {"dataflow", "tiling", "up_to", "group", "rows", "net", "blocks", "set"});
  KernelChoice choice;
  if (node["dataflow"]) choice.dataflow = document.scalar(node["dataflow"], what + ".dataflow");
  if (node["tiling"]) {
    if (choice.dataflow.empty()) {
      config::fail(document.origin(node), fmt::format("'{}.tiling' is of no dataflow; name it beside", what));
    }
    choice.tiling = document.scalar(node["tiling"], what + ".tiling");
  }
  if (node["up_to"]) choice.up_to = job::parse_tiling(document.scalar(node["up_to"], what + ".up_to"));
  if (node["group"]) {
    const std::string group = document.scalar(node["group"], what + ".group");
    if (group != "odd" && group != "any") {
      config::fail(document.origin(node["group"]),
                   fmt::format("key '{}.group': found '{}'; allowed are any, odd", what, group));
    }
    choice.odd_groups = group == "odd";
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
  if (node["blocks"]) choice.blocks = job::parse_tiling(document.scalar(node["blocks"], what + ".blocks"));
  if (const config::YamlNode set = node["set"]) {
    document.require_list(set, what + ".set");
    for (const config::YamlNode& item : set) choice.settings.push_back(document.scalar(item, what + ".set"));
  }
  return choice;
}

HostTime host_of(const config::Document& document, const config::YamlNode& node) {
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

// The result of the alternative that applies: the first that fits, or the fastest. run(alternative, seconds) may throw
// job::RunError if it needs more than `seconds`.
template <class Alternative, class Run, class Time>
auto applied(const std::vector<Alternative>& alternatives, bool takes_fastest, const Run& run, const Time& seconds_of)
    -> decltype(run(alternatives.front(), kAnyTime)) {
  std::optional<decltype(run(alternatives.front(), kAnyTime))> best;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    try {
      auto result = run(alternatives[i], best ? seconds_of(*best) : kAnyTime);
      if (!takes_fastest) return result;
      if (!best || seconds_of(result) < seconds_of(*best)) best = std::move(result);
    } catch (const job::RunError&) {
      if (i + 1 == alternatives.size() && !best) throw;
    }
  }
  return std::move(*best);
}

DataSetOptions with_machine(const DataSetOptions& options) {
  if (!options.hardware.empty()) return options;
  throw config::ConfigError("a file with columns net,time_us needs a machine; allowed is --hw NAME or PATH");
}

class KernelSet : public KernelRows {
 public:
  explicit KernelSet(const DataSetOptions& options) : KernelRows(with_machine(options), "") {}

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    row.positive("time_us");  // reports errors before the run
    const Prediction p = run(row, row.text("net"), {});
    constexpr double kMicro = 1e6;
    std::vector<MeasuredPoint> points = {{"", row.positive("time_us"), p.result.seconds() * kMicro, "us", p.note}};
    if (row.has("steady_us") && row.has("power_w") && !row.empty("steady_us") && !row.empty("power_w")) {
      add_steady(row, p, points);
    }
    return points;
  }

 private:
  // The kernel again and again without pause: its time, power and energy under the machine's limit of power.
  void add_steady(const DataRow& row, const Prediction& p, std::vector<MeasuredPoint>& points) const {
    constexpr double kMicro = 1e6;
    const KernelSums energy = sums_of(p.result);
    const auto steady = [&](double Ranged::*of) {
      return limited_step(energy.active_j.*of, energy.standing_j.*of / energy.seconds, energy.seconds,
                          machine_.technology.tdp_watts);
    };
    const double us = row.positive("steady_us"), watts = row.positive("power_w");
    const StepEnergy value = steady(&Ranged::value), low = steady(&Ranged::low), high = steady(&Ranged::high);
    points.push_back({"", us, value.seconds * kMicro, "us", "", 0, 0, "steady_time"});
    points.push_back({"", watts, value.joules / value.seconds, "W", "", low.joules / low.seconds,
                      high.joules / high.seconds, "steady_watts"});
    points.push_back(
        {"", us * watts, value.joules * kMicro, "uJ", "", low.joules * kMicro, high.joules * kMicro, "steady_energy"});
  }
};

bool has_odd_groups(const workload::Workload& operation) {
  if (!operation.is_attention()) return false;
  const workload::Attention& a = operation.attention();
  return a.heads / a.heads_of_kv() % 2 == 1;
}

// Alternatives for a layer.
std::vector<KernelChoice> alternatives_for(const workload::Workload& operation, const KernelChoices& choices) {
  const workload::Extents e = operation.extents();
  const bool odd_groups = has_odd_groups(operation);
  std::vector<KernelChoice> applying;
  for (const KernelChoice& one : choices.all) {
    const auto within = [&](const char* name, std::uint32_t extent) {
      return one.up_to[name] == 0 || extent <= one.up_to[name];
    };
    if (one.odd_groups && !odd_groups) continue;
    if (within("nq", e.seq_q) && within("nkv", e.seq_kv) && within("kd", e.emb)) applying.push_back(one);
  }
  return applying;
}

}  // namespace

std::vector<config::Setting> in_blocks(const workload::Workload& layer, const job::Tiling& blocks) {
  std::vector<config::Setting> settings;
  if (!layer.is_attention()) return settings;
  const workload::Extents e = layer.extents();
  for (const auto& [name, side, tokens] : {std::tuple{"nq", "NQ", e.seq_q}, {"nkv", "NKV", e.seq_kv}}) {
    const std::uint32_t block = blocks[name];
    if (block == 0 || tokens <= block || tokens % block == 0) continue;
    settings.push_back({side, std::to_string((tokens + block - 1) / block * block), {}});
  }
  return settings;
}

KernelRows::KernelRows(const DataSetOptions& options, const char* machine)
    : JobSet(options, machine),
      options_(options),
      hardware_(options.hardware.empty() ? machine : options.hardware),
      table_(load_kernel_table(hardware_)),
      runner_(hardware_) {}

KernelRows::Prediction KernelRows::run(const DataRow& row, const std::string& net, const KernelChoice& otherwise) {
  const workload::Workload layer = layer_of(row, net);
  const KernelChoices of_kind = table_.of(layer);
  std::vector<std::vector<KernelChoice>> parts = {of_kind.all};  // alternatives of the kind, then of each label
  for (const auto& [label, values] : table_.labels) {
    if (!row.has(label)) continue;
    const auto choice = values.find(row.text(label.c_str()));
    if (choice != values.end()) parts.push_back(alternatives_for(layer, choice->second));
  }
  // Combinations of one alternative of each part, in order.
  std::vector<std::vector<KernelChoice>> combined = {{otherwise}};
  for (const auto& part : parts) {
    if (part.empty()) continue;
    std::vector<std::vector<KernelChoice>> longer;
    for (const auto& before : combined) {
      for (const KernelChoice& one : part) longer.push_back(before), longer.back().push_back(one);
    }
    combined = std::move(longer);
  }
  return applied(
      combined, of_kind.takes_fastest,
      [&](const auto& choices, double most_seconds) { return run(net, row, choices, most_seconds); },
      [](const Prediction& p) { return p.result.seconds(); });
}

KernelRows::Prediction KernelRows::run(const std::string& net, const DataRow& row,
                                       const std::vector<KernelChoice>& choices, double most_seconds) {
  KernelChoice chosen;
  std::vector<std::string> settings = options_.settings;
  std::vector<config::Setting> layer_settings;
  for (const KernelChoice& choice : choices) {
    if (!choice.dataflow.empty()) chosen = choice;
    settings.insert(settings.end(), choice.settings.begin(), choice.settings.end());
    layer_settings.insert(layer_settings.end(), choice.net.begin(), choice.net.end());
    const auto whole = in_blocks(layer_of(row, net), choice.blocks);
    layer_settings.insert(layer_settings.end(), whole.begin(), whole.end());
  }
  if (!options_.dataflow.empty()) chosen = choice_of(options_.dataflow);
  chosen.settings.clear();  // in `settings`, in the order of the table
  const workload::Workload layer = layer_of(row, layer_settings.empty() ? net : replaced(net, layer_settings));
  Prediction p{runner_.run(settings, layer, chosen, most_seconds), {}};
  p.note = p.result.schedule.text;
  for (const config::Setting& s : layer_settings) p.note += fmt::format(" with {}={}", s.path, s.text);
  for (std::size_t i = options_.settings.size(); i < settings.size(); ++i) p.note += " --set " + settings[i];
  return p;
}

struct KernelRunner::Kept {
  std::vector<std::string> settings;
  MachineConfig machine;
  config::EnergyTable energy;
  explore::TunedRunner runner{machine, energy, false};
};

KernelRunner::KernelRunner(std::string hardware) : hardware_(std::move(hardware)) {}
KernelRunner::~KernelRunner() = default;

KernelRunner::Kept& KernelRunner::platform_of(const std::vector<std::string>& settings) {
  constexpr std::size_t kMost = 4;  // a table has a few settings; a GPU's platform takes 100 MB
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept->settings == settings; });
  if (found != kept_.end()) {
    std::rotate(kept_.begin(), found, found + 1);
  } else {
    if (kept_.size() == kMost) kept_.pop_back();  // before the next one is made
    const MachineConfig machine = config::load_hardware(hardware_, settings);
    kept_.emplace(kept_.begin(), new Kept{settings, machine, config::load_energy(machine.energy)});
  }
  return *kept_.front();
}

job::RunResult KernelRunner::run(const std::vector<std::string>& settings, const workload::Workload& operation,
                                 const KernelChoice& kernel, double most_seconds) {
  std::vector<std::string> all = settings;
  all.insert(all.end(), kernel.settings.begin(), kernel.settings.end());
  Kept& platform = platform_of(all);
  job::Schedule schedule;
  if (kernel.dataflow.empty() || kernel.dataflow == "auto") {
    schedule = explore::pick_dataflow({platform.machine, operation, {}, platform.energy}).best().schedule;
  } else {
    schedule = job::parse_dataflow(kernel.dataflow);
    schedule.tiling = tiling_for(operation, kernel);
  }
  if (most_seconds < kAnyTime) {
    schedule = platform.runner.complete(operation, schedule);
    const schedule::Job job = job::make_job(platform.machine, operation, schedule);
    if (schedule::quick_least_cycles(job, platform.machine) > most_seconds * platform.machine.clock_hz) {
      throw job::RunError(fmt::format("{} takes longer than another alternative", schedule.text));
    }
  }
  try {
    return platform.runner.run(operation, schedule);
  } catch (const job::RunError&) {
    kept_.erase(kept_.begin());  // a platform is of no use after a failure
    throw;
  }
}

job::RunResult KernelRunner::run(const std::vector<std::string>& settings, const workload::Workload& operation,
                                 const KernelChoices& kernels) {
  const std::vector<KernelChoice> fastest_dataflow(1);
  return applied(
      kernels.all.empty() ? fastest_dataflow : kernels.all, kernels.takes_fastest,
      [&](const KernelChoice& kernel, double most_seconds) { return run(settings, operation, kernel, most_seconds); },
      [](const job::RunResult& result) { return result.seconds(); });
}

KernelTable load_kernel_table(const std::string& hardware) {
  KernelTable table;
  fs::path machine = config::find_config(config::Folder::kHardware, hardware);
  fs::path path = fs::path(machine).replace_extension(".kernels.yml");
  std::error_code error;
  while (!fs::exists(path, error)) {  // the table of its base
    const config::Document described = config::Document::load(machine.string());
    const config::YamlNode base = described.root()["base"];
    if (!base) return table;
    const fs::path beside = machine.parent_path() / described.scalar(base, "base");
    machine = fs::exists(beside, error)
                  ? beside
                  : fs::path(config::find_config(config::Folder::kHardware, described.scalar(base, "base")));
    path = fs::path(machine).replace_extension(".kernels.yml");
  }
  const config::Document document = config::Document::load(path.string());
  std::vector<std::string> allowed = operation_kinds();
  allowed.insert(allowed.end(), {"labels", "host"});
  document.require_keys(document.root(), "the table of kernels", allowed);
  const auto alternatives = [&](const config::YamlNode& node, const std::string& what) {
    KernelChoices choices;
    const auto add = [&](const config::YamlNode& one) {
      if (one.is_scalar()) return choices.all.push_back(choice_of(document.scalar(one, what)));
      choices.all.push_back(choice_of(document, one, what));
    };
    choices.takes_fastest = node.is_map() && node["fastest"];
    if (choices.takes_fastest) {
      document.require_keys(node, what, {"fastest"});
      document.require_list(node["fastest"], what + ".fastest");
    }
    const config::YamlNode list = choices.takes_fastest ? node["fastest"] : node;
    if (list.is_list() && list.size() > 0) {
      for (const config::YamlNode& one : list) add(one);
    } else {
      add(list);
    }
    return choices;
  };
  for (const std::string& kind : operation_kinds()) {
    if (const config::YamlNode node = document.root()[kind]) table.kinds[kind] = alternatives(node, kind);
  }
  if (const config::YamlNode host = document.root()["host"]) table.host = host_of(document, host);
  const config::YamlNode labels = document.root()["labels"];
  if (!labels) return table;
  document.require_map(labels, "labels");
  for (const auto& label : labels) {
    const std::string name = document.scalar(label.first, "a label");
    document.require_map(label.second, name);
    for (const auto& value : label.second) {
      const std::string text = document.scalar(value.first, name);
      table.labels[name][text] = alternatives(value.second, name + "." + text);
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
    if (found == kinds.end()) continue;
    return {alternatives_for(operation, found->second), found->second.takes_fastest};
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
