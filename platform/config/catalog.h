// Where configurations live, and what there is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::config {

enum class Folder : std::uint8_t { kHardware, kNetworks, kEnergy, kTilings, kStreams, kSweeps, kDram };

struct CatalogEntry {
  std::string name;         // file name without .yaml
  std::string description;  // the file's first line without '# '; empty when that line is no comment
  std::string path;
};

// The folder that holds hardware/, networks/, ...: $ATTNVP_CONFIGS if set, else the one installed beside the
// program, else the source tree's configs/.
// Throws ConfigError when it is not a folder.
std::string config_root();

// "hardware", "networks", "energy", "tilings", "streams", "sweeps", "dram".
std::string folder_name(Folder folder);

// The *.yaml files of a folder, sorted by name; empty when the folder does not exist.
std::vector<CatalogEntry> list(Folder folder);

// Text with a '/' or ending in .yaml or .yml is a path; anything else is a name.
bool is_path(const std::string& name_or_path);

// The file behind a name (looked up in the folder) or a path (relative to `base_folder` unless absolute; ""
// is the working directory). Throws ConfigError without a place: unknown name (says what exists), no such
// file.
std::string find_config(Folder folder, const std::string& name_or_path, const std::string& base_folder = "");

}  // namespace attnvp::config
