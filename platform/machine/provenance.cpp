#include "platform/machine/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <utility>

#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr std::size_t kLongestStatement = 400;
constexpr std::array<std::pair<const char*, ProvenanceKind>, 5> kKinds = {{{"published", ProvenanceKind::kPublished},
                                                                           {"measured", ProvenanceKind::kMeasured},
                                                                           {"derived", ProvenanceKind::kDerived},
                                                                           {"calibrated", ProvenanceKind::kCalibrated},
                                                                           {"assumed", ProvenanceKind::kAssumed}}};
constexpr const char* kSection = "provenance";

bool covers(std::string_view section, std::string_view path, char separator) {
  if (section.empty() || section == path) return true;
  return path.size() > section.size() && path.substr(0, section.size()) == section && path[section.size()] == separator;
}

// Splits "to what [CELL CELL]".
void split_cells(Provenance& p, std::string_view text, const Origin& origin) {
  const std::size_t open = text.find('[');
  p.source = std::string(trimmed(text.substr(0, open)));
  if (open == std::string_view::npos) return;
  if (p.kind != ProvenanceKind::kCalibrated) {
    fail(origin, "only what is calibrated has cells in brackets, those that it was fitted to");
  }
  if (text.back() != ']') fail(origin, fmt::format("found {}; the cells end with ']'", in_quotes(text)));
  std::string_view cells = text.substr(open + 1, text.size() - open - 2);
  for (cells = trimmed(cells); !cells.empty(); cells = trimmed(cells)) {
    const std::string_view cell = cells.substr(0, cells.find(' '));
    const auto parts = 1 + std::count(cell.begin(), cell.end(), '/');
    if (parts > 3 || cell.front() == '/' || cell.back() == '/' || cell.find("//") != std::string_view::npos) {
      fail(origin, fmt::format("found the cell {}; allowed is TABLE, TABLE/ROW or TABLE/ROW/COLUMN", in_quotes(cell)));
    }
    p.cells.emplace_back(cell);
    cells.remove_prefix(cell.size());
  }
  if (p.cells.empty()) fail(origin, "found no cell between brackets; allowed is TABLE/ROW/COLUMN");
}

}  // namespace

std::string Provenance::text() const {
  if (kind == ProvenanceKind::kSet) return "set on the command line";
  if (kind == ProvenanceKind::kUnstated) return "not stated";
  const auto* const known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.second == kind; });
  std::string out = known->first;
  if (!source.empty()) out += (kind == ProvenanceKind::kAssumed ? ", " : " ") + source;
  if (!cells.empty()) out += fmt::format(" [{}]", fmt::join(cells, " "));
  return out;
}

Provenance parse_provenance(std::string_view text, const Origin& origin) {
  const std::string_view all = trimmed(text);
  if (all.size() > kLongestStatement || !text::is_printable(std::string(all))) {
    fail(origin, fmt::format("found {}; allowed are {} printable characters", in_quotes(all), kLongestStatement));
  }
  const std::string_view word = all.substr(0, all.find_first_of(" ,"));
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return word == k.first; });
  if (kind == kKinds.end()) {
    fail(origin,
         fmt::format("found {}; allowed is a statement that begins with published, measured, derived, calibrated "
                     "or assumed",
                     in_quotes(all)));
  }
  Provenance p;
  p.kind = kind->second;
  const bool comma = all.size() > word.size() && all[word.size()] == ',';
  split_cells(p, trimmed(all.substr(word.size() + (comma ? 1 : 0))), origin);
  if (p.source.empty() && p.kind != ProvenanceKind::kAssumed) {
    const char* const what = p.kind == ProvenanceKind::kPublished ? "where"
                             : p.kind == ProvenanceKind::kDerived ? "from what"
                                                                  : "to what";
    fail(origin, fmt::format("found {} alone; allowed is {} followed by {}", in_quotes(all), kind->first, what));
  }
  return p;
}

Provenances read_provenance(const Document& document, const std::vector<std::string>& paths) {
  Provenances statements;
  document.require_map(document.root(), "the file");
  YamlNode node;
  for (const auto& entry : document.root()) {
    if (!entry.first.is_scalar() || entry.first.scalar() != kSection) continue;
    if (node) {
      fail(document.origin(entry.first),
           fmt::format("key '{}' is given twice, first in line {}", kSection, document.origin(node).line));
    }
    node = entry.second;
  }
  if (!node) return statements;
  const auto parse = [&](const YamlNode& value, const std::string& what) {
    const Origin at = document.origin(value);
    return parse_provenance(document.scalar(value, what), {at.text() + ": " + what});
  };
  if (node.is_scalar()) {
    statements.emplace("", parse(node, fmt::format("key '{}'", kSection)));
    return statements;
  }
  document.require_keys(node, fmt::format("key '{}'", kSection), with_sections(paths));
  for (const auto& entry : node) {
    const std::string& path = entry.first.scalar();
    statements.emplace(path, parse(entry.second, fmt::format("{} of '{}'", kSection, path)));
  }
  return statements;
}

