// Bus access of firmware. `Cpu` is an opaque handle, one per cluster, so that firmware needs no global variables. The
// host implements it in models/control/control_processor/cpu.h (a processor model, or a reader of the command stream).
// RISC-V firmware uses plain loads and stores.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnvp::hal {

class Cpu;

// Every access below returns false if the bus answered with an error. After an engine fault every blocking access
// fails. Addresses are platform addresses; sizes are in bytes.
bool read(Cpu& cpu, std::uint64_t address, void* data, std::size_t bytes);
bool write(Cpu& cpu, std::uint64_t address, const void* data, std::size_t bytes);

// 32-bit register below 4 GiB.
bool write_register(Cpu& cpu, std::uint32_t address, std::uint32_t value);
bool read_register(Cpu& cpu, std::uint32_t address, std::uint32_t& value);

// Posted write to a register that answers without delay: the call does not wait for the response.
bool post(Cpu& cpu, std::uint32_t address, std::uint32_t value);
bool post(Cpu& cpu, std::uint32_t address, std::uint64_t value);

struct Descriptor;
// Copies a descriptor into the queue whose registers are at `queue` and rings its doorbell. The caller may change and
// reuse the descriptor. A later access may report an error of this one.
bool push(Cpu& cpu, std::uint64_t queue, const Descriptor& descriptor);

struct CommandList;
// Executes a command list (list.h); also false if one of its accesses failed.
bool play(Cpu& cpu, const CommandList& list);

inline bool write32(Cpu& cpu, std::uint64_t address, std::uint32_t value) {
  return write(cpu, address, &value, sizeof value);
}

}  // namespace attnvp::hal
