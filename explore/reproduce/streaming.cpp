// `attnvp reproduce streaming`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/outputs.h"
#include "explore/reproduce/streaming_output.h"
#include "platform/files/outputs.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

int reproduce_streaming(const ReproduceStreamingArguments& a) {
  namespace rp = reproduce;
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  files::Output* const page_file = outputs.open("--markdown", a.markdown);
  const rp::StreamingStudy study = [&] {
    rp::Progress progress;
    return rp::run_streaming_study(a.longest, [&](const std::string& what) { progress.show(what); });
  }();

  const std::vector<rp::Section> sections = rp::streaming_sections(study);
  const std::string json = rp::streaming_json(study);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  if (page_file != nullptr) {
    const std::vector<rp::StreamingPlot> plots = rp::streaming_plots(study);
    const std::filesystem::path page(a.markdown);
    for (const rp::StreamingPlot& plot : plots) {
      const std::string name = fmt::format("{}-{}.svg", page.stem().string(), plot.suffix);
      outputs.open("a plot of --markdown", (page.parent_path() / name).string())->write(plot.svg, files::Form::kSvg);
    }
    page_file->write(rp::streaming_markdown(sections, plots, page.stem().string()), files::Form::kMarkdown);
  }
  outputs.commit();
  std::fputs((a.json == "-" ? json : rp::streaming_text(sections)).c_str(), stdout);
  int status = 0;
  for (const rp::StreamingPoint& p : study.points) {
    if (p.result.golden.passed) continue;
    text::complain(fmt::format("{} at N={}: golden check failed: {}", p.graph, p.n, p.result.golden.to_string()));
    status = 1;
  }
  return status;
}

}  // namespace attnvp::cli
