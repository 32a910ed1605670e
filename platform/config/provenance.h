// Where the values of a configuration come from. A file's section `provenance:` holds statements by key path,
//
//   provenance:
//     clock: published MAS-Attention, section 5.1
//     dma: assumed
//     vec.softmax_lane_cycles: calibrated to FLAT of xlm in table 2 [mas_table2_cycles/xlm/flat]
//
// or is itself one statement for all of the file's values. A section's path, "dma", stands for those keys under it that
// the file sets and that have no statement of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/document.h"

namespace attnvp {
struct MachineConfig;
}

namespace attnvp::config {

struct Provenance {
  // The first four can be stated; a file that sets a key may also say nothing, and --set may take its place.
  enum class Kind : std::uint8_t { kPublished, kDerived, kCalibrated, kAssumed, kUnstated, kSet };

  Kind kind = Kind::kAssumed;
  std::string source;              // what follows the kind, without the cells
  std::vector<std::string> cells;  // of calibrated values: the cells of tables that they were fitted to,
                                   // "TABLE/ROW/COLUMN", or "TABLE", "TABLE/ROW" for all in there

  std::string text() const;  // "published MAS-Attention, section 5.1", "assumed", "set on the command line"
};

// By key path. As written: of sections too, "" for the whole file. Of a configuration: of keys.
using Provenances = std::map<std::string, Provenance, std::less<>>;

// To be known to Document::settings besides a file's keys: the section is read by read_provenance.
inline constexpr const char* kProvenanceSection = "provenance.*";

// "published SOURCE", "derived SOURCE", "calibrated SOURCE [CELL CELL]", "assumed" or "assumed, WHY". Throws
// ConfigError at `origin`.
Provenance parse_provenance(std::string_view text, const Origin& origin);

// The statements of a file whose keys have these paths. Throws ConfigError with file and line.
Provenances read_provenance(const Document& document, const std::vector<std::string>& paths);

// Brings the provenance of a configuration (at first: of its base) up to a file's: keys that the file sets lose what
// was stated of them, then the file's statements are taken, the longest path that covers a key winning.
void take_statements(Provenances& of_keys, const Provenances& statements, const std::vector<std::string>& paths,
                     const std::vector<std::string>& set_by_file);

// The key that was calibrated to a cell "TABLE/ROW/COLUMN"; empty when none was.
std::string calibrated_by(const Provenances& of_keys, std::string_view cell);

// Those of the configurations that load_hardware, load_network and load_energy give (of energies by
// "component.action"). What has no entry is the program's default.
Provenances hardware_provenance(const std::string& name_or_path, const std::vector<std::string>& overrides = {});
Provenances network_provenance(const std::string& text);
Provenances energy_provenance(const std::string& name_or_path);
Provenances energy_provenance(const Document& table);

// As to_yaml(machine), with a comment beside each value. Without `all`, keys are left out that nobody set and that mean
// nothing on that machine.
std::string to_yaml(const MachineConfig& machine, const Provenances& provenance, bool all = true);

}  // namespace attnvp::config
