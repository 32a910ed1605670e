// Provenance of configuration values. A file's section `provenance:` holds statements by key path,
//
//   provenance:
//     clock: published MAS-Attention, section 5.1
//     dma: assumed
//     vec.softmax_lane_cycles: calibrated to FLAT of xlm in table 2 [mas_table2_cycles/xlm/flat]
//
// or is one statement for all values of the file. The path of a section, "dma", covers the keys under it that the file
// sets and that have no statement of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/machine/document.h"

namespace attnvp {
struct MachineConfig;
}

namespace attnvp::config {

// The first five can be stated. kUnstated: set without a statement; kSet: set by --set.
enum class ProvenanceKind : std::uint8_t { kPublished, kMeasured, kDerived, kCalibrated, kAssumed, kUnstated, kSet };

struct Provenance {
  ProvenanceKind kind = ProvenanceKind::kAssumed;
  std::string source;              // text behind the kind, without the cells
  std::vector<std::string> cells;  // of calibrated values: table cells they were fitted to, "TABLE/ROW/COLUMN", or
                                   // "TABLE", "TABLE/ROW" for all cells

  std::string text() const;  // "published MAS-Attention, section 5.1", "assumed", "set on the command line"
};

// By key path. In a file also by section, "" for the whole file; in a configuration only by key.
using Provenances = std::map<std::string, Provenance, std::less<>>;

// Add to the known paths of Document::settings; read_provenance reads the section.
inline constexpr const char* kProvenanceSection = "provenance.*";

// Parses "published SOURCE", "measured SOURCE", "derived SOURCE", "calibrated SOURCE [CELL CELL]", "assumed" or
// "assumed, WHY". Throws ConfigError at `origin`.
Provenance parse_provenance(std::string_view text, const Origin& origin);

// Statements of a file whose keys have these paths. Throws ConfigError with file and line.
Provenances read_provenance(const Document& document, const std::vector<std::string>& paths);

// Updates the provenance of a configuration (initially of its base) by a file: keys that the file sets lose their
// statements, then the file's statements apply, the longest path that covers a key last.
void take_statements(Provenances& of_keys, const Provenances& statements, const std::vector<std::string>& paths,
                     const std::vector<std::string>& set_by_file);

// The key that was calibrated to a cell "TABLE/ROW/COLUMN"; empty: none.
std::string calibrated_by(const Provenances& of_keys, std::string_view cell);

// Provenance of load_hardware's and load_energy's results (energies by "component.action"). Keys without an entry have
// the program's default.
Provenances hardware_provenance(const std::string& name_or_path, const std::vector<std::string>& overrides = {});
Provenances energy_provenance(const std::string& name_or_path);
Provenances energy_provenance(const Document& table);

// As to_yaml(machine), with a comment beside each value. Without `all`, omits keys that are not set and have no effect
// on that machine.
std::string to_yaml(const MachineConfig& machine, const Provenances& provenance, bool all = true);

}  // namespace attnvp::config
