// The library behind `dram.policy: plugin:LIBRARY.so`.
#pragma once

#include <memory>
#include <string>

#include "models/keys/keys.h"
#include "models/plugin_dram/plugin.h"

namespace attnvp {

struct PluginConfig {
  std::string library = "none";

  static void describe(config::Keys<PluginConfig>& key) {
    key(config::text("library", "with policy plugin: the shared library; `policy: plugin:LIBRARY.so` sets both"),
        &PluginConfig::library);
  }
};

// Why it cannot be used; empty if it can.
std::string plugin_problem(const std::string& library);
// Stays loaded until the end of the process. Throws std::runtime_error.
std::unique_ptr<DramPlugin> make_plugin(const std::string& library, const DramPluginSite& site);

}  // namespace attnvp
