// The places of a machine, and what a module gets to know of the one it stands in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "models/module.h"

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

struct Place {
  const char* name;  // also the section of its keys
  const char* key;   // in there, that names the kind
  Role role;
  const std::string& (*kind)(const MachineConfig& machine);  // that stands there
};
// In the order of the module tree.
const std::vector<Place>& places();

class AddressMap;

using Firmware = std::function<void(hal::Cpu&, std::uint32_t cluster)>;

struct Site {
  const char* place;  // "dram"
  const char* name;   // in the module tree
  Context& context;
  const MachineConfig& machine;
  std::uint64_t base = 0;              // a memory's first address, or that of the registers
  std::uint64_t size_bytes = 0;        // of a mailbox
  const AddressMap* map = nullptr;     // of the platform; a DMA controller's
  std::uint32_t initiators = 1;        // of a memory: sockets of the base protocol,
  std::uint32_t engines = 0;           //   and for streams
  std::uint32_t cluster = 0;           // that it stands in, if it does
  std::uint32_t core = 0;              // likewise
  const Firmware* firmware = nullptr;  // a processor's, compiled into this program
};

}  // namespace attnvp
