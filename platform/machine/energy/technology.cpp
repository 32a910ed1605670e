#include "platform/machine/energy/technology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

#include "models/keys/binding.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/schema.h"
#include "platform/machine/words.h"

namespace attnvp::energy {

namespace {

using config::ConfigError;
using config::Document;

const std::vector<std::string> kNeeded = {"int16_add",      "fp16_add",
                                          "fp32_add",       "fp16_multiply",
                                          "fp32_multiply",  "exponential",
                                          "division",       "register_read",
                                          "register_write", "register_clock",
                                          "sram",           "sram_leakage",
                                          "wire",           "hop",
                                          "instruction",    "burst",
                                          "event",          "wake",
                                          "logic_leakage",  "core",
                                          "dma_channel",    "utilization",
                                          "int32_add",      "int32_multiply",
                                          "core_memory",    "division_steps",
                                          "int8_multiply",  "bf16_multiply",
                                          "fp8_multiply"};
const std::vector<std::string> kDramTypes = {"lpddr4", "lpddr5", "ddr4",   "ddr5", "hbm2",
                                             "hbm2e",  "hbm3",   "gddr6x", "gddr7"};
constexpr const char* kCommands = " commands";  // suffix of a type's name

const std::vector<std::string> kProvenances = {"published", "derived", "calibrated", "assumed"};

const config::Schema<TechnologyConfig>& schema() {
  static const config::Schema<TechnologyConfig> schema([] {
    config::Keys<TechnologyConfig> keys;
    TechnologyConfig::describe(keys);
    return keys.all();
  }());
  return schema;
}

double number(const Document& document, const config::YamlNode& node, const std::string& what) {
  const std::string text = document.scalar(node, what);
  try {
    return config::parse_plain_real(text);
  } catch (const ConfigError& problem) {
    config::fail(document.origin(node), fmt::format("{}: {}", what, problem.what()));
  }
}

// Text of a key that an entry of the list must have.
std::string required(const Document& document, const config::YamlNode& node, const std::string& list, const char* key) {
  if (!node[key]) {
    config::fail(document.origin(node), fmt::format("an entry of '{}': key '{}' is missing", list, key));
  }
  return document.scalar(node[key], fmt::format("key '{}'", key));
}

std::string read_provenance(const Document& document, const config::YamlNode& node, const std::string& list,
                            const std::string& name) {
  const std::string provenance = required(document, node, list, "provenance");
  if (std::find(kProvenances.begin(), kProvenances.end(), provenance) != kProvenances.end()) return provenance;
  config::fail(document.origin(node["provenance"]),
               fmt::format("{}: found provenance {}; allowed: {}", name, config::in_quotes(provenance),
                           fmt::join(kProvenances, ", ")));
}

template <class TechnologyEntry>
void read_range(const Document& document, const config::YamlNode& node, const std::string& name, TechnologyEntry& e) {
  if (node["low"]) e.low = number(document, node["low"], fmt::format("{}: key 'low'", name));
  if (node["high"]) e.high = number(document, node["high"], fmt::format("{}: key 'high'", name));
  if (e.low <= 1 && e.high >= 1) return;
  config::fail(document.origin(node),
               fmt::format("{}: found a range of {:g} to {:g}; allowed is one around 1", name, e.low, e.high));
}

void check_node(const Document& document, const config::YamlNode& node, const std::string& name, double nm) {
  if (nm >= kSmallestNode && nm <= kLargestNode) return;
  config::fail(document.origin(node), fmt::format("{}: found a node of {:g} nm; allowed is {:g} to {:g}", name, nm,
                                                  kSmallestNode, kLargestNode));
}

}  // namespace

struct Technology::EntryList {
  const char* name;                                             // in the file
  const char* name_key;                                         // name of an entry
  const char* suffix;                                           // distinguishes lists with the same names
  std::vector<std::pair<std::string, std::string>> quantities;  // keys, and units if shown
};

double Technology::TechnologyEntry::of(const char* key) const {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

Figure Figure::operator+(const Figure& other) const {
  const double sum = value + other.value;
  if (sum <= 0) return {sum, low, high};
  return {sum, (value * low + other.value * other.low) / sum, (value * high + other.value * other.high) / sum};
}

Technology::Technology(const std::string& path) {
  const Document document = Document::load(path);
  document.require_keys(document.root(), "the file", {"MODEL"});
  const config::YamlNode model = document.root()["MODEL"];
  document.require_keys(
      model, "key 'MODEL'",
      {"version", "base", "keys", "figures", "dram", "dram_commands", "actions", "ert", "art", "components"});
  if (const config::YamlNode base = model["base"]) {
    const std::string name = document.scalar(base, "key 'MODEL.base'");
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const std::string file = config::find_config(config::Folder::kEnergy, name, folder);
    if (std::filesystem::equivalent(file, path)) config::fail(document.origin(base), "a model is its own base");
    *this = of(file);
  }
  read_list(document, {"figures",
                       "name",
                       "",
                       {{"pj", "pJ"},
                        {"nm", ""},
                        {"also_pj", ""},
                        {"also_nm", ""},
                        {"um2", "um2"},
                        {"mw_per_mm2", "mW/mm2"},
                        {"factor", "factor"},
                        {"fp32_multiplies", "FP32 multiplications"},
                        {"fp32_adds", ""}}});
  read_list(document, {"dram", "type", "", {{"pj_per_bit", "pJ/bit"}, {"mw_per_gib", "mW/GiB"}}});
  read_list(document, {"dram_commands",
                       "type",
                       kCommands,
                       {{"activate_pj_per_kib", "pJ/KiB of a row"},
                        {"read_pj_per_bit", "pJ/bit read"},
                        {"write_pj_per_bit", "pJ/bit written"},
                        {"read_io_pj_per_bit", "pJ/bit read, pins"},
                        {"write_io_pj_per_bit", "pJ/bit written, pins"},
                        {"refresh_pj_per_mib", "pJ/MiB refreshed"},
                        {"closed_mw", "mW, banks closed"},
                        {"open_mw", "mW, banks open"}}});
  read_actions(document);
  replace_by_tables(document, model, replaced_);
  std::vector<std::string> needed = kNeeded;
  for (const std::string& type : kDramTypes) needed.insert(needed.end(), {type, type + kCommands});
  for (const std::string& name : needed) {
    if (entries_.count(name) == 0) {
      config::fail(document.origin(model), fmt::format("figure {} is missing", config::in_quotes(name)));
    }
  }
  if (const config::YamlNode keys = model["keys"]) {
    document.require_map(keys, "key 'MODEL.keys'");
    for (const auto& entry : keys) {
      const std::string key = entry.first.scalar();
      const config::Setting setting{key, document.scalar(entry.second, fmt::format("key '{}'", key)),
                                    document.origin(entry.second)};
      TechnologyConfig checked;
      schema().apply(checked, setting);
      settings_.push_back(setting);
    }
  }
}

void Technology::read_list(const Document& document, const EntryList& list) {
  const config::YamlNode figures = document.root()["MODEL"][list.name];
  if (!figures) return;
  document.require_list(figures, fmt::format("key 'MODEL.{}'", list.name));
  std::vector<std::string> allowed = {list.name_key, "low", "high", "provenance", "source"};
  for (const auto& [key, unit] : list.quantities) allowed.push_back(key);
  std::set<std::string> given;
  for (const config::YamlNode& node : figures) {
    document.require_keys(node, fmt::format("an entry of 'MODEL.{}'", list.name), allowed);
    const std::string of_list = fmt::format("MODEL.{}", list.name);
    const std::string name = required(document, node, of_list, list.name_key) + list.suffix;
    const std::string provenance = read_provenance(document, node, of_list, name);
    const std::string source = required(document, node, of_list, "source");
    TechnologyEntry e;
    for (const auto& [key, unit] : list.quantities) {
      if (node[key]) e.values[key] = number(document, node[key], fmt::format("{}: key '{}'", name, key));
    }
    read_range(document, node, name, e);
    if (e.of("pj") > 0 || e.of("um2") > 0) check_node(document, node, name, e.of("nm"));
    if (e.of("also_pj") > 0) check_node(document, node, name, e.of("also_nm"));
    if (!given.insert(name).second) {
      config::fail(document.origin(node), fmt::format("figure {} is given twice", config::in_quotes(name)));
    }
    entries_[name] = e;
    for (const auto& [key, unit] : list.quantities) {
      const double v = e.of(key.c_str());
      if (v > 0 && !unit.empty()) {
        provenance_.push_back({name, unit, {v, e.low, e.high}, e.of("nm"), provenance, source});
      }
    }
  }
}

// Energies of single actions: `pj` of an action, or of a cycle for what counts time, at node `nm` (left out: at any),
// or `mw` of what counts time.
void Technology::read_actions(const Document& document) {
  const config::YamlNode actions = document.root()["MODEL"]["actions"];
  if (!actions) return;
  const char* const list = "MODEL.actions";
  document.require_list(actions, fmt::format("key '{}'", list));
  for (const config::YamlNode& node : actions) {
    const std::string what = fmt::format("an entry of '{}'", list);
    document.require_keys(node, what, {"component", "action", "pj", "mw", "nm", "low", "high", "provenance", "source"});
    const std::string component = required(document, node, list, "component");
    const std::string action = required(document, node, list, "action"), name = component + "." + action;
    if (!node["pj"] == !node["mw"]) {
      config::fail(document.origin(node), fmt::format("{}: allowed is one of 'pj' and 'mw'", name));
    }
    if (node["mw"] && (node["nm"] || component != kLeakage)) {
      config::fail(document.origin(node), fmt::format("{}: 'mw' is power at any node; allowed for {}", name, kLeakage));
    }
    TechnologyEntry e;
    for (const char* key : {"pj", "mw", "nm"}) {
      if (node[key]) e.values[key] = number(document, node[key], fmt::format("{}: key '{}'", name, key));
    }
    if (node["nm"]) check_node(document, node, name, e.of("nm"));
    read_range(document, node, name, e);
    const std::string provenance = read_provenance(document, node, list, name);
    actions_[{component, action}] = e;
    provenance_.push_back({name,
                           node["pj"] ? "pJ" : "mW",
                           {e.of(node["pj"] ? "pj" : "mw"), e.low, e.high},
                           e.of("nm"),
                           provenance,
                           required(document, node, list, "source")});
  }
}

Technology::ActionEnergies Technology::actions(double nm, double volts) const {
  constexpr double kNanosecond = 1e-9;  // in which 1 mW is 1 pJ
  ActionEnergies all;
  for (const auto& [name, e] : actions_) {
    const bool is_power = e.values.count("mw") > 0;
    const double from = e.of("nm");
    const double scale = from > 0 ? energy_scale(from, nominal_volts(from), nm, volts) : 1;
    all[name.first][name.second] = {is_power ? e.of("mw") : e.of("pj") * scale, 0, e.low, e.high,
                                    is_power ? kNanosecond : 0};
  }
  for (const auto& [component, actions] : replaced_.energies) {
    for (const auto& [action, energy] : actions) all[component][action] = energy;
  }
  return all;
}

TechnologyConfig Technology::keys(const TechnologyConfig& machine) const {
  TechnologyConfig keys = machine;
  for (const config::Setting& setting : settings_) schema().apply(keys, setting);
  return keys;
}

const Technology& Technology::cmos() { return of(config::find_config(config::Folder::kEnergy, "cmos")); }

const Technology& Technology::of(const std::string& path) {
  static std::map<std::string, Technology> known;
  const auto found = known.find(path);
  return found != known.end() ? found->second : known.emplace(path, Technology(path)).first->second;
}

const Technology::TechnologyEntry& Technology::entry(const std::string& name) const { return entries_.at(name); }

Figure Technology::pj(const std::string& name, double nm, double volts) const {
  const TechnologyEntry& e = entry(name);
  const double multiplies = e.of("fp32_multiplies"), adds = e.of("fp32_adds");
  if (multiplies > 0 || adds > 0) {
    const Figure parts = pj("fp32_multiply", nm, volts) * multiplies + pj("fp32_add", nm, volts) * adds;
    return {parts.value, parts.low * e.low, parts.high * e.high};
  }
  const double at = e.of("nm"), also_pj = e.of("also_pj"), nominal = nominal_volts(nm);
  double value = e.of("pj");
  if (also_pj > 0) {
    value *= std::pow(also_pj / value, std::log(at / nm) / std::log(at / e.of("also_nm")));
  } else {
    value *= energy_scale(at, nm);
  }
  return {value * energy_scale(nm, nominal, nm, volts), e.low, e.high};
}

double Technology::mm2(const std::string& name, double nm) const {
  const TechnologyEntry& e = entry(name);
  return e.of("um2") * 1e-6 * area_scale(e.of("nm"), nm);
}

Figure Technology::factor(const std::string& name) const { return entry(name).figure("factor"); }
Figure Technology::mw_per_mm2(const std::string& name) const { return entry(name).figure("mw_per_mm2"); }
Figure Technology::dram_pj_per_bit(const std::string& type) const { return entry(type).figure("pj_per_bit"); }
Figure Technology::dram_mw_per_gib(const std::string& type) const { return entry(type).figure("mw_per_gib"); }

DramCommands Technology::dram_commands(const std::string& type) const {
  const TechnologyEntry& e = entry(type + kCommands);
  return {e.figure("activate_pj_per_kib"), e.figure("read_pj_per_bit"),
          e.figure("write_pj_per_bit"),    e.figure("read_io_pj_per_bit"),
          e.figure("write_io_pj_per_bit"), e.figure("refresh_pj_per_mib"),
          e.figure("closed_mw"),           e.figure("open_mw")};
}

namespace {

struct ProcessNode {
  double nm;
  double volts;          // nominal, of the predictive models of the equations
  double v2, v1, v0;     // energy = v2 V^2 + v1 V + v0
  double relative_area;  // relative to 65 nm
};

// Largest first.
constexpr ProcessNode kNodes[] = {
    {65, 1.1, 3.755, -4.398, 1.975, 1},           {45, 1.0, 1.018, -0.3107, 0.1539, 0.66},
    {32, 0.9, 0.8367, -0.4341, 0.1701, 0.31},     {20, 0.9, 0.373, -0.1582, 0.04104, 0.14},
    {16, 0.85, 0.2958, -0.1241, 0.03024, 0.13},   {14, 0.8, 0.2363, -0.09675, 0.02239, 0.12},
    {10, 0.75, 0.2068, -0.09311, 0.02375, 0.068}, {7, 0.7, 0.1776, -0.09097, 0.02447, 0.039}};

// Interpolates a positive value of the nodes in logarithms.
template <class Figure>
double between(double nm, const Figure& figure) {
  const ProcessNode* below =
      std::find_if(std::begin(kNodes), std::end(kNodes), [nm](const ProcessNode& n) { return n.nm <= nm; });
  below = std::clamp(below, std::begin(kNodes) + 1, std::end(kNodes) - 1);
  const ProcessNode& above = *(below - 1);
  const double share = std::log(above.nm / nm) / std::log(above.nm / below->nm);
  return figure(above) * std::pow(figure(*below) / figure(above), share);
}

double energy(double nm, double volts) {
  return between(nm, [volts](const ProcessNode& n) { return (n.v2 * volts + n.v1) * volts + n.v0; });
}

}  // namespace

double nominal_volts(double nm) {
  return between(nm, [](const ProcessNode& n) { return n.volts; });
}

double energy_scale(double from_nm, double from_volts, double to_nm, double to_volts) {
  return energy(to_nm, to_volts) / energy(from_nm, from_volts);
}

double energy_scale(double from_nm, double to_nm) {
  return energy_scale(from_nm, nominal_volts(from_nm), to_nm, nominal_volts(to_nm));
}

double area_scale(double from_nm, double to_nm) {
  const auto area = [](double nm) { return between(nm, [](const ProcessNode& n) { return n.relative_area; }); };
  return area(to_nm) / area(from_nm);
}

}  // namespace attnvp::energy
