// Catalogue of configuration files: their folder, names and descriptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::config {

enum class Folder : std::uint8_t { kHardware, kNetworks, kEnergy, kTilings, kStreams, kSweeps, kDram };

struct CatalogEntry {
  std::string name;         // file name without .yaml
  std::string description;  // the file's first line without '# '; empty if it is no comment
  std::string path;
};

// Folder that holds hardware/, networks/, ...: $ATTNVP_CONFIGS if set, else the installed folder beside the program,
// else configs/ of the source tree. Throws ConfigError if it is not a folder.
std::string config_root();

// "hardware", "networks", "energy", "tilings", "streams", "sweeps", "dram".
std::string folder_name(Folder folder);

// The *.yaml files of a folder, sorted by name; empty if the folder does not exist.
std::vector<CatalogEntry> list(Folder folder);

// Text that contains '/' or ends in .yaml or .yml is a path; other text is a name.
bool is_path(const std::string& name_or_path);

// File of a name (in the folder) or of a path (relative to `base_folder` unless absolute; "" is the working directory).
// Throws ConfigError without location: unknown name (lists the known ones), no such file.
std::string find_config(Folder folder, const std::string& name_or_path, const std::string& base_folder = "");

// Folder of configurations in the source tree from which this program was built.
const char* built_from();

}  // namespace attnvp::config
