#include "explore/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/processes/processes.h"
#include "explore/tuning/tuner.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "platform/machine/error.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kMostDramBytes = std::uint64_t{16} << 40;  // maximum of dram.size

// Operations of all groups by what results depend on.
struct Distinct {
  std::vector<const workload::LayerOperation*> operations;
  std::map<std::string, std::size_t> indices;

  explicit Distinct(const std::vector<workload::LayerGroup>& groups) {
    for (const workload::LayerGroup& g : groups) {
      for (const workload::LayerOperation& o : g.operations) {
        if (indices.emplace(o.workload.identity(), operations.size()).second) operations.push_back(&o);
      }
    }
  }
  std::size_t of(const workload::LayerOperation& o) const { return indices.at(o.workload.identity()); }
};

}  // namespace

job::Schedule schedule_of(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow,
                          const config::EnergyTable& energy, const job::Tiling& tiling, const TuningOptions& options) {
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  Problem problem{machine, n, {}, energy};
  if (!n.is_attention()) {
    problem.schedule = job::parse_dataflow(job::dataflows_for(n, firmware).front()->name, firmware);
    return tune(problem, options);
  }
  if (dataflow != "auto") problem.schedule = job::parse_dataflow(dataflow, firmware);
  problem.schedule.tiling = tiling;
  return dataflow == "auto" ? pick_dataflow(problem, options).best().schedule : tune(problem, options);
}

LayerTotals& LayerTotals::add(const LayerTotals& other, std::uint32_t times) {
  cycles += times * other.cycles;
  macs += times * other.macs;
  dram_bytes += times * other.dram_bytes;
  seconds += times * other.seconds;
  energy_pj += times * other.energy_pj;
  return *this;
}

LayerTotals totals_of(const OperationRun& run) {
  const job::RunResult& r = run.result;
  LayerTotals one;
  one.cycles = r.cycles;
  one.macs = r.sum("mac", "macs");
  one.dram_bytes = 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words"));
  one.seconds = r.seconds();
  one.energy_pj = r.total_energy_pj();
  return LayerTotals().add(one, run.count);
}

LayerTotals GroupRun::totals() const {
  LayerTotals sum;
  for (const OperationRun& o : operations) sum.add(totals_of(o), 1);
  return sum;
}

OperationRun& LayerRun::costliest() {
  OperationRun* most = nullptr;
  std::uint64_t cycles = 0;
  for (GroupRun& g : groups) {
    for (OperationRun& o : g.operations) {
      const std::uint64_t here = g.count * totals_of(o).cycles;
      if (most == nullptr || here > cycles) most = &o, cycles = here;
    }
  }
  return *most;
}

LayerTotals LayerRun::totals() const {
  LayerTotals sum;
  for (const GroupRun& g : groups) sum.add(g.totals(), g.count);
  return sum;
}

double LayerRun::tokens_per_second() const { return static_cast<double>(tokens) / totals().seconds; }

bool LayerRun::golden_checked() const { return layer().operations.front().result.golden_checked; }

bool LayerRun::golden_passed() const {
  return std::all_of(groups.begin(), groups.end(), [](const GroupRun& g) {
    return std::all_of(g.operations.begin(), g.operations.end(),
                       [](const OperationRun& o) { return !o.result.golden_checked || o.result.golden.passed; }) &&
           std::all_of(g.chain.begin(), g.chain.end(), [](const job::ChainResult& c) { return c.golden.passed; });
  });
}

namespace {

constexpr char kSeparator = '\t';  // between a dataflow and its tiling

// Dataflow and tiling of a schedule, or "!" with the kind of a problem (C: configuration, R: run) and its message.
std::string schedule_text(const std::function<job::Schedule()>& make) {
  try {
    const job::Schedule schedule = make();
    std::string text = schedule.text + kSeparator;
    for (const auto& [key, value] : job::tiling_text(schedule.tiling)) {
      text += fmt::format("{}{}={}", text.back() == kSeparator ? "" : ",", key, value);
    }
    return text;
  } catch (const config::ConfigError& problem) {
    return std::string("!C") + problem.what();
  } catch (const job::RunError& problem) {
    return std::string("!R") + problem.what();
  }
}

// Inverse of schedule_text, of the line of a process that chose for `operation`. Throws its problem.
job::Schedule schedule_of_line(const std::string& line, const workload::LayerOperation& operation,
                               const schedule::FirmwareImage& firmware) {
  if (line.empty()) throw job::RunError(operation.name + ": the process that chose its tiling has ended");
  if (line.rfind("!C", 0) == 0) throw config::ConfigError(line.substr(2));
  if (line.rfind("!R", 0) == 0) throw job::RunError(line.substr(2));
  const std::size_t end = line.find(kSeparator);
  job::Schedule chosen = job::parse_dataflow(line.substr(0, end), firmware);
  chosen.tiling = job::parse_tiling(line.substr(end + 1), firmware);
  return chosen;
}

// The operations with the most work come first, so that processes end at about the same time. `chosen` is called with
// each schedule while processes choose others.
std::vector<job::Schedule> schedules_of(const MachineConfig& machine,
                                        const std::vector<const workload::LayerOperation*>& operations,
                                        const std::string& dataflow, const config::EnergyTable& energy,
                                        const LayerOptions& options, const FusionTimer& timer,
                                        const std::function<void(std::size_t, const job::Schedule&)>& chosen) {
  const auto schedule = [&](std::size_t i) {
    if (const job::Schedule* known = timer.schedule_of(operations[i]->workload.identity())) return *known;
    return schedule_of(machine, operations[i]->workload, dataflow, energy, options.tiling, options.tuning);
  };
  std::vector<job::Schedule> schedules;
  if (options.jobs == 1) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      schedules.push_back(schedule(i));
      chosen(i, schedules.back());
    }
    return schedules;
  }
  const auto work_of = [&](std::size_t i) {
    const workload::Extents e = operations[i]->workload.extents();
    return static_cast<double>(e.batch) * e.heads * e.seq_q * e.seq_kv * e.emb;
  };
  std::vector<std::size_t> order(operations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work_of(a) > work_of(b); });
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  const auto line_done = [&](std::size_t, std::size_t i, const std::string& line) {
    if (!line.empty() && line.front() != '!') chosen(order[i], schedule_of_line(line, *operations[order[i]], firmware));
  };
  const std::vector<std::string> lines = in_processes(
      order.size(), options.jobs, [&](std::size_t i) { return schedule_text([&] { return schedule(order[i]); }); },
      line_done);
  schedules.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    schedules[order[i]] = schedule_of_line(lines[i], *operations[order[i]], firmware);
  }
  return schedules;
}

