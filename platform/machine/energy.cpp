#include "platform/machine/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/provenance.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr double kBytesPerKiB = 1024;

// Value of a required key.
YamlNode member(const Document& document, const YamlNode& map, const std::string& what, const std::string& key) {
  YamlNode value = map[key];
  if (!value) fail(document.origin(map), fmt::format("{}: key '{}' is missing", what, key));
  return value;
}

double energy_value(const Document& document, const YamlNode& node, const std::string& what, const std::string& key,
                    const char* unit = "in pJ") {
  const std::string text = document.scalar(node, fmt::format("{}: key '{}'", what, key));
  try {
    return parse_plain_real(text);
  } catch (const ConfigError& problem) {
    fail(document.origin(node), fmt::format("{}: key '{}': {}, {}", what, key, problem.what(), unit));
  }
}

std::string name_of(const Document& document, const YamlNode& map, const std::string& what) {
  const YamlNode node = member(document, map, what, "name");
  std::string name = document.scalar(node, fmt::format("{}: key 'name'", what));
  if (name.empty()) fail(document.origin(node), fmt::format("{}: key 'name': found an empty text", what));
  return name;
}

// Accelergy distinguishes an action's energy by argument values; our counts do not. The greatest energy applies, as in
// Timeloop, and the least is the low end of its range.
void merge(EnergyTable::EnergyAction& known, const EnergyTable::EnergyAction& other) {
  const double low = std::min(known.pj * known.low, other.pj * other.low);
  const double high = std::max(known.pj * known.high, other.pj * other.high);
  known.pj = std::max(known.pj, other.pj);
  if (known.pj > 0) known.low = low / known.pj, known.high = high / known.pj;
}

// Cycle of the table in seconds, if an action gives it as an Accelergy argument or by AttnVP's key; else 0.
double cycle_seconds(const Document& document, const YamlNode& action, const std::string& what) {
  const auto parsed = [&](const YamlNode& node, const char* key) {
    const double seconds = energy_value(document, node, what, key, "in s");
    if (seconds > 0) return seconds;
    fail(document.origin(node),
         fmt::format("{}: key '{}': found {}; allowed is more than 0, in s", what, key, document.scalar(node, key)));
  };
  constexpr const char* kArgument = "global_cycle_seconds";
  const YamlNode arguments = action["arguments"];
  if (arguments && arguments.is_map() && arguments[kArgument]) return parsed(arguments[kArgument], kArgument);
  const YamlNode own = action["cycle_seconds"];
  return own ? parsed(own, "cycle_seconds") : 0;
}

bool has_arguments(const Document& document, const YamlNode& action, const std::string& what) {
  const YamlNode arguments = action["arguments"];
  if (!arguments || arguments.is_nothing()) return false;
  document.require_map(arguments, what + ": key 'arguments'");
  return arguments.size() > 0;
}

