#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "platform/machine/catalog.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"

namespace attnvp::config {
namespace {

// A new number or list of cores removes the statements of earlier ones.
void drop_cores(Provenances& of_keys) {
  const auto first = of_keys.lower_bound("cores.");
  auto last = first;
  while (last != of_keys.end() && last->first.rfind("cores.", 0) == 0) ++last;
  of_keys.erase(first, last);
}

// Provenance of a valid machine file, and of its bases.
Provenances of_file(const std::string& path) {
  const Document document = Document::load(path);
  const std::vector<Setting> settings = machine_settings(document);
  Provenances of_keys;
  std::vector<std::string> set;
  for (const Setting& setting : settings) {
    set.push_back(setting.path);
    if (const std::string key = library_key(setting); !key.empty()) set.push_back(key);
    if (setting.path != "base") continue;
    set.pop_back();
    of_keys = of_file(find_config(Folder::kHardware, setting.text, std::filesystem::path(path).parent_path().string()));
  }
  if (std::find(set.begin(), set.end(), "cores") != set.end()) drop_cores(of_keys);
  const std::vector<std::string> paths = paths_of(settings);
  take_statements(of_keys, read_provenance(document, paths), paths, set);
  return of_keys;
}

}  // namespace

Provenances hardware_provenance(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  load_hardware(name_or_path, overrides);  // throws for invalid machines
  Provenances of_keys = of_file(find_config(Folder::kHardware, name_or_path));
  for (const std::string& assignment : overrides) {
    const Setting setting = parse_override(assignment);
    if (setting.path == "cores") drop_cores(of_keys);
    for (const std::string& path : {setting.path, library_key(setting)}) {
      if (!path.empty()) of_keys.insert_or_assign(path, Provenance{Provenance::Kind::kSet, {}, {}});
    }
  }
  return of_keys;
}

Provenances energy_provenance(const std::string& name_or_path) {
  load_energy(name_or_path);  // throws for invalid tables
  return energy_provenance(Document::load(find_config(Folder::kEnergy, name_or_path)));
}

Provenances energy_provenance(const Document& table) {
  if (const YAML::Node model = table.root()["MODEL"]) {
    Provenances of_figures;
    for (const auto& [list, name] : {std::pair{"figures", "name"}, std::pair{"dram", "type"}}) {
      for (const YAML::Node& figure : model[list]) {
        of_figures[figure[name].Scalar()] = parse_provenance(
            fmt::format("{}{} {}", figure["provenance"].Scalar(), figure["provenance"].Scalar() == "assumed" ? "," : "",
                        figure["source"].Scalar()),
            table.origin(figure));
      }
    }
    return of_figures;
  }
  std::vector<std::string> paths;
  for (const YAML::Node& component : table.root()["ERT"]["tables"]) {
    for (const YAML::Node& action : component["actions"]) {
      paths.push_back(component["name"].Scalar() + "." + action["name"].Scalar());
    }
  }
  Provenances of_actions;
  take_statements(of_actions, read_provenance(table, paths), paths, paths);
  return of_actions;
}

}  // namespace attnvp::config
