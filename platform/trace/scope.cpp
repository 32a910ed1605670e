#include "platform/trace/scope.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::trace {

namespace {

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  boost::split(parts, path, boost::is_any_of("."));
  return parts;
}

}  // namespace

bool in_scope(const std::string& pattern, const std::string& path) {
  const std::vector<std::string> wanted = components(pattern), parts = components(path);
  const auto matches = [](const std::string& part, const std::string& glob) {
    return fnmatch(glob.c_str(), part.c_str(), 0) == 0;
  };
  return std::search(parts.begin(), parts.end(), wanted.begin(), wanted.end(), matches) != parts.end();
}

std::function<bool(const std::string& path)> scope_filter(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& modules) {
  for (const std::string& pattern : patterns) {
    const auto shows = [&](const std::string& module) { return in_scope(pattern, module); };
    if (std::any_of(modules.begin(), modules.end(), shows)) continue;
    std::vector<std::string> names;
    for (const std::string& module : modules) {
      for (const std::string& part : components(module)) {
        if (std::find(names.begin(), names.end(), part) == names.end()) names.push_back(part);
      }
    }
    throw config::ConfigError(fmt::format("--trace-scope: {} is no module of this machine{}",
                                          config::in_quotes(pattern), config::hint(pattern, names)));
  }
  if (patterns.empty()) return [](const std::string&) { return true; };
  return [patterns](const std::string& module) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return in_scope(p, module); });
  };
}

}  // namespace attnvp::trace
