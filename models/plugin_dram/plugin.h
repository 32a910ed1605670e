// Someone else's DRAM: what a library offers for `dram.policy: plugin:LIBRARY.so`. Any TLM-2.0 target will do, with
// b_transport or the four phases. It is asked for time only; the platform keeps the bytes. docs/memory.md has the rules
// that it must keep.
#pragma once

#include <cstdint>
#include <tlm>

namespace attnvp {

inline constexpr std::uint32_t kDramPluginVersion = 1;

struct DramPluginSite {
  const char* name;  // for the module; what is built stands below the platform's `dram`
  double clock_hz;   // the platform's
  std::uint64_t size_bytes;
};

class DramPlugin {
 public:
  virtual ~DramPlugin() = default;
  virtual tlm::tlm_target_socket<>& socket() = 0;  // addresses begin at 0
  // Accesses come by nb_transport_fw, in four phases, instead of by b_transport.
  virtual bool phases() const { return false; }
  // They are cut into aligned pieces of so many bytes, a power of two up to 1 MiB.
  virtual std::uint32_t most_bytes() const { return 64; }
};

}  // namespace attnvp

// In one source file of the library: ATTNVP_DRAM_PLUGIN(Class), whose constructor takes a DramPluginSite.
#define ATTNVP_DRAM_PLUGIN(Class)                                                              \
  extern "C" std::uint32_t attnvp_dram_plugin_version() { return attnvp::kDramPluginVersion; } \
  extern "C" attnvp::DramPlugin* attnvp_make_dram_plugin(const attnvp::DramPluginSite* site) { \
    return new Class(*site);                                                                   \
  }
