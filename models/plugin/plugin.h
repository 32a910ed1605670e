// Plug-in interface: modules of other projects that fill a slot of the machine (key `plugin:LIBRARY.so`). Sockets are
// TLM-2.0 sockets of 32 bits. Modules run at SystemC time with their own processes and clocks.
// docs/how-to/replace-a-block.md states the rules. The header needs no linking with the platform.
#pragma once

#include <cstdint>
#include <functional>
#include <tlm>
#include <vector>

namespace attnvp {

inline constexpr std::uint32_t kPluginVersion = 2;

// Context of a plug-in.
struct PluginContext {
  const char* name;          // name for its module, which is created below the platform's module of the slot
  double clock_hz;           // clock of the platform
  std::uint64_t size_bytes;  // memories and event units
  const char* place;         // "dram", "l2", "mailbox", "l1", "interconnect", "events", "control", "mac", "vec", "dma"
  std::uint32_t cluster, core;  // its cluster and core, if any
  bool full_data;               // values are computed; false: data have no effect
  std::uint64_t registers;      // engines and DMA controllers: address of the first register
  std::uint64_t events;         // address of the cluster's event unit
  std::uint64_t l1, l1_bytes;   // address and size of the cluster's L1
  std::uint32_t channels;       // DMA controllers
  std::uint32_t initiators;     // interconnects
  struct TargetRange {
    std::uint64_t base, bytes;
  };
  std::vector<TargetRange> targets;  // interconnects: address range of each target
  std::function<void()> finished;    // processors: to be called from a process when the firmware has ended
};

// For `dram.policy`, `l2.kind`, `l1.kind` and `mailbox.kind`. The plug-in defines the timing; the platform stores the
// bytes.
class MemoryPlugin {
 public:
  static constexpr const char* kKind = "memory";
  virtual ~MemoryPlugin() = default;
  virtual tlm::tlm_target_socket<>& socket() = 0;  // addresses start at 0
  // True: accesses use nb_transport_fw with four phases; false: b_transport.
  virtual bool phases() const { return false; }
  // Accesses are divided into aligned pieces of this size, a power of two up to 1 MiB.
  virtual std::uint32_t most_bytes() const { return 64; }
  // Number of sockets. Initiators of an L1 are assigned to them in turn, each with at most one piece in its request
  // phase.
  virtual std::uint32_t ports() const { return 1; }
  virtual tlm::tlm_target_socket<>& port(std::uint32_t /*number*/) { return socket(); }
};

// For `interconnect.kind`. The plug-in decodes addresses by PluginContext::targets and forwards each payload unchanged.
class InterconnectPlugin {
 public:
  static constexpr const char* kKind = "interconnect";
  virtual ~InterconnectPlugin() = default;
  virtual tlm::tlm_target_socket<>& in(std::uint32_t initiator) = 0;
  virtual tlm::tlm_initiator_socket<>& out(std::uint32_t target) = 0;
  virtual bool phases() const { return false; }  // see MemoryPlugin::phases()
};

// For `control.cpu`. The firmware reads the job from the mailbox (firmware/hal/job.h).
class ProcessorPlugin {
 public:
  static constexpr const char* kKind = "processor";
  virtual ~ProcessorPlugin() = default;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;
  virtual void start() = 0;  // boots at the current time
};

// For `events.kind`: counting semaphores, with the registers of firmware/hal/registers.h. Accesses are words of 32
// bits.
class EventUnitPlugin {
 public:
  static constexpr const char* kKind = "event_unit";
  virtual ~EventUnitPlugin() = default;
  // Addresses start at 0. A take is answered when the tokens are there; other accesses pass it.
  virtual tlm::tlm_target_socket<>& socket() = 0;
  virtual bool phases() const { return false; }  // see MemoryPlugin::phases(); a take that waits sends END_REQ
  virtual void reset() = 0;                      // removes all tokens, before a job
};

// For `mac.kind` and `vec.kind`: a queue of commands (firmware/hal/registers.h, descriptor.h) at
// PluginContext::registers.
class EnginePlugin {
 public:
  static constexpr const char* kKind = "engine";
  virtual ~EnginePlugin() = default;
  virtual tlm::tlm_target_socket<>& control() = 0;    // b_transport; may block, as for a full queue
  virtual tlm::tlm_initiator_socket<>& l1() = 0;      // the engine's own port
  virtual tlm::tlm_initiator_socket<>& events() = 0;  // to the network
};

// For `dma.kind`: an engine with a queue for each channel.
class DmaPlugin {
 public:
  static constexpr const char* kKind = "dma";
  virtual ~DmaPlugin() = default;
  virtual tlm::tlm_target_socket<>& control() = 0;
  virtual tlm::tlm_initiator_socket<>& l1() = 0;   // the cluster's own L1
  virtual tlm::tlm_initiator_socket<>& bus() = 0;  // all other addresses, events included
};

}  // namespace attnvp

// One source file of the library uses the macro of its kind, with a class whose constructor takes a PluginContext.
#define ATTNVP_PLUGIN_OF(Interface, symbol, Class)                                                  \
  extern "C" std::uint32_t attnvp_plugin_version() { return attnvp::kPluginVersion; }               \
  extern "C" attnvp::Interface* attnvp_make_##symbol(const attnvp::PluginContext* module_context) { \
    return new Class(*module_context);                                                              \
  }
#define ATTNVP_MEMORY_PLUGIN(Class) ATTNVP_PLUGIN_OF(MemoryPlugin, memory, Class)
#define ATTNVP_INTERCONNECT_PLUGIN(Class) ATTNVP_PLUGIN_OF(InterconnectPlugin, interconnect, Class)
#define ATTNVP_PROCESSOR_PLUGIN(Class) ATTNVP_PLUGIN_OF(ProcessorPlugin, processor, Class)
#define ATTNVP_EVENT_UNIT_PLUGIN(Class) ATTNVP_PLUGIN_OF(EventUnitPlugin, event_unit, Class)
#define ATTNVP_ENGINE_PLUGIN(Class) ATTNVP_PLUGIN_OF(EnginePlugin, engine, Class)
#define ATTNVP_DMA_PLUGIN(Class) ATTNVP_PLUGIN_OF(DmaPlugin, dma, Class)
