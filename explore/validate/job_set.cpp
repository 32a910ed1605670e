#include "explore/validate/job_set.h"

#include <fmt/format.h>

#include "explore/tuning/tuned_runner.h"
#include "platform/config/hardware.h"

namespace attnvp::validate {

JobSet::JobSet(const Options& options, const char* machine)
    : machine_(config::load_hardware(options.hardware.empty() ? machine : options.hardware, options.settings)),
      energy_(config::load_energy(machine_.energy)) {}

config::Network JobSet::layer_of(const Row& row, const std::string& text) {
  try {
    return config::load_network(text);
  } catch (const config::ConfigError& problem) {
    config::fail(row.origin(), problem.what());
  }
}

job::Result JobSet::run(const MachineConfig& machine, const config::Network& layer, const std::string& dataflow,
                        const Tiling& tiling) const {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  for (const auto& [name, value] : tiling) schedule.tiling.set(name, value);
  return explore::TunedRunner(machine, energy_, false).run(layer, schedule);
}

std::string JobSet::note(const job::Result& r) {
  const job::Utilization& u = r.utilization;
  return fmt::format("MAC {:.0f} %, VEC {:.0f} %, DRAM {:.0f} % busy", 100 * u.mac, 100 * u.vec, 100 * u.dram);
}

}  // namespace attnvp::validate