// All times of an operation on the results of the operations before. The times take equally long.
job::RunResult run_in_chain(job::Runner& runner, job::LayerChain& chain, std::size_t index,
                            const workload::LayerOperation& o, const job::Schedule& schedule) {
  std::optional<job::RunResult> all;
  for (std::uint32_t time = 0; time < o.count; ++time) {
    job::RunResult one;
    bool is_kept = false;
    while (!is_kept) {
      const job::Tensors tensors = chain.operands(index, time);
      one = runner.run(o.workload, schedule, &tensors, {});
      is_kept = chain.keep(index, time, tensors, one.output);
    }
    one.output.clear();
    if (all) {
      all->golden.add(one.golden, 0);
    } else {
      all = std::move(one);
    }
  }
  return *std::move(all);
}

}  // namespace

LayerRun run_layer(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options) {
  std::vector<workload::LayerGroup> groups = workload::groups_of(network);
  FusionTimer timer(machine, dataflow, energy, options);
  LayerRun run;
  run.network = network;
  run.mac_rate = mac_rate(machine.mac, network.type());
  run.tokens = workload::tokens_of(network);
  run.layers = run.is_model() ? network.model.layers : 1;
  run.first_block = run.is_model() && groups.front().name == "embedding" ? 1 : 0;
  Capacity capacity(groups, network);
  capacity.require(machine);  // checked before the slow choice of a dataflow
  if (network.model.fuse == workload::Fuse::kAuto) timer.choose(groups);
  if (network.model.fuse == workload::Fuse::kOn) timer.fuse_held(groups);
  const Distinct distinct(groups);
  const std::size_t kinds = distinct.operations.size();
  std::optional<job::Runner> runner;
  const auto run_one = [&](std::size_t kind, const job::Schedule& schedule) {
    if (!runner) runner.emplace(machine, energy, options.full);
    return runner->run(distinct.operations[kind]->workload, schedule, nullptr, {});
  };
  std::vector<std::optional<job::RunResult>> results(kinds);  // in timing mode
  std::size_t runs = 0;
  const auto run_ahead = [&](std::size_t kind, const job::Schedule& schedule) {
    if (options.full) return;
    if (options.progress) options.progress(runs++, kinds, distinct.operations[kind]->name);
    try {
      results[kind] = run_one(kind, schedule);
    } catch (const config::ConfigError&) {  // the run in sequence reports problems
    } catch (const job::RunError&) {
      runner.reset();
    }
  };
  const std::vector<job::Schedule> schedules =
      schedules_of(machine, distinct.operations, dataflow, energy, options, timer, run_ahead);
  MachineConfig boundless = machine;  // so that the total need is known
  boundless.dram.size_bytes = kMostDramBytes;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const workload::LayerOperation& o = *distinct.operations[i];
    if (!o.workload.is_attention()) continue;
    capacity.add(o, job::make_job(boundless, o.workload, schedules[i]).scratch.address - hal::kDramBase);
  }
  capacity.require(machine);
  run.need = capacity.need();
  for (std::size_t i = 0; i < distinct.operations.size(); ++i) {
    job::make_job(machine, distinct.operations[i]->workload, schedules[i]);
  }
  std::size_t all = 0, done = 0;
  for (const workload::LayerGroup& g : groups) all += g.operations.size();
  run.groups.reserve(groups.size());
  for (const workload::LayerGroup& g : groups) {
    run.groups.push_back({g.name, g.count, {}});
    std::vector<OperationRun>& operations = run.groups.back().operations;
    if (!options.full) {
      for (const workload::LayerOperation& o : g.operations) {
        std::optional<job::RunResult>& result = results[distinct.of(o)];
        if (!result) result = run_one(distinct.of(o), schedules[distinct.of(o)]);
        operations.push_back({o.name, *result, o.count});
      }
      continue;
    }
    if (!runner) runner.emplace(machine, energy, options.full);
    job::LayerChain chain(g, options.seed);
    for (const workload::LayerOperation& o : g.operations) {
      if (options.progress) options.progress(done++, all, o.name);
      const job::Schedule& schedule = schedules[distinct.of(o)];
      operations.push_back({o.name, run_in_chain(*runner, chain, operations.size(), o, schedule), o.count});
    }
    run.groups.back().chain = chain.check();
  }
  return run;
}

}  // namespace attnvp::explore
