#include "platform/energy/technology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/schema.h"
#include "platform/config/units.h"
#include "platform/config/words.h"
#include "platform/energy/scaling.h"

namespace attnvp::energy {

namespace {

using config::ConfigError;
using config::Document;

const std::vector<std::string> kNeeded = {
    "int16_add",     "fp16_add",      "fp32_add",       "fp16_multiply",  "fp32_multiply", "exponential",
    "division",      "register_read", "register_write", "register_clock", "sram",          "sram_leakage",
    "wire",          "hop",           "instruction",    "burst",          "event",         "wake",
    "logic_leakage", "core",          "dma_channel",    "utilization"};
const std::vector<std::string> kDramTypes = {"lpddr4", "lpddr5", "ddr4", "hbm2", "hbm2e", "hbm3", "gddr6x"};

const std::vector<std::string> kProvenances = {"published", "derived", "calibrated", "assumed"};

const config::Schema<TechnologyConfig>& schema() {
  static const config::Schema<TechnologyConfig> schema([] {
    config::Keys<TechnologyConfig> keys;
    TechnologyConfig::describe(keys);
    return keys.all();
  }());
  return schema;
}

double number(const Document& document, const YAML::Node& node, const std::string& what) {
  const std::string text = document.scalar(node, what);
  try {
    return config::parse_plain_real(text);
  } catch (const ConfigError& problem) {
    config::fail(document.origin(node), fmt::format("{}: {}", what, problem.what()));
  }
}

}  // namespace

Figure Figure::operator+(const Figure& other) const {
  const double sum = value + other.value;
  if (sum <= 0) return {sum, low, high};
  return {sum, (value * low + other.value * other.low) / sum, (value * high + other.value * other.high) / sum};
}

Technology::Technology(const std::string& path) {
  const Document document = Document::load(path);
  document.require_keys(document.root(), "the file", {"MODEL"});
  const YAML::Node model = document.root()["MODEL"];
  document.require_keys(model, "key 'MODEL'", {"version", "base", "keys", "figures", "dram"});
  if (const YAML::Node base = model["base"]) {
    const std::string name = document.scalar(base, "key 'MODEL.base'");
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const std::string file = config::find_config(config::Folder::kEnergy, name, folder);
    if (std::filesystem::equivalent(file, path)) config::fail(document.origin(base), "a model is its own base");
    *this = of(file);
  }
  read_list(document, "figures", "name",
            {"pj", "nm", "also_pj", "also_nm", "um2", "mw_per_mm2", "factor", "fp32_multiplies", "fp32_adds"});
  read_list(document, "dram", "type", {"pj_per_bit", "mw_per_gib"});
  for (const auto* names : {&kNeeded, &kDramTypes}) {
    for (const std::string& name : *names) {
      if (entries_.count(name) == 0) {
        config::fail(document.origin(model), fmt::format("figure {} is missing", config::in_quotes(name)));
      }
    }
  }
  if (const YAML::Node keys = model["keys"]) {
    document.require_map(keys, "key 'MODEL.keys'");
    for (const auto& entry : keys) {
      const std::string key = entry.first.as<std::string>();
      const config::Setting setting{key, document.scalar(entry.second, fmt::format("key '{}'", key)),
                                    document.origin(entry.second)};
      TechnologyConfig checked;
      schema().apply(checked, setting);
      settings_.push_back(setting);
    }
  }
}

void Technology::read_list(const Document& document, const char* list, const char* name_key,
                           const std::vector<std::string>& keys) {
  const YAML::Node figures = document.root()["MODEL"][list];
  if (!figures) return;
  document.require_list(figures, fmt::format("key 'MODEL.{}'", list));
  std::vector<std::string> allowed = {name_key, "low", "high", "provenance", "source"};
  allowed.insert(allowed.end(), keys.begin(), keys.end());
  std::set<std::string> given;
  for (const YAML::Node& node : figures) {
    document.require_keys(node, fmt::format("an entry of 'MODEL.{}'", list), allowed);
    const auto text = [&](const char* key) {
      if (!node[key]) {
        config::fail(document.origin(node), fmt::format("an entry of 'MODEL.{}': key '{}' is missing", list, key));
      }
      return document.scalar(node[key], fmt::format("key '{}'", key));
    };
    const std::string name = text(name_key), provenance = text("provenance"), source = text("source");
    if (std::find(kProvenances.begin(), kProvenances.end(), provenance) == kProvenances.end()) {
      config::fail(document.origin(node["provenance"]),
                   fmt::format("{}: found provenance {}; allowed: {}", name, config::in_quotes(provenance),
                               fmt::join(kProvenances, ", ")));
    }
    const auto value = [&](const char* key, double otherwise) {
      return node[key] ? number(document, node[key], fmt::format("{}: key '{}'", name, key)) : otherwise;
    };
    Entry e;
    e.pj = value("pj", 0), e.nm = value("nm", 0), e.also_pj = value("also_pj", 0), e.also_nm = value("also_nm", 0);
    e.um2 = value("um2", 0), e.mw_per_mm2 = value("mw_per_mm2", 0), e.factor = value("factor", 0);
    e.fp32_multiplies = value("fp32_multiplies", 0), e.fp32_adds = value("fp32_adds", 0);
    e.pj_per_bit = value("pj_per_bit", 0), e.mw_per_gib = value("mw_per_gib", 0);
    e.low = value("low", 1), e.high = value("high", 1);
    if (e.low > 1 || e.high < 1) {
      config::fail(document.origin(node),
                   fmt::format("{}: found a range of {:g} to {:g}; allowed is one around 1", name, e.low, e.high));
    }
    const auto check_node = [&](double nm) {
      if (nm >= kSmallestNode && nm <= kLargestNode) return;
      config::fail(document.origin(node), fmt::format("{}: found a node of {:g} nm; allowed is {:g} to {:g}", name, nm,
                                                      kSmallestNode, kLargestNode));
    };
    if (e.pj > 0 || e.um2 > 0) check_node(e.nm);
    if (e.also_pj > 0) check_node(e.also_nm);
    if (!given.insert(name).second) {
      config::fail(document.origin(node), fmt::format("figure {} is given twice", config::in_quotes(name)));
    }
    entries_[name] = e;
    const auto note = [&](const char* unit, double v) {
      if (v > 0) provenance_.push_back({name, unit, {v, e.low, e.high}, e.nm, provenance, source});
    };
    note("pJ", e.pj), note("um2", e.um2), note("mW/mm2", e.mw_per_mm2), note("factor", e.factor);
    note("FP32 multiplications", e.fp32_multiplies), note("pJ/bit", e.pj_per_bit), note("mW/GiB", e.mw_per_gib);
  }
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

const Technology::Entry& Technology::entry(const std::string& name) const { return entries_.at(name); }

Figure Technology::pj(const std::string& name, double nm, double volts) const {
  const Entry& e = entry(name);
  if (e.fp32_multiplies > 0 || e.fp32_adds > 0) {
    const Figure parts = pj("fp32_multiply", nm, volts) * e.fp32_multiplies + pj("fp32_add", nm, volts) * e.fp32_adds;
    return {parts.value, parts.low * e.low, parts.high * e.high};
  }
  const double nominal = nominal_volts(nm);
  double value = e.pj;
  if (e.also_pj > 0) {
    value *= std::pow(e.also_pj / e.pj, std::log(e.nm / nm) / std::log(e.nm / e.also_nm));
  } else {
    value *= energy_scale(e.nm, nm);
  }
  return {value * energy_scale(nm, nominal, nm, volts), e.low, e.high};
}

double Technology::mm2(const std::string& name, double nm) const {
  const Entry& e = entry(name);
  return e.um2 * 1e-6 * area_scale(e.nm, nm);
}

Figure Technology::factor(const std::string& name) const {
  const Entry& e = entry(name);
  return {e.factor, e.low, e.high};
}
Figure Technology::mw_per_mm2(const std::string& name) const {
  const Entry& e = entry(name);
  return {e.mw_per_mm2, e.low, e.high};
}
Figure Technology::dram_pj_per_bit(const std::string& type) const {
  const Entry& e = entry(type);
  return {e.pj_per_bit, e.low, e.high};
}
Figure Technology::dram_mw_per_gib(const std::string& type) const {
  const Entry& e = entry(type);
  return {e.mw_per_gib, e.low, e.high};
}

}  // namespace attnvp::energy
