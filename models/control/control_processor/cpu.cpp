#include "models/control/control_processor/cpu.h"

#include "firmware/hal/descriptor.h"
#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"

namespace attnvp::hal {

bool read(Cpu& cpu, std::uint64_t address, void* data, std::size_t bytes) { return cpu.read(address, data, bytes); }
bool write(Cpu& cpu, std::uint64_t address, const void* data, std::size_t bytes) {
  return cpu.write(address, data, bytes);
}
bool write_register(Cpu& cpu, std::uint32_t address, std::uint32_t value) { return write32(cpu, address, value); }
bool read_register(Cpu& cpu, std::uint32_t address, std::uint32_t& value) {
  return read(cpu, address, &value, sizeof value);
}
bool post(Cpu& cpu, std::uint32_t address, std::uint32_t value) { return write(cpu, address, &value, sizeof value); }
bool post(Cpu& cpu, std::uint32_t address, std::uint64_t value) { return write(cpu, address, &value, sizeof value); }
bool push(Cpu& cpu, std::uint64_t queue, const Descriptor& descriptor) {
  return write(cpu, queue + kQueueDescriptor, &descriptor, descriptor.length) &&
         write32(cpu, queue + kQueueDoorbell, 1);
}
bool play(Cpu& cpu, const CommandList& list) {
  return play_list(
      list, [&](std::uint64_t address, void* data, std::uint32_t bytes) { return cpu.read(address, data, bytes); },
      [&](std::uint64_t address, const void* data, std::uint32_t bytes) { return cpu.write(address, data, bytes); });
}

}  // namespace attnvp::hal
