// What a run drew and what its machine takes of a chip, beside its energy.
#pragma once

#include <string>
#include <vector>

#include "platform/job/job.h"
#include "platform/report/json.h"

namespace attnvp::report {

// Members `power_w` and `area_mm2`: numbers that add up to `total`.
void add_power(nlohmann::ordered_json& document, const job::Result& result);
void add_area(nlohmann::ordered_json& document, const job::Result& result);  // the latter alone
// Members `energy_range_pj`: `low` and `high`, each like `energy_pj`.
void add_energy_range(nlohmann::ordered_json& document, const job::Result& result);

// Watts, square millimetres, and a sentence where a machine draws more than it may.
std::string power_text(const job::Result& result);
// Commands of DRAM and classes of instructions, where they are priced: how many, and what they took. Else nothing.
std::string actions_text(const job::Result& result);
// Every part of the energy with its range, a sentence for what of it is not from a source.
std::string energy_range_text(const job::Result& result);

// Whether one result takes less energy than another wherever in their ranges the energies of actions are, the same ones
// for both.
enum class Order { kLess, kMore, kUndecided };
Order energy_order(const job::Result& a, const job::Result& b);
// The dataflows by energy, and pairs whose order is not decided within the range.
std::string ranking_text(const std::vector<job::Result>& results);

}  // namespace attnvp::report
