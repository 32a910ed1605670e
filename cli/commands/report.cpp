// `attnvp report`: generates a page of runs.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/report/page/page.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> runs;  // JSON files of run or compare
  std::string output = "report.html";
};

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
  print(fmt::format("{}: {}\n", text::printable(a.output), report::counted(count, "run")));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  const auto a = std::make_shared<ReportArguments>();
  CLI::App& command = *app.add_subcommand("report", "one page with charts of one or more runs, to open in a browser");
  command.add_option("runs", a->runs, "files of run --json or compare --json")->required()->check(not_empty());
  add_output(command, "-o,--output", a->output, "the page")->capture_default_str();
  command.callback([a, &status] { status = report(*a); });
}

}  // namespace attnvp::cli
