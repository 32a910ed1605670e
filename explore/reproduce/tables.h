// The paper's tables, paper beside ours.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/reproduce/entry.h"
#include "explore/reproduce/limits.h"
#include "explore/reproduce/reasons.h"
#include "explore/reproduce/section.h"
#include "explore/reproduce/study.h"

namespace attnvp::reproduce {

std::vector<Entry> entries(const Study& study);

Section cycles_table(const Study& study);
Section speedup_table(const Study& study);
Section best_table(const Study& study);  // of a study with find_best
Section bounds_table(const Study& study);
Section energy_table(const Study& study);
Section saving_table(const Study& study);
Section breakdown_table(const Study& study);
Section dram_table(const Study& study);
Section limits_table(const Study& study, const std::vector<Limit>& limits);
Section reasons_table(const std::vector<Entry>& all, const std::string& quantity, const std::string& title);
Section findings_section(const Study& study);

// All of them, in the page's order; without limits where there are none.
std::vector<Section> sections(const Study& study, const std::vector<Limit>& limits);

}  // namespace attnvp::reproduce
