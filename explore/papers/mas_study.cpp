#include "explore/papers/mas.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"
#include "platform/workload/workload.h"

namespace attnvp::papers {

namespace {

// Reads a table of networks x dataflows; the first table defines both lists.
std::map<Case, double> read_cells(const std::string& name, double unit, MasPaper& paper) {
  const std::vector<config::CsvLine> lines = read_table(name);
  const Names dataflows(lines[0].cells.begin() + 1, lines[0].cells.end());
  Names networks;
  std::map<Case, double> cells;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    networks.push_back(lines[row].cells[0]);
    for (std::size_t c = 0; c < dataflows.size(); ++c) {
      cells[{networks.back(), dataflows[c]}] = config::positive_number(lines[row], c + 1) * unit;
    }
    cells[{networks.back(), kFlatLockStep}] = cells[{networks.back(), kFlat}];
  }
  if (paper.networks.empty()) std::tie(paper.networks, paper.dataflows) = std::tie(networks, dataflows);
  if (networks != paper.networks || dataflows != paper.dataflows || dataflows.back() != kMas) {
    config::fail(lines[0].origin, "networks and dataflows must be those of the other table, mas last");
  }
  return cells;
}

// Doubles the length (in steps) up to the first refusal, then bisects.
Limit find_limit(const MachineConfig& machine, const std::string& dataflow) {
  constexpr std::uint32_t kMost = 4194304 / kLimitStep;  // maximum of the platform
  const job::Schedule schedule = job::parse_dataflow(dataflow);
  Limit limit{dataflow, machine.cores, 0, 0, {}};
  const std::uint32_t rows = kLimitRowsPerCore * machine.cores * machine.clusters;
  const auto layer = [&](std::uint32_t steps) {
    return workload::load(fmt::format("H=1,NQ={},NKV={},E={}", rows, steps * kLimitStep, kLimitEmb));
  };
  std::uint32_t runs = 0, refused = kMost + 1;
  // True if some tiling fits the machine.
  const auto attempt = [&](std::uint32_t steps) {
    try {
      explore::first_fit({machine, layer(steps), schedule, {}});
      runs = steps;
    } catch (const std::runtime_error& e) {  // of firmware or configuration
      static const std::string kSpeaker = "firmware: ";
      const std::string why = e.what();
      const std::size_t at = why.find(kSpeaker);
      limit.refused = at == std::string::npos ? why : why.substr(at + kSpeaker.size());
      refused = steps;
    }
  };
  for (std::uint32_t steps = 1; refused > kMost && runs < kMost; steps = std::min(2 * steps, kMost)) attempt(steps);
  while (refused - runs > 1 && runs < kMost) attempt(runs + (refused - runs) / 2);
  if (runs == 0) return limit;
  const job::RunResult result = timing_runner(machine).run(layer(runs), schedule);
  limit.tokens = result.network.extents().seq_kv;
  limit.l1_peak_bytes = result.max("l1", "peak_bytes");
  return limit;
}

}  // namespace

MasPaper load_mas_paper() {
  MasPaper paper;
  paper.cycles = read_cells("mas_table2_cycles.csv", 1e6, paper);
  paper.energy_pj = read_cells("mas_table3_energy.csv", 1e9, paper);
  paper.claims = read_claims("mas_claims.csv");
  return paper;
}

std::string papers_setting(const std::string& dataflow) {
  return dataflow == "tileflow" ? "tileflow:row_blocks=8" : dataflow;
}

MasStudy run_mas_study(const MachineConfig& machine, const config::Provenances& provenance, bool full_data,
                       const StudyProgress& progress) {
  MasStudy study{machine, provenance, load_mas_paper(), {}, {}, {}};
  for (const std::string& dataflow : study.paper.dataflows) {
    study.dataflows.push_back(dataflow);
    if (dataflow == kFlat) study.dataflows.push_back(kFlatLockStep);
  }
  explore::TunedRunner runner(machine, config::load_energy(machine.energy), full_data);
  for (const std::string& name : study.paper.networks) {
    const workload::Workload network = workload::load(name);
    job::Tensors tensors;
    if (full_data) tensors = job::random_tensors(network, 1);
    for (const std::string& dataflow : study.dataflows) {
      progress(name + " with " + dataflow);
      const job::Schedule schedule = job::parse_dataflow(papers_setting(dataflow));
      job::RunResult result = runner.run(network, schedule, full_data ? &tensors : nullptr);
      result.output = {};
      study.results.emplace(Case(name, dataflow), std::move(result));
    }
  }
  return study;
}

void find_best(MasStudy& study, const StudyProgress& progress) {
  explore::TunedRunner runner = timing_runner(study.machine);
  for (const std::string& network : study.paper.networks) {
    for (const std::string& dataflow : study.paper.dataflows) {
      progress(network + " with " + dataflow + " at its best");
      const explore::Problem problem{study.machine, workload::load(network), job::parse_dataflow(dataflow),
                                     config::load_energy(study.machine.energy)};
      explore::TuningOptions options;
      options.evaluations = kBestBudget;
      const explore::TuningResult found = explore::search(problem, options);
      study.best[{network, dataflow}] = {runner.run(problem.network, found.best.schedule),
                                         static_cast<std::uint32_t>(found.log.size())};
    }
  }
}

std::vector<Limit> find_limits(const MachineConfig& machine, const Names& dataflows, const StudyProgress& progress) {
  std::vector<MachineConfig> machines{machine};
  if (machine.cores > 1) {
    machines.push_back(machine);
    machines.back().cores = 1;
    config::check_machine(machines.back(), {machine.name + " with cores=1"});
  }
  std::vector<Limit> limits;
  for (const std::string& dataflow : dataflows) {
    for (const MachineConfig& m : machines) {
      progress(fmt::format("longest sequence of {} on {} cores per cluster", dataflow, m.cores));
      limits.push_back(find_limit(m, dataflow));
    }
  }
  return limits;
}

Section limits_section(const MasPaper& paper, const MachineConfig& machine, const std::vector<Limit>& limits) {
  Section t{
      "Section 5.5: the longest sequences",
      fmt::format(
          "Tokens of K and V, FP16, found by running in timing mode to steps of {} tokens: one head of {} and {} rows "
          "of Q per core, so that softmax runs beside either matmul (a whole layer at a million tokens is a million "
          "such rows). A length counts when its run ends. Rows of scores are held whole, as softmax needs them, and "
          "each core holds its own; the paper counts those of one core. Where L1 has no room for as many rows as a MAC "
          "array has, layerwise takes them for softmax alone, one by one, and its matmuls take tiles. The N x N scores "
          "that layerwise and softpipe would keep in DRAM for a whole layer are not counted against them.",
          kLimitStep, kLimitEmb, kLimitRowsPerCore),
      {"dataflow", "cores", "tokens", "paper", "ours / paper", "L1 in use", "the next step"},
      1,
      true};
  for (const Limit& l : limits) {
    const double stated = paper.claim("tokens", l.dataflow);
    const double share = static_cast<double>(l.l1_peak_bytes) / static_cast<double>(machine.l1.size_bytes);
    t.rows.push_back({l.dataflow, std::to_string(l.cores), report::with_commas(l.tokens),
                      stated > 0 ? "about " + report::with_commas(static_cast<unsigned long long>(stated)) : "",
                      stated > 0 ? fmt::format("{:.2f}", static_cast<double>(l.tokens) / stated) : "",
                      report::percent(share), l.refused.empty() ? "is beyond what the platform takes" : l.refused});
  }
  return t;
}

}  // namespace attnvp::papers
