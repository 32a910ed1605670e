// The numbers the MAS-Attention paper prints, from configs/paper.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::reproduce {

struct Paper {
  using Cells = std::map<std::pair<std::string, std::string>, double>;  // by network (or claim) and dataflow
  std::vector<std::string> networks;                                    // in the tables' order
  std::vector<std::string> dataflows;                                   // likewise; the last one is mas
  Cells cycles;                                                         // Table 2
  Cells energy_pj;                                                      // Table 3
  Cells claims;                                                         // what the text states

  // 0 where the paper states none.
  double claim(const std::string& what, const std::string& of) const;
};

// Throws config::ConfigError with file and line.
Paper load_paper();

}  // namespace attnvp::reproduce
