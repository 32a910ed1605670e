// Why ours and the paper's differ, in one line, from what the runs counted.
#pragma once

#include <string>
#include <vector>

#include "explore/reproduce/study.h"

namespace attnvp::reproduce {

constexpr double kNoteworthy = 0.10;  // differences above this get a reason
bool noteworthy(double ratio);

// Whether the machine is the paper's as far as its mas column tells: the longest term on every network. On
// another one the differences are the machine's, and no reasons are given.
bool is_papers_machine(const Study& study);

// pJ per multiply-accumulate, per score and per byte of Q, K, V and O that come nearest to a column of
// energies.
struct EnergyFit {
  double mac = 0, score = 0, byte = 0;
};
struct EnergyFits {
  EnergyFit paper, ours;  // of the mas column
};
EnergyFits fit_energies(const Study& study);

// What is known of a difference: measured quantities in a sentence; "conjecture: " and what would decide it; or
// "unexplained: " and what was measured of it. Empty unless noteworthy.
std::string why_cycles(const Study& study, const std::string& network, const std::string& dataflow);
std::string why_energy(const Study& study, const EnergyFits& fits, const std::string& network,
                       const std::string& dataflow);

// What the paper's tables and text say against each other or against its machine, one sentence each.
std::vector<std::string> findings(const Study& study);

}  // namespace attnvp::reproduce
