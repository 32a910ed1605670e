#include "models/plugin_dram/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace attnvp {

namespace {

using Version = std::uint32_t (*)();
using Make = DramPlugin* (*)(const DramPluginSite*);

// A name without '/' is a file of the working directory, not one that the system searches for.
void* open(const std::string& library) {
  const std::string path = library.find('/') == std::string::npos ? "./" + library : library;
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

std::string plugin_problem(const std::string& library) {
  void* const handle = open(library);
  if (handle == nullptr) return fmt::format("key 'dram.library': found '{}': {}", library, ::dlerror());
  const auto version = reinterpret_cast<Version>(::dlsym(handle, "attnvp_dram_plugin_version"));
  if (version == nullptr || ::dlsym(handle, "attnvp_make_dram_plugin") == nullptr) {
    return fmt::format("key 'dram.library': found '{}'; allowed is a library with ATTNVP_DRAM_PLUGIN", library);
  }
  if (version() != kDramPluginVersion) {
    return fmt::format("key 'dram.library': found '{}' of version {}; allowed is {}", library, version(),
                       kDramPluginVersion);
  }
  return {};
}

std::unique_ptr<DramPlugin> make_plugin(const std::string& library, const DramPluginSite& site) {
  const std::string problem = plugin_problem(library);
  if (!problem.empty()) throw std::runtime_error(problem);
  const auto make = reinterpret_cast<Make>(::dlsym(open(library), "attnvp_make_dram_plugin"));
  return std::unique_ptr<DramPlugin>(make(&site));
}

}  // namespace attnvp
