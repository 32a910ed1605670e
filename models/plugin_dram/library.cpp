#include "models/plugin_dram/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <systemc>
#include <utility>

namespace attnvp {

namespace {

using Version = std::uint32_t (*)();
using Make = DramPlugin* (*)(const DramPluginSite*);

constexpr std::uint32_t kMostPieceBytes = 1U << 20;

// A name without '/' is a file of the working directory, not one that the system searches for.
void* open(const std::string& library) {
  const std::string path = library.find('/') == std::string::npos ? "./" + library : library;
  // Static sc_time objects of a library are made when it is opened: in the resolution of the platform's simulations.
  try {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  } catch (const sc_core::sc_report&) {  // it is set
  }
  // glibc declares dlopen as one that throws nothing; initialisers of a library may.
  void* (*volatile const open_library)(const char*, int) = ::dlopen;
  return open_library(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::string found(const std::string& library, const std::string& what) {
  return fmt::format("key 'dram.library': found '{}'{}", library, what);
}

std::string problem_of(const std::string& library) {
  void* const handle = open(library);
  if (handle == nullptr) return found(library, fmt::format(": {}", ::dlerror()));
  const auto version = reinterpret_cast<Version>(::dlsym(handle, "attnvp_dram_plugin_version"));
  if (version == nullptr || ::dlsym(handle, "attnvp_make_dram_plugin") == nullptr) {
    return found(library, "; allowed is a library with ATTNVP_DRAM_PLUGIN");
  }
  const std::uint32_t its = version();
  return its == kDramPluginVersion
             ? ""
             : found(library, fmt::format(" of version {}; allowed is {}", its, kDramPluginVersion));
}

}  // namespace

std::string exception_text() {
  try {
    throw;
  } catch (const sc_core::sc_report& e) {
    return fmt::format("\"{}: {}\"", e.get_msg_type(), e.get_msg());
  } catch (const std::exception& e) {
    return fmt::format("\"{}\"", e.what());
  } catch (...) {
    return "that is no std::exception";
  }
}

std::string plugin_problem(const std::string& library) {
  try {
    return problem_of(library);
  } catch (...) {
    return found(library, fmt::format(", which threw an exception {} when it was loaded", exception_text()));
  }
}

LoadedPlugin make_plugin(const std::string& library, const DramPluginSite& site) {
  std::string problem = plugin_problem(library);
  if (!problem.empty()) throw PluginError(problem);
  LoadedPlugin plugin;
  try {
    const auto make = reinterpret_cast<Make>(::dlsym(open(library), "attnvp_make_dram_plugin"));
    plugin.made.reset(make(&site));
    if (plugin.made == nullptr) throw PluginError(found(library, ", which made no plug-in (a null pointer)"));
    plugin.socket = &plugin.made->socket();
    plugin.phases = plugin.made->phases();
    plugin.piece_bytes = plugin.made->most_bytes();
  } catch (const PluginError&) {
    throw;
  } catch (...) {
    throw PluginError(
        found(library, fmt::format(", which threw an exception {} when its plug-in was made", exception_text())));
  }
  const std::uint32_t bytes = plugin.piece_bytes;
  if (bytes == 0 || (bytes & (bytes - 1)) != 0 || bytes > kMostPieceBytes) {
    throw PluginError(found(library, fmt::format(", whose most_bytes() is {}; allowed is a power of two up to {}",
                                                 bytes, kMostPieceBytes)));
  }
  return plugin;
}

// _exit: destructors of a simulation that is under way must not run.
void ExitGuard::refuse() {
  if (last_ == nullptr) return;
  std::fprintf(stderr, "attnvp: %s\n", last_->sentence_().c_str());
  std::fflush(stderr);
  ::_exit(1);
}

ExitGuard::ExitGuard(std::function<std::string()> sentence) : sentence_(std::move(sentence)), before_(last_) {
  [[maybe_unused]] static const int registered = std::atexit(&ExitGuard::refuse);
  last_ = this;
}

ExitGuard::~ExitGuard() { last_ = before_; }

}  // namespace attnvp
