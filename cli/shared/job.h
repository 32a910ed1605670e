// The job that `run`, `compare`, `schedule`, `check` and `search` are about: its options, and what becomes of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/shared/options.h"
#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/job/job.h"
#include "platform/schedule/programs.h"

namespace attnvp::cli {

struct JobArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string requests;               // a file
  std::vector<std::string> settings;  // --set key=value
  std::string tiling;
  std::uint64_t tuning_budget = 0;  // evaluations for each dataflow; 0: the default
  bool no_cache = false;
  std::string data = "full";  // or "timing"
  std::string vec;            // empty: as the machine says
  std::string cpu;            // likewise
  std::string firmware;       // an ELF file for RISC-V control processors; empty: as the machine says
  std::uint64_t seed = 1;
  std::uint64_t max_cycles = 0;  // of firmware; 0: the default
  bool energy_range = false;
  std::string json;  // "-" is stdout, alone
};
// Machine, layer, tile sizes and firmware.
void add_job_options(CLI::App& command, JobArguments& arguments);
// What matters where the job is simulated.
void add_simulation_options(CLI::App& command, JobArguments& arguments);
// One dataflow with its options.
CLI::Option* add_dataflow(CLI::App& command, std::string& dataflow, const char* meaning);
CLI::Option* add_energy_range(CLI::App& command, JobArguments& arguments);
CLI::Option* add_cycle_limit(CLI::App& command, JobArguments& arguments, const std::string& otherwise);  // in words

struct Prepared {
  MachineConfig machine;
  config::Network network;
  config::EnergyTable energy;
  job::Tiling tiling;
  bool full = true;

  const schedule::FirmwareImage& firmware() const { return schedule::firmware_of(machine); }
};
Prepared prepare(const JobArguments& arguments);
unsigned kind_of(const config::Network& network);  // a Job

// The machine's control processors run that ELF file; with none, what the machine says. Returns their firmware.
const schedule::FirmwareImage& use_firmware(MachineConfig& machine, const std::string& elf);

// What the command line asks of the tuner.
explore::TuningOptions tuning_options(const JobArguments& arguments);

// Where none is asked for: `mas`, the first that the firmware has instead, or what makes the step of a layer.
std::string default_dataflow(const std::string& asked, const config::Network& network, const MachineConfig& machine);
std::string dataflow_table(const schedule::FirmwareImage& firmware);  // all of them
// A dataflow with its tile sizes chosen.
job::Schedule tuned(const MachineConfig& machine, const config::Network& network, const config::EnergyTable& energy,
                    const std::string& dataflow, const job::Tiling& tiling, const explore::TuningOptions& options);
// The same as the command line asks for it, with a progress line.
job::Schedule tuned(const Prepared& prepared, const std::string& dataflow, const JobArguments& arguments);

// The head of a document about a schedule.
nlohmann::ordered_json document_of(const Prepared& prepared, const job::Schedule& schedule,
                                   const JobArguments& arguments);

// 1 when the golden check failed, which it says on stderr.
int exit_status(const job::Result& result);

}  // namespace attnvp::cli
