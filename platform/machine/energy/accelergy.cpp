#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/energy/technology.h"
#include "platform/machine/words.h"

namespace attnvp::energy {

namespace {

using config::Document;
using config::EnergyTable;

const std::string kOurs = "attnvp.";
constexpr const char* kLeak = "leak";            // Accelergy's action for a cycle
constexpr double kAccelergyCycleSeconds = 1e-9;  // its default duration

double positive(const Document& document, const config::YamlNode& node, const std::string& what) {
  const std::string text = document.scalar(node, what);
  try {
    const double value = config::parse_plain_real(text);
    if (value > 0) return value;
  } catch (const config::ConfigError& problem) {
    config::fail(document.origin(node), fmt::format("{}: {}", what, problem.what()));
  }
  config::fail(document.origin(node), fmt::format("{}: found {}; allowed is more than 0", what, text));
}

// Path relative to the model's file.
std::string beside(const Document& document, const config::YamlNode& node, const char* key) {
  const std::filesystem::path path = document.scalar(node, fmt::format("key 'MODEL.{}'", key));
  return (std::filesystem::path(document.source()).parent_path() / path).string();
}

bool is_ours(const std::string& component) { return component.compare(0, kOurs.size(), kOurs) == 0; }

// Mapping of a machine component to a table component.
struct Stand {
  std::string name, is;
  double words = 1;                            // 16-bit words of one access
  double count = 1;                            // instances in a module
  std::map<std::string, std::string> actions;  // AttnVP action -> table action
};

Stand read_stand(const Document& document, const config::YamlNode& node) {
  const std::string of_list = "an entry of 'MODEL.components'";
  document.require_keys(node, of_list, {"name", "is", "words", "count", "actions"});
  Stand stand;
  for (const char* key : {"name", "is"}) {
    if (!node[key]) config::fail(document.origin(node), fmt::format("{}: key '{}' is missing", of_list, key));
  }
  stand.name = document.scalar(node["name"], "key 'name'");
  stand.is = config::without_instances(document.scalar(node["is"], "key 'is'"));
  if (!is_ours(stand.name)) {
    config::fail(document.origin(node["name"]), fmt::format("{}: found name {}; allowed is one that begins with '{}'",
                                                            of_list, config::in_quotes(stand.name), kOurs));
  }
  if (node["words"]) stand.words = positive(document, node["words"], "key 'words'");
  if (node["count"]) stand.count = positive(document, node["count"], "key 'count'");
  if (const config::YamlNode actions = node["actions"]) {
    document.require_map(actions, "key 'actions'");
    for (const auto& entry : actions) {
      const std::string ours = document.scalar(entry.first, "key 'actions'");
      stand.actions[ours] = document.scalar(entry.second, fmt::format("action {}", config::in_quotes(ours)));
    }
  }
  return stand;
}

std::string known_names(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

std::map<std::string, double> load_areas(const std::string& path) {
  const Document document = Document::load(path);
  document.require_keys(document.root(), "the file", {"ART"});
  const config::YamlNode art = document.root()["ART"];
  if (!art) config::fail({document.source()}, "key 'ART' is missing");
  document.require_keys(art, "key 'ART'", {"version", "tables"});
  const config::YamlNode version = art["version"], tables = art["tables"];
  if (!version || !tables) {
    config::fail(document.origin(art), fmt::format("key 'ART.{}' is missing", version ? "tables" : "version"));
  }
  config::check_accelergy_version(document.scalar(version, "key 'ART.version'"), document.origin(version), "ART");
  document.require_list(tables, "key 'ART.tables'");
  std::map<std::string, double> areas;
  for (const config::YamlNode& node : tables) {
    document.require_keys(node, "an entry of 'ART.tables'", {"name", "area"});
    if (!node["name"] || !node["area"]) {
      config::fail(document.origin(node),
                   fmt::format("an entry of 'ART.tables': key '{}' is missing", node["name"] ? "area" : "name"));
    }
    const std::string name = config::without_instances(document.scalar(node["name"], "key 'name'"));
    const std::string what = fmt::format("component {}: key 'area'", config::in_quotes(name));
    try {
      if (!areas.emplace(name, config::parse_plain_real(document.scalar(node["area"], what))).second) {
        config::fail(document.origin(node), fmt::format("component {} is given twice", config::in_quotes(name)));
      }
    } catch (const config::ConfigError& problem) {
      config::fail(document.origin(node), fmt::format("{}: {}, in um^2", what, problem.what()));
    }
  }
  return areas;
}

void replace_by_tables(const Document& document, const config::YamlNode& model, Replaced& known) {
  const config::YamlNode ert = model["ert"], art = model["art"], components = model["components"];
  EnergyTable::Components energies;
  std::map<std::string, double> areas;
  if (ert) energies = config::load_energy(beside(document, ert, "ert")).components();
  if (art) areas = load_areas(beside(document, art, "art"));
  std::set<std::string> names;
  for (const auto& [name, actions] : energies) names.insert(name);
  for (const auto& [name, um2] : areas) names.insert(name);

  std::vector<std::pair<Stand, config::Origin>> stands;
  if (components) {
    document.require_list(components, "key 'MODEL.components'");
    for (const config::YamlNode& node : components)
      stands.emplace_back(read_stand(document, node), document.origin(node));
    if (names.empty()) config::fail(document.origin(components), "key 'MODEL.components' needs 'ert' or 'art'");
  } else {
    for (const std::string& name : names) {
      if (is_ours(name)) stands.push_back({{name, name, 1, 1, {}}, document.origin(model)});
    }
    if (stands.empty() && !names.empty()) {
      config::fail(document.origin(model),
                   fmt::format("key 'MODEL.components' is missing, and no component in the tables has a name that "
                               "begins with '{}'; there are: {}",
                               kOurs, known_names(names)));
    }
  }
  for (const auto& [stand, origin] : stands) {
    const std::string module = stand.name.substr(kOurs.size());
    const auto priced = energies.find(stand.is);
    const auto sized = areas.find(stand.is);
    if (priced == energies.end() && sized == areas.end()) {
      config::fail(origin, fmt::format("{}: no table has {}; there are: {}", stand.name, config::in_quotes(stand.is),
                                       known_names(names)));
    }
    if (sized != areas.end()) known.um2[module] = sized->second * stand.count;
    if (priced == energies.end()) continue;
    const auto put = [&](const std::string& component, const std::string& action, EnergyTable::EnergyAction energy,
                         double factor) {
      energy.pj *= factor;
      energy.pj_per_kib *= factor;
      known.energies[component][action] = energy;
    };
    for (const auto& [name, energy] : priced->second) {
      if (name == kLeak && !is_ours(stand.is)) {
        EnergyTable::EnergyAction leak = energy;
        if (leak.cycle_seconds == 0) leak.cycle_seconds = kAccelergyCycleSeconds;
        put(kLeakage, module, leak, stand.count);
      } else {
        put(stand.name, name, energy, 1 / stand.words);
      }
    }
    for (const auto& [ours, its] : stand.actions) {
      const auto action = priced->second.find(its);
      if (action == priced->second.end()) {
        config::fail(origin, fmt::format("{}: {} has no action {}", stand.name, config::in_quotes(stand.is),
                                         config::in_quotes(its)));
      }
      put(stand.name, ours, action->second, 1 / stand.words);
    }
  }
}

}  // namespace attnvp::energy
