// Firmware and its dataflows: the one compiled into this program, or a program in an ELF file, which tells of itself in
// a section. Readers of command streams run whichever a job has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/control_processor/cpu.h"
#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::riscv {
class CallStack;
}

namespace attnvp::schedule {

// An image does not change, and lives as long as the process.
class FirmwareImage {
 public:
  FirmwareImage(const FirmwareImage&) = delete;
  FirmwareImage& operator=(const FirmwareImage&) = delete;
  const std::vector<const firmware::Dataflow*>& dataflows() const { return dataflows_; }
  // Those that do a whole layer, with softmax or as a chain of two matmuls; or one step of it, of these traits
  // (kOneStep, kRowStep): what hal::RowStep says, softmax, or, without it, a matmul.
  std::vector<const firmware::Dataflow*> dataflows_for(bool softmax, unsigned step = 0) const;
  const firmware::Dataflow* find(const std::string& name) const;  // nullptr: there is none
  // Every parameter that some dataflow has, once by name.
  const std::vector<const firmware::Parameter*>& parameters() const { return parameters_; }
  bool is_program() const { return is_program_; }  // in an ELF file

 protected:
  explicit FirmwareImage(bool is_program) : is_program_(is_program) {}
  ~FirmwareImage() = default;
  void set_dataflows(std::vector<const firmware::Dataflow*> all);

 private:
  bool is_program_;
  std::vector<const firmware::Dataflow*> dataflows_;
  std::vector<const firmware::Parameter*> parameters_;
};

const FirmwareImage& compiled_firmware();
// What a machine's control processors run: the program of its key control.firmware, where they are of kind riscv.
// Throws riscv::ElfError for a file that is none, or tells nothing of itself.
const FirmwareImage& firmware_of(const MachineConfig& machine);

// Dataflows of the compiled firmware.
inline std::vector<const firmware::Dataflow*> dataflows_for(bool softmax) {
  return compiled_firmware().dataflows_for(softmax);
}
inline const firmware::Dataflow* find_dataflow(const std::string& name) { return compiled_firmware().find(name); }
// Those of the dataflow, and of the values that its parameters have; 0: still open.
unsigned traits_of(const firmware::Dataflow& dataflow, const std::vector<std::uint32_t>& words);

// The largest value of a parameter that makes sense for the layer.
std::uint32_t largest(const firmware::Parameter& parameter, const Job& job);

// Runs a cluster's firmware against a bus, at once; a program on the harts of that machine. Throws riscv::ProgramError
// where it cannot go on. `calls`: is told of the program's calls.
FirmwareRun untimed(const FirmwareImage& image, const MachineConfig& machine, riscv::CallStack* calls = nullptr);
// The dataflow that a job names; nullptr: its firmware has none of that name.
const firmware::Dataflow* dataflow_of(const Job& job);
// The job's firmware, likewise.
void run_firmware(const Job& job, hal::Cpu& cpu, std::uint32_t cluster);

// Where the firmware of a job is, if it is a program in an ELF file.
class ProgramCalls {
 public:
  ProgramCalls(const Job& job, const MachineConfig& machine);
  ~ProgramCalls();
  ProgramCalls(const ProgramCalls&) = delete;
  ProgramCalls& operator=(const ProgramCalls&) = delete;
  bool any() const;                        // it is one
  const Job& job() const { return job_; }  // whose runs are followed
  // Where it is at this access of its bus: source lines, innermost first; inlined code has those of its callers, too.
  std::vector<std::string> lines() const;

 private:
  Job job_;
  std::unique_ptr<riscv::CallStack> calls_;
  mutable std::map<std::uint32_t, std::vector<std::string>> lines_;  // by program counter
};

}  // namespace attnvp::schedule
