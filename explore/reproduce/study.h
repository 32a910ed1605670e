// The paper's experiments on one machine: every network with every dataflow, beside what the paper prints.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/paper.h"
#include "platform/job/job.h"

namespace attnvp::reproduce {

// The paper's FLAT lies between these two.
inline const std::string kFlat = "flat";
inline const std::string kFlatLockStep = "flat:prefetch=off";
inline const std::string kMas = "mas";

struct Study {
  MachineConfig machine;
  Paper paper;
  bool full_data = false;
  std::vector<std::string> dataflows;                                  // the paper's, and kFlatLockStep
  std::map<std::pair<std::string, std::string>, job::Result> results;  // by network and dataflow

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
};

// Reports are outputs of the results alone; `progress` hears of each run before it starts.
Study run_study(const MachineConfig& machine, bool full_data,
                const std::function<void(const std::string& network, const std::string& dataflow)>& progress);

// Of value(network) over the paper's networks.
double geometric_mean(const std::vector<std::string>& networks, const std::function<double(const std::string&)>& value);

}  // namespace attnvp::reproduce
