// How firmware touches the bus. `Cpu` is opaque to it: on the host whatever reads the command stream
// (models/control_processor/cpu.h: the control processor's model, or a reader without a simulation), on a RISC-V
// nothing at all (loads and stores). One context per cluster, so that firmware needs no globals.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnvp::hal {

class Cpu;

// False when the bus answered with an error, which after an engine fault every blocking access does.
bool read(Cpu& cpu, std::uint64_t address, void* data, std::size_t bytes);
bool write(Cpu& cpu, std::uint64_t address, const void* data, std::size_t bytes);

// Of a register below 4 GiB.
bool write_register(Cpu& cpu, std::uint32_t address, std::uint32_t value);
bool read_register(Cpu& cpu, std::uint32_t address, std::uint32_t& value);

// Likewise, but nobody waits for it: of a register that answers at once.
bool post(Cpu& cpu, std::uint32_t address, std::uint32_t value);
bool post(Cpu& cpu, std::uint32_t address, std::uint64_t value);

struct Descriptor;
// Puts a command into the queue whose registers are at `queue`. The descriptor may be changed and pushed again; an
// error may be told by a later access only.
bool push(Cpu& cpu, std::uint64_t queue, const Descriptor& descriptor);

struct CommandList;
// Plays a list (list.h); false also where an access of it was answered with an error.
bool play(Cpu& cpu, const CommandList& list);

inline bool write32(Cpu& cpu, std::uint64_t address, std::uint32_t value) {
  return write(cpu, address, &value, sizeof value);
}

}  // namespace attnvp::hal
