// Slots of a machine and the context that a module gets at construction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "models/sim/module.h"

namespace attnvp::hal {
class Cpu;
}

namespace attnvp {

enum class Role : std::uint8_t {
  kInterconnect,
  kMainMemory,
  kOnChipMemory,
  kProcessor,
  kEngine,
  kDma,
  kEvents,
  kMailbox
};

struct Slot {
  const char* name;  // also the section of its keys
  const char* key;   // key in that section that names the kind
  Role role;
  const std::string& (*kind)(const MachineConfig& machine);  // kind that fills the slot
};
// Slots in the order of the module tree.
const std::vector<Slot>& slots();

class AddressMap;

using Firmware = std::function<void(hal::Cpu&, std::uint32_t cluster)>;

struct ModuleContext {
  const char* slot;  // "dram"
  const char* name;  // in the module tree
  Context& context;
  const MachineConfig& machine;
  std::uint64_t base = 0;              // first address of a memory or of the registers
  std::uint64_t size_bytes = 0;        // mailbox only
  const AddressMap* map = nullptr;     // address map of the platform; DMA controllers only
  std::uint32_t initiators = 1;        // memories only: sockets of the base protocol,
  std::uint32_t engines = 0;           // sockets for streams
  std::uint32_t cluster = 0;           // number of the cluster; unused outside clusters
  std::uint32_t core = 0;              // number of the core; unused outside cores
  const Firmware* firmware = nullptr;  // firmware compiled into this program; processors only
};

}  // namespace attnvp
