#include "models/control_processor/cpu.h"

namespace attnvp::hal {

bool read(Cpu& cpu, std::uint64_t address, void* data, std::size_t bytes) { return cpu.read(address, data, bytes); }
bool write(Cpu& cpu, std::uint64_t address, const void* data, std::size_t bytes) {
  return cpu.write(address, data, bytes);
}

}  // namespace attnvp::hal
