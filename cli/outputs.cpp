#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "platform/config/error.h"

namespace attnvp::cli {

OutputFile open_output(const std::string& path) {
  return path.empty() || path == "-" ? nullptr : std::make_unique<tensors::AtomicFile>(path);
}

void check_outputs(const std::vector<std::pair<const char*, std::string>>& options_and_paths) {
  namespace fs = std::filesystem;
  std::map<fs::path, const char*> seen;
  for (const auto& [option, path] : options_and_paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (path.empty() || path == "-" || (fs::exists(status) && fs::is_other(status))) continue;
    const tensors::AtomicFile probe(path);
    const auto [other, inserted] = seen.emplace(fs::weakly_canonical(fs::absolute(path), error), option);
    if (!inserted)
      throw config::ConfigError(fmt::format("{} and {} are both to write {}", other->second, option, path));
  }
}

}  // namespace attnvp::cli
