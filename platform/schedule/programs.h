// The firmware that there is: the dataflows compiled into this program, or those of an ELF file in their place, which
// tells of itself in a section. Readers of command streams run whichever it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/control_processor/cpu.h"
#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// From now on, the dataflows of the program that a machine's control processors run: that of its key control.firmware,
// where they are of kind riscv. Throws riscv::ElfError for a file that is none, or tells nothing of itself.
void use_firmware_of(const MachineConfig& machine);

const std::vector<const firmware::Dataflow*>& dataflows();
// Those that do a whole layer, with softmax or as a chain of two matmuls; or one step of it, of these traits (kOneStep,
// kRowStep): what hal::RowStep says, softmax, or, without it, a matmul.
std::vector<const firmware::Dataflow*> dataflows_for(bool softmax, unsigned step = 0);
const firmware::Dataflow* find_dataflow(const std::string& name);  // nullptr: there is none
// Those of the dataflow, and of the values that its parameters have; 0: still open.
unsigned traits_of(const firmware::Dataflow& dataflow, const std::vector<std::uint32_t>& words);

// The largest value of a parameter that makes sense for the layer.
std::uint32_t largest(const firmware::Parameter& parameter, const Job& job);

// Runs a cluster's firmware against that bus, at once. Throws riscv::ProgramError where it cannot go on.
void run_firmware(hal::Cpu& cpu, std::uint32_t cluster);

// As long as there is one, calls are followed of the firmware that runs, where that is a program in an ELF file.
class ProgramCalls {
 public:
  ProgramCalls();
  ~ProgramCalls();
  ProgramCalls(const ProgramCalls&) = delete;
  ProgramCalls& operator=(const ProgramCalls&) = delete;
  bool any() const;  // it is one
  // Where it is at this access of its bus: source lines, innermost first; inlined code has those of its callers, too.
  std::vector<std::string> lines() const;
};

}  // namespace attnvp::schedule
