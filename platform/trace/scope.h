// Selection of modules in a trace.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attnvp::trace {

// A pattern is a sequence of path components, each with shell wildcards * and ?: "cluster0.core1", "mac", "core*.vec",
// "attnvp.dram". It selects modules whose path, or the path of a module above, contains the sequence.
bool in_scope(const std::string& pattern, const std::string& path);

// Filter for any of the patterns; without patterns it accepts everything. Throws config::ConfigError for a pattern that
// selects no module.
std::function<bool(const std::string& path)> scope_filter(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& modules);

}  // namespace attnvp::trace
