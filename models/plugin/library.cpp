#include "models/plugin/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "firmware/hal/registers.h"

namespace attnvp {

namespace {

using Version = std::uint32_t (*)();

// A name without '/' is a file of the working directory and is not searched for by the system.
void* open(const std::string& library) {
  const std::string path = library.find('/') == std::string::npos ? "./" + library : library;
  // Static sc_time objects of a library are created at loading; the time resolution must be set before.
  try {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  } catch (const sc_core::sc_report&) {  // already set
  }
  // glibc declares dlopen as noexcept; initialisers of a library may throw.
  void* (*volatile const open_library)(const char*, int) = ::dlopen;
  return open_library(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// A library written for DRAM only has other names.
void* function(void* library, const std::string& name, const char* former_name) {
  void* const found = ::dlsym(library, name.c_str());
  return found != nullptr || former_name == nullptr ? found : ::dlsym(library, former_name);
}
void* version_of(void* library) { return function(library, "attnvp_plugin_version", "attnvp_dram_plugin_version"); }
void* maker_of(void* library, const std::string& kind) {
  return function(library, "attnvp_make_" + kind, kind == MemoryPlugin::kKind ? "attnvp_make_dram_plugin" : nullptr);
}

std::string problem_of(const std::string& place, const std::string& library, const std::string& kind) {
  void* const handle = open(library);
  if (handle == nullptr) return found_library(place, library, fmt::format(": {}", ::dlerror()));
  const auto version = reinterpret_cast<Version>(version_of(handle));
  if (version == nullptr || maker_of(handle, kind) == nullptr) {
    return found_library(place, library,
                         fmt::format("; allowed is a library with ATTNVP_{}_PLUGIN", boost::to_upper_copy(kind)));
  }
  const std::uint32_t its = version();
  return its == kPluginVersion
             ? ""
             : found_library(place, library, fmt::format(" of version {}; allowed is {}", its, kPluginVersion));
}

}  // namespace

std::string found_library(const std::string& place, const std::string& library, const std::string& what) {
  return fmt::format("key '{}.library': found '{}'{}", place, library, what);
}

std::string exception_text() {
  try {
    throw;
  } catch (const sc_core::sc_report& e) {
    return fmt::format("\"{}: {}\"", e.get_msg_type(), e.get_msg());
  } catch (const std::exception& e) {
    return fmt::format("\"{}\"", e.what());
  } catch (...) {
    return "that is not a std::exception";
  }
}

std::string library_problem(const std::string& place, const std::string& library, const std::string& kind) {
  try {
    return problem_of(place, library, kind);
  } catch (...) {
    return found_library(place, library,
                         fmt::format(", which threw an exception {} when it was loaded", exception_text()));
  }
}

void* library_function(const std::string& library, const std::string& kind) { return maker_of(open(library), kind); }

PluginContext plugin_context(const ModuleContext& module_context) {
  const MachineConfig& m = module_context.machine;
  PluginContext told{};
  told.name = "plugin";
  told.clock_hz = m.clock_hz;
  told.size_bytes = module_context.size_bytes;
  told.place = module_context.slot;
  told.cluster = module_context.cluster;
  told.core = module_context.core;
  told.full_data = module_context.context.full_data;
  told.registers = module_context.base;
  told.events = hal::events_base(module_context.cluster);
  told.l1 = hal::l1_base(module_context.cluster);
  told.l1_bytes = m.l1.size_bytes;
  told.channels = m.dma.channels;
  return told;
}

// _exit: destructors of a running simulation must not run.
void ExitGuard::refuse() {
  if (all_.empty()) return;
  const ExitGuard& last = *all_.back();
  std::fprintf(stderr,
               "attnvp: %s: its plug-in called exit(), which ends the process; allowed is an error response "
               "(cycle %llu)\n",
               last.module_.name(), static_cast<unsigned long long>(last.clock_.now()));
  std::fflush(stderr);
  ::_exit(1);
}

ExitGuard::ExitGuard(const Module& module, const Clock& clock) : module_(module), clock_(clock) {
  [[maybe_unused]] static const int registered = std::atexit(&ExitGuard::refuse);
  all_.push_back(this);
}

ExitGuard::~ExitGuard() { all_.erase(std::find(all_.begin(), all_.end(), this)); }

}  // namespace attnvp
