// The library behind `dram.policy: plugin:LIBRARY.so`.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
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

// The library cannot be used: one sentence, with the key.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a library has made, and what it says of itself.
struct LoadedPlugin {
  std::unique_ptr<DramPlugin> made;
  tlm::tlm_target_socket<>* socket;
  bool phases;
  std::uint32_t piece_bytes;
};

// Why it cannot be used; empty if it can.
std::string plugin_problem(const std::string& library);
// The library stays loaded until the end of the process. Throws PluginError.
LoadedPlugin make_plugin(const std::string& library, const DramPluginSite& site);

// The exception that is being handled, in one clause.
std::string exception_text();

// While one exists, the process cannot end by exit(): `sentence` goes to stderr, and the exit status is 1.
class ExitGuard {
 public:
  explicit ExitGuard(std::function<std::string()> sentence);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  static void refuse();
  static inline ExitGuard* last_ = nullptr;
  std::function<std::string()> sentence_;
  ExitGuard* before_;
};

}  // namespace attnvp
