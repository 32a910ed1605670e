#include "explore/layers/search.h"

#include <chrono>
#include <map>

namespace attnvp::explore {

namespace {

job::Schedule dataflow_of(const MachineConfig& machine, const workload::Workload& w, const std::string& dataflow) {
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  return job::parse_dataflow(w.is_attention() ? dataflow : job::dataflows_for(w, firmware).front()->name, firmware);
}

// Distinct operations, by what results depend on.
std::map<std::string, TuningResult> distinct_of(const std::vector<workload::LayerGroup>& groups) {
  std::map<std::string, TuningResult> all;
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) all[o.workload.identity()];
  }
  return all;
}

void add_up(LayerSearch& all, Objective objective, double clock_hz) {
  double cycles = 0, energy_pj = 0, bound = 0;
  bool has_bounds = true;
  for (const OperationSearch& o : all.operations) {
    const auto times = static_cast<double>(o.times);
    cycles += times * o.result.best.cycles;
    energy_pj += times * o.result.best.energy_pj;
    bound += times * o.result.bound;
    has_bounds = has_bounds && o.result.bound > 0;
  }
  all.best = cost_of(objective, cycles, energy_pj, clock_hz).first;
  all.bound = has_bounds ? bound : 0;
}

}  // namespace

LayerSearch search_layers(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                          const config::EnergyTable& energy, const LayerSearchOptions& options) {
  const std::vector<workload::LayerGroup> groups = workload::groups_of(network);
  std::map<std::string, TuningResult> found = distinct_of(groups);
  const auto start = std::chrono::steady_clock::now();
  LayerSearch all;
  std::size_t done = 0;
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) {
      const job::Schedule schedule = dataflow_of(machine, o.workload, dataflow);
      TuningResult& result = found.at(o.workload.identity());
      if (result.log.empty()) {
        ++done;
        const double limit = options.seconds * static_cast<double>(done) / static_cast<double>(found.size());
        TuningOptions tuning = options.tuning;
        bool has_any = false;
        tuning.progress = [&](const TuningProgress& now) {
          has_any = now.best.first < Cost().first;
          if (options.progress) options.progress(o.name, now);
        };
        tuning.is_stopped = [&] {
          const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
          return has_any && (options.is_stopped() || (options.seconds > 0 && taken.count() > limit));
        };
        result = search({machine, o.workload.folded(), schedule, energy}, tuning);
      }
      all.operations.push_back({g.name, o.name, schedule, std::uint64_t{g.count} * o.count, result});
    }
  }
  add_up(all, options.tuning.objective, machine.clock_hz);
  return all;
}

}  // namespace attnvp::explore
