#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "platform/report/page.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

int report(const ReportArguments& a) {
  std::vector<nlohmann::ordered_json> runs;
  for (const std::string& path : a.runs) {
    std::vector<nlohmann::ordered_json> more = report::page_runs(path);
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  const std::size_t count = runs.size();
  tensors::write_file_atomically(a.output, report::page(std::move(runs)));
  std::fputs(fmt::format("{}: {} run{}\n", a.output, count, count == 1 ? "" : "s").c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
