// Jobs on machines with RISC-V control processors.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/riscv_processor/program.h"
#include "models/trace/journal.h"
#include "platform/elaboration/platform.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

// Without the cross compiler there is no firmware to run.
inline bool has_riscv_firmware() { return std::filesystem::exists(riscv::program_path(RiscvConfig())); }
#define ATTNVP_NEEDS_RISCV() \
  if (!runs::has_riscv_firmware()) GTEST_SKIP() << "no firmware for RISC-V in this build"

struct RiscvRun {
  job::Result result;
  std::map<std::string, std::vector<std::string>>
      descriptors;  // of every engine, in their order, as bytes; of DMA channels in order of bytes
};

inline RiscvRun run_job(const MachineConfig& machine, const std::string& network_text, const std::string& dataflow,
                        bool full = true, const job::Tiling& tiling = {}) {
  const config::Network network = config::load_network(network_text);
  job::Tensors tensors;
  if (full) tensors = job::random_tensors(network, 1);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = tiling;
  schedule = complete(machine, network, schedule);
  job::Runner runner(machine, config::load_energy(machine.energy), full);
  Journal journal;
  runner.platform().context().journal = &journal;
  RiscvRun run;
  run.result = runner.run(network, schedule, full ? &tensors : nullptr, {});
  for (const Journal::Entry& e : journal.entries()) {
    run.descriptors[e.track].emplace_back(reinterpret_cast<const char*>(&e.descriptor), sizeof e.descriptor);
  }
  // Firmware orders loads by how full their queue is, so by time.
  for (auto& [track, all] : run.descriptors) {
    if (track.find(".dma.") != std::string::npos) std::sort(all.begin(), all.end());
  }
  return run;
}

inline MachineConfig machine_with(const std::string& hardware, const std::vector<std::string>& settings) {
  return config::load_hardware(hardware, settings);
}

}  // namespace attnvp::runs
