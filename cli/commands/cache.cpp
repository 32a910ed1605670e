// `attnvp cache`: shows and clears stored tile sizes.
#include "explore/tuning/cache.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

int cache(bool clear, bool list) {
  using explore::Cache;
  std::string text;
  if (list) {
    for (const Cache::CachedTiling& e : Cache::entries()) {
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
  print(text);
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, int& status) {
  struct CacheFlags {
    bool clear = false, list = false;
  };
  const auto flags = std::make_shared<CacheFlags>();
  CLI::App& command =
      *app.add_subcommand("cache", "the tile sizes that were chosen and stored: where they are, how many");
  command.add_flag("--list", flags->list, "list them");
  command.add_flag("--clear", flags->clear, "remove them all");
  command.callback([flags, &status] { status = cache(flags->clear, flags->list); });
}

}  // namespace attnvp::cli
