// Libraries behind `plugin:LIBRARY.so`.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/keys/keys.h"
#include "models/place.h"
#include "models/plugin/plugin.h"
#include "models/registry.h"

namespace attnvp {

// The library of a place. `Of::kPlace`: its name.
template <class Of>
struct LibraryConfig {
  std::string library = "none";

  static void describe(config::Keys<LibraryConfig>& key) {
    key(config::text("library", "with plugin: the shared library; `plugin:LIBRARY.so` as the kind sets both"),
        &LibraryConfig::library);
  }
};

// The library cannot be used: one sentence, with the key.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An interface of plugin.h, and the functions of a library that offers one.
template <class Plugin>
struct PluginInterface;
template <>
struct PluginInterface<MemoryPlugin> {
  static constexpr const char* kMacro = "ATTNVP_MEMORY_PLUGIN";
  static constexpr const char* kMake = "attnvp_make_memory";
};
template <>
struct PluginInterface<InterconnectPlugin> {
  static constexpr const char* kMacro = "ATTNVP_INTERCONNECT_PLUGIN";
  static constexpr const char* kMake = "attnvp_make_interconnect";
};
template <>
struct PluginInterface<ProcessorPlugin> {
  static constexpr const char* kMacro = "ATTNVP_PROCESSOR_PLUGIN";
  static constexpr const char* kMake = "attnvp_make_processor";
};
template <>
struct PluginInterface<EnginePlugin> {
  static constexpr const char* kMacro = "ATTNVP_ENGINE_PLUGIN";
  static constexpr const char* kMake = "attnvp_make_engine";
};
template <>
struct PluginInterface<DmaPlugin> {
  static constexpr const char* kMacro = "ATTNVP_DMA_PLUGIN";
  static constexpr const char* kMake = "attnvp_make_dma";
};

// What is said of a library: "key 'dram.library': found 'x.so'" and `what`.
std::string found_library(const std::string& place, const std::string& library, const std::string& what);
// Why it cannot be used; empty if it can.
std::string library_problem(const std::string& place, const std::string& library, const char* macro, const char* make);
// Its function `make`. The library stays loaded until the end of the process.
void* library_function(const std::string& library, const char* make);
// The exception that is being handled, in one clause.
std::string exception_text();

// Calls a library's function `f`, whose exceptions become a PluginError.
template <class Function>
auto of_library(const std::string& place, const std::string& library, const Function& f) {
  try {
    return f();
  } catch (const PluginError&) {
    throw;
  } catch (...) {
    throw PluginError(
        found_library(place, library, ", which threw an exception " + exception_text() + " when its plug-in was made"));
  }
}

// The plug-in of a library. Throws PluginError.
template <class Plugin>
std::unique_ptr<Plugin> make_plugin(const std::string& library, const PluginSite& site) {
  using Interface = PluginInterface<Plugin>;
  const std::string problem = library_problem(site.place, library, Interface::kMacro, Interface::kMake);
  if (!problem.empty()) throw PluginError(problem);
  using Make = Plugin* (*)(const PluginSite*);
  const auto make = reinterpret_cast<Make>(library_function(library, Interface::kMake));
  std::unique_ptr<Plugin> made(of_library(site.place, library, [&] { return make(&site); }));
  if (made == nullptr) {
    throw PluginError(found_library(site.place, library, ", which made no plug-in (a null pointer)"));
  }
  return made;
}

// What every place's plug-in is told.
PluginSite plugin_site(const Site& site);

// The kind `plugin` of a place.
template <class Of, class Plugin, class Interface>
Kind<Interface> plugin_kind(const char* meaning, std::vector<std::string> components,
                            typename Kind<Interface>::Make make) {
  return Kind<Interface>(Of::kPlace, "plugin", meaning, std::move(components), std::move(make))
      .template with_keys<LibraryConfig<Of>>()
      .with_problem([](const MachineConfig& m) {
        using Named = PluginInterface<Plugin>;
        return library_problem(Of::kPlace, m.own<LibraryConfig<Of>>().library, Named::kMacro, Named::kMake);
      });
}
template <class Of>
const std::string& library_of(const Site& site) {
  return site.machine.own<LibraryConfig<Of>>().library;
}

// While one exists, the process cannot end by exit(): `sentence` goes to stderr, and the exit status is 1.
class ExitGuard {
 public:
  explicit ExitGuard(std::function<std::string()> sentence);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  static void refuse();
  static inline std::vector<ExitGuard*> all_;
  std::function<std::string()> sentence_;
};

}  // namespace attnvp
