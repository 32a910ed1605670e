// Modules of other projects: what a library offers for a place of the machine whose key is `plugin:LIBRARY.so`. Sockets
// are TLM-2.0's of 32 bits. Modules run at SystemC's time, with processes and clocks of their own.
// docs/how-to/replace-a-block.md has the rules that they must keep. Nothing here needs to be linked with the platform.
#pragma once

#include <cstdint>
#include <functional>
#include <tlm>
#include <vector>

namespace attnvp {

inline constexpr std::uint32_t kPluginVersion = 2;

// What a plug-in is told of its place.
struct PluginSite {
  const char* name;             // for its module; what is built stands below the platform's of that place
  double clock_hz;              // the platform's
  std::uint64_t size_bytes;     // of a memory
  const char* place;            // "dram", "l2", "mailbox", "l1", "interconnect", "control", "mac", "vec", "dma"
  std::uint32_t cluster, core;  // where it stands in one
  bool full_data;               // values are computed; otherwise what is read and written is of no consequence
  std::uint64_t registers;      // of an engine or a DMA controller: address of the first
  std::uint64_t events;         // of its cluster's event unit
  std::uint64_t l1, l1_bytes;   // of its cluster's L1
  std::uint32_t channels;       // of a DMA controller
  std::uint32_t initiators;     // of an interconnect
  struct Range {
    std::uint64_t base, bytes;
  };
  std::vector<Range> targets;      // of an interconnect: addresses of each
  std::function<void()> finished;  // of a processor: to be called, in a process, when its firmware has ended
};

// For `dram.policy`, `l2.kind`, `l1.kind` and `mailbox.kind`. The plug-in gives the time; the platform keeps the bytes.
class MemoryPlugin {
 public:
  static constexpr const char* kKind = "memory";
  virtual ~MemoryPlugin() = default;
  virtual tlm::tlm_target_socket<>& socket() = 0;  // addresses begin at 0
  // Accesses come by nb_transport_fw, in four phases, instead of by b_transport.
  virtual bool phases() const { return false; }
  // They are cut into aligned pieces of so many bytes, a power of two up to 1 MiB.
  virtual std::uint32_t most_bytes() const { return 64; }
  // Sockets: those who access an L1 are spread over them in turn, one piece under way in a request phase each.
  virtual std::uint32_t ports() const { return 1; }
  virtual tlm::tlm_target_socket<>& port(std::uint32_t /*number*/) { return socket(); }
};

// For `interconnect.kind`. The plug-in decodes addresses itself, by PluginSite::targets, and passes each payload on as
// it came.
class InterconnectPlugin {
 public:
  static constexpr const char* kKind = "interconnect";
  virtual ~InterconnectPlugin() = default;
  virtual tlm::tlm_target_socket<>& in(std::uint32_t initiator) = 0;
  virtual tlm::tlm_initiator_socket<>& out(std::uint32_t target) = 0;
  virtual bool phases() const { return false; }  // as a memory's
};

// For `control.cpu`. The firmware reads the job from the mailbox (firmware/hal/job.h).
class ProcessorPlugin {
 public:
  static constexpr const char* kKind = "processor";
  virtual ~ProcessorPlugin() = default;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;
  virtual void start() = 0;  // boots, at the current time
};

// For `mac.kind` and `vec.kind`: a queue of commands (firmware/hal/registers.h, descriptor.h) at PluginSite::registers.
class EnginePlugin {
 public:
  static constexpr const char* kKind = "engine";
  virtual ~EnginePlugin() = default;
  virtual tlm::tlm_target_socket<>& control() = 0;    // b_transport; may wait, as a full queue does
  virtual tlm::tlm_initiator_socket<>& l1() = 0;      // over the engine's own port
  virtual tlm::tlm_initiator_socket<>& events() = 0;  // to the network
};

// For `dma.kind`: an engine with a queue for each channel.
class DmaPlugin {
 public:
  static constexpr const char* kKind = "dma";
  virtual ~DmaPlugin() = default;
  virtual tlm::tlm_target_socket<>& control() = 0;
  virtual tlm::tlm_initiator_socket<>& l1() = 0;   // the cluster's own
  virtual tlm::tlm_initiator_socket<>& bus() = 0;  // everything else, events included
};

}  // namespace attnvp

// One source file of the library has the macro of its kind, with a class whose constructor takes a PluginSite.
#define ATTNVP_PLUGIN_OF(Interface, symbol, Class)                                    \
  extern "C" std::uint32_t attnvp_plugin_version() { return attnvp::kPluginVersion; } \
  extern "C" attnvp::Interface* attnvp_make_##symbol(const attnvp::PluginSite* site) { return new Class(*site); }
#define ATTNVP_MEMORY_PLUGIN(Class) ATTNVP_PLUGIN_OF(MemoryPlugin, memory, Class)
#define ATTNVP_INTERCONNECT_PLUGIN(Class) ATTNVP_PLUGIN_OF(InterconnectPlugin, interconnect, Class)
#define ATTNVP_PROCESSOR_PLUGIN(Class) ATTNVP_PLUGIN_OF(ProcessorPlugin, processor, Class)
#define ATTNVP_ENGINE_PLUGIN(Class) ATTNVP_PLUGIN_OF(EnginePlugin, engine, Class)
#define ATTNVP_DMA_PLUGIN(Class) ATTNVP_PLUGIN_OF(DmaPlugin, dma, Class)
