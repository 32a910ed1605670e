// `attnvp reproduce streaming`.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/streaming_output.h"
#include "platform/config/error.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

int reproduce_streaming(const ReproduceStreamingArguments& a) {
  namespace rp = reproduce;
  using OutputFile = std::unique_ptr<tensors::AtomicFile>;
  if (a.markdown == "-") throw config::ConfigError("'-', stdout, is for --json alone; allowed is a path");
  if (!a.markdown.empty() && a.markdown == a.json) {
    throw config::ConfigError(fmt::format("--json is to write {} as well", a.json));
  }
  const bool to_stdout = a.json.empty() || a.json == "-";
  const OutputFile json_file = to_stdout ? nullptr : std::make_unique<tensors::AtomicFile>(a.json);
  const OutputFile page_file = a.markdown.empty() ? nullptr : std::make_unique<tensors::AtomicFile>(a.markdown);

  const bool terminal = isatty(STDERR_FILENO) == 1;
  const rp::StreamingStudy study = rp::run_streaming_study(a.longest, [&](const std::string& what) {
    if (terminal) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  });
  if (terminal) std::fputs("\r\033[K", stderr);

  // All files are written before the first is put in place, and stdout comes last.
  const std::vector<rp::Section> sections = rp::streaming_sections(study);
  const std::string json = rp::streaming_json(study);
  if (json_file) json_file->write(json);
  std::vector<OutputFile> plot_files;
  if (page_file) {
    const std::vector<rp::StreamingPlot> plots = rp::streaming_plots(study);
    const std::filesystem::path page(a.markdown);
    for (const rp::StreamingPlot& plot : plots) {
      const std::string name = fmt::format("{}-{}.svg", page.stem().string(), plot.suffix);
      plot_files.push_back(std::make_unique<tensors::AtomicFile>((page.parent_path() / name).string()));
      plot_files.back()->write(plot.svg);
    }
    page_file->write(rp::streaming_markdown(sections, plots, page.stem().string()));
  }
  for (const OutputFile& file : plot_files) file->commit();
  for (const OutputFile* file : {&json_file, &page_file}) {
    if (*file) (*file)->commit();
  }
  std::fputs((a.json == "-" ? json : rp::streaming_text(sections)).c_str(), stdout);
  int status = 0;
  for (const rp::StreamingPoint& p : study.points) {
    if (p.result.golden.passed) continue;
    std::fprintf(stderr, "attnvp: %s at N=%u: golden check failed: %s\n", p.graph.c_str(), p.n,
                 p.result.golden.to_string().c_str());
    status = 1;
  }
  return status;
}

}  // namespace attnvp::cli
