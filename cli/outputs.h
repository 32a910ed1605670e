// The files that a command is asked to write.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

using OutputFile = std::unique_ptr<tensors::AtomicFile>;

// None for an option that is not given, or stdout ("-").
OutputFile open_output(const std::string& path);

// Before the simulation: a path that cannot be written should not cost one, nor may two outputs share one. Pipes and
// devices are left alone, as a reader takes the first close for the end. Throws config::ConfigError.
void check_outputs(const std::vector<std::pair<const char*, std::string>>& options_and_paths);

}  // namespace attnvp::cli
