// Options and preparation of a job for `run`, `compare`, `schedule`, `check` and `search`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/shared/options.h"
#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/run/job.h"
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
  std::string vec;            // empty: the machine's value
  std::string cpu;            // empty: the machine's value
  std::string firmware;       // ELF file for RISC-V control processors; empty: the machine's value
  std::uint64_t seed = 1;
  std::uint64_t max_cycles = 0;  // of firmware; 0: the default
  bool energy_range = false;
  std::string json;  // "-" is stdout only
};
// Adds options for machine, layer, tile sizes and firmware.
void add_job_options(CLI::App& command, JobArguments& arguments);
// Adds options of simulated jobs.
void add_simulation_options(CLI::App& command, JobArguments& arguments);
// Adds the option for one dataflow with its options.
CLI::Option* add_dataflow(CLI::App& command, std::string& dataflow, const char* meaning);
CLI::Option* add_energy_range(CLI::App& command, JobArguments& arguments);
CLI::Option* add_cycle_limit(CLI::App& command, JobArguments& arguments, const std::string& otherwise);  // in words

struct Prepared {
  MachineConfig machine;
  workload::Workload network;
  config::EnergyTable energy;
  job::Tiling tiling;
  bool full = true;

  const schedule::FirmwareImage& firmware() const { return schedule::firmware_of(machine); }
};
Prepared prepare(const JobArguments& arguments);
unsigned kind_of(const workload::Workload& network);  // a Job

// Sets the firmware of control processors; empty: keeps the machine's. Returns the firmware.
const schedule::FirmwareImage& use_firmware(MachineConfig& machine, const std::string& elf);

// Tuning options from the command line.
explore::TuningOptions tuning_options(const JobArguments& arguments);

// Default dataflow: `mas`, else the first of the firmware, or the one for the step of a layer.
std::string default_dataflow(const std::string& asked, const workload::Workload& network, const MachineConfig& machine);
std::string dataflow_table(const schedule::FirmwareImage& firmware);  // all of them
// A dataflow with tuned tile sizes.
job::Schedule tuned(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
                    const std::string& dataflow, const job::Tiling& tiling, const explore::TuningOptions& options);
// As above, with command line options and a progress line.
job::Schedule tuned(const Prepared& prepared, const std::string& dataflow, const JobArguments& arguments);

// Common members of a document about a schedule.
nlohmann::ordered_json document_of(const Prepared& prepared, const job::Schedule& schedule,
                                   const JobArguments& arguments);

// 1 if the golden check failed, with a message on stderr.
int exit_status(const job::RunResult& result);

// `attnvp run` with concurrent jobs, each on its own clusters. `clusters`: of the first job. `beside`: the other jobs,
// "net=vit-b-16 dataflow=flat clusters=2".
int run_side_by_side(const JobArguments& arguments, const Prepared& prepared, const std::string& dataflow,
                     const std::string& clusters, const std::vector<std::string>& beside);

}  // namespace attnvp::cli
