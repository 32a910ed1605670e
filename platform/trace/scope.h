// Which modules a trace shows.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attnvp::trace {

// A pattern is a run of path components, each with * and ? as in a shell: "cluster0.core1", "mac", "core*.vec",
// "attnvp.dram". A module is shown when its path, or the path of a module above it, holds the run.
bool in_scope(const std::string& pattern, const std::string& path);

// A filter for all of them, everything when there are none. Throws config::ConfigError for one that shows none of the
// modules.
std::function<bool(const std::string& path)> scope_filter(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& modules);

}  // namespace attnvp::trace
