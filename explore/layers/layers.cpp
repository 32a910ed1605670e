#include "explore/layers/layers.h"

#include <algorithm>

#include "explore/tuning/portfolio.h"
#include "models/mac_engine/mac_rate.h"
#include "platform/config/operations.h"

namespace attnvp::explore {

namespace {

template <typename Part>
auto sum_of(const LayerRun& run, const Part& part) {
  decltype(part(run.operations.front().result)) sum{};
  for (const OperationRun& o : run.operations) sum += part(o.result);
  return sum;
}

job::Schedule schedule_of(const MachineConfig& machine, const config::Network& n, const std::string& dataflow,
                          const config::EnergyTable& energy, const job::Tiling& tiling,
                          const TuningOptions& options) {
  if (n.step != config::Step::kAttention) {
    return tune(machine, n, job::parse_dataflow(job::dataflows_for(n).front()->name), energy, options);
  }
  if (dataflow == "auto") return pick_dataflow(machine, n, tiling, energy, options).best().schedule;
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = tiling;
  return tune(machine, n, schedule, energy, options);
}

}  // namespace

std::uint64_t LayerRun::cycles() const {
  return sum_of(*this, [](const job::Result& r) { return r.cycles; });
}
double LayerRun::seconds() const {
  return sum_of(*this, [](const job::Result& r) { return r.seconds(); });
}
double LayerRun::energy_pj() const {
  return sum_of(*this, [](const job::Result& r) { return r.total_energy_pj(); });
}
std::uint64_t LayerRun::dram_bytes() const {
  return sum_of(*this,
                [](const job::Result& r) { return 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words")); });
}
std::uint64_t LayerRun::macs() const {
  return sum_of(*this, [](const job::Result& r) { return r.sum("mac", "macs"); });
}
double LayerRun::tokens_per_second() const { return static_cast<double>(tokens) / (layers * seconds()); }
bool LayerRun::golden_passed() const {
  return std::all_of(operations.begin(), operations.end(),
                     [](const OperationRun& o) { return !o.result.golden_checked || o.result.golden.passed; });
}

LayerRun run_layer(const MachineConfig& machine, const config::Network& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options) {
  const std::vector<config::Operation> operations = config::operations_of(network);
  LayerRun run;
  run.network = network;
  run.mac_rate = mac_rate(machine.mac, network.type);
  run.tokens = config::tokens_of(network);
  run.layers = network.scope == config::Scope::kModel ? network.layers : 1;
  std::vector<job::Schedule> schedules;  // before anything is run
  for (const config::Operation& o : operations) {
    schedules.push_back(schedule_of(machine, o.network, dataflow, energy, options.tiling, options.tuning));
    job::make_job(machine, o.network, schedules.back());
  }
  job::Runner runner(machine, energy, options.full);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const config::Operation& o = operations[i];
    if (options.progress) options.progress(i, operations.size(), o.name);
    job::Tensors tensors;
    if (options.full) tensors = job::random_tensors(o.network, options.seed + i);
    run.operations.push_back({o.name, runner.run(o.network, schedules[i], options.full ? &tensors : nullptr, {})});
    run.operations.back().result.output.clear();
  }
  return run;
}

}  // namespace attnvp::explore
