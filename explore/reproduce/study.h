// The paper's experiments on one machine: every network with every dataflow, beside what the paper prints.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/paper.h"
#include "platform/config/provenance.h"
#include "platform/job/job.h"

namespace attnvp::reproduce {

// The paper's FLAT lies between these two.
inline const std::string kFlat = "flat";
inline const std::string kFlatLockStep = "flat:prefetch=off";
inline const std::string kMas = "mas";
// The options that only the paper's tables pin: TileFlow's eight row blocks a head. Every other dataflow is as it is.
std::string papers_setting(const std::string& dataflow);

// A dataflow with no option set, at the best tile sizes that a short search finds.
struct Best {
  job::Result result;
  std::uint32_t simulations = 0;
};
constexpr std::uint32_t kBestBudget = 200;  // simulations

struct Study {
  MachineConfig machine;
  config::Provenances provenance;  // of the machine's values
  Paper paper;
  bool full_data = false;
  std::vector<std::string> dataflows;  // the paper's, and kFlatLockStep
  std::map<std::pair<std::string, std::string>, job::Result>
      results;                                               // by network and dataflow, in the paper's setting
  std::map<std::pair<std::string, std::string>, Best> best;  // likewise of the paper's dataflows; may be empty

  const job::Result& at(const std::string& network, const std::string& dataflow) const {
    return results.at({network, dataflow});
  }
  double cycles(const std::string& network, const std::string& dataflow) const {
    return static_cast<double>(at(network, dataflow).cycles);
  }
  double energy_pj(const std::string& network, const std::string& dataflow) const {
    return at(network, dataflow).total_energy_pj();
  }
  // The paper has one FLAT, with which both of ours are compared.
  double paper_cycles(const std::string& network, const std::string& dataflow) const;
  double paper_energy_pj(const std::string& network, const std::string& dataflow) const;
  // The key of the machine that was calibrated to this cell of Table 2 or Table 3; empty: none.
  std::string calibrated_cycles(const std::string& network, const std::string& dataflow) const;
  std::string calibrated_energy(const std::string& network, const std::string& dataflow) const;
};

using StudyProgress = std::function<void(const std::string& network, const std::string& dataflow)>;
// Reports are outputs of the results alone; `progress` hears of each run before it starts.
Study run_study(const MachineConfig& machine, const config::Provenances& provenance, bool full_data,
                const StudyProgress& progress);
void find_best(Study& study, const StudyProgress& progress);

// Of value(network) over the paper's networks.
double geometric_mean(const std::vector<std::string>& networks, const std::function<double(const std::string&)>& value);

}  // namespace attnvp::reproduce
