#include "platform/report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/report/json.h"

namespace attnvp::report {

namespace {

namespace fs = std::filesystem;

constexpr double kRounding = 1e-9;
using nlohmann::ordered_json;

// Checks the members of a run that the page reads: objects of numbers, and texts.
void check_run(const std::string& path, const ordered_json& run) {
  static const std::map<std::string, std::vector<const char*>> kNumbers = {
      {"network", {"batch", "heads", "seq_q", "seq_kv", "emb"}},
      {"utilization", {"mac", "vec", "dma", "dram"}},
      {"dram", {"read_bytes", "write_bytes"}},
      {"l1", {"peak_bytes"}},
      {"energy_pj", {"total"}}};
  const auto need = [&](bool good, const std::string& what) {
    if (!good)
      throw config::ConfigError(fmt::format("{}: not a run's JSON: {} is missing or of another kind", path, what));
  };
  need(run.is_object() && run.contains("schema") && run["schema"] == 1, "\"schema\": 1");
  for (const char* key : {"cycles", "seconds"}) need(run.contains(key) && run[key].is_number(), key);
  for (const char* key : {"hardware", "dataflow"}) need(run.contains(key) && run[key].is_string(), key);
  for (const auto& [key, numbers] : kNumbers) {
    need(run.contains(key) && run[key].is_object(), key);
    for (const char* number : numbers) {
      need(run[key].contains(number) && run[key][number].is_number(), fmt::format("{}.{}", key, number));
    }
  }
  for (const auto& [name, member] : run.items()) {  // further parts of the machine
    const bool memory = member.is_object() && member.contains("read_bytes");
    if (!memory && name != "energy_pj") continue;
    for (const auto& [key, value] : member.items()) need(value.is_number(), fmt::format("{}.{}", name, key));
    need(!memory || member.contains("write_bytes"), fmt::format("{}.write_bytes", name));
  }
  // Stall attribution, if any, and the bound of the run.
  const ordered_json time = run.value("time", ordered_json::object());
  need(time.is_object(), "time");
  for (const auto& [unit, cycles] : time.items()) {
    need(cycles.is_object(), "time." + unit);
    for (const auto& [reason, n] : cycles.items()) need(n.is_number(), fmt::format("time.{}.{}", unit, reason));
  }
  const ordered_json imbalance = run.value("imbalance", ordered_json::object());
  need(imbalance.is_object(), "imbalance");
  for (const auto& [workers, of] : imbalance.items()) {
    need(of.is_object(), "imbalance." + workers);
    for (const auto& [work, dealt] : of.items()) {
      for (const char* number : {"most", "mean", "ratio"}) {
        const bool known = !dealt.is_object() || (dealt.contains(number) && dealt[number].is_number());
        need(known, fmt::format("imbalance.{}.{}.{}", workers, work, number));
      }
    }
  }
  if (run.contains("bound")) {
    need(run["bound"].is_object(), "bound");
    const ordered_json advice = run["bound"].value("advice", ordered_json::array());
    need(advice.is_array(), "bound.advice");
    for (const ordered_json& line : advice) need(line.is_object() && line.contains("text"), "bound.advice's text");
  }
  for (const char* key : {"counters", "overrides", "tiling"}) need(!run.contains(key) || run[key].is_object(), key);
  const ordered_json counters = run.value("counters", ordered_json::object());
  for (const auto& [module, values] : counters.items()) {
    need(values.is_object() && (!values.contains("macs") || values["macs"].is_number()), "counters." + module);
  }
  if (run.contains("check")) {
    const ordered_json& check = run["check"];
    need(check.is_object() && check.contains("commands") && check["commands"].is_number(), "check.commands");
    need(check.contains("findings") && check["findings"].is_array(), "check.findings");
    for (const ordered_json& f : check["findings"]) {
      const bool texts = f.is_object() && f.contains("kind") && f["kind"].is_string() && f.contains("text");
      need(texts && f["text"].is_string(), "check.findings' text");
    }
  }
  const double total = run["energy_pj"]["total"].get<double>();
  double parts = -total;
  for (const auto& [part, pj] : run["energy_pj"].items()) parts += pj.get<double>();
  need(std::abs(parts - total) <= kRounding * total, "a part of energy_pj");
  need(run["network"].contains("name") && run["network"]["name"].is_string(), "network.name");
  need(run.contains("golden") && run["golden"].is_object() && run["golden"].contains("checked"), "golden.checked");
}

std::uint64_t macs_of(const ordered_json& run) {
  std::uint64_t sum = 0;
  if (!run.contains("counters")) return 0;
  for (const auto& [module, counters] : run["counters"].items()) sum += counters.value("macs", std::uint64_t{0});
  return sum;
}

// Labels runs by dataflow, and by machine or layer if they differ.
void label(std::vector<ordered_json>& runs) {
  const auto differ = [&](const auto& get) {
    return std::any_of(runs.begin(), runs.end(), [&](const ordered_json& r) { return get(r) != get(runs.front()); });
  };
  const auto hardware = [](const ordered_json& r) { return r.at("hardware").get<std::string>(); };
  const auto network = [](const ordered_json& r) { return r.at("network").at("name").get<std::string>(); };
  const bool with_hardware = differ(hardware), with_network = differ(network);
  // If labels are equal, adds machine and tiling keys in which runs differ.
  const auto member = [](const ordered_json& r, const char* group, const std::string& key) {
    const auto found = r.find(group);
    if (found == r.end() || !found->contains(key)) return std::string("default");
    return found->at(key).is_string() ? found->at(key).get<std::string>() : found->at(key).dump();
  };
  const auto details = [&](const char* group) {
    std::vector<std::string> keys;
    for (const ordered_json& r : runs) {
      const ordered_json members = r.value(group, ordered_json::object());
      for (const auto& [key, value] : members.items()) {
        const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
        if (!known && differ([&, k = key](const ordered_json& x) { return member(x, group, k); })) keys.push_back(key);
      }
    }
    return keys;
  };
  const std::vector<std::string> overrides = details("overrides"), tiling = details("tiling");
  std::map<std::string, int> alike;  // same label, except tilings
  const auto name = [&](const ordered_json& r) {
    std::string text = r.at("dataflow").get<std::string>();
    if (with_network) text += " " + network(r);
    if (with_hardware) text += " on " + hardware(r);
    for (const std::string& key : overrides) text += fmt::format(" {}={}", key, member(r, "overrides", key));
    return text;
  };
  for (const ordered_json& r : runs) ++alike[name(r)];
  std::map<std::string, int> seen;
  for (ordered_json& r : runs) {
    std::string text = name(r);
    if (alike[text] > 1) {
      for (const std::string& key : tiling) text += fmt::format(" {}={}", key, member(r, "tiling", key));
    }
    const int times = ++seen[text];
    r["label"] = times == 1 ? text : fmt::format("{} ({})", text, times);
  }
}

}  // namespace

void prepare_for_page(ordered_json& run) {
  if (run.contains("machine")) run["macs"] = macs_of(run);
  for (const char* key : {"counters", "simulation"}) run.erase(key);  // long, and simulator statistics
}

std::vector<ordered_json> page_runs(const std::string& path) {
  ordered_json file = read_json(path);
  std::vector<ordered_json> runs;
  if (file.is_array()) {
    runs.assign(file.begin(), file.end());
  } else {
    runs.push_back(std::move(file));
  }
  for (ordered_json& run : runs) {
    check_run(path, run);
    prepare_for_page(run);
    if (!run.contains("timeline") || !run["timeline"].is_string()) continue;
    const fs::path timeline = fs::path(path).parent_path() / run["timeline"].get<std::string>();
    run.erase("timeline");
    if (fs::exists(timeline)) run["timeline"] = page_timeline(timeline.string(), run);
  }
  if (runs.empty()) throw config::ConfigError(fmt::format("{}: holds no run", path));
  return runs;
}

std::string page(std::vector<ordered_json> runs) {
  label(runs);
  const std::string data = json_for_html({{"runs", runs}});
  return text::fill(page_files::html, {{"CSS", page_files::css},
                                       {"DATA", data},
                                       {"CHART", page_files::chart},
                                       {"COMMON", page_files::common},
                                       {"PLOTS", page_files::plots},
                                       {"GANTT", page_files::gantt},
                                       {"SCRIPT", page_files::script}});
}

}  // namespace attnvp::report
