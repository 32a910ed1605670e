// What a run drew and what its machine takes of a chip, beside its energy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/job/job.h"
#include "platform/report/json.h"

namespace attnvp::report {

// Members `power_w` and `area_mm2`: numbers that add up to `total`.
void add_power(nlohmann::ordered_json& document, const job::Result& result);
// Members `energy_range_pj`: `low` and `high`, each like `energy_pj`.
void add_energy_range(nlohmann::ordered_json& document, const job::Result& result);

// Watts, square millimetres, and a sentence where a machine draws more than it may.
std::string power_text(const job::Result& result);
// Every part of the energy with its range, a sentence for what of it is not from a source.
std::string energy_range_text(const job::Result& result);

// A result's energy by action, to be compared with another's.
struct EnergyTerms {
  struct Term {
    double pj = 0, low_pj = 0, high_pj = 0;
  };
  std::string dataflow;
  std::map<std::string, Term> terms;  // by component and action
  Term total() const;
};
EnergyTerms energy_terms(const job::Result& result);

// Whether one takes less energy than another wherever in their ranges the energies of actions are, the same ones for
// both.
enum class Order { kLess, kMore, kUndecided };
Order energy_order(const EnergyTerms& a, const EnergyTerms& b);
// The dataflows by energy, and which of them the range may turn.
std::string ranking_text(const std::vector<EnergyTerms>& results);

}  // namespace attnvp::report
