// Jobs on machines with RISC-V control processors.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/control/riscv_processor/program.h"
#include "models/sim/trace/command_trace.h"
#include "platform/run/platform.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

// False without the cross compiler.
inline bool has_riscv_firmware() { return std::filesystem::exists(riscv::program_path(RiscvConfig())); }
#define ATTNVP_NEEDS_RISCV() \
  if (!runs::has_riscv_firmware()) GTEST_SKIP() << "no firmware for RISC-V in this build"

struct RiscvRun {
  job::RunResult result;
  std::map<std::string, std::vector<std::string>>
      descriptors;  // of every engine in order, as bytes; of DMA channels sorted
};

inline RiscvRun run_job(const MachineConfig& machine, const std::string& network_text, const std::string& dataflow,
                        bool full = true, const job::Tiling& tiling = {}) {
  const workload::Workload network = workload::load(network_text);
  job::Tensors tensors;
  if (full) tensors = job::random_tensors(network, 1);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = tiling;
  schedule = complete(machine, network, schedule);
  job::Runner runner(machine, config::load_energy(machine.energy), full);
  CommandTrace command_trace;
  runner.platform().context().command_trace = &command_trace;
  RiscvRun run;
  run.result = runner.run(network, schedule, full ? &tensors : nullptr, {});
  for (const CommandTrace::TracedCommand& e : command_trace.entries()) {
    run.descriptors[e.track].emplace_back(reinterpret_cast<const char*>(&e.descriptor), sizeof e.descriptor);
  }
  // Firmware orders loads by queue levels, which depend on time.
  for (auto& [track, all] : run.descriptors) {
    if (track.find(".dma.") != std::string::npos) std::sort(all.begin(), all.end());
  }
  return run;
}

inline MachineConfig machine_with(const std::string& hardware, const std::vector<std::string>& settings) {
  return config::load_hardware(hardware, settings);
}

}  // namespace attnvp::runs
