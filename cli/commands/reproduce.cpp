// `attnvp reproduce`: compares a paper's tables with this platform.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/papers/papers.h"
#include "platform/base/files.h"
#include "platform/base/text.h"

namespace attnvp::cli {

namespace {

struct PaperArguments {
  std::string hardware;       // mas and lean
  std::string data;           // mas: "full" runs the golden check
  bool limits = false;        // mas: also search the longest sequences
  std::uint32_t longest = 0;  // fusemax and streaming: longest sequence
  std::string json;           // "-" is stdout only
  std::string csv, markdown;

  std::string stem() const { return std::filesystem::path(markdown).stem().string(); }
};
using Paper = papers::StudyReport (*)(const PaperArguments&, const papers::StudyProgress&);

int reproduce(Paper paper, const PaperArguments& a) {
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const page_file = outputs.open("--markdown", a.markdown);
  const papers::StudyReport report = [&] {
    Waiting waiting("");
    return paper(a, [&waiting](const std::string& what) { waiting.say(what); });
  }();
  const std::string json = to_json(report);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  if (csv_file != nullptr) csv_file->write(to_csv(report), files::Form::kCsv);
  if (page_file != nullptr) {
    page_file->write(to_markdown(report), files::Form::kMarkdown);
    const std::filesystem::path folder = std::filesystem::path(a.markdown).parent_path();
    for (const papers::StudyReport::Plot& plot : report.plots) {
      const std::string path = (folder / fmt::format("{}-{}.svg", a.stem(), plot.suffix)).string();
      outputs.open("a plot of --markdown", path)->write(plot.svg, files::Form::kSvg);
    }
  }
  outputs.commit();
  print(a.json == "-" ? json : to_text(report));
  for (const std::string& failure : report.failures) text::complain(failure);
  return report.failures.empty() ? 0 : 1;
}

}  // namespace

void add_reproduce(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand("reproduce", "a paper's tables beside this platform's");
  command.require_subcommand(1);
  add_memory_limit(command);
  const auto add = [&](const char* name, const char* meaning, Paper paper) {
    const auto a = std::make_shared<PaperArguments>();
    CLI::App& own = *command.add_subcommand(name, meaning);
    add_json(own, a->json);
    add_output(own, "--csv", a->csv, "write CSV");
    add_output(own, "--markdown", a->markdown, "write the page, and its plots beside it");
    own.callback([a, paper, &status] { status = reproduce(paper, *a); });
    return std::pair<CLI::App&, PaperArguments&>(own, *a);
  };

  const auto [mas, of_mas] =
      add("mas", "MAS-Attention: tables 2 and 3, DRAM accesses, breakdown, and where they disagree",
          [](const PaperArguments& a, const papers::StudyProgress& progress) {
            return papers::mas(a.hardware, a.data == "full", a.limits || !a.markdown.empty(), progress);
          });
  of_mas.hardware = "edge";
  of_mas.data = "timing";
  add_hardware(mas, of_mas.hardware);
  mas.add_option("--data", of_mas.data, "full golden-checks every run; timing gives the same numbers")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  mas.add_flag("--limits", of_mas.limits, "search the longest sequences too (some 20 s), as for a page");

  const auto [fusemax, of_fusemax] =
      add("fusemax", "FuseMax: cycles, speed-up, utilisation, DRAM traffic and energy, 1K to 1M tokens",
          [](const PaperArguments& a, const papers::StudyProgress& progress) {
            return papers::fusemax(a.longest, progress);
          });
  of_fusemax.longest = 1U << 20;
  fusemax.add_option("--tokens", of_fusemax.longest, "the longest sequence")
      ->check(CLI::Range(1024U, 1U << 20))
      ->capture_default_str();

  const auto [lean, of_lean] = add("lean", "LeanAttention: decoding under stream-K, FlashDecoding and FlashAttention-2",
                                   [](const PaperArguments& a, const papers::StudyProgress& progress) {
                                     return papers::lean(a.hardware, progress);
                                   });
  of_lean.hardware = "a100-40gb";
  add_hardware(lean, of_lean.hardware);

  const auto [streaming, of_streaming] =
      add("streaming", "Streaming SDPA: memory and throughput over N, depths of the long FIFO",
          [](const PaperArguments& a, const papers::StudyProgress& progress) {
            return papers::streaming(a.longest, a.stem(), progress);
          });
  of_streaming.longest = 2048;
  streaming.add_option("--longest", of_streaming.longest, "longest sequence")
      ->check(within(64, 32768))
      ->capture_default_str();
}

}  // namespace attnvp::cli
