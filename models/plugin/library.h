// Libraries behind `plugin:LIBRARY.so`.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/keys/keys.h"
#include "models/place.h"
#include "models/plugin/plugin.h"
#include "models/registry.h"

namespace attnvp {

// The library of a place, whose name is `Of::kPlace`.
template <class Of>
struct LibraryConfig {
  std::string library = "none";

  static void describe(config::Keys<LibraryConfig>& key) {
    key(config::text("library", "with plugin: the shared library; `plugin:LIBRARY.so` as the kind sets both"),
        &LibraryConfig::library);
  }
};

// One sentence, with the key, why a library cannot be used.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The sentence "key 'dram.library': found 'x.so'" and `what`.
std::string found_library(const std::string& place, const std::string& library, const std::string& what);
// Why a library cannot be used for a plug-in of that kind (plugin.h: kKind); empty if it can.
std::string library_problem(const std::string& place, const std::string& library, const std::string& kind);
// The library's function that makes the plug-in. The library stays loaded until the end of the process.
void* library_function(const std::string& library, const std::string& kind);
// One clause for the exception that is being handled.
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
  const std::string problem = library_problem(site.place, library, Plugin::kKind);
  if (!problem.empty()) throw PluginError(problem);
  using Make = Plugin* (*)(const PluginSite*);
  const auto make = reinterpret_cast<Make>(library_function(library, Plugin::kKind));
  std::unique_ptr<Plugin> made(of_library(site.place, library, [&] { return make(&site); }));
  if (made == nullptr) {
    throw PluginError(found_library(site.place, library, ", which made no plug-in (a null pointer)"));
  }
  return made;
}

// The members of PluginSite that do not depend on the kind of plug-in.
PluginSite plugin_site(const Site& site);

// The kind `plugin` of a place.
template <class Of, class Plugin, class Interface>
Kind<Interface> plugin_kind(const char* meaning, std::vector<std::string> components,
                            typename Kind<Interface>::Make make) {
  return Kind<Interface>(Of::kPlace, "plugin", meaning, std::move(components), std::move(make))
      .template with_keys<LibraryConfig<Of>>()
      .with_problem([](const MachineConfig& m) {
        return library_problem(Of::kPlace, m.own<LibraryConfig<Of>>().library, Plugin::kKind);
      });
}
template <class Of>
const std::string& library_of(const Site& site) {
  return site.machine.own<LibraryConfig<Of>>().library;
}

// During the guard's life the process cannot end by exit(): one sentence, which names `module`, goes to stderr, and the
// exit status is 1.
class ExitGuard {
 public:
  ExitGuard(const Module& module, const Clock& clock);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  static void refuse();
  static inline std::vector<ExitGuard*> all_;
  const Module& module_;
  const Clock& clock_;
};

}  // namespace attnvp
