#include "explore/reproduce/study.h"

#include <cmath>

#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"

namespace attnvp::reproduce {

namespace {

std::string in_paper(const std::string& dataflow) { return dataflow == kFlatLockStep ? kFlat : dataflow; }

std::string calibrated(const config::Provenances& machine, const char* table, const std::string& network,
                       const std::string& dataflow) {
  return config::calibrated_by(machine, std::string(table) + "/" + network + "/" + in_paper(dataflow));
}

}  // namespace

std::string papers_setting(const std::string& dataflow) {
  return dataflow == "tileflow" ? "tileflow:row_blocks=8" : dataflow;
}

std::string Study::calibrated_cycles(const std::string& network, const std::string& dataflow) const {
  return calibrated(provenance, "mas_table2_cycles", network, dataflow);
}
std::string Study::calibrated_energy(const std::string& network, const std::string& dataflow) const {
  return calibrated(provenance, "mas_table3_energy", network, dataflow);
}

double Study::paper_cycles(const std::string& network, const std::string& dataflow) const {
  return paper.cycles.at({network, in_paper(dataflow)});
}
double Study::paper_energy_pj(const std::string& network, const std::string& dataflow) const {
  return paper.energy_pj.at({network, in_paper(dataflow)});
}

Study run_study(const MachineConfig& machine, const config::Provenances& provenance, bool full_data,
                const StudyProgress& progress) {
  Study study;
  study.machine = machine;
  study.provenance = provenance;
  study.paper = load_paper();
  study.full_data = full_data;
  for (const std::string& dataflow : study.paper.dataflows) {
    study.dataflows.push_back(dataflow);
    if (dataflow == kFlat) study.dataflows.push_back(kFlatLockStep);
  }
  explore::TunedRunner runner(machine, config::load_energy(machine.energy), full_data);
  for (const std::string& name : study.paper.networks) {
    const config::Network network = config::load_network(name);
    job::Tensors tensors;
    if (full_data) tensors = job::random_tensors(network, 1);
    for (const std::string& dataflow : study.dataflows) {
      progress(name, dataflow);
      const job::Schedule schedule = job::parse_dataflow(papers_setting(dataflow));
      job::Result result = runner.run(network, schedule, full_data ? &tensors : nullptr, {});
      result.output = {};
      study.results.emplace(std::pair(name, dataflow), std::move(result));
    }
  }
  return study;
}

void find_best(Study& study, const StudyProgress& progress) {
  const config::EnergyTable energy = config::load_energy(study.machine.energy);
  explore::TunedRunner runner(study.machine, energy, false);
  for (const std::string& network : study.paper.networks) {
    for (const std::string& dataflow : study.paper.dataflows) {
      progress(network, dataflow + " at its best");
      const explore::Problem problem{study.machine, config::load_network(network), job::parse_dataflow(dataflow),
                                     energy};
      explore::TuningOptions options;
      options.evaluations = kBestBudget;
      const explore::TuningResult found = explore::search(problem, options);
      study.best[{network, dataflow}] = {runner.run(problem.network, found.best.schedule),
                                         static_cast<std::uint32_t>(found.log.size())};
    }
  }
}

double geometric_mean(const std::vector<std::string>& networks,
                      const std::function<double(const std::string&)>& value) {
  double sum = 0;
  for (const std::string& network : networks) sum += std::log(value(network));
  return std::exp(sum / static_cast<double>(networks.size()));
}

}  // namespace attnvp::reproduce
