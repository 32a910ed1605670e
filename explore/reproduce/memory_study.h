// The papers' ideal memory beside memory as parts have it: the same dataflows on two machines that differ in nothing
// else.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/paper.h"
#include "explore/reproduce/section.h"

namespace attnvp::reproduce {

struct MemoryStudy {
  struct Machine {
    std::string hardware;
    std::map<std::pair<std::string, std::string>, double> cycles;  // by network and dataflow
    double speedup(const std::string& network, const std::string& dataflow) const {
      return cycles.at({network, dataflow}) / cycles.at({network, "mas"});
    }
  };
  Machine ideal, real;
  std::vector<std::string> networks, dataflows;  // without mas
};

// In timing mode, with the tile sizes that a run chooses.
MemoryStudy run_memory_study(const Paper& paper, const std::string& ideal, const std::string& real,
                             const std::function<void(const std::string& what)>& progress);
Section memory_section(const MemoryStudy& study);

}  // namespace attnvp::reproduce
