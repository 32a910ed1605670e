#include "platform/run/simulated_jobs.h"

#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/demand.h"

namespace attnvp::job {

namespace {
// A run of fewer commands for each cluster is not stopped: elaborating the platform again takes about as long as
// simulating them (estimated on `edge`). The constant changes the host's time, not a result.
constexpr std::uint64_t kFewCommands = 1000;
constexpr double kMostCounted = 1e18;  // more cycles are no limit
}  // namespace

std::optional<RunTotals> SimulatedJob::run(const Schedule& schedule, double most_demand, double most_cycles) {
  try {
    const schedule::StreamDemand demand =
        schedule::stream_demand(make_job(machine_, network_, schedule), machine_, most_demand);
    if (demand.cycles > most_demand) return std::nullopt;
    KnownRun& known = by_stream_[demand.digest];
    if (!known.totals && known.most_cycles < most_cycles) {
      known.most_cycles = most_cycles;
      if (runner_ == nullptr) runner_ = std::make_unique<Runner>(machine_, energy_, false);
      RunOptions options;
      options.full_data = false;
      const bool is_short = demand.commands <= kFewCommands * machine_.clusters;
      if (!is_short && most_cycles < kMostCounted) options.most_cycles = static_cast<std::uint64_t>(most_cycles) + 1;
      const RunResult r = runner_->run(network_, schedule, nullptr, options);
      known.totals = {static_cast<double>(r.cycles), r.total_energy_pj(), demand.cycles};
    }
    // A run that exceeds the limit may have ended. The result does not depend on that, nor on earlier runs.
    if (known.totals && known.totals->cycles <= most_cycles) return known.totals;
  } catch (const config::ConfigError&) {  // tiles exceed the layer
  } catch (const RunError&) {
    runner_.reset();  // unusable after a failure
  }
  return std::nullopt;
}

SimulatedJob& SimulatedJobs::of(const MachineConfig& machine, const workload::Workload& network,
                                const config::EnergyTable& energy) {
  const std::string on = energy.source() + config::to_yaml(machine);
  return jobs_.try_emplace(on + network.identity(), machine, network, energy, runners_[on]).first->second;
}

}  // namespace attnvp::job
