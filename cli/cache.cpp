// `attnvp cache`: the tile sizes that were chosen and stored.
#include "explore/tuning/cache.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "platform/report/table.h"

namespace attnvp::cli {

int cache(bool clear, bool list) {
  using explore::Cache;
  std::string text;
  if (list) {
    for (const Cache::Entry& e : Cache::entries()) {
      text += fmt::format("{} on {} with {}: {} ({} cycles)\n", e.network, e.machine, e.dataflow, e.tiling,
                          report::with_commas(e.cycles));
    }
  }
  const std::string path = Cache::path();
  if (path.empty()) {
    text += "no cache: neither XDG_CACHE_HOME nor HOME names a folder\n";
  } else if (clear) {
    text += fmt::format("{}: {} tilings removed\n", path, Cache::clear());
  } else if (!list) {
    text += fmt::format("{}: {} tilings\n", path, Cache::entries().size());
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
