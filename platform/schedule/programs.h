// Firmware images and their dataflows: the firmware compiled into this program, or an ELF file that describes its
// dataflows in a section. Readers of command streams run either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/control/control_processor/cpu.h"
#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::riscv {
class CallStack;
}

namespace attnvp::schedule {

// An image is immutable and lives as long as the process.
class FirmwareImage {
 public:
  FirmwareImage(const FirmwareImage&) = delete;
  FirmwareImage& operator=(const FirmwareImage&) = delete;
  const std::vector<const firmware::Dataflow*>& dataflows() const { return dataflows_; }
  // Dataflows for a whole layer, with softmax or as a chain of two matrix products. `step` (kOneStep, kRowStep):
  // dataflows for one step: the one in hal::RowStep, a softmax, or without softmax a matrix product.
  std::vector<const firmware::Dataflow*> dataflows_for(bool softmax, unsigned step = 0) const;
  const firmware::Dataflow* find(const std::string& name) const;  // nullptr: unknown
  // Parameters of all dataflows, one entry a name.
  const std::vector<const firmware::Parameter*>& parameters() const { return parameters_; }
  bool is_program() const { return is_program_; }  // an ELF file

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
// Firmware of a machine's control processors: the program of key control.firmware for kind riscv. Throws
// riscv::ElfError for an invalid file or one without description.
const FirmwareImage& firmware_of(const MachineConfig& machine);

// Dataflows of the compiled firmware.
inline std::vector<const firmware::Dataflow*> dataflows_for(bool softmax) {
  return compiled_firmware().dataflows_for(softmax);
}
inline const firmware::Dataflow* find_dataflow(const std::string& name) { return compiled_firmware().find(name); }
// Traits of the dataflow and of the values of its parameters; 0: open.
unsigned traits_of(const firmware::Dataflow& dataflow, const std::vector<std::uint32_t>& words);

// Largest value of a parameter that is useful for the layer.
std::uint32_t largest(const firmware::Parameter& parameter, const Job& job);

// Runs a cluster's firmware untimed against a bus; an ELF program runs on the machine's harts. Throws
// riscv::ProgramError if the program fails. `calls` receives the program's calls.
FirmwareRun untimed(const FirmwareImage& image, const MachineConfig& machine, riscv::CallStack* calls = nullptr);
// Dataflow that a job names; nullptr: unknown in its firmware.
const firmware::Dataflow* dataflow_of(const Job& job);
// Runs the job's firmware untimed against a bus.
void run_firmware(const Job& job, hal::Cpu& cpu, std::uint32_t cluster);

// Program counter of a job's firmware as source lines, for firmware in an ELF file.
class ProgramCalls {
 public:
  ProgramCalls(const Job& job, const MachineConfig& machine);
  ~ProgramCalls();
  ProgramCalls(const ProgramCalls&) = delete;
  ProgramCalls& operator=(const ProgramCalls&) = delete;
  bool any() const;                        // the firmware is an ELF file
  const Job& job() const { return job_; }  // job whose runs are followed
  // Source lines at the current bus access, innermost first; inlined code includes the lines of its callers.
  std::vector<std::string> lines() const;

 private:
  Job job_;
  std::unique_ptr<riscv::CallStack> calls_;
  mutable std::map<std::uint32_t, std::vector<std::string>> lines_;  // by program counter
};

}  // namespace attnvp::schedule
