// A sweep as one HTML file that needs nothing else, in the report page's style: all jobs in a plot, a table, and what
// each axis does; what is selected in one shows in the others. A click shows a job's settings, its numbers and the
// command that runs it again.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/pareto.h"
#include "explore/analysis/sensitivity.h"

namespace attnvp::explore {

struct Page {
  std::string title;
  std::string versus;  // text; empty: not asked for
};
std::string page_html(const Page& page, const Selection& selection, const Front& front,
                      const std::vector<Effect>& effects);

}  // namespace attnvp::explore
