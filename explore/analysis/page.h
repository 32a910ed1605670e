// Self-contained HTML page of a sweep in the style of the report page. It has a plot of all jobs, a table and the
// effects of each axis, with linked selection. A click on a job shows its settings, its results and the command that
// repeats it.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/pareto.h"
#include "explore/analysis/sensitivity.h"

namespace attnvp::explore {

struct Page {
  std::string title;
  std::string versus;  // text; empty: not requested
};
std::string page_html(const Page& page, const Selection& selection, const Front& front,
                      const std::vector<Effect>& effects);

}  // namespace attnvp::explore
