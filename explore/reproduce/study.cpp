#include "explore/reproduce/study.h"

#include <cmath>

#include "platform/config/energy.h"
#include "platform/config/network.h"

namespace attnvp::reproduce {

namespace {

std::string in_paper(const std::string& dataflow) { return dataflow == kFlatLockStep ? kFlat : dataflow; }

}  // namespace

double Study::paper_cycles(const std::string& network, const std::string& dataflow) const {
  return paper.cycles.at({network, in_paper(dataflow)});
}
double Study::paper_energy_pj(const std::string& network, const std::string& dataflow) const {
  return paper.energy_pj.at({network, in_paper(dataflow)});
}

Study run_study(const MachineConfig& machine, bool full_data,
                const std::function<void(const std::string& network, const std::string& dataflow)>& progress) {
  Study study;
  study.machine = machine;
  study.paper = load_paper();
  study.full_data = full_data;
  for (const std::string& dataflow : study.paper.dataflows) {
    study.dataflows.push_back(dataflow);
    if (dataflow == kFlat) study.dataflows.push_back(kFlatLockStep);
  }
  job::Runner runner(machine, config::load_energy(machine.energy), full_data);
  for (const std::string& name : study.paper.networks) {
    const config::Network network = config::load_network(name);
    job::Tensors tensors;
    if (full_data) tensors = job::random_tensors(network, 1);
    for (const std::string& dataflow : study.dataflows) {
      progress(name, dataflow);
      const job::Schedule schedule = job::parse_dataflow(dataflow);
      job::Result result = runner.run(network, schedule, full_data ? &tensors : nullptr, {});
      result.output = {};
      study.results.emplace(std::pair(name, dataflow), std::move(result));
    }
  }
  return study;
}

double geometric_mean(const std::vector<std::string>& networks,
                      const std::function<double(const std::string&)>& value) {
  double sum = 0;
  for (const std::string& network : networks) sum += std::log(value(network));
  return std::exp(sum / static_cast<double>(networks.size()));
}

}  // namespace attnvp::reproduce
