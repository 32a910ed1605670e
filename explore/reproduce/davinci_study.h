// Figure 5: the paper's dataflows on the NPU core of a tablet, and what the values that had to be assumed decide.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/bounds.h"
#include "explore/reproduce/paper.h"
#include "explore/reproduce/section.h"

namespace attnvp::reproduce {

struct DavinciStudy {
  struct Machine {
    std::string changed;                                           // "vec.softmax_lane_cycles=16"; empty: as it is
    std::map<std::pair<std::string, std::string>, double> cycles;  // by network and dataflow
    double speedup(const std::string& network, const std::string& dataflow) const {
      return cycles.at({network, dataflow}) / cycles.at({network, "mas"});
    }
  };
  std::vector<Machine> machines;                 // as it is, then with one value changed
  std::vector<Terms> mas;                        // by network, as it is
  std::vector<std::string> networks, dataflows;  // without mas
  Paper::Cells claims;

  double mean(const Machine& machine, const std::string& dataflow) const;
};

// In timing mode.
DavinciStudy run_davinci_study(const Paper& paper, const std::function<void(const std::string& what)>& progress);
std::vector<Section> davinci_sections(const DavinciStudy& study);

}  // namespace attnvp::reproduce
