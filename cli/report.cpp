#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "platform/files/outputs.h"
#include "platform/report/page.h"
#include "platform/text/printable.h"

namespace attnvp::cli {

int report(const ReportArguments& a) {
  std::vector<nlohmann::ordered_json> runs;
  for (const std::string& path : a.runs) {
    std::vector<nlohmann::ordered_json> more = report::page_runs(path);
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  const std::size_t count = runs.size();
  files::Outputs outputs;
  outputs.open("--output", a.output)->write(report::page(std::move(runs)), files::Form::kHtml);
  outputs.commit();
  std::fputs(fmt::format("{}: {} run{}\n", text::printable(a.output), count, count == 1 ? "" : "s").c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