void take_statements(Provenances& of_keys, const Provenances& statements, const std::vector<std::string>& paths,
                     const std::vector<std::string>& set_by_file) {
  for (const std::string& path : set_by_file) {
    if (path != "name") of_keys.insert_or_assign(path, Provenance{ProvenanceKind::kUnstated, {}, {}});
  }
  // The map's order has a section before its keys, so the longest path is applied last.
  for (const auto& [stated, provenance] : statements) {
    if (std::find(paths.begin(), paths.end(), stated) != paths.end()) of_keys.insert_or_assign(stated, provenance);
    for (const std::string& path : set_by_file) {
      if (path != "name" && covers(stated, path, '.')) of_keys.insert_or_assign(path, provenance);
    }
  }
}

std::string calibrated_by(const Provenances& of_keys, std::string_view cell) {
  for (const auto& [path, provenance] : of_keys) {
    for (const std::string& fitted : provenance.cells) {
      if (covers(fitted, cell, '/')) return path;
    }
  }
  return {};
}

namespace {

// A new number or list of clusters or cores removes the statements of earlier ones.
void drop_items(Provenances& of_keys, const std::string& set) {
  for (auto entry = of_keys.begin(); entry != of_keys.end();) {
    const std::string& path = entry->first;
    const bool is_item = path.rfind(set + ".", 0) == 0 || (set == "cores" && path.rfind("clusters.", 0) == 0 &&
                                                           path.find(".cores.") != std::string::npos);
    entry = is_item ? of_keys.erase(entry) : std::next(entry);
  }
}

// Statements of a list of equal clusters become those of the machine's own keys.
void join_clusters(Provenances& of_keys) {
  const std::string first = "clusters.0.";
  Provenances joined;
  for (const auto& [path, statement] : of_keys) {
    if (path.rfind(first, 0) == 0) joined.insert_or_assign(path.substr(first.size()), statement);
  }
  drop_items(of_keys, "clusters");
  for (const auto& [path, statement] : joined) of_keys.insert_or_assign(path, statement);
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
  for (const char* list : {"clusters", "cores"}) {
    if (std::find(set.begin(), set.end(), list) != set.end()) drop_items(of_keys, list);
  }
  const std::vector<std::string> paths = paths_of(settings);
  take_statements(of_keys, read_provenance(document, paths), paths, set);
  return of_keys;
}

}  // namespace

Provenances hardware_provenance(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const MachineConfig machine = load_hardware(name_or_path, overrides);  // throws for invalid machines
  Provenances of_keys = of_file(find_config(Folder::kHardware, name_or_path));
  for (const std::string& assignment : overrides) {
    const Setting setting = parse_override(assignment);
    if (setting.path == "clusters" || setting.path == "cores") drop_items(of_keys, setting.path);
    for (const std::string& path : {setting.path, library_key(setting)}) {
      if (!path.empty()) of_keys.insert_or_assign(path, Provenance{ProvenanceKind::kSet, {}, {}});
    }
  }
  if (machine.cluster_overrides.empty()) join_clusters(of_keys);
  return of_keys;
}

Provenances energy_provenance(const std::string& name_or_path) {
  load_energy(name_or_path);  // throws for invalid tables
  return energy_provenance(Document::load(find_config(Folder::kEnergy, name_or_path)));
}

Provenances energy_provenance(const Document& table) {
  if (const YamlNode model = table.root()["MODEL"]) {
    Provenances of_figures;
    for (const auto& [list, name] : {std::pair{"figures", "name"}, std::pair{"dram", "type"}}) {
      for (const YamlNode& figure : model[list]) {
        of_figures[figure[name].scalar()] = parse_provenance(
            fmt::format("{}{} {}", figure["provenance"].scalar(), figure["provenance"].scalar() == "assumed" ? "," : "",
                        figure["source"].scalar()),
            table.origin(figure));
      }
    }
    return of_figures;
  }
  std::vector<std::string> paths;
  for (const YamlNode& component : table.root()["ERT"]["tables"]) {
    for (const YamlNode& action : component["actions"]) {
      paths.push_back(component["name"].scalar() + "." + action["name"].scalar());
    }
  }
  Provenances of_actions;
  take_statements(of_actions, read_provenance(table, paths), paths, paths);
  return of_actions;
}

}  // namespace attnvp::config