template <class Map>
std::string keys_of(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(entry.first);
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

std::string without_instances(const std::string& name) {
  const std::size_t bracket = name.rfind('[');
  return bracket != std::string::npos && bracket > 0 && name.back() == ']' ? name.substr(0, bracket) : name;
}

void check_accelergy_version(const std::string& version, const Origin& origin, const char* table) {
  if (version == "0.3" || version == "0.4") return;
  fail(origin, fmt::format("key '{}.version': found {}; allowed: 0.3, 0.4", table, in_quotes(version)));
}

const EnergyTable::EnergyAction* EnergyTable::find(std::string_view component, std::string_view action) const {
  const auto table = components_.find(component);
  if (table == components_.end()) return nullptr;
  const auto entry = table->second.find(action);
  return entry == table->second.end() ? nullptr : &entry->second;
}

bool EnergyTable::has(std::string_view component, std::string_view action) const {
  return find(component, action) != nullptr;
}

EnergyTable::EnergyAction EnergyTable::range(std::string_view component, std::string_view action) const {
  return entry(component, action);
}

namespace {
// Number behind `name` in a module's name; none: the module is outside.
std::optional<std::size_t> number_behind(std::string_view name, std::string_view module) {
  const std::size_t at = module.find(name);
  std::size_t number = 0;
  if (at == std::string_view::npos) return {};
  const bool found =
      std::from_chars(module.data() + at + name.size(), module.data() + module.size(), number).ec == std::errc();
  return found ? std::optional(number) : std::nullopt;
}
}  // namespace

const EnergyTable& EnergyTable::of_module(std::string_view module) const {
  if (cores_.empty()) return *this;
  const std::optional<std::size_t> core = number_behind(".core", module);
  if (cores_of_cluster_ == 0) return core && *core < cores_.size() ? cores_[*core] : *this;
  const std::optional<std::size_t> cluster = number_behind(".cluster", module);
  if (!cluster) return *this;
  const std::size_t at = *cluster * cores_of_cluster_ + core.value_or(0);
  return at < cores_.size() ? cores_[at] : *this;
}

double EnergyTable::pj(std::string_view component, std::string_view action, std::uint64_t instance_size_bytes) const {
  const EnergyAction& found = entry(component, action);
  return found.pj + found.pj_per_kib * (static_cast<double>(instance_size_bytes) / kBytesPerKiB);
}

const EnergyTable::EnergyAction& EnergyTable::entry(std::string_view component, std::string_view action) const {
  if (const EnergyAction* found = find(component, action)) return *found;
  const auto table = components_.find(component);
  if (table == components_.end()) {
    fail({source_},
         fmt::format("component {} has no energies; the table has: {}", in_quotes(component), keys_of(components_)));
  }
  fail({source_}, fmt::format("component '{}' has no energy for action {}; the table has: {}", component,
                              in_quotes(action), keys_of(table->second)));
}

EnergyTable load_energy(const std::string& name_or_path) {
  const Document document = Document::load(find_config(Folder::kEnergy, name_or_path));
  if (document.root().is_map() && document.root()["MODEL"]) {
    EnergyTable model;
    model.source_ = document.source();
    model.model_ = true;
    return model;
  }
  document.require_keys(document.root(), "the file", {"ERT", "provenance"});
  const YamlNode ert = member(document, document.root(), "the file", "ERT");
  document.require_keys(ert, "key 'ERT'", {"version", "tables"});
  const YamlNode version = member(document, ert, "key 'ERT'", "version");
  const std::string version_text = document.scalar(version, "key 'ERT.version'");
  check_accelergy_version(version_text, document.origin(version), "ERT");

  EnergyTable table;
  table.source_ = document.source();
  const YamlNode tables = member(document, ert, "key 'ERT'", "tables");
  document.require_list(tables, "key 'ERT.tables'");
  for (const YamlNode& component_node : tables) {
    document.require_keys(component_node, "an entry of 'ERT.tables'", {"name", "actions"});
    const std::string component = without_instances(name_of(document, component_node, "an entry of 'ERT.tables'"));
    const std::string of_component = fmt::format("component {}", in_quotes(component));
    if (table.components_.count(component) > 0) {
      fail(document.origin(component_node), fmt::format("{} is given twice", of_component));
    }
    const YamlNode actions = member(document, component_node, of_component, "actions");
    document.require_list(actions, fmt::format("{}: key 'actions'", of_component));
    auto& entries = table.components_[component];
    std::map<std::string, bool> varied;  // by arguments
    for (const YamlNode& node : actions) {
      document.require_keys(node, fmt::format("{}: an action", of_component),
                            {"name", "arguments", "energy", "energy_per_kib", "low", "high", "cycle_seconds"});
      const std::string name = name_of(document, node, fmt::format("{}: an action", of_component));
      const std::string what = fmt::format("{}, action {}", of_component, in_quotes(name));
      const bool arguments = has_arguments(document, node, what);
      const auto [before, first] = varied.emplace(name, arguments);
      if (!first && (!arguments || !before->second))
        fail(document.origin(node), fmt::format("{} is given twice", what));
      EnergyTable::EnergyAction action;
      action.pj = energy_value(document, member(document, node, what, "energy"), what, "energy");
      if (const YamlNode per_kib = node["energy_per_kib"]) {
        action.pj_per_kib = energy_value(document, per_kib, what, "energy_per_kib");
      }
      if (const YamlNode low = node["low"]) action.low = energy_value(document, low, what, "low");
      if (const YamlNode high = node["high"]) action.high = energy_value(document, high, what, "high");
      action.cycle_seconds = cycle_seconds(document, node, what);
      if (first) {
        entries.emplace(name, action);
      } else if (entries.at(name).cycle_seconds != action.cycle_seconds) {
        fail(document.origin(node),
             fmt::format("{}: key 'global_cycle_seconds' differs from that of the same action before; allowed is one "
                         "cycle for an action",
                         what));
      } else {
        merge(entries.at(name), action);
      }
    }
    if (entries.empty()) fail(document.origin(actions), fmt::format("{} has no actions", of_component));
  }
  if (table.components_.empty()) fail(document.origin(tables), "key 'ERT.tables' holds no component");
  energy_provenance(document);  // throws for invalid provenance
  return table;
}

}  // namespace attnvp::config
