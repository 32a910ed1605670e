// Shared libraries of the kind `plugin:LIBRARY.so`: loading, checks and errors.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/keys/binding.h"
#include "models/keys/key.h"
#include "models/plugin/plugin.h"
#include "models/registry.h"
#include "models/slot.h"

namespace attnvp {

// Library of the slot `Of::kPlace`.
template <class Of>
struct LibraryConfig {
  std::string library = "none";

  static void describe(config::Keys<LibraryConfig>& key) {
    key(config::text("library", "with plugin: the shared library; `plugin:LIBRARY.so` as the kind sets both"),
        &LibraryConfig::library);
  }
};

// Reason why a library cannot be used: one sentence with the key.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The sentence "key 'dram.library': found 'x.so'" followed by `what`.
std::string found_library(const std::string& place, const std::string& library, const std::string& what);
// Reason why a library cannot be used for a plug-in of that kind (plugin.h: kKind); empty if it can.
std::string library_problem(const std::string& place, const std::string& library, const std::string& kind);
// Address of the function that creates the plug-in. The library stays loaded until the process ends.
void* library_function(const std::string& library, const std::string& kind);
// The exception being handled, as one clause.
std::string exception_text();

// Calls a function of a library; its exceptions become a PluginError.
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

// Creates the plug-in of a library. Throws PluginError.
template <class Plugin>
std::unique_ptr<Plugin> make_plugin(const std::string& library, const PluginContext& module_context) {
  const std::string problem = library_problem(module_context.place, library, Plugin::kKind);
  if (!problem.empty()) throw PluginError(problem);
  using Make = Plugin* (*)(const PluginContext*);
  const auto make = reinterpret_cast<Make>(library_function(library, Plugin::kKind));
  std::unique_ptr<Plugin> made(of_library(module_context.place, library, [&] { return make(&module_context); }));
  if (made == nullptr) {
    throw PluginError(found_library(module_context.place, library, ", which made no plug-in (a null pointer)"));
  }
  return made;
}

// PluginContext without the members that depend on the kind of plug-in.
PluginContext plugin_context(const ModuleContext& module_context);

// The kind `plugin` of a slot.
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
const std::string& library_of(const ModuleContext& module_context) {
  return module_context.machine.own<LibraryConfig<Of>>().library;
}

// While a guard exists, exit() in library code ends the process with status 1 and a sentence on stderr that names the
// module.
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
